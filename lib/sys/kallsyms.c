/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/kallsyms, a line at a time: it has some 10 MB. */
#include "sys/kallsyms.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sys/file.h"

int kallsyms_find(const char *root, const char *const *names, uint64_t *ret_address)
{
	int fd = sys_open(root, "/proc/kallsyms"), rc = -ENOENT;
	FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
	char line[256], kind, name[129];
	uint64_t address;

	if (!list)
		return fd < 0 ? fd : -errno;
	while (rc == -ENOENT && fgets(line, sizeof(line), list)) {
		if (sscanf(line, "%" SCNx64 " %c %128s", &address, &kind, name) != 3)
			continue;
		for (size_t i = 0; names[i]; i++)
			if (!strcmp(name, names[i]))
				rc = address ? 0 : -EPERM;
	}
	fclose(list);
	if (!rc)
		*ret_address = address;
	return rc;
}
