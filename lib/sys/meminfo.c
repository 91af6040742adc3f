/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/meminfo. */
#include "sys/meminfo.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "sys/file.h"

int meminfo_available(const char *root, uint64_t *ret_bytes)
{
	char text[8192];
	uint64_t kib;
	char *line;
	int rc;

	rc = sys_read_file(root, "/proc/meminfo", text, sizeof(text));
	if (rc < 0)
		return rc;
	line = strstr(text, "\nMemAvailable:");
	if (!line || sscanf(line, "\nMemAvailable: %" SCNu64 " kB", &kib) != 1 ||
	    __builtin_mul_overflow(kib, 1024, ret_bytes))
		return -ENODATA;
	return 0;
}

bool meminfo_trim(void)
{
#ifdef __GLIBC__
	/* Of all threads; each keeps what its reports needed at their largest. */
	return mallinfo2().fordblks > MEMINFO_KEPT_BYTES && malloc_trim(0);
#else
	return false;
#endif
}
