/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cgroup paths, which users can name freely: strings stay terminated, ids stay ids. */
#include "fuzz.h"

#include "pods/name.h"

static void fuzz_cgroup_name(const char *text, size_t len)
{
	struct cgroup_name name;
	char path[4096];

	if (len >= sizeof(path))
		len = sizeof(path) - 1;
	memcpy(path, text, len);
	path[len] = '\0';
	cgroup_name_parse(path, &name);
	FUZZ_CHECK(memchr(name.pod_uid, '\0', sizeof(name.pod_uid)));
	FUZZ_CHECK(memchr(name.container_id, '\0', sizeof(name.container_id)));
	FUZZ_CHECK(!name.pod_uid[0] || name.qos);
	FUZZ_CHECK(!strchr(name.pod_uid, '_') && !strchr(name.pod_uid, '/'));
	FUZZ_CHECK(!name.runtime || name.container_id[0] || !strcmp(name.runtime, "lxc"));
}

FUZZ_BYTES(fuzz_cgroup_name)
