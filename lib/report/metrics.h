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
	X(M_WAKE_INDEX, "index", "idx", UNIT_ID, "idle state that was requested, by its number")    \
	X(M_WAKE_NAME, "name", "state", UNIT_TEXT, "idle state that was requested")                \
	X(M_WAKE_SOURCE, "source", "source", UNIT_TEXT, "what woke the core: timer, remote, nic or passive") \
	X(M_WAKE_CLAIMED_NS, "claimed_ns", "claimed", UNIT_NS, "exit latency that the cpuidle driver claims") \
	X(M_WAKE_COUNT, "count", "count", UNIT_COUNT, "wake-ups that count")                       \
	X(M_WAKE_MIN_NS, "min_ns", "min", UNIT_NS, "shortest wake latency")                        \
	X(M_WAKE_MEDIAN_NS, "median_ns", "median", UNIT_NS, "median wake latency")                 \
	X(M_WAKE_MEAN_NS, "mean_ns", "mean", UNIT_NS, "mean wake latency")                         \
	X(M_WAKE_STDDEV_NS, "stddev_ns", "stddev", UNIT_NS, "standard deviation")                  \
	X(M_WAKE_MAX_NS, "max_ns", "max", UNIT_NS, "longest wake latency")                         \
	X(M_WAKE_NEAR_MAX_TOTAL, "near_max_total", ">90% max", UNIT_COUNT,                         \
	  "wake-ups that took over 90 % of the longest")                                           \
	X(M_WAKE_NEAR_MAX_RATIO, "near_max_ratio", ">90% max", UNIT_RATIO,                         \
	  "share of wake-ups that took over 90 % of the longest")                                  \
	X(M_WAKE_VERDICT, "verdict", "verdict", UNIT_TEXT,                                         \
	  "longest against claimed: within, exceeds, no-claim or no-points")                       \
	X(M_WAKE_SILENT_NS, "silent_median_ns", "silent", UNIT_NS,                                 \
	  "median silent time: from going idle to the launch")                                     \
	X(M_WAKE_EXIT_FIRST, "exit_first_total", "exit 1st", UNIT_COUNT,                           \
	  "wake-ups in which the idle exit event came before the interrupt handler")               \
	X(M_WAKE_IRQ_FIRST, "irq_first_total", "irq 1st", UNIT_COUNT,                              \
	  "wake-ups in which the handler ran inside the idle window")                              \
	X(M_WAKE_NO_IRQ, "no_irq_total", "no irq", UNIT_COUNT, "wake-ups without any interrupt")   \
	X(M_WAKE_USAGE, "usage_total", "entered", UNIT_COUNT,                                      \
	  "times the kernel entered the state during the run")                                     \
	X(M_WAKE_RESIDENCY_NS, "residency_ns", "resident", UNIT_NS,                                \
	  "time the kernel says it spent in the state during the run")                             \
	X(M_WAKE_HW_STATE, "name", "state", UNIT_TEXT, "core C-state that the hardware counts")     \
	X(M_WAKE_HW_NS, "hardware_ns", "time", UNIT_NS, "time the core spent there, by its residency counter") \
	X(M_WAKE_HW_RATIO, "hardware_ratio", "share", UNIT_RATIO, "that time over the sweep's")    \
	X(M_WAKE_ASKED, "asked_total", "asked", UNIT_COUNT, "points that were tried")              \
	X(M_WAKE_TAKEN, "taken_total", "taken", UNIT_COUNT, "points that count")                   \
	X(M_WAKE_OVERHEAD_NS, "overhead_ns", "overhead", UNIT_NS,                                  \
	  "cost of our own stamp on the way out of idle, already taken off")                       \
	X(M_WAKE_UNCERTAINTY_NS, "uncertainty_ns", "uncertainty", UNIT_NS,                         \
	  "how far a latency may be off: spread of the overhead, step of the clock, launch stamp") \
	X(M_WAKE_BUSY_MEDIAN_NS, "busy_median_ns", "busy irq", UNIT_NS,                            \
	  "median interrupt latency of the same core while it never idles")                        \
	X(M_WAKE_BUSY_MAX_NS, "busy_max_ns", "busy max", UNIT_NS,                                  \
	  "longest interrupt latency of the same core while it never idles")                       \
	X(M_WAKE_CLOCK_READ_NS, "clock_read_ns", "clock", UNIT_NS, "median cost of reading the clock") \
	X(M_WAKE_CLOCK_STEP_NS, "clock_step_ns", "step", UNIT_NS, "smallest step of the clock that was seen") \
	X(M_WAKE_REJ_BEFORE_IDLE, "rejected.before_idle_total", "before idle", UNIT_COUNT,         \
	  "events that were due before the core went idle, or that found it busy")                 \
	X(M_WAKE_REJ_WOKEN_EARLY, "rejected.woken_early_total", "woken early", UNIT_COUNT,         \
	  "the core had idled, but something else woke it before the launch")                      \
	X(M_WAKE_REJ_OTHER_FIRST, "rejected.other_first_total", "other first", UNIT_COUNT,         \
	  "another interrupt or timer came between launch and ours")                               \
	X(M_WAKE_REJ_NEGATIVE, "rejected.negative_total", "negative", UNIT_COUNT,                  \
	  "awake before the launch, by the stamps")                                                \
	X(M_WAKE_REJ_ELSEWHERE, "rejected.elsewhere_total", "elsewhere", UNIT_COUNT,               \
	  "our timer ran on another CPU")                                                          \
	X(M_WAKE_REJ_NMI, "rejected.nmi_total", "NMI", UNIT_COUNT, "an NMI came in between")       \
	X(M_WAKE_REJ_LOST, "rejected.lost_total", "lost", UNIT_COUNT,                              \
	  "no launch was stamped, or no interrupt came")                                           \
	X(M_WAKE_REJ_OTHER, "rejected.not_a_timer_total", "not a timer", UNIT_COUNT,               \
	  "passive: idle exits without a timer behind them")                                       \
	X(M_WAKE_REJ_ODD, "rejected.odd_state_total", "odd state", UNIT_COUNT,                     \
	  "wake-ups from a state number that the driver does not have")                            \
	X(M_WAKE_STAGE, "stage", "stage", UNIT_TEXT,                                               \
	  "what the core had reached: exit, interrupt, timer, switch or user")                     \
	X(M_WAKE_STEP_NS, "step_median_ns", "step", UNIT_NS, "median time since the stage before") \
	X(M_WAKE_PRE_TIMER_NS, "timer_median_ns", "timer", UNIT_NS, "median wake latency by timer") \
	X(M_WAKE_PRE_REMOTE_NS, "remote_median_ns", "remote", UNIT_NS,                             \
	  "median wake latency by another core")                                                   \
	X(M_WAKE_PRE_NS, "prewake_ns", "pre-wake", UNIT_NS,                                        \
	  "how much earlier the timer's wake-up is, as the core knows its own timer")              \
	X(M_WAKE_PRE_RATIO, "prewake_ratio", "share", UNIT_RATIO, "pre-wake over the remote median") \
	X(M_WAKE_PRE_REAL, "significant", "significant", UNIT_BOOL,                                \
	  "whether the pre-wake is beyond the uncertainty of both medians")                        \
	X(M_WAKE_DRIVER, "driver", "driver", UNIT_TEXT, "cpuidle driver, none without one")        \
	X(M_WAKE_GOVERNOR, "governor", "governor", UNIT_TEXT, "cpuidle governor")                  \
	X(M_WAKE_GUEST, "guest", "guest", UNIT_TEXT,                                               \
	  "hypervisor, if this is a guest: its exit latencies are mostly the host's")              \
	X(M_WAKE_HALTPOLL, "haltpoll", "haltpoll", UNIT_BOOL,                                      \
	  "whether the guest spins before it halts")                                               \
	X(M_WAKE_FROM_NS, "from_ns", "from", UNIT_NS, "shortest launch distance")                  \
	X(M_WAKE_TO_NS, "to_ns", "to", UNIT_NS, "launch distances end here")                       \
	X(M_WAKE_STEP_RATIO, "step_ratio", "step", UNIT_RATIO, "growth of the launch distance per step") \
	X(M_WAKE_POINTS_STEP, "points_per_step_total", "points/step", UNIT_COUNT, "points asked per step") \
	X(M_WAKE_POINT_NR, "point", "point", UNIT_ID, "number of the point, in the order in which it was taken") \
	X(M_WAKE_LAUNCH_NS, "launch_ns", "launch", UNIT_NS, "launch time, CLOCK_MONOTONIC")        \
	X(M_WAKE_DISTANCE_NS, "distance_ns", "launch distance", UNIT_NS, "launch distance asked for") \
	X(M_WAKE_POINT_SILENT_NS, "silent_ns", "silent time", UNIT_NS, "from going idle to the launch") \
	X(M_WAKE_LATENCY_NS, "latency_ns", "wake latency", UNIT_NS, "from launch to the first sign of life") \
	X(M_WAKE_IRQ_NS, "irq_ns", "interrupt", UNIT_NS, "from launch to the interrupt handler")   \
	X(M_WAKE_EXPIRE_NS, "timer_ns", "timer", UNIT_NS, "from launch to the timer's own handler") \
	X(M_WAKE_SWITCH_NS, "switch_ns", "switch", UNIT_NS, "from launch to the switch to the worker") \
	X(M_WAKE_USER_NS, "user_ns", "user", UNIT_NS, "from launch to user code")                  \
	X(M_WAKE_ORDER, "order", "order", UNIT_TEXT, "exit-first, irq-first or no-irq")            \
	X(M_WAKE_REJECT, "rejected", "rejected", UNIT_TEXT, "why the point does not count; null if it does") \
	X(M_WAKE_PHC_DRIFT_PPB, "phc_drift_ppb", "drift", UNIT_COUNT,                              \
	  "nic: largest rate of the card's clock against the system's, parts per 10⁹")             \
	X(M_WAKE_PHC_HALF_NS, "phc_half_window_ns", "PHC ±", UNIT_NS,                              \
	  "nic: half of the tightest clock reading, worst batch")                                  \
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
