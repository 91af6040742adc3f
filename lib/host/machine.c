/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads CPU model, firmware, kernel and power settings; detects hypervisors and containers. */
#include "host/machine.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "host/cpu.h"
#include "host/file.h"

/* Copies the value of the first line "key\t: value", or "" if there is no such key. */
static void find_line(const char *text, const char *key, char *buf, size_t size)
{
	size_t len = strlen(key), used;

	buf[0] = '\0';
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) || !strchr(" \t:", line[len]))
			continue;
		line += strcspn(line, ":\n");
		if (*line != ':')
			continue;
		line += 1 + strspn(line + 1, " \t");
		used = strcspn(line, "\n");
		snprintf(buf, size, "%.*s", (int)(used < size ? used : size - 1), line);
		return;
	}
}

/* Size of a buffer for the lines of the first CPU in /proc/cpuinfo. */
#define CPUINFO_SIZE 8192

static void read_model(const char *root, struct machine *m)
{
	char text[CPUINFO_SIZE], implementer[12], part[12], variant[12], revision[12];

	sys_read_begin(root, "/proc/cpuinfo", text, sizeof(text));
	find_line(text, "model name", m->cpu_model, sizeof(m->cpu_model));
	find_line(text, "microcode", m->microcode, sizeof(m->microcode));
	if (m->cpu_model[0])
		return;
	/* On arm64 /proc/cpuinfo has implementer and part numbers instead of a model name. */
	find_line(text, "CPU implementer", implementer, sizeof(implementer));
	find_line(text, "CPU part", part, sizeof(part));
	find_line(text, "CPU variant", variant, sizeof(variant));
	find_line(text, "CPU revision", revision, sizeof(revision));
	if (implementer[0])
		snprintf(m->cpu_model, sizeof(m->cpu_model),
			 "implementer %s part %s variant %s revision %s", implementer, part,
			 variant, revision);
}

/* Copies the value of a setting of @cpus, or "mixed" if the value differs between CPUs. */
static void read_setting(const char *root, const struct cpuset *cpus, const char *name, char *buf,
			 size_t size)
{
	char value[64];

	buf[0] = '\0';
	cpuset_for_each(cpu, cpus) {
		const char *path = SYS_PATH("/sys/devices/system/cpu/cpu%u/%s", cpu, name);

		if (sys_read_file(root, path, value, sizeof(value)) < 0)
			value[0] = '\0';
		if (cpu == cpuset_next(cpus, 0))
			snprintf(buf, size, "%.*s", (int)size - 1, value);
		else if (strncmp(buf, value, size - 1))
			snprintf(buf, size, "mixed");
	}
}

/* Counts the CPUs that are the first online CPU of their package. */
static uint32_t count_sockets(const char *root)
{
	struct cpuset online, siblings;
	uint32_t nr = 0;

	if (cpu_set(root, CPU_ONLINE, &online, NULL))
		return UINT32_MAX;
	cpuset_for_each(cpu, &online) {
		const char *path =
			SYS_PATH("/sys/devices/system/cpu/cpu%u/topology/core_siblings_list", cpu);

		if (cpu_list_read(root, path, &siblings))
			return UINT32_MAX;
		nr += cpuset_next(&siblings, 0) == cpu;
	}
	return nr;
}

void machine_read(const char *root, const struct cpuset *cpus, struct machine *ret_machine)
{
	struct machine m = {0};
	struct utsname name = {0};
	uint64_t smt;

	uname(&name);
	snprintf(m.host, sizeof(m.host), "%.64s", name.nodename);
	snprintf(m.kernel, sizeof(m.kernel), "%.64s", name.release);
	snprintf(m.arch, sizeof(m.arch), "%.64s", name.machine);
	read_model(root, &m);
#define SETTING(member, file) read_setting(root, cpus, file, m.member, sizeof(m.member))
	SETTING(energy_perf_bias, "power/energy_perf_bias");
	SETTING(energy_perf_preference, "cpufreq/energy_performance_preference");
	SETTING(cpufreq_driver, "cpufreq/scaling_driver");
	SETTING(cpufreq_governor, "cpufreq/scaling_governor");
#undef SETTING
	m.sockets = count_sockets(root);
	m.smt = sys_read_u64(root, "/sys/devices/system/cpu/smt/active", &smt) ? -1 : smt == 1;
	*ret_machine = m;
}

/* Returns 1 if the CPU reports a hypervisor, 0 if not, -1 if unknown. */
static int virt_cpuinfo(const char *root)
{
	char text[CPUINFO_SIZE], flags[CPUINFO_SIZE];
	const char *found;

	sys_read_begin(root, "/proc/cpuinfo", text, sizeof(text));
	find_line(text, "flags", flags, sizeof(flags));
	found = strstr(flags, " hypervisor");
	return flags[0] ? found && strchr(" ", found[strlen(" hypervisor")]) : -1;
}

static bool virt_found(struct virt *virt, const char *name, const char *evidence)
{
	virt->kind = VIRT_GUEST;
	/* A long @name comes from the device tree and begins with the name of the hypervisor. */
	snprintf(virt->name, sizeof(virt->name), "%.*s", (int)sizeof(virt->name) - 1, name);
	snprintf(virt->evidence, sizeof(virt->evidence), "%s", evidence);
	return true;
}

/*
 * Finds a hypervisor or cloud by DMI strings. The DMI strings of a cloud's bare-metal machines name
 * the cloud too, so the name of a cloud is used only if the caller has already found a hypervisor.
 */
static bool virt_dmi(const char *root, struct virt *virt)
{
	static const struct {
		const char *word, *name;
		bool proof;
	} vendors[] = {
		{"QEMU", "QEMU", true},
		{"KVM", "KVM", true},
		{"Bochs", "Bochs", true},
		{"VMware", "VMware", true},
		{"innotek", "VirtualBox", true},
		{"VirtualBox", "VirtualBox", true},
		{"Xen", "Xen", true},
		{"Parallels", "Parallels", true},
		{"BHYVE", "bhyve", true},
		{"Virtual Machine", "Hyper-V", true},
		{"Google Compute Engine", "Google Compute Engine", false},
		{"Amazon EC2", "Amazon EC2", false},
		{"OpenStack", "OpenStack", false},
		{"Alibaba Cloud", "Alibaba Cloud", false},
	};
	static const char *const files[] = {
		"/sys/class/dmi/id/product_name",
		"/sys/class/dmi/id/sys_vendor",
		"/sys/class/dmi/id/bios_vendor",
	};
	char text[256];

	for (size_t f = 0; f < ARRAY_SIZE(files); f++) {
		if (sys_read_file(root, files[f], text, sizeof(text)) < 0)
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
			if (strstr(text, vendors[i].word) &&
			    (vendors[i].proof || virt->kind == VIRT_GUEST))
				return virt_found(virt, vendors[i].name, files[f]);
	}
	return false;
}

static bool virt_device_tree(const char *root, struct virt *virt)
{
	char text[256];

	if (sys_read_file(root, "/proc/device-tree/hypervisor/compatible", text, sizeof(text)) > 0)
		return virt_found(virt, strstr(text, "xen") ? "Xen" : text,
				  "device tree: hypervisor");
	if (sys_read_file(root, "/proc/device-tree/compatible", text, sizeof(text)) > 0 &&
	    !strcmp(text, "linux,dummy-virt"))
		return virt_found(virt, "", "device tree: linux,dummy-virt");
	/* PSCI calls reach firmware by SMC and a hypervisor by HVC. */
	if (sys_read_file(root, "/proc/device-tree/psci/method", text, sizeof(text)) > 0 &&
	    !strcmp(text, "hvc"))
		return virt_found(virt, "", "device tree: psci by hvc");
	return false;
}

/* The initial namespaces have fixed numbers (include/linux/proc_ns.h). */
static bool virt_own_ns(const char *root, const char *path, const char *initial)
{
	char full[PATH_MAX], link[64];
	ssize_t len;

	if (sys_path(root, path, full, sizeof(full)))
		return false;
	len = readlink(full, link, sizeof(link) - 1);
	if (len < 0)
		return false;
	link[len] = '\0';
	return strcmp(link, initial) != 0;
}

bool virt_own_pid_ns(const char *root)
{
	return virt_own_ns(root, "/proc/self/ns/pid", "pid:[4026531836]");
}

static void virt_container(const char *root, struct virt *virt)
{
	static const struct {
		const char *path, *name;
	} marks[] = {
		{"/run/.containerenv", "podman"},
		{"/.dockerenv", "docker"},
		{"/run/secrets/kubernetes.io", "kubernetes"},
	};
	int len = sys_read_file(root, "/run/systemd/container", virt->container,
				sizeof(virt->container));

	virt->own_pid_ns = virt_own_pid_ns(root);
	virt->own_cgroup_ns = virt_own_ns(root, "/proc/self/ns/cgroup", "cgroup:[4026531835]");
	for (size_t i = 0; len <= 0 && i < ARRAY_SIZE(marks); i++)
		if (sys_exists(root, marks[i].path))
			len = snprintf(virt->container, sizeof(virt->container), "%s", marks[i].name);
	if (len <= 0)
		virt->container[0] = '\0';
}

void virt_read(const char *root, const char *machine, struct virt *ret_virt)
{
	bool x86 = !strcmp(machine, "x86_64") || !strcmp(machine, "i686");
	struct virt virt = {0};
	char text[64];
	int flag = x86 ? virt_cpuinfo(root) : -1;

	if (flag == 1)
		virt_found(&virt, "", "/proc/cpuinfo: hypervisor");
	else if (flag == 0)
		virt.kind = VIRT_NONE;
	/* dom0 of Xen has no hypervisor flag, but shares its cores with guests. */
	if (sys_read_file(root, "/sys/hypervisor/type", text, sizeof(text)) > 0)
		virt_found(&virt, !strcmp(text, "xen") ? "Xen" : text, "/sys/hypervisor/type");
	else if (flag != 0 && !virt_dmi(root, &virt))
		virt_device_tree(root, &virt);
	virt_container(root, &virt);
	*ret_virt = virt;
}
