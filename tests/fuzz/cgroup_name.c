/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fuzz target for cgroup paths, and for command lines and thread names of VMs. */
#include "fuzz.h"

#include "pods/name.h"
#include "pods/vm.h"

/* The name of a VM fits its array; without a hypervisor the array stays unchanged. */
static void fuzz_vm(const char *text, size_t len)
{
	struct vm_thread thread = {.name = "?"};
	uint32_t vcpu = vm_vcpu_parse(text);

	if (vm_name_parse(text, len, thread.name))
		FUZZ_CHECK(memchr(thread.name, '\0', sizeof(thread.name)));
	else
		FUZZ_CHECK(!strcmp(thread.name, "?"));
	FUZZ_CHECK(vcpu == UINT32_MAX || vcpu < 100000);
}

static void fuzz_cgroup_name(const char *text, size_t len)
{
	struct cgroup_name name;
	char path[4096];

	if (len >= sizeof(path))
		len = sizeof(path) - 1;
	memcpy(path, text, len);
	path[len] = '\0';
	fuzz_vm(path, len);
	cgroup_name_parse(path, &name);
	FUZZ_CHECK(memchr(name.pod_uid, '\0', sizeof(name.pod_uid)));
	FUZZ_CHECK(memchr(name.container_id, '\0', sizeof(name.container_id)));
	FUZZ_CHECK(!name.pod_uid[0] || name.qos);
	FUZZ_CHECK(!strchr(name.pod_uid, '_') && !strchr(name.pod_uid, '/'));
	FUZZ_CHECK(!name.runtime || name.container_id[0] || !strcmp(name.runtime, "lxc"));
}

FUZZ_BYTES(fuzz_cgroup_name)
