/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks clocks, ticks, idle states and hypervisor for `subtick doctor`. */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/arch.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/cpuset.h"
#include "host/cpu.h"
#include "host/cpuidle.h"
#include "host/file.h"

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

void doctor_check_clocksource(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	/*
	 * Slow clocksources are read over a bus or trap into the hypervisor, and each read takes
	 * about 1 us. The kernel reads the clocksource at every context switch.
	 */
	static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
	char name[64];
	int rc = sys_read_file(d->root, CLOCKSOURCE, name, sizeof(name));

	if (rc < 0)
		return doctor_set(row, DOCTOR_WARN, NULL,
				  "unknown: cannot read " CLOCKSOURCE ": %s", strerror(-rc));
	for (size_t i = 0; i < ARRAY_SIZE(slow); i++)
		if (!strcmp(name, slow[i]))
			return doctor_set(
				row, DOCTOR_WARN, "dmesg | grep -i -e clocksource -e tsc",
				"%s: slow to read, and BPF programs read it at every event; the "
				"kernel log says why it does not use a faster one",
				name);
	doctor_set(row, DOCTOR_OK, NULL, "%s", name);
}

void doctor_check_accounting(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	static const char *const means[] = {
		[ACCT_UNKNOWN] = "how accurate /proc/stat is, is unknown",
		[ACCT_TICK] = "the tick samples the busy columns of /proc/stat",
		[ACCT_IRQTIME] = "the tick samples the task columns of /proc/stat; interrupts are "
				 "measured by a clock",
		[ACCT_VIRT_GEN] =
			"measured by a clock on nohz_full CPUs, sampled by the tick on the "
			"others",
		[ACCT_VIRT_NATIVE] = "all columns are measured by a clock",
	};
	const struct accounting_facts facts = {
		.config = &d->config,
		.cmdline = d->cmdline,
		.machine = d->probe->machine,
		.clocksources = d->clocksources,
	};
	enum accounting regime;
	const char *why;

	regime = accounting_regime(&facts, &why);
	doctor_set(row, regime == ACCT_VIRT_NATIVE ? DOCTOR_OK : DOCTOR_WARN,
		   regime == ACCT_VIRT_NATIVE ? NULL : "use subtick load instead of /proc/stat",
		   "%s (%s): %s", accounting_name(regime), why, means[regime]);
}

void doctor_check_hz(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	unsigned long hz;
	char value[16];

	if (kconfig_value(&d->config, "HZ", value, sizeof(value)) != KCONFIG_VALUE ||
	    !(hz = strtoul(value, NULL, 10)))
		return doctor_set(row, DOCTOR_WARN,
				  "zgrep CONFIG_HZ= /proc/config.gz /boot/config-$(uname -r)",
				  "unknown: the kernel's configuration does not say");
	doctor_set(row, DOCTOR_OK, NULL, "%lu: a tick every %.4g ms", hz, 1e3 / hz);
}

void doctor_check_user_hz(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	unsigned long hz = d->probe->user_hz;

	if (!hz)
		doctor_set(row, DOCTOR_WARN, NULL, "unknown: sysconf(_SC_CLK_TCK) fails");
	else
		/* In a window of 1000 units of 1/USER_HZ s, one unit is 0.1 % of the window. */
		doctor_set(
			row, DOCTOR_OK, NULL,
			"%lu: /proc/stat counts in steps of %.4g ms; for a precision of 0.1 %% it "
			"needs windows of %.4g s or more",
			hz, 1e3 / hz, 1e3 / hz);
}

void doctor_check_nohz(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	char full[256] = "", nohz[16] = "";

	cmdline_get(d->cmdline, "nohz", nohz, sizeof(nohz));
	if (sys_read_file(d->root, "/sys/devices/system/cpu/nohz_full", full, sizeof(full)) < 0 ||
	    strstr(full, "(null)"))
		full[0] = '\0';
	if (full[0])
		doctor_set(row, DOCTOR_OK, NULL,
			   "full on CPUs %s: the tick stops there while only one task runs", full);
	else if (!d->config.text)
		doctor_set(row, DOCTOR_WARN, NULL,
			   "unknown: the kernel's configuration is unavailable");
	else if (kconfig_get(&d->config, "NO_HZ_COMMON") != KCONFIG_YES)
		doctor_set(row, DOCTOR_WARN, "use a kernel built with CONFIG_NO_HZ_IDLE=y",
			   "periodic: the tick wakes every idle core");
	else if (!strcmp(nohz, "off") || !strcmp(nohz, "0"))
		doctor_set(row, DOCTOR_WARN, "boot without nohz=off",
			   "switched off by nohz=off: the tick wakes every idle core");
	else
		doctor_set(row, DOCTOR_OK, NULL, "idle: the tick stops on idle cores%s",
			   kconfig_get(&d->config, "NO_HZ_FULL") == KCONFIG_YES
				   ? " (NO_HZ_FULL is inactive without nohz_full=)"
				   : "");
}

/*
 * Reads the current mode of a PREEMPT_DYNAMIC kernel, the word in parentheses. Returns false if the
 * mode cannot be read.
 */
static bool preempt_now(const struct doctor *d, char mode[16])
{
	char text[64], *open, close;

	if (sys_read_file(d->root, "/sys/kernel/debug/sched/preempt", text, sizeof(text)) < 0)
		return false;
	open = strchr(text, '(');
	return open && sscanf(open, "(%15[^)]%c", mode, &close) == 2;
}

void doctor_check_preemption(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	bool dynamic = kconfig_get(&d->config, "PREEMPT_DYNAMIC") == KCONFIG_YES;
	char mode[16] = "";
	uint64_t rt;

	if (kconfig_get(&d->config, "PREEMPT_RT") == KCONFIG_YES ||
	    (!sys_read_u64(d->root, "/sys/kernel/realtime", &rt) && rt))
		doctor_set(row, DOCTOR_OK, NULL,
			   "PREEMPT_RT: interrupt handlers and softirqs run in threads and can be "
			   "preempted");
	else if (preempt_now(d, mode))
		doctor_set(row, DOCTOR_OK, NULL, "%s", mode);
	else if (dynamic && cmdline_get(d->cmdline, "preempt", mode, sizeof(mode)))
		doctor_set(row, DOCTOR_OK, NULL, "%s, set by the kernel command line", mode);
	else if (!d->config.text)
		doctor_set(row, DOCTOR_WARN, NULL,
			   "unknown: the kernel's configuration is unavailable");
	else
		doctor_set(row, DOCTOR_OK, NULL, "%s%s",
			   kconfig_get(&d->config, "PREEMPT") == KCONFIG_YES	    ? "full"
			   : kconfig_get(&d->config, "PREEMPT_LAZY") == KCONFIG_YES ? "lazy"
			   : kconfig_get(&d->config, "PREEMPT_VOLUNTARY") == KCONFIG_YES
				   ? "voluntary"
				   : "none",
			   dynamic ? ", unless changed since boot (PREEMPT_DYNAMIC)" : "");
}

#define IDLE_LIST 512

/* Formats the idle states as "POLL 0 us, C1 2 us, C6 133 us (off)". */
static void idle_describe(const struct cpuidle_state *states, int nr, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (int i = 0; i < nr && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%s %llu us%s", i ? ", " : "",
				states[i].name,
				(unsigned long long)(states[i].latency_ns / NSEC_PER_USEC),
				states[i].disabled ? " (off)" : "");
}

/* Finds the first online CPU whose idle states differ from @list, or CPUSET_MAX. */
static unsigned int idle_differing_cpu(const char *root, const struct cpuset *online,
				       const char *list)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	char other[IDLE_LIST];

	cpuset_for_each(cpu, online) {
		idle_describe(states, cpuidle_states(root, cpu, states), other, sizeof(other));
		if (strcmp(other, list))
			return cpu;
	}
	return CPUSET_MAX;
}

void doctor_check_cpuidle(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	char list[IDLE_LIST], odd_text[48] = "";
	unsigned int first, odd;
	struct cpuset online;
	struct cpuidle idle;
	bool haltpoll;
	int nr, rc;

	rc = cpuidle_read(d->root, &idle);
	if (rc || !strcmp(idle.driver, "none"))
		return doctor_set(row, DOCTOR_WARN, NULL,
				  "%s: one idle state (%s), without a claimed latency",
				  rc ? "not in this kernel" : "no driver",
				  d->x86     ? "HLT"
				  : d->arm64 ? "WFI"
					     : ARCH_IDLE_NAME);
	rc = cpu_set(d->root, CPU_ONLINE, &online, NULL);
	first = rc ? 0 : cpuset_next(&online, 0);
	nr = cpuidle_states(d->root, first, states);
	if (nr <= 0)
		return doctor_set(row, DOCTOR_WARN, NULL,
				  "%s, governor %s: CPU %u has no idle states", idle.driver,
				  idle.governor[0] ? idle.governor : "unknown", first);
	idle_describe(states, nr, list, sizeof(list));
	odd = rc ? CPUSET_MAX : idle_differing_cpu(d->root, &online, list);
	if (odd < CPUSET_MAX)
		snprintf(odd_text, sizeof(odd_text), " on CPU %u; CPU %u differs", first, odd);
	haltpoll = strstr(idle.driver, "haltpoll") || strstr(idle.governor, "haltpoll");
	doctor_set(row, haltpoll ? DOCTOR_WARN : DOCTOR_OK, NULL, "%s, governor %s: %.199s%s%s",
		   idle.driver, idle.governor[0] ? idle.governor : "unknown", list, odd_text,
		   haltpoll ? "; polls before it halts: busy to a counter, idle to the kernel"
			    : "");
}

void doctor_check_virt(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	const struct virt *v = &d->virt;

	if (v->kind == VIRT_GUEST)
		doctor_set(
			row, DOCTOR_WARN, NULL,
			"a guest%s%s (%s): time that the host takes shows as steal or not at all; "
			"wake latency includes the host's",
			v->name[0] ? " of " : "", v->name, v->evidence);
	else if (v->kind == VIRT_NONE)
		doctor_set(row, DOCTOR_OK, NULL, "none: the processor reports bare metal");
	else
		doctor_set(row, DOCTOR_OK, NULL,
			   "no sign of a hypervisor; on this architecture there may be one "
			   "without a sign");
}

void doctor_check_steal(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	uint64_t ticks = 0;
	int rc = d->stat_rc;

	for (unsigned int cpu = 0; !rc && cpu < CPUSET_MAX; cpu++)
		if (d->stat[cpu].nr_cols > PROCSTAT_STEAL)
			ticks += d->stat[cpu].ticks[PROCSTAT_STEAL];
		else if (d->stat[cpu].nr_cols)
			rc = -ENODATA;
	if (rc)
		doctor_set(row, DOCTOR_NO, NULL, "/proc/stat has no usable steal column: %s",
			   strerror(-rc));
	else if (ticks)
		doctor_set(row, DOCTOR_OK, NULL,
			   "accounted: the steal column of /proc/stat is not 0");
	else if (d->virt.kind == VIRT_NONE)
		doctor_set(row, DOCTOR_OK, NULL, "none: bare metal");
	else if (cmdline_get(d->cmdline, "no-steal-acc", NULL, 0))
		doctor_set(row, DOCTOR_NO, "boot without no-steal-acc",
			   "switched off by no-steal-acc");
	else if ((d->x86 || d->arm64) && kconfig_get(&d->config, "PARAVIRT") == KCONFIG_NO)
		doctor_set(row, DOCTOR_NO, "use a kernel built with CONFIG_PARAVIRT=y",
			   "not in this kernel: stolen time is part of the other columns");
	else
		doctor_set(row, DOCTOR_WARN, NULL,
			   "unknown: 0 since boot, so either nothing was stolen or the hypervisor "
			   "does not report it");
}

void doctor_check_container(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	const struct virt *v = &d->virt;
	const char *name = v->container[0] ? v->container : "unnamed";

	if (v->own_pid_ns || v->own_cgroup_ns)
		doctor_set(row, DOCTOR_WARN,
			   "run on the host, or with the host's pid and cgroup namespaces",
			   "in a container (%s)%s: %s%s%s", name,
			   d->caps.seccomp ? " with a seccomp filter" : "",
			   v->own_pid_ns ? "other processes are hidden" : "",
			   v->own_pid_ns && v->own_cgroup_ns ? ", " : "",
			   v->own_cgroup_ns ? "cgroup paths are relative to the container" : "");
	else if (d->caps.seccomp)
		doctor_set(row, DOCTOR_WARN, NULL,
			   "not in a container, but a seccomp filter may refuse system calls");
	else if (v->container[0])
		doctor_set(row, DOCTOR_OK, NULL,
			   "the files are those of a container (%s), but the pid and cgroup "
			   "namespaces are the host's",
			   name);
	else
		doctor_set(row, DOCTOR_OK, NULL, "none");
}
