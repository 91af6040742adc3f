/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses command lines and thread names of hypervisors. */
#include "pods/vm.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "pods/name.h"
#include "host/file.h"

/* Longer command lines are truncated. libvirt, Proxmox and Kata put the VM name first. */
#define CMDLINE_MAX 8192

/*
 * Parses the value of QEMU's option -name: "guest=web,debug-threads=on" or "web,process=x". Two
 * commas stand for one comma in the name of the VM.
 */
static void qemu_name(const char *value, char ret_name[VM_NAME])
{
	bool implied = value[strcspn(value, "=,")] != '=';
	size_t at = 0;

	while (!implied && *value && strncmp(value, "guest=", 6)) {
		while (*value && (value[0] != ',' || value[1] == ','))
			value += value[0] == ',' ? 2 : 1;
		value += *value == ',';
	}
	value += implied || !*value ? 0 : 6;
	while (*value && (value[0] != ',' || value[1] == ',') && at + 1 < VM_NAME) {
		ret_name[at++] = *value;
		value += *value == ',' ? 2 : 1;
	}
	ret_name[at] = '\0';
}

static void id_name(const char *value, char ret_name[VM_NAME])
{
	snprintf(ret_name, VM_NAME, "%s", value);
}

/* "path=/run/web.sock" and "/run/web/api.sock" are sockets of VM "web". */
static void socket_name(const char *value, char ret_name[VM_NAME])
{
	const char *start = strncmp(value, "path=", 5) ? value : value + 5;
	const char *end = start + strcspn(start, ","), *base = memrchr(start, '/', end - start);
	const char *dot;

	base = base ? base + 1 : start;
	dot = memrchr(base, '.', end - base);
	if (dot && dot > base)
		end = dot;
	if (base > start + 1 && end - base >= 3 && !memcmp(end - 3, "api", 3)) {
		end = base - 1;
		base = memrchr(start, '/', end - start);
		base = base ? base + 1 : start;
	}
	snprintf(ret_name, VM_NAME, "%.*s", (int)(end - base), base);
}

/* If @exact is false, a version or an architecture may follow the program's name. */
static const struct {
	const char *program;
	bool exact;
	const char *option; /* command-line option whose value contains the VM name */
	void (*name)(const char *value, char ret_name[VM_NAME]);
} hypervisors[] = {
	{"qemu-system-", false, "name", qemu_name},
	{"qemu-kvm", true, "name", qemu_name},
	{"kvm", true, "name", qemu_name},
	{"cloud-hypervisor", false, "api-socket", socket_name},
	{"firecracker", false, "id", id_name},
};

/* Value of "-name VALUE", "--name VALUE" or "--name=VALUE"; "" if the option is missing. */
static const char *option_value(const char *arg, const char *end, const char *name)
{
	size_t len = strlen(name);

	for (arg += strlen(arg) + 1; arg < end; arg += strlen(arg) + 1) {
		size_t dashes = strspn(arg, "-");
		const char *value = arg + dashes + len;

		if (!dashes || dashes > 2 || strncmp(arg + dashes, name, len))
			continue;
		if (*value == '=' || (!*value && value + 1 < end))
			return value + 1;
	}
	return "";
}

bool vm_name_parse(const char *cmdline, size_t len, char ret_name[VM_NAME])
{
	const char *slash = strrchr(cmdline, '/'), *program = slash ? slash + 1 : cmdline;

	for (size_t i = 0; i < ARRAY_SIZE(hypervisors); i++) {
		size_t end = strlen(hypervisors[i].program);

		if (strncmp(program, hypervisors[i].program, end) ||
		    (hypervisors[i].exact && program[end]))
			continue;
		hypervisors[i].name(option_value(cmdline, cmdline + len, hypervisors[i].option),
				    ret_name);
		return true;
	}
	return false;
}

uint32_t vm_vcpu_parse(const char *comm)
{
	static const char *const formats[] = {"CPU %5[0-9]/%n", "vcpu%5[0-9]%n", "fc_vcpu %5[0-9]%n"};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char digits[6];
		uint32_t vcpu;
		int end = 0;

		if (sscanf(comm, formats[i], digits, &end) == 1 && end && (!i || !comm[end]) &&
		    sscanf(digits, "%u", &vcpu) == 1)
			return vcpu;
	}
	return UINT32_MAX;
}

/*
 * Copies the name of a systemd service: "web" for "/system.slice/web.service". Leaves @ret_name
 * unchanged if @cgroup is not a service.
 */
static void service_name(const char *cgroup, char ret_name[VM_NAME])
{
	const char *leaf = strrchr(cgroup, '/') ?: "", *suffix = strrchr(leaf, '.');

	if (suffix && !strcmp(suffix, ".service"))
		cgroup_unescape(leaf + 1, suffix - leaf - 1, ret_name, VM_NAME);
}

bool vm_thread_find(const char *root, uint32_t tgid, uint32_t pid, const char *comm,
		    const char *cgroup, struct vm_thread *ret_thread)
{
	struct vm_thread thread = {0};
	struct cgroup_name name;
	char text[CMDLINE_MAX];
	/* sys_read_begin() truncates a command line that does not fit into `text`. */
	size_t len = sys_read_begin(root, SYS_PATH("/proc/%u/cmdline", tgid), text, sizeof(text));
	bool found = vm_name_parse(text, len, thread.name);

	cgroup_name_parse(cgroup, &name);
	if (!thread.name[0] && cgroup_runtime_has_vms(name.runtime)) {
		snprintf(thread.name, sizeof(thread.name), "%.127s", name.container_id);
		found = true;
	}
	if (!found)
		return false;
	if (!thread.name[0])
		service_name(cgroup, thread.name);
	if (!thread.name[0])
		snprintf(thread.name, sizeof(thread.name), "pid-%u", tgid);
	/* A vCPU thread sets its name after its first wait, so @comm may be an older name. */
	thread.vcpu = vm_vcpu_parse(sys_read_file(root, SYS_PATH("/proc/%u/task/%u/comm", tgid, pid),
						  text, sizeof(text)) > 0
					    ? text
					    : comm);
	*ret_thread = thread;
	return true;
}

bool vm_of_cgroup(const char *runtime, const char *id, const char *pod, char ret_name[VM_NAME])
{
	static const char prefix[] = "virt-launcher-";
	const char *end;

	if (cgroup_runtime_has_vms(runtime) && id) {
		snprintf(ret_name, VM_NAME, "%s", id);
		return true;
	}
	if (!pod || strncmp(pod, prefix, strlen(prefix)))
		return false;
	pod += strlen(prefix);
	end = strrchr(pod, '-');
	if (!end || end == pod)
		return false;
	snprintf(ret_name, VM_NAME, "%.*s", (int)(end - pod), pod);
	return true;
}

/*
 * Parameter of `virsh schedinfo` that sets the quota of the cgroup @leaf, such as "vcpu0". Returns
 * NULL if only the quota of the whole VM can be set (global_quota).
 */
static const char *libvirt_quota(const char *leaf)
{
	static const char *const names[][2] = {{"vcpu", "vcpu_quota=-1"},
					       {"emulator", "emulator_quota=-1"},
					       {"iothread", "iothread_quota=-1"}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(leaf, names[i][0], strlen(names[i][0])))
			return names[i][1];
	return NULL;
}

void vm_quota_command(const char *path, size_t len, bool any, char *buf, size_t size)
{
	char cgroup[CMDLINE_MAX], scope[256];
	struct cgroup_name name;
	const char *at, *leaf, *quota;
	unsigned int domain;

	buf[0] = '\0';
	if (snprintf(cgroup, sizeof(cgroup), "%.*s", (int)len, path) >= (int)sizeof(cgroup))
		return;
	cgroup_name_parse(cgroup, &name);
	if (!name.runtime)
		return;
	/* The names of Proxmox VE's VMs are numbers. */
	if (!strcmp(name.runtime, "proxmox"))
		snprintf(buf, size, "qm set %s --cpulimit 0", name.container_id);
	if (strcmp(name.runtime, "libvirt"))
		return;
	/*
	 * Use the id of the libvirt domain, which is part of the scope's name. In the scope's name
	 * libvirt omits some characters of the domain's name.
	 */
	at = strstr(cgroup, "machine-qemu");
	if (!at)
		return;
	cgroup_unescape(at, strcspn(at, "/"), scope, sizeof(scope));
	if (sscanf(scope, "machine-qemu-%u-", &domain) != 1)
		return;
	leaf = strrchr(cgroup, '/') + 1;
	quota = libvirt_quota(leaf);
	snprintf(buf, size, "virsh schedinfo %u --live %s%s%s", domain, quota ? quota : "",
		 quota && any ? " " : "", any || !quota ? "global_quota=-1" : "");
}

void vm_quota_limit(const char *cgroup, char *buf, size_t size)
{
	struct cgroup_name name;

	cgroup_name_parse(cgroup, &name);
	if (name.pod_uid[0])
		snprintf(buf, size, VM_KUBEVIRT_LIMIT ", or %s/cpu.max", cgroup);
	else
		snprintf(buf, size, "cpu.max of %s or of a cgroup above it", cgroup);
}
