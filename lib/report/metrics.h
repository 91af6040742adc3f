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
	  "share of the window in which the core did work: tasks, interrupts, softirqs, idle loop") \
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
	X(M_COMMAND, "command", "command", UNIT_TEXT, "subcommand")                                \
	X(M_CRIT_ENGINE, "engine", "engine", UNIT_TEXT, "module or bpf")                           \
	X(M_CRIT_UNIT, "unit", "unit", UNIT_TEXT,                                                  \
	  "unit of every figure of the engine: ns or cycles")                                      \
	X(M_CRIT_NR_SAMPLES, "nr_samples", "samples", UNIT_COUNT,                                  \
	  "pairs timed per CPU, operation and round")                                              \
	X(M_CRIT_NR_HIGHEST, "nr_highest", "highest", UNIT_COUNT,                                  \
	  "samples that max_avg is the average of")                                                \
	X(M_CRIT_DO_WORK, "do_work", "work", UNIT_BOOL,                                            \
	  "whether the pairs enclosed simulated work")                                             \
	X(M_CRIT_ROUNDS, "rounds", "rounds", UNIT_COUNT,                                           \
	  "whole benchmarks run; low and high are their extremes")                                 \
	X(M_CRIT_OP, "op", "operation", UNIT_TEXT,                                                 \
	  "irq, preempt or irq_save: a disable and an enable")                                     \
	X(M_CRIT_MEDIAN_NS, "median", "median", UNIT_NS, "median cost of a pair")                  \
	X(M_CRIT_MEDIAN_CYCLES, "median", "median", UNIT_CYCLES, "median cost of a pair")          \
	X(M_CRIT_AVERAGE_NS, "average", "average", UNIT_NS, "average cost of a pair")              \
	X(M_CRIT_AVERAGE_CYCLES, "average", "average", UNIT_CYCLES, "average cost of a pair")      \
	X(M_CRIT_MAX_NS, "max", "max", UNIT_NS, "highest single cost of a pair")                   \
	X(M_CRIT_MAX_CYCLES, "max", "max", UNIT_CYCLES, "highest single cost of a pair")           \
	X(M_CRIT_MAX_AVG_NS, "max_avg", "max avg", UNIT_NS,                                        \
	  "average of the nr_highest highest costs")                                               \
	X(M_CRIT_MAX_AVG_CYCLES, "max_avg", "max avg", UNIT_CYCLES,                                \
	  "average of the nr_highest highest costs")                                               \
	X(M_CRIT_PERCENTILE_NS, "percentile", "p", UNIT_NS,                                        \
	  "percentile of the cost of a pair, nearest rank")                                        \
	X(M_CRIT_PERCENTILE_CYCLES, "percentile", "p", UNIT_CYCLES,                                \
	  "percentile of the cost of a pair, nearest rank")                                        \
	X(M_CRIT_BATCH_NS, "batch", "batch", UNIT_NS,                                              \
	  "cost of a pair when many run between two clock reads; finer than the clock")            \
	X(M_CRIT_BATCH_CYCLES, "batch", "batch", UNIT_CYCLES,                                      \
	  "cost of a pair when many run between two clock reads; finer than the clock")            \
	X(M_CRIT_DIFFERENCE_NS, "difference", "difference", UNIT_NS,                               \
	  "by how much the cost differs")                                                          \
	X(M_CRIT_DIFFERENCE_CYCLES, "difference", "difference", UNIT_CYCLES,                       \
	  "by how much the cost differs")                                                          \
	X(M_CRIT_EXCEEDS, "exceeds_spread", "beyond spread", UNIT_BOOL,                            \
	  "whether no round of one side is within the range of the other's")                       \
	X(M_CRIT_CLOCK_NS, "clock_ns", "clock", UNIT_NS,                                           \
	  "two clock reads with nothing between them")                                             \
	X(M_CRIT_CALL_NS, "call_ns", "empty calls", UNIT_NS,                                       \
	  "a pair of kfunc calls that do next to nothing")                                         \
	X(M_CRIT_STEP_NS, "clock_step_ns", "clock step", UNIT_NS,                                  \
	  "one step of the clock, or one cycle of engine module")                                  \
	X(M_CRIT_BELOW_TOTAL, "below_overhead_total", "below overhead", UNIT_COUNT,                \
	  "samples shorter than the overhead, counted as 0")

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
