/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for file names in kubelet's log directories: every accepted name is safe to print. */
#include "fuzz.h"

#include "pods/name.h"

static void check_inside(struct pod_text part, const char *file, size_t len)
{
	if (!part.at)
		return;
	FUZZ_CHECK(part.len && part.at >= file && part.at + part.len <= file + len);
	for (size_t i = 0; i < part.len; i++)
		FUZZ_CHECK(strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", part.at[i]) &&
			   part.at[i]);
}

static void check(const struct pod_name *name, const char *file)
{
	size_t len = strlen(file);

	check_inside(name->namespace, file, len);
	check_inside(name->pod, file, len);
	check_inside(name->uid, file, len);
	check_inside(name->container, file, len);
	check_inside(name->id, file, len);
	FUZZ_CHECK(name->namespace.at && name->pod.at && !name->uid.at == !!name->id.at);
}

static void fuzz_pod_name(const char *file)
{
	struct pod_name name;

	if (pod_name_of_dir(file, &name))
		check(&name, file);
	if (pod_name_of_link(file, &name))
		check(&name, file);
}

FUZZ_STRING(fuzz_pod_name)
