/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks files, counters and kernel options of measurements for `subtick doctor`. */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpuset.h"
#include "host/cgroup.h"
#include "host/file.h"
#include "host/mountinfo.h"
#include "host/perf.h"
#include "host/procstat.h"

void doctor_check_paranoid(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	bool perfmon = !d->caps_rc && caps_perfmon(&d->caps) && !d->caps.user_ns;
	char text[16], *end;
	long level;
	int rc = sys_read_file(d->root, "/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));

	if (rc < 0)
		return doctor_set(row, DOCTOR_NO, "use a kernel built with CONFIG_PERF_EVENTS=y",
				  "kernel.perf_event_paranoid: %s", strerror(-rc));
	level = strtol(text, &end, 10);
	if (end == text || *end)
		doctor_set(row, DOCTOR_WARN, NULL, "cannot parse \"%s\"", text);
	else if (perfmon)
		doctor_set(row, DOCTOR_OK, NULL, "%ld; no limit with CAP_PERFMON", level);
	else if (level <= 0)
		doctor_set(row, DOCTOR_OK, NULL, "%ld: every user may open per-CPU counters",
			   level);
	else
		doctor_set(row, DOCTOR_NO, "sysctl -w kernel.perf_event_paranoid=0",
			   "%ld: per-CPU counters need CAP_PERFMON, or a value of 0", level);
}

void doctor_check_pmu(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	const struct probe *p = d->probe;
	char list[160];
	int nr = pmu_list(d->root, list, sizeof(list));

	if (!p->event_rc && p->cycles_vary)
		doctor_set(row, DOCTOR_WARN, "use --source bpf, which needs no counter",
			   "%s counts unhalted time, but the CPU does not promise a TSC of constant "
			   "rate (invariant TSC): loads by counters may be wrong",
			   p->event);
	else if (!p->event_rc)
		doctor_set(row, DOCTOR_OK, NULL, "%s counts unhalted time (PMUs: %s)", p->event,
			   nr > 0 ? list : "none listed");
	else if (nr > 0)
		doctor_set(row, DOCTOR_NO, p->event_err.fix, "%s (PMUs: %s)", p->event_err.what,
			   list);
	else
		doctor_set(row, DOCTOR_NO, p->event_err.fix, "%s; the kernel has no hardware PMU",
			   p->event_err.what);
}

void doctor_check_tracefs(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	char point[128];
	int rc = tracefs_find(d->root, point, sizeof(point));

	if (!rc)
		doctor_set(row, DOCTOR_OK, NULL, "mounted on %s", point);
	else if (rc == -ENOENT && sys_exists(d->root, "/sys/kernel/tracing"))
		doctor_set(row, DOCTOR_NO, "mount -t tracefs tracefs /sys/kernel/tracing",
			   "not mounted");
	else if (rc == -ENOENT)
		doctor_set(row, DOCTOR_NO,
			   "use a kernel built with CONFIG_TRACING=y, or mount sysfs",
			   "not in this kernel: /sys/kernel/tracing is missing");
	else
		doctor_set(row, DOCTOR_WARN, NULL, "cannot read /proc/self/mountinfo: %s",
			   strerror(-rc));
}

void doctor_check_proc_stat(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	unsigned int nr = 0, cols = PROCSTAT_NR_COLS;

	if (d->stat_rc)
		return doctor_set(row, DOCTOR_NO, d->stat_err.fix, "%s", d->stat_err.what);
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++) {
		nr += d->stat[cpu].nr_cols > 0;
		if (d->stat[cpu].nr_cols && d->stat[cpu].nr_cols < cols)
			cols = d->stat[cpu].nr_cols;
	}
	doctor_set(row, DOCTOR_OK, NULL, "%u columns for %u CPUs", cols, nr);
}

void doctor_check_schedstat(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	struct schedstat_cpu cpu;
	struct sys_text stat;
	struct err err;
	int rc;

	if (schedstat_open(&stat, d->root, &err))
		return doctor_set(row, DOCTOR_NO, err.fix, "%s", err.what);
	rc = schedstat_read(&stat, &cpu, 1);
	sys_text_close(&stat);
	if (rc)
		doctor_set(row, DOCTOR_NO, NULL, "cannot parse /proc/schedstat: %s",
			   rc == -EPROTONOSUPPORT
				   ? "subtick reads only the versions 14 to 17 of this file"
				   : strerror(-rc));
	else
		doctor_set(row, DOCTOR_OK, NULL, "per-CPU run and wait times");
}

void doctor_check_cgroup(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	static const char fix[] = "mount -t cgroup2 cgroup2 /sys/fs/cgroup";
	struct cgroup_layout *layout = malloc(sizeof(*layout));
	int rc = layout ? cgroup_layout(d->root, layout) : -ENOMEM;
	bool v1_only = !rc && !layout->v2[0];

	if (rc)
		doctor_set(row, DOCTOR_WARN, NULL, "cannot read /proc/self/mountinfo: %s",
			   strerror(-rc));
	else if (layout->mode == CGROUP_NONE)
		doctor_set(row, DOCTOR_NO, fix,
			   "no hierarchy is mounted: cgroups are shown by number, not by path");
	else if (v1_only && !layout->v1_cpu[0])
		doctor_set(row, DOCTOR_NO, fix,
			   "cgroup v1 without controller cpu, and no v2: cgroups are shown by "
			   "number, not by path");
	else
		doctor_set(
			row, layout->subtree ? DOCTOR_WARN : DOCTOR_OK, NULL, "%s%s%.64s%s%.64s%s",
			cgroup_mode_name(layout->mode), layout->v2[0] ? ", v2 on " : "", layout->v2,
			layout->v1_cpu[0] ? ", cpu (v1) on " : "", layout->v1_cpu,
			layout->subtree ? "; only a subtree of the hierarchy is mounted here" : "");
	free(layout);
}

void doctor_check_sched_ext(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	struct sched_ext ext;
	int rc = sched_ext_read(d->root, &ext);

	if (rc == -ENOENT)
		doctor_set(row, DOCTOR_OK, NULL, "the kernel has no BPF schedulers");
	else if (rc < 0)
		doctor_set(row, DOCTOR_WARN, NULL, "cannot read which BPF scheduler is enabled: %s",
			   strerror(-rc));
	else if (!ext.name[0])
		doctor_set(row, DOCTOR_OK, NULL, "no BPF scheduler is enabled");
	else if (ext.partial)
		doctor_set(row, DOCTOR_OK, NULL,
			   "%s schedules tasks with policy SCHED_EXT, no others", ext.name);
	else
		doctor_set(row, DOCTOR_WARN, NULL,
			   "%s schedules all ordinary tasks: weights, quotas and nice values have "
			   "effect only if it uses them, and no wait has the cause throttled",
			   ext.name);
}

/* A kernel option, detected by the file @proof or in the kernel configuration. */
struct doctor_feature {
	const char *symbol;
	const char *proof; /* file that exists only if the kernel has the option, or NULL */
	const char *what;  /* purpose of the kernel option */
	const char *fix;   /* advice, or NULL to suggest a kernel with the option */
};

static const struct doctor_feature features[DOC_NR] = {
	[DOC_SCHED_INFO] = {.symbol = "SCHED_INFO",
			    .proof = "/proc/self/schedstat",
			    .what = "the kernel's timestamps of when tasks were queued"},
	[DOC_HRTIMERS] = {.symbol = "HIGH_RES_TIMERS", .what = "timers finer than a tick"},
	[DOC_BANDWIDTH] = {.symbol = "CFS_BANDWIDTH", .what = "waits that a CPU quota causes"},
	[DOC_PSI] = {.symbol = "PSI",
		     .proof = "/proc/pressure/cpu",
		     .what = "the kernel's CPU pressure, for comparison",
		     .fix = "boot with psi=1 (CONFIG_PSI=y)"},
	[DOC_VETH] = {.symbol = "VETH", .what = "the softirq loads of audit"},
	[DOC_RPS] = {.symbol = "RPS", .what = "the softirq loads of audit"},
	[DOC_NET_NS] = {.symbol = "NET_NS",
			.proof = "/proc/self/ns/net",
			.what = "the softirq loads of audit, apart from the machine's network"},
	[DOC_ETF] = {.symbol = "NET_SCH_ETF", .what = "packets with a launch time (--source nic)"},
	[DOC_PTP] = {.symbol = "PTP_1588_CLOCK",
		     .what = "the clock of a network card (--source nic)"},
	[DOC_MODULES] = {.symbol = "MODULES",
			 .proof = "/proc/modules",
			 .what = "engine module of crit"},
	[DOC_OSNOISE] = {.symbol = "OSNOISE_TRACER",
			 .what = "the kernel's noise tracer, for comparison"},
};

void doctor_check_feature(const struct doctor *d, enum doctor_id id, struct doctor_row *row)
{
	const struct doctor_feature *f = &features[id];
	enum kconfig_state state = kconfig_get(&d->config, f->symbol);
	char build[96];

	snprintf(build, sizeof(build), "use a kernel built with CONFIG_%s=y", f->symbol);
	if (f->proof && sys_exists(d->root, f->proof))
		doctor_set(row, DOCTOR_OK, NULL, "%s: %s", f->what, f->proof);
	else if (f->proof)
		doctor_set(row, DOCTOR_NO, f->fix ? f->fix : build, "%s: %s is missing%s", f->what,
			   f->proof, state == KCONFIG_NO ? " (not built in)" : "");
	else if (state == KCONFIG_UNKNOWN)
		doctor_set(row, DOCTOR_WARN, NULL, "%s: unknown without the kernel's configuration",
			   f->what);
	else if (state == KCONFIG_NO)
		doctor_set(row, DOCTOR_NO, f->fix ? f->fix : build, "%s: CONFIG_%s is not set",
			   f->what, f->symbol);
	else
		doctor_set(row, DOCTOR_OK, NULL, "%s: %s", f->what,
			   state == KCONFIG_MODULE ? "as a module" : "built in");
}
