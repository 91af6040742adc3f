/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/cpuinfo and the power settings of CPUs. */
#include "sys/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sys/cpu.h"
#include "sys/file.h"

/* Value of the first line "key\t: value", without blanks around it; "" without one. */
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

static void read_cpuinfo(const char *root, struct machine *m)
{
	char text[8192], implementer[12], part[12], variant[12], revision[12];
	int fd = sys_open(root, "/proc/cpuinfo");
	/* All CPUs in one file: the first one's lines are enough. */
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (len < 0)
		return;
	text[len] = '\0';
	find_line(text, "model name", m->cpu_model, sizeof(m->cpu_model));
	find_line(text, "microcode", m->microcode, sizeof(m->microcode));
	if (m->cpu_model[0])
		return;
	/* arm64 has numbers only. */
	find_line(text, "CPU implementer", implementer, sizeof(implementer));
	find_line(text, "CPU part", part, sizeof(part));
	find_line(text, "CPU variant", variant, sizeof(variant));
	find_line(text, "CPU revision", revision, sizeof(revision));
	if (implementer[0])
		snprintf(m->cpu_model, sizeof(m->cpu_model),
			 "implementer %s part %s variant %s revision %s", implementer, part,
			 variant, revision);
}

/* One setting of all these CPUs. */
static void read_setting(const char *root, const struct cpuset *cpus, const char *name, char *buf,
			 size_t size)
{
	char path[96], value[64];
	bool first = true;
	unsigned int cpu;

	buf[0] = '\0';
	cpuset_for_each(cpu, cpus) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
		if (sys_read_file(root, path, value, sizeof(value)) < 0)
			value[0] = '\0';
		if (first)
			snprintf(buf, size, "%.*s", (int)size - 1, value);
		else if (strncmp(buf, value, size - 1))
			snprintf(buf, size, "mixed");
		first = false;
	}
}

/* Counts CPUs that are the first online CPU of their package. */
static uint32_t count_sockets(const char *root)
{
	struct cpuset online;
	char path[96], list[4096];
	unsigned int cpu;
	uint32_t nr = 0;

	if (cpu_set(root, CPU_ONLINE, &online, NULL))
		return UINT32_MAX;
	cpuset_for_each(cpu, &online) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/core_siblings_list",
			 cpu);
		if (sys_read_file(root, path, list, sizeof(list)) < 0)
			return UINT32_MAX;
		nr += strtoul(list, NULL, 10) == cpu;
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
	read_cpuinfo(root, &m);
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
