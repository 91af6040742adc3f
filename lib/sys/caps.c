/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the capabilities of this process from /proc/self. */
#include "sys/caps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/file.h"

/* The text after "\nKEY:\t", or NULL. */
static const char *status_find(const char *status, const char *key)
{
	size_t len = strlen(key);
	const char *line = status;

	while (line) {
		if (!strncmp(line, key, len) && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, " \t");
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

int caps_read(const char *root, struct caps *ret_caps)
{
	struct caps caps = {0};
	unsigned long first, parent, count;
	char buf[8192], *end;
	const char *text;
	int rc = sys_read_file(root, "/proc/self/status", buf, sizeof(buf));

	if (rc < 0)
		return rc;
	text = status_find(buf, "CapEff");
	if (!text)
		return -EINVAL;
	caps.effective = strtoull(text, &end, 16);
	if (end - text != 16)
		return -EINVAL;
	text = status_find(buf, "Seccomp");
	caps.seccomp = text && *text == '2';
	text = status_find(buf, "NoNewPrivs");
	caps.no_new_privs = text && *text == '1';
	/* The initial namespace maps every id to itself. Without CONFIG_USER_NS there is no file. */
	rc = sys_read_file(root, "/proc/self/uid_map", buf, sizeof(buf));
	if (rc >= 0 && sscanf(buf, "%lu %lu %lu", &first, &parent, &count) == 3) {
		caps.user_ns_known = true;
		caps.user_ns = first || parent || count != 4294967295UL;
	}
	*ret_caps = caps;
	return 0;
}
