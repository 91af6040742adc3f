/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads CPU sets and NUMA nodes from /sys/devices/system. */
#include "sys/cpu.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static const char *const cpu_files[] = {
	[CPU_ONLINE] = "/sys/devices/system/cpu/online",
	[CPU_PRESENT] = "/sys/devices/system/cpu/present",
	[CPU_POSSIBLE] = "/sys/devices/system/cpu/possible",
};

static int cpu_file_open(struct sys_text *text, const char *root, enum cpu_kind kind,
			 struct err *err)
{
	/* Two pages, more than a sysfs file can have, so that one read gets the whole list. */
	return sys_text_need(text, root, cpu_files[kind], 8192, "mount -t sysfs sysfs /sys", err);
}

static int cpu_file_read(struct sys_text *text, struct cpuset *ret_set)
{
	struct cpuset set;
	int rc = sys_text_read(text, true);

	if (!rc)
		rc = cpuset_parse(text->buf, &set);
	/* At least the CPU that runs this exists, so an empty list is a broken file. */
	if (!rc && !cpuset_count(&set))
		rc = -EINVAL;
	if (!rc)
		*ret_set = set;
	return rc;
}

int cpu_set(const char *root, enum cpu_kind kind, struct cpuset *ret_set, struct err *err)
{
	struct sys_text text;
	int rc = cpu_file_open(&text, root, kind, err);

	if (rc)
		return rc;
	rc = cpu_file_read(&text, ret_set);
	if (rc)
		err_set(err, rc, "cannot parse %s: %s", cpu_files[kind], strerror(-rc));
	sys_text_close(&text);
	return rc;
}

int cpu_package(const char *root, unsigned int cpu)
{
	char path[96];
	uint64_t package;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
		 cpu);
	/* The file contains -1 if the firmware does not report a package. */
	return sys_read_u64(root, path, &package) || package > INT_MAX ? -1 : (int)package;
}

int cpu_online_open(struct cpu_online *online, const char *root, struct err *err)
{
	int rc = cpu_file_open(&online->text, root, CPU_ONLINE, err);

	if (rc)
		return rc;
	rc = cpu_file_read(&online->text, &online->set);
	return rc ? err_set(err, rc, "cannot read which CPUs are online") : 0;
}

int cpu_online_read(struct cpu_online *online)
{
	struct cpuset now;
	int rc = cpu_file_read(&online->text, &now);

	if (rc)
		return rc;
	for (size_t i = 0; i < sizeof(now.bits) / sizeof(now.bits[0]); i++)
		online->returned.bits[i] = now.bits[i] & ~online->set.bits[i];
	online->set = now;
	return 0;
}

void cpu_online_close(struct cpu_online *online)
{
	sys_text_close(&online->text);
}

void node_describe(char *buf, size_t size)
{
	struct cpuset possible = {0};
	struct utsname name;

	if (uname(&name)) {
		snprintf(buf, size, "unknown");
		return;
	}
	/* Possible CPUs, not online ones: hotplug does not make it another machine. */
	if (cpu_set(NULL, CPU_POSSIBLE, &possible, NULL))
		cpuset_add(&possible, 0);
	snprintf(buf, size, "%s, %s %s %s, %s, %u CPUs", name.nodename, name.sysname, name.release,
		 name.version, name.machine, (unsigned int)cpuset_count(&possible));
}
