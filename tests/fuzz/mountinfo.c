/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for /proc/self/mountinfo: fields of mounts are complete and terminated. */
#include "fuzz.h"

#include "host/mountinfo.h"

static int visit(const struct mount *mount, void *arg)
{
	size_t *nr = arg;

	FUZZ_CHECK(mount->root[0] && memchr(mount->root, '\0', sizeof(mount->root)));
	FUZZ_CHECK(mount->point[0] && memchr(mount->point, '\0', sizeof(mount->point)));
	FUZZ_CHECK(mount->fstype[0] && memchr(mount->fstype, '\0', sizeof(mount->fstype)));
	FUZZ_CHECK(memchr(mount->options, '\0', sizeof(mount->options)));
	mount_has_option(mount->options, "cpu");
	return ++*nr == 1000 ? 1 : 0;
}

static void fuzz_mountinfo(const char *text, size_t len)
{
	size_t nr = 0, lines = 0;
	int rc = mountinfo_parse(text, len, visit, &nr);

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	FUZZ_CHECK(nr <= lines);
	FUZZ_CHECK(rc || nr == lines);
}

FUZZ_BYTES(fuzz_mountinfo)
