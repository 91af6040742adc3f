/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one list of names, units and help texts that every view draws from. */
#ifndef SUBTICK_REPORT_METRICS_H
#define SUBTICK_REPORT_METRICS_H

enum unit {
	UNIT_TEXT,
	UNIT_BOOL,
	UNIT_COUNT,
	UNIT_ID,    /* a number that names something: never scaled or summed */
	UNIT_NS,
	UNIT_RATIO, /* 0…1; views for people show per cent */
	UNIT_CYCLES,
	UNIT_HZ,
	UNIT_BYTES,
	UNIT_TABLE, /* the cell holds a table of its own */
};

/*
 * X(id, key, title, unit, help). The key is what JSON and CSV show and what Prometheus names are
 * made from; it ends in its unit. A dot makes a nested JSON object ("compare.x" is compare:{x}).
 * The title heads a column in text.
 */
#define METRICS(X)                                                                                 \
	X(M_CPU, "cpu", "CPU", UNIT_ID, "CPU number")                                              \
	X(M_ONLINE, "online", "online", UNIT_BOOL, "whether the CPU was online at the end of the window") \
	X(M_BUSY_RATIO, "busy_ratio", "busy", UNIT_RATIO,                                          \
	  "share of the window in which the core did work: tasks, interrupts, softirqs, idle loop")   \
	X(M_TASK_RATIO, "task_ratio", "task", UNIT_RATIO,                                          \
	  "share spent in tasks, without interrupts and softirqs on top of them")                  \
	X(M_HARDIRQ_RATIO, "hardirq_ratio", "hardirq", UNIT_RATIO, "share spent in interrupt handlers") \
	X(M_SOFTIRQ_ON_IDLE_RATIO, "softirq_on_idle_ratio", "sirq/idle", UNIT_RATIO,               \
	  "share spent in softirqs that ran inline while the idle task was current")               \
	X(M_SOFTIRQ_ON_TASK_RATIO, "softirq_on_task_ratio", "sirq/task", UNIT_RATIO,               \
	  "share spent in softirqs that ran inline on top of a task")                              \
	X(M_KSOFTIRQD_RATIO, "ksoftirqd_ratio", "ksoftirqd", UNIT_RATIO,                           \
	  "share spent in ksoftirqd and threaded NAPI")                                            \
	X(M_IDLE_LOOP_RATIO, "idle_loop_ratio", "idleloop", UNIT_RATIO,                            \
	  "share spent unhalted in the kernel's idle loop: governor, tick stop, wake-up path")     \
	X(M_POLL_IDLE_RATIO, "poll_idle_ratio", "poll", UNIT_RATIO,                                \
	  "share spent polling while idle: busy to a cycle counter, idle to the kernel")           \
	X(M_IDLE_RATIO, "idle_ratio", "idle", UNIT_RATIO, "share in which the core was halted")    \
	X(M_STEAL_RATIO, "steal_ratio", "steal", UNIT_RATIO,                                       \
	  "share in which the hypervisor ran something else although the core had work")           \
	X(M_UNKNOWN_RATIO, "unknown_ratio", "unknown", UNIT_RATIO,                                 \
	  "share whose context is not known, such as before the first event of a core")            \
	X(M_CLOSURE_ERROR_RATIO, "closure_error_ratio", "closure", UNIT_RATIO,                     \
	  "how far the parts are from summing to the window")                                      \
	X(M_CPU_WINDOW_NS, "window_ns", "window", UNIT_NS, "the window of this CPU, by its own stamps") \
	X(M_FLAGS, "flags", "flags", UNIT_TEXT, "what to know about this figure; empty when nothing") \
	X(M_CMP_PROCSTAT, "compare.procstat_busy_ratio", "procstat", UNIT_RATIO,                   \
	  "busy columns of /proc/stat over the sum of its columns, as mpstat and htop show it")    \
	X(M_CMP_PROCIDLE, "compare.procidle_busy_ratio", "procidle", UNIT_RATIO,                   \
	  "one minus the idle columns of /proc/stat over wall time")                               \
	X(M_CMP_SCHEDSTAT, "compare.schedstat_busy_ratio", "schedstat", UNIT_RATIO,                \
	  "time tasks ran by /proc/schedstat over wall time")                                      \
	X(M_CMP_TASKCLOCK, "compare.taskclock_busy_ratio", "taskclock", UNIT_RATIO,                \
	  "time between a task's switch in and out over wall time: what task clocks sum to")       \
	X(M_CMP_PERF_TSC, "compare.perf_tsc_busy_ratio", "perf-tsc", UNIT_RATIO,                   \
	  "unhalted constant-rate cycles over the cycle clock")                                    \
	X(M_CMP_PERF_CAL, "compare.perf_calibrated_busy_ratio", "perf-cal", UNIT_RATIO,            \
	  "unhalted constant-rate cycles over enabled time at a calibrated rate")                  \
	X(M_CMP_BPF, "compare.bpf_busy_ratio", "bpf", UNIT_RATIO, "busy ratio of source bpf")      \
	X(M_CMP_BPF_PMU, "compare.bpf_pmu_busy_ratio", "bpf-pmu", UNIT_RATIO,                      \
	  "busy ratio of source bpf-pmu")                                                          \
	X(M_SOFTIRQ_VEC, "vec", "softirq", UNIT_TEXT, "softirq vector")                            \
	X(M_SOFTIRQ_RATIO, "softirq_ratio", "time", UNIT_RATIO, "share spent in this softirq vector") \
	X(M_SOFTIRQ_COUNT, "softirq_total", "runs", UNIT_COUNT, "times the vector's handler ran")  \
	X(M_BURST_LE_NS, "le_ns", "up to", UNIT_NS, "upper edge of the bucket, inclusive")         \
	X(M_COUNT, "count", "count", UNIT_COUNT, "number of events")                               \
	X(M_MIN_NS, "min_ns", "min", UNIT_NS, "smallest")                                          \
	X(M_AVG_NS, "avg_ns", "avg", UNIT_NS, "sum over count")                                    \
	X(M_MAX_NS, "max_ns", "max", UNIT_NS, "largest")                                           \
	X(M_SUM_NS, "sum_ns", "sum", UNIT_NS, "sum")                                               \
	X(M_PERCENTILE_NS, "percentile_ns", "p", UNIT_NS, "percentile, linear inside its bucket")  \
	X(M_BUCKETS, "le", "le", UNIT_TABLE, "histogram: counts up to each edge")                  \
	X(M_TORN_TOTAL, "torn_total", "torn", UNIT_COUNT,                                          \
	  "samples given up because a core changed state faster than it could be read")            \
	X(M_ODD_EDGES_TOTAL, "odd_edges_total", "odd edges", UNIT_COUNT,                           \
	  "context exits without their entry, or the reverse")                                     \
	X(M_PAUSED_LOST_TOTAL, "paused_softirq_lost_total", "lost pauses", UNIT_COUNT,             \
	  "preempted softirqs beyond those that one core can remember")                            \
	X(M_RECURSION_MISSES_TOTAL, "recursion_misses_total", "misses", UNIT_COUNT,                \
	  "events the kernel dropped because the program was already running on that core")        \
	X(M_MULTIPLEXED_TOTAL, "multiplexed_total", "multiplexed", UNIT_COUNT,                     \
	  "counter reads in which the counter did not run all the time")                           \
	X(M_READ_ERROR_TOTAL, "read_error_total", "read errors", UNIT_COUNT, "reads that failed")  \
	X(M_CLOSURE_MAX_RATIO, "closure_error_max_ratio", "closure", UNIT_RATIO,                   \
	  "largest closure error of any CPU")                                                      \
	X(M_STEAL_KNOWN, "steal_known", "steal known", UNIT_BOOL,                                  \
	  "whether this kernel accounts stolen time; if not, steal_ratio is null")                 \
	X(M_CHECK, "check", "check", UNIT_TEXT, "what was looked at")                              \
	X(M_STATUS, "status", "status", UNIT_TEXT, "ok, warn or no; for commands full, part or no") \
	X(M_DETAIL, "detail", "detail", UNIT_TEXT, "what was found, and why it matters")           \
	X(M_FIX, "fix", "fix", UNIT_TEXT, "what to do about it")                                   \
	X(M_COMMAND, "command", "command", UNIT_TEXT, "subcommand")

#define METRIC_ENUM(id, key, title, unit, help) id,
enum metric_id { METRICS(METRIC_ENUM) METRIC_NR };
#undef METRIC_ENUM

struct metric {
	const char *key;
	const char *title;
	enum unit unit;
	const char *help;
};

const struct metric *metric_get(enum metric_id id);

#endif
