/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks which measurements this machine supports. Each missing feature has a reason and a fix. */
#ifndef SUBTICK_DOCTOR_H
#define SUBTICK_DOCTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "host/kernel.h"
#include "host/machine.h"
#include "host/procstat.h"
#include "report/columns.h"

/*
 * Capability numbers of linux/capability.h. Older versions of linux/capability.h lack some
 * capabilities.
 */
enum cap_nr {
	CAP_NR_NET_ADMIN = 12,
	CAP_NR_SYS_ADMIN = 21,
	CAP_NR_PERFMON = 38, /* CAP_PERFMON exists since Linux 5.8 */
	CAP_NR_BPF = 39,     /* CAP_BPF exists since Linux 5.8 */
};

struct caps {
	uint64_t effective; /* bit set of effective capabilities */
	/*
	 * The process is outside the initial user namespace, where BPF and perf ignore
	 * capabilities.
	 */
	bool user_ns;
	bool seccomp; /* a seccomp filter is installed and may refuse system calls */
};

int caps_read(const char *root, struct caps *ret_caps);

static inline bool caps_has(const struct caps *caps, enum cap_nr nr)
{
	return caps->effective >> nr & 1;
}

/*
 * True if the process has CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, which includes both. CAP_BPF
 * and CAP_PERFMON exist since Linux 5.8.
 */
static inline bool caps_bpf(const struct caps *caps)
{
	return caps_has(caps, CAP_NR_SYS_ADMIN) || caps_has(caps, CAP_NR_BPF);
}

static inline bool caps_perfmon(const struct caps *caps)
{
	return caps_has(caps, CAP_NR_SYS_ADMIN) || caps_has(caps, CAP_NR_PERFMON);
}

struct probe {
	char release[65];
	char machine[65];
	unsigned long user_hz;
	int bpf_map_rc;	      /* 0 or -errno of creating a BPF array map with one element */
	/* 0 or -errno of loading an empty tp_btf program, which is never attached */
	int bpf_prog_rc;
	/* 0 or -errno of loading a BPF program that calls bpf_probe_read_kernel() */
	int bpf_read_rc;
	char event[32]; /* name of the counter of unhalted cycles, or "" if not found */
	/* 0 or -errno of opening and reading the counter @event on the current CPU */
	int event_rc;
	struct err event_err; /* error message if event_rc is not 0 */
	bool cycles_vary;     /* true if the rate of the cycle clock may change */
};

void probe_run(struct probe *ret_probe);

enum doctor_status {
	DOCTOR_OK,
	DOCTOR_WARN, /* the feature works with a limitation */
	DOCTOR_NO,
};

/* Checks of `subtick doctor`, in the order of the output. */
enum doctor_id {
	DOC_KERNEL,
	DOC_CONFIG,
	DOC_PRIVILEGES,
	DOC_NET_ADMIN,
	DOC_LOCKDOWN,
	DOC_BTF,
	DOC_BPF,
	DOC_BPF_READS,
	DOC_BPF_JIT,
	DOC_BPF_UNPRIVILEGED,
	DOC_BPF_STATS,
	DOC_EV_IDLE,
	DOC_EV_SWITCH,
	DOC_EV_IRQ,
	DOC_EV_VECTORS,
	DOC_EV_SOFTIRQ,
	DOC_EV_HOTPLUG,
	DOC_EV_WAKEUP,
	DOC_EV_IPI,
	DOC_EV_TIMER,
	DOC_EV_NMI,
	DOC_EV_SENDERS,
	DOC_EV_CALLS,
	DOC_EV_PREEMPTIRQ,
	DOC_CRIT_ENGINE,
	DOC_PARANOID,
	DOC_PMU,
	DOC_TRACEFS,
	DOC_PROC_STAT,
	DOC_SCHEDSTAT,
	DOC_SCHED_INFO,
	DOC_CGROUP,
	DOC_CLOCKSOURCE,
	DOC_ACCOUNTING,
	DOC_HZ,
	DOC_USER_HZ,
	DOC_NOHZ,
	DOC_PREEMPTION,
	DOC_CPUIDLE,
	DOC_VIRT,
	DOC_STEAL,
	DOC_CONTAINER,
	DOC_HRTIMERS,
	DOC_BANDWIDTH,
	DOC_SCHED_EXT,
	DOC_PSI,
	DOC_VETH,
	DOC_RPS,
	DOC_NET_NS,
	DOC_ETF,
	DOC_PTP,
	DOC_MODULES,
	DOC_OSNOISE,
	DOC_NR,
};

struct doctor_row {
	enum doctor_status status;
	char detail[320];
	char fix[224];
};

struct btf;

/* Facts about the machine, and the result of each check. */
struct doctor {
	const char *root;
	const struct probe *probe;
	struct kconfig config;
	int config_rc;
	struct caps caps;
	int caps_rc;
	struct btf *btf;
	struct err btf_err;
	struct procstat_cpu stat[CPUSET_MAX]; /* columns of /proc/stat by CPU */
	int stat_rc;
	struct err stat_err;
	struct virt virt;
	char cmdline[4096];
	char clocksources[256]; /* available clocksources, or "" if unknown */
	bool x86;
	bool arm64;
	struct doctor_row rows[DOC_NR];
};

/* Sets the result of a check. @fix may be NULL. */
void doctor_set(struct doctor_row *row, enum doctor_status status, const char *fix, const char *fmt,
		...) __attribute__((format(printf, 4, 5)));

typedef void doctor_check(const struct doctor *doctor, enum doctor_id id, struct doctor_row *row);

/* Checks in bpf.c: kernel, privileges, BPF and trace events. */
doctor_check doctor_check_kernel, doctor_check_config, doctor_check_privileges,
	doctor_check_net_admin, doctor_check_lockdown, doctor_check_btf, doctor_check_bpf,
	doctor_check_bpf_reads, doctor_check_jit, doctor_check_unprivileged, doctor_check_bpf_stats,
	doctor_check_events, doctor_check_crit;
/* Checks in sources.c: files, counters and kernel options of the sources. */
doctor_check doctor_check_paranoid, doctor_check_pmu, doctor_check_tracefs, doctor_check_proc_stat,
	doctor_check_schedstat, doctor_check_cgroup, doctor_check_sched_ext, doctor_check_feature;
/* Checks in time.c: clocks, ticks, idle states and guests. */
doctor_check doctor_check_clocksource, doctor_check_accounting, doctor_check_hz,
	doctor_check_user_hz, doctor_check_nohz, doctor_check_preemption, doctor_check_cpuidle,
	doctor_check_virt, doctor_check_steal, doctor_check_container;

struct doctor_opts {
	/* directory that contains /proc, /sys, /boot and so on, or NULL for this machine */
	const char *root;
	const struct probe *probe;   /* system call results to judge, or NULL to run probe_run() */
	const char *const *commands; /* subcommands of this build, NULL-terminated */
};

/* All tables of the report, terminated by NULL. */
extern const struct table_spec *const doctor_tables[];

int doctor_report(const struct doctor_opts *opts, struct report **ret_report, struct err *err);

/*
 * Status of a command in a report of doctor: "full", "part" or "no". Returns NULL if the report
 * does not contain the command.
 */
const char *doctor_command_status(const struct report *report, const char *command);

#endif
