/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks which measurements this machine supports, and how to fix missing features. */
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

/* Capability numbers; older versions of linux/capability.h lack some of them. */
enum cap_nr {
	CAP_NR_NET_ADMIN = 12,
	CAP_NR_SYS_ADMIN = 21,
	CAP_NR_PERFMON = 38,
	CAP_NR_BPF = 39,
};

struct caps {
	uint64_t effective; /* bit set of effective capabilities */
	/* true outside the initial user namespace, where BPF and perf ignore capabilities */
	bool user_ns;
	bool seccomp; /* a seccomp filter is installed and may refuse system calls */
};

int caps_read(const char *root, struct caps *ret_caps);

static inline bool caps_has(const struct caps *caps, enum cap_nr nr)
{
	return caps->effective >> nr & 1;
}

/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON, which exist since Linux 5.8. */
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

/*
 * Checks of `subtick doctor` in the order of the output: X(id, name, function, commands). @commands
 * is a blank-separated list of the commands that need the check, or NULL for all commands.
 */
#define DOCTOR_CHECKS(X)                                                         \
	X(KERNEL, "kernel", kernel, NULL)                                        \
	X(CONFIG, "kernel config", config, NULL)                                 \
	X(PRIVILEGES, "privileges", privileges, NULL)                            \
	X(NET_ADMIN, "network privileges", net_admin, "audit wake report")       \
	X(LOCKDOWN, "lockdown", lockdown, NULL)                                  \
	X(BTF, "BTF", btf, NULL)                                                 \
	X(BPF, "BPF", bpf, NULL)                                                 \
	X(BPF_READS, "BPF reads", bpf_reads, NULL)                               \
	X(BPF_JIT, "BPF JIT", jit, NULL)                                         \
	X(BPF_UNPRIVILEGED, "unprivileged BPF", unprivileged, NULL)              \
	X(BPF_STATS, "BPF statistics", bpf_stats, NULL)                          \
	X(EV_IDLE, "events: idle", events, NULL)                                 \
	X(EV_SWITCH, "events: switch", events, NULL)                             \
	X(EV_IRQ, "events: interrupts", events, NULL)                            \
	X(EV_VECTORS, "events: vectors", events, NULL)                           \
	X(EV_SOFTIRQ, "events: softirqs", events, NULL)                          \
	X(EV_HOTPLUG, "events: hotplug", events, NULL)                           \
	X(EV_WAKEUP, "events: wake-ups", events, "runq wake trace serve report") \
	X(EV_IPI, "events: IPIs", events, "wake")                                \
	X(EV_TIMER, "events: timers", events, "wake serve report")               \
	X(EV_NMI, "events: NMIs", events, "noise")                               \
	X(EV_SENDERS, "events: IPI senders", events, "noise")                    \
	X(EV_CALLS, "events: function calls", events, "noise")                   \
	X(EV_PREEMPTIRQ, "events: preemptirq", events, "crit")                   \
	X(CRIT_ENGINE, "crit engine", crit, "crit report")                       \
	X(PARANOID, "perf_event_paranoid", paranoid, NULL)                       \
	X(PMU, "PMU", pmu, NULL)                                                 \
	X(TRACEFS, "tracefs", tracefs, NULL)                                     \
	X(PROC_STAT, "/proc/stat", proc_stat, NULL)                              \
	X(SCHEDSTAT, "/proc/schedstat", schedstat, NULL)                         \
	X(SCHED_INFO, "sched_info", feature, "runq serve report")                \
	X(CGROUP, "cgroups", cgroup, NULL)                                       \
	X(CLOCKSOURCE, "clocksource", clocksource, NULL)                         \
	X(ACCOUNTING, "accounting", accounting, NULL)                            \
	X(HZ, "HZ", hz, NULL)                                                    \
	X(USER_HZ, "USER_HZ", user_hz, NULL)                                     \
	X(NOHZ, "NO_HZ", nohz, NULL)                                             \
	X(PREEMPTION, "preemption", preemption, NULL)                            \
	X(CPUIDLE, "cpuidle", cpuidle, NULL)                                     \
	X(VIRT, "virtualisation", virt, NULL)                                    \
	X(STEAL, "steal", steal, NULL)                                           \
	X(CONTAINER, "container", container, NULL)                               \
	X(HRTIMERS, "HIGH_RES_TIMERS", feature, "wake audit")                    \
	X(BANDWIDTH, "CFS_BANDWIDTH", feature, "runq")                           \
	X(SCHED_EXT, "sched_ext", sched_ext, "runq serve report")                \
	X(PSI, "PSI", feature, "runq")                                           \
	X(VETH, "VETH", feature, "audit")                                        \
	X(RPS, "RPS", feature, "audit")                                          \
	X(NET_NS, "NET_NS", feature, "audit")                                    \
	X(ETF, "NET_SCH_ETF", feature, "wake")                                   \
	X(PTP, "PTP_1588_CLOCK", feature, "wake")                                \
	X(MODULES, "MODULES", feature, "crit")                                   \
	X(OSNOISE, "OSNOISE_TRACER", feature, "crit")

#define DOCTOR_ENUM(id, name, check, commands) DOC_##id,
enum doctor_id {
	DOCTOR_CHECKS(DOCTOR_ENUM) DOC_NR
};
#undef DOCTOR_ENUM

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

/* @fix may be NULL. */
void doctor_set(struct doctor_row *row, enum doctor_status status, const char *fix, const char *fmt,
		...) __attribute__((format(printf, 4, 5)));

typedef void doctor_check(const struct doctor *doctor, enum doctor_id id, struct doctor_row *row);

#define DOCTOR_DECLARE(id, name, check, commands) doctor_check doctor_check_##check;
DOCTOR_CHECKS(DOCTOR_DECLARE)
#undef DOCTOR_DECLARE

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
