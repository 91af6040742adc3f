/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads CPU sets, affinity masks of any size, isolated CPUs and the cycle rate. */
#include "host/cpu.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "host/arch.h"
#include "base/array.h"
#include "base/clock.h"
#include "host/file.h"

static const char *const cpu_files[] = {
	[CPU_ONLINE] = "/sys/devices/system/cpu/online",
	[CPU_PRESENT] = "/sys/devices/system/cpu/present",
	[CPU_POSSIBLE] = "/sys/devices/system/cpu/possible",
};

static int cpu_file_open(struct sys_text *text, const char *root, enum cpu_kind kind,
			 struct err *err)
{
	/* A sysfs file has at most one page, so one read gets the whole file. */
	return sys_text_need(text, root, cpu_files[kind], 8192, "mount -t sysfs sysfs /sys", err);
}

static int cpu_file_read(struct sys_text *text, struct cpuset *ret_set)
{
	struct cpuset set;
	int rc = sys_text_read(text, true);

	if (!rc)
		rc = cpuset_parse(text->buf, &set);
	/* An empty list is invalid, because the CPU that runs this code is online. */
	if (!rc && !cpuset_count(&set))
		rc = -EINVAL;
	if (!rc)
		*ret_set = set;
	return rc;
}

int cpu_list_read(const char *root, const char *path, struct cpuset *ret_set)
{
	char text[4096];
	int rc = sys_read_file(root, path, text, sizeof(text));

	return rc < 0 ? rc : cpuset_parse(text, ret_set);
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

int cpu_nr(unsigned int *ret_nr, struct err *err)
{
	struct cpuset possible;
	int rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);

	if (!rc)
		*ret_nr = cpuset_end(&possible);
	return rc;
}

int cpu_package(const char *root, unsigned int cpu)
{
	const char *path = SYS_PATH("/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
	uint64_t package;

	/* The kernel writes -1 to physical_package_id if the firmware does not report a package. */
	return sys_read_u64(root, path, &package) || package > INT_MAX ? -1 : (int)package;
}

int cpu_online_open(struct cpu_online *online, const char *root, struct err *err)
{
	int rc = cpu_file_open(&online->text, root, CPU_ONLINE, err);

	if (!rc && (rc = cpu_file_read(&online->text, &online->set)))
		err_set(err, rc, "cannot read the online CPUs");
	return rc;
}

int cpu_online_read(struct cpu_online *online)
{
	struct cpuset now;
	int rc = cpu_file_read(&online->text, &now);

	if (rc)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(now.bits); i++)
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
	/* Possible CPUs are counted, because hotplug changes the number of online CPUs. */
	if (cpu_set(NULL, CPU_POSSIBLE, &possible, NULL))
		cpuset_add(&possible, 0);
	snprintf(buf, size, "%s, %s %s %s, %s, %u CPUs", name.nodename, name.sysname, name.release,
		 name.version, name.machine, (unsigned int)cpuset_count(&possible));
}

/* The cast is valid, because struct cpuset and cpu_set_t are both arrays of longs. */
int affinity_get(pid_t pid, struct cpuset *ret_cpus)
{
	struct cpuset cpus = {0};

	if (sched_getaffinity(pid, sizeof(cpus), (cpu_set_t *)&cpus))
		return -errno;
	*ret_cpus = cpus;
	return 0;
}

int affinity_set(pid_t pid, const struct cpuset *cpus)
{
	return sched_setaffinity(pid, sizeof(*cpus), (const cpu_set_t *)cpus) ? -errno : 0;
}

int affinity_pin(pid_t pid, unsigned int cpu)
{
	struct cpuset one = {0};

	if (cpu >= CPUSET_MAX)
		return -EINVAL;
	cpuset_add(&one, cpu);
	return affinity_set(pid, &one);
}

/*
 * Adds the CPUs of a list file to @set. The file nohz_full contains "(null)" if nohz_full= is not
 * set; "(null)" adds no CPU.
 */
static void add_list(const char *root, const char *path, struct cpuset *set)
{
	struct cpuset more = {0};

	cpu_list_read(root, path, &more);
	for (size_t i = 0; i < ARRAY_SIZE(set->bits); i++)
		set->bits[i] |= more.bits[i];
}

void isolated_cpus(const char *root, const char *cgroup2, struct cpuset *ret_set)
{
	char path[PATH_MAX];

	*ret_set = (struct cpuset){0};
	add_list(root, "/sys/devices/system/cpu/nohz_full", ret_set);
	add_list(root, "/sys/devices/system/cpu/isolated", ret_set);
	/* Since Linux 6.7, cpuset.cpus.isolated lists the CPUs of all isolated partitions. */
	if (cgroup2[0] &&
	    snprintf(path, sizeof(path), "%s/cpuset.cpus.isolated", cgroup2) < (int)sizeof(path))
		add_list(root, path, ret_set);
}

#define CALIBRATE_NS (20 * NSEC_PER_MSEC)

/* Reads the cycle clock and CLOCK_MONOTONIC together; the fastest of three attempts. */
static void read_both(uint64_t *ret_ns, uint64_t *ret_cycles)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = clock_mono_ns(), cycles = arch_cycles(), after = clock_mono_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		*ret_ns = before + best / 2;
		*ret_cycles = cycles;
	}
}

uint64_t cycles_hz(void)
{
	struct timespec end;
	uint64_t ns0 = 0, ns1 = 0, cycles0 = 0, cycles1 = 0;

	if (!ARCH_HAS_CYCLES)
		return 0;
	if (arch_cycles_hz())
		return arch_cycles_hz();
	read_both(&ns0, &cycles0);
	end = clock_timespec(ns0 + CALIBRATE_NS);
	/* A signal may interrupt the sleep, so sleep again until @end. */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
	read_both(&ns1, &cycles1);
	return (double)(cycles1 - cycles0) * 1e9 / (double)(ns1 - ns0);
}
