/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keys, titles, units and help texts of all metrics. */
#ifndef SUBTICK_REPORT_METRIC_LIST_H
#define SUBTICK_REPORT_METRIC_LIST_H

#include "report/metric_list_audit.h"

/* `subtick crit` measures in ns or in cycles, so each of its metrics exists in both units. */
#define CRIT_METRIC(X, name, key, title, help)                      \
	X(M_CRIT_##name##_NS, key, title, UNIT_NS, help)            \
	X(M_CRIT_##name##_CYCLES, key, title, UNIT_CYCLES, help)

/*
 * X(id, key, title, unit, help). The key is the name of the metric in JSON and CSV, and ends in the
 * unit. A dot in a key makes a nested JSON object: the key "compare.x" is written as
 * "compare":{"x":…}. The title is the column heading in text output. Metrics of loss counters
 * follow from base/losses.h: M_torn_total has the key "torn_total".
 */
#define METRICS(X)                                                                                 \
	X(M_CPU, "cpu", "CPU", UNIT_ID, "CPU number")                                              \
	X(M_CORE, "core", "core", UNIT_ID, "number of the physical core, unique in its package")     \
	X(M_LLC, "llc", "LLC", UNIT_ID, "number of the last-level cache")                          \
	X(M_NODE, "node", "node", UNIT_ID, "number of the NUMA node")                              \
	X(M_PACKAGE, "package", "package", UNIT_ID, "number of the package (socket)")              \
	X(M_SIBLINGS, "cpus", "CPUs", UNIT_TEXT, "online CPUs of the physical core")               \
	X(M_NONE_BUSY_RATIO, "none_busy_ratio", "none busy", UNIT_RATIO,                           \
	  "share of the window in which none of these CPUs was busy")                              \
	X(M_ONE_BUSY_RATIO, "one_busy_ratio", "one busy", UNIT_RATIO,                              \
	  "share of the window in which exactly one of two CPUs was busy; null if the core has one CPU") \
	X(M_ALL_BUSY_RATIO, "all_busy_ratio", "all busy", UNIT_RATIO,                              \
	  "share of the window in which all of these CPUs were busy at the same time")             \
	X(M_CORE_CLOSURE_RATIO, "closure_error_ratio", "closure", UNIT_RATIO,                      \
	  "disagreement of the siblings with each other and with their busy ratios")               \
	X(M_PAIR_CGROUP, "cgroup", "cgroup", UNIT_TEXT, "cgroup of the running task")              \
	X(M_PAIR_SIBLING, "sibling_cgroup", "on the sibling", UNIT_TEXT,                           \
	  "cgroup of the task that ran on the other hyperthread of the physical core")             \
	X(M_PAIR_RUN_NS, "run_ns", "ran", UNIT_NS, "CPU time of the cgroup, with interrupts on top") \
	X(M_PAIR_NS, "shared_ns", "shared", UNIT_NS,                                               \
	  "CPU time of the cgroup while sibling_cgroup ran on the other hyperthread")              \
	X(M_PAIR_RATIO, "shared_ratio", "of its time", UNIT_RATIO, "shared_ns divided by run_ns")  \
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
	  "share spent polling while idle: a cycle counter counts it as busy, the kernel as idle") \
	X(M_IDLE_RATIO, "idle_ratio", "idle", UNIT_RATIO, "share of the window in which the core was halted") \
	X(M_STEAL_RATIO, "steal_ratio", "steal", UNIT_RATIO,                                       \
	  "share of the window in which the core had work, but the hypervisor did not run the core") \
	X(M_UNKNOWN_RATIO, "unknown_ratio", "unknown", UNIT_RATIO,                                 \
	  "share whose context is unknown, such as before the first event of a core")              \
	X(M_CLOSURE_ERROR_RATIO, "closure_error_ratio", "closure", UNIT_RATIO,                     \
	  "difference between the sum of the parts and the window")                                \
	X(M_CPU_WINDOW_NS, "window_ns", "window", UNIT_NS,                                         \
	  "the window of this CPU, by its own timestamps")                                         \
	X(M_FLAGS, "flags", "flags", UNIT_TEXT,                                                    \
	  "caveats about this figure; empty if there are none")                                    \
	X(M_CMP_PROCSTAT, "compare.procstat_busy_ratio", "procstat", UNIT_RATIO,                   \
	  "busy columns of /proc/stat ÷ the sum of its columns, as mpstat and htop show it")       \
	X(M_CMP_PROCIDLE, "compare.procidle_busy_ratio", "procidle", UNIT_RATIO,                   \
	  "1 − idle columns of /proc/stat ÷ wall time")                                            \
	X(M_CMP_SCHEDSTAT, "compare.schedstat_busy_ratio", "schedstat", UNIT_RATIO,                \
	  "time that tasks ran (/proc/schedstat) ÷ wall time")                                    \
	X(M_CMP_TASKCLOCK, "compare.taskclock_busy_ratio", "taskclock", UNIT_RATIO,                \
	  "time between each task's switch in and out ÷ wall time, as task clocks count it")       \
	X(M_CMP_PERF_TSC, "compare.perf_tsc_busy_ratio", "perf-tsc", UNIT_RATIO,                   \
	  "unhalted constant-rate cycles ÷ cycle clock")                                           \
	X(M_CMP_PERF_CAL, "compare.perf_calibrated_busy_ratio", "perf-cal", UNIT_RATIO,            \
	  "unhalted constant-rate cycles ÷ (enabled time × calibrated rate)")                      \
	X(M_CMP_BPF, "compare.bpf_busy_ratio", "bpf", UNIT_RATIO, "busy ratio of source bpf")      \
	X(M_CMP_BPF_PMU, "compare.bpf_pmu_busy_ratio", "bpf-pmu", UNIT_RATIO,                      \
	  "busy ratio of source bpf-pmu")                                                          \
	X(M_WRONG_RATIO, "wrong_ratio", "wrong from", UNIT_RATIO,                                  \
	  "a source is called wrong if its error is larger than this")                             \
	X(M_SOFTIRQ_VEC, "vec", "softirq", UNIT_TEXT, "softirq vector")                            \
	X(M_SOFTIRQ_RATIO, "softirq_ratio", "time", UNIT_RATIO, "share spent in this softirq vector") \
	X(M_SOFTIRQ_COUNT, "softirq_total", "runs", UNIT_COUNT, "times the vector's handler ran")  \
	X(M_IRQ, "irq", "irq", UNIT_ID, "number of the interrupt line; null if it is no device's")  \
	X(M_IRQ_HANDLER, "handler", "handler", UNIT_TEXT,                                          \
	  "name of the handler as in /proc/interrupts, or purpose of the IPI")                     \
	X(M_IRQ_RATIO, "irq_ratio", "time", UNIT_RATIO, "share spent in this line's handler")      \
	X(M_IRQ_COUNT, "irq_total", "count", UNIT_COUNT, "times the handler ran")                  \
	X(M_TASK_SHARE_RATIO, "task_share_ratio", "of core", UNIT_RATIO,                           \
	  "share of the core's window that the task had, without interrupts and softirqs on top")  \
	X(M_OF_TASKS_RATIO, "of_tasks_ratio", "of tasks", UNIT_RATIO,                              \
	  "share of the time of all tasks on the core")                                            \
	X(M_TASK_COUNT, "switches_total", "runs", UNIT_COUNT, "times the task left the core")      \
	X(M_BURST_LE_NS, "le_ns", "up to", UNIT_NS, "upper edge of the bucket, inclusive")         \
	X(M_COUNT, "count", "count", UNIT_COUNT, "number of events")                               \
	X(M_AVG_NS, "avg_ns", "avg", UNIT_NS, "sum ÷ count")                                       \
	X(M_MAX_NS, "max_ns", "max", UNIT_NS, "largest")                                           \
	X(M_SUM_NS, "sum_ns", "sum", UNIT_NS, "sum")                                               \
	X(M_PERCENTILE_NS, "percentile_ns", "p", UNIT_NS, "percentile, linear inside its bucket")  \
	X(M_BUCKETS, "le", "le", UNIT_TABLE, "histogram: counts up to each edge")                  \
	X(M_CLOSURE_MAX_RATIO, "closure_error_max_ratio", "closure", UNIT_RATIO,                   \
	  "largest closure error of any CPU")                                                      \
	X(M_STEAL_KNOWN, "steal_known", "steal known", UNIT_BOOL,                                  \
	  "whether this kernel accounts stolen time; if not, steal_ratio is null")                 \
	X(M_CHECK, "check", "check", UNIT_TEXT, "what was checked")                                \
	X(M_STATUS, "status", "status", UNIT_TEXT, "ok, warn or no; for commands full, part or no") \
	X(M_DETAIL, "detail", "detail", UNIT_TEXT, "what was found, and what it means")            \
	X(M_FIX, "fix", "fix", UNIT_TEXT, "command or setting that fixes it")                      \
	X(M_RULE, "rule", "rule", UNIT_TEXT, "the rule that made the finding")                     \
	X(M_FINDING, "finding", "finding", UNIT_TEXT, "what takes time, in one sentence")          \
	X(M_LOST_NS, "lost_ns", "lost", UNIT_NS,                                                   \
	  "time lost to the cause, or hidden, in the window")                                      \
	X(M_NEXT, "next", "next", UNIT_TEXT, "next command or setting")                            \
	X(M_FINDING_CAUSE, "cause", "cause", UNIT_TEXT, "kind of culprit: quota, task, softirq")   \
	X(M_FINDING_SHARE, "share_ratio", "share", UNIT_RATIO,                                     \
	  "share of the victim's waiting, or of the CPU's time")                                   \
	X(M_NEXT_COMMAND, "next_command", "command", UNIT_TEXT, "shell command that helps")        \
	X(M_NEXT_SETTING, "next_setting", "setting", UNIT_TEXT,                                    \
	  "PATH=VALUE: file to write, and the value that helps")                                   \
	X(M_COMMAND, "command", "command", UNIT_TEXT, "subcommand")                                \
	X(M_TRY_SETTING, "setting", "setting", UNIT_TEXT, "file that the experiment changed, as given") \
	X(M_TRY_WAS, "original", "original", UNIT_TEXT, "value before and after the experiment")   \
	X(M_TRY_NOW, "changed", "changed", UNIT_TEXT, "value in the changed rounds")               \
	X(M_TRY_A, "a", "a", UNIT_TEXT, "command before each original round; null with --set")     \
	X(M_TRY_B, "b", "b", UNIT_TEXT, "command before each changed round; null with --set")      \
	X(M_TRY_ROUNDS, "rounds", "pairs", UNIT_COUNT, "complete pairs of an original and a changed round") \
	X(M_TRY_PLANNED, "planned_rounds", "of", UNIT_COUNT, "pairs that were planned")            \
	X(M_TRY_EACH_NS, "each_ns", "each", UNIT_NS, "length of a round")                          \
	X(M_TRY_SETTLE_NS, "settle_ns", "settle", UNIT_NS, "time after each change that is not measured") \
	X(M_TRY_SEED, "seed", "seed", UNIT_ID, "seed of the order of rounds")                      \
	X(M_TRY_RESTORED, "restored", "restored", UNIT_BOOL,                                       \
	  "whether every setting had its original value at the end; false also if another program changed one") \
	X(M_TRY_ENDED, "ended_early", "ended early", UNIT_TEXT, "why the experiment ended early; null if it did not") \
	X(M_TRY_WATCHED, "watched", "watched", UNIT_BOOL,                                          \
	  "named with --watch, with everything below it; false: another cgroup that the change affected") \
	X(M_TRY_FIGURE, "figure", "figure", UNIT_TEXT,                                             \
	  "wait: mean wait for a core; p99: 99th percentile of the waits; cpu: CPU time per second") \
	X(M_TRY_ORIGINAL_NS, "original_ns", "original", UNIT_NS, "geometric mean over the original rounds") \
	X(M_TRY_CHANGED_NS, "changed_ns", "changed", UNIT_NS, "geometric mean over the changed rounds") \
	X(M_TRY_EFFECT_RATIO, "effect_ratio", "effect", UNIT_RATIO, "changed ÷ original − 1")      \
	X(M_TRY_LOW_RATIO, "effect_low_ratio", "from", UNIT_RATIO,                                 \
	  "lower end of the 95 % interval of the effect; simultaneous for cgroups that are not "   \
	  "watched")                                                                               \
	X(M_TRY_HIGH_RATIO, "effect_high_ratio", "to", UNIT_RATIO, "upper end of the interval")    \
	X(M_TRY_P_RATIO, "p_ratio", "p", UNIT_RATIO,                                               \
	  "exact permutation test, two-sided: chance of an effect this large without any; watched cgroups only") \
	X(M_TRY_FOUND, "found", "found", UNIT_BOOL,                                                \
	  "the interval excludes 0 and p is at most 5 %; null with fewer than 6 pairs")            \
	X(M_TRY_DETECTABLE_RATIO, "detectable_ratio", "detectable", UNIT_RATIO,                    \
	  "an effect of this size would have been found in 95 of 100 experiments")                 \
	X(M_TRY_USED, "pairs_total", "used", UNIT_COUNT, "pairs in which both rounds have the figure") \
	X(M_TRY_CONTROL_RATIO, "control_ratio", "control", UNIT_RATIO,                             \
	  "A/A control: every second original round compared with the previous original round")    \
	X(M_TRY_DURING, "during", "rounds", UNIT_TEXT, "original or changed")                            \
	X(M_TRY_PAIR, "pair", "pair", UNIT_ID, "number of the pair, from 1")                       \
	X(M_TRY_FIRST, "first", "first", UNIT_TEXT, "which of the two rounds was first: original or changed") \
	X(M_CRIT_ENGINE, "engine", "engine", UNIT_TEXT, "module or bpf")                           \
	X(M_CRIT_UNIT, "unit", "unit", UNIT_TEXT, "unit of the engine's figures: ns or cycles")    \
	X(M_CRIT_RECOMMENDED, "recommended", "recommended", UNIT_TEXT,                             \
	  "figure that is the cost of a pair: batch, or median if the engine has no batch")        \
	X(M_CRIT_PERCENTILE_CPU, "percentile_cpu", "percentiles of CPU", UNIT_ID,                  \
	  "the CPU of the percentiles; missing: all CPUs")                                         \
	X(M_CRIT_NR_SAMPLES, "nr_samples", "samples", UNIT_COUNT,                                  \
	  "pairs timed per CPU, operation and round")                                              \
	X(M_CRIT_NR_HIGHEST, "nr_highest", "highest", UNIT_COUNT,                                  \
	  "max_avg is the average of this many highest samples")                                   \
	X(M_CRIT_DO_WORK, "do_work", "work", UNIT_BOOL,                                            \
	  "whether the pairs enclosed simulated work")                                             \
	X(M_CRIT_ROUNDS, "rounds", "rounds", UNIT_COUNT,                                           \
	  "rounds of the benchmark; low and high are the lowest and highest round")                \
	X(M_CRIT_OP, "op", "operation", UNIT_TEXT,                                                 \
	  "irq, preempt or irq_save: a pair of disable and enable")                                \
	CRIT_METRIC(X, MEDIAN, "median", "median", "median cost of a pair")                        \
	CRIT_METRIC(X, AVERAGE, "average", "average", "average cost of a pair")                    \
	CRIT_METRIC(X, MAX, "max", "max", "highest single cost of a pair")                         \
	CRIT_METRIC(X, MAX_AVG, "max_avg", "max avg",                                              \
	  "average of the nr_highest highest costs")                                               \
	CRIT_METRIC(X, PERCENTILE, "percentile", "p",                                              \
	  "percentile of the cost of a pair, nearest rank")                                        \
	CRIT_METRIC(X, BATCH, "batch", "batch",                                                    \
	  "cost of a pair if many run between two clock reads; finer than the clock's step")       \
	CRIT_METRIC(X, DIFFERENCE, "difference", "difference", "difference of the costs")          \
X(M_DIFF_NAME, "name", "of", UNIT_TEXT, "CPU, cgroup, idle state or operation")             \
	X(M_DIFF_FIGURE, "figure", "figure", UNIT_TEXT, "key of the figure in the JSON of the command") \
	X(M_DIFF_BEFORE_RATIO, "before_ratio", "before", UNIT_RATIO, "mean of the windows of the first file") \
	X(M_DIFF_AFTER_RATIO, "after_ratio", "after", UNIT_RATIO, "mean of the windows of the second file") \
	X(M_DIFF_BEFORE_NS, "before_ns", "before", UNIT_NS, "mean of the windows of the first file") \
	X(M_DIFF_AFTER_NS, "after_ns", "after", UNIT_NS, "mean of the windows of the second file")  \
	X(M_DIFF_BEFORE_HZ, "before_hz", "before", UNIT_HZ, "mean of the windows of the first file") \
	X(M_DIFF_AFTER_HZ, "after_hz", "after", UNIT_HZ, "mean of the windows of the second file")  \
	X(M_DIFF_BEFORE_CYCLES, "before_cycles", "before", UNIT_CYCLES, "mean of the rounds of the first file") \
	X(M_DIFF_AFTER_CYCLES, "after_cycles", "after", UNIT_CYCLES, "mean of the rounds of the second file") \
	X(M_DIFF_CHANGE, "change_ratio", "change", UNIT_RATIO, "after ÷ before - 1")               \
	X(M_DIFF_LOW, "change_low_ratio", "at least", UNIT_RATIO, "lower end of the interval of the change") \
	X(M_DIFF_HIGH, "change_high_ratio", "at most", UNIT_RATIO, "upper end of the interval of the change") \
	X(M_DIFF_CHANGED, "changed", "changed", UNIT_BOOL,                                         \
	  "whether the interval excludes 0; null if a file has too few windows, points or rounds")  \
	X(M_DIFF_BEFORE_FILE, "before_file", "before", UNIT_TEXT, "the first file")                \
	X(M_DIFF_AFTER_FILE, "after_file", "after", UNIT_TEXT, "the second file")                  \
	X(M_DIFF_BEFORE_WINDOWS, "before_windows_total", "windows before", UNIT_COUNT, "windows of the first file") \
	X(M_DIFF_AFTER_WINDOWS, "after_windows_total", "windows after", UNIT_COUNT, "windows of the second file") \
	X(M_DIFF_COMPARED, "compared_total", "compared", UNIT_COUNT,                               \
	  "figures with enough windows on both sides for a comparison")                            \
	X(M_DIFF_CHANGED_TOTAL, "changed_total", "changed", UNIT_COUNT,                            \
	  "compared figures that changed")                                                         \
	X(M_DIFF_CONFIDENCE, "confidence_ratio", "confidence", UNIT_RATIO, "probability that all intervals together contain the true changes") \
	X(M_CRIT_EXCEEDS, "exceeds_spread", "beyond spread", UNIT_BOOL,                            \
	  "whether the ranges of the rounds do not overlap")                                       \
	X(M_CRIT_CLOCK_NS, "clock_ns", "clock", UNIT_NS,                                           \
	  "two clock reads with nothing between them")                                             \
	X(M_CRIT_CALL_NS, "call_ns", "empty calls", UNIT_NS,                                       \
	  "a pair of kfunc calls that do almost nothing")                                          \
	X(M_CRIT_STEP_NS, "clock_step_ns", "clock step", UNIT_NS,                                  \
	  "one step of the clock; for engine module, one cycle")                                   \
	X(M_CRIT_BELOW_TOTAL, "below_overhead_total", "below overhead", UNIT_COUNT,                \
	  "samples shorter than the overhead, counted as 0")                                       \
	METRICS_AUDIT(X)                                                                           \
	X(M_WAKE_INDEX, "index", "idx", UNIT_ID, "idle state that was requested, by its number")   \
	X(M_WAKE_NAME, "name", "state", UNIT_TEXT, "idle state that was requested")                \
	X(M_WAKE_SOURCE, "source", "source", UNIT_TEXT,                                            \
	  "source of the wake-up: timer, remote, nic or passive")                                  \
	X(M_WAKE_FORCED, "forced", "only", UNIT_TEXT,                                             \
	  "only idle state that was allowed; null: all states that were allowed before")           \
	X(M_WAKE_PREFERENCE, "preference", "preference", UNIT_TEXT, "energy performance preference or bias that was set; null: as before") \
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
	  "longest latency against claimed latency: within, exceeds, no-claim, no-points, not-entered, core-only") \
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
	  "time in the state during the run, by the kernel's counter")                             \
	X(M_WAKE_ABOVE, "above_total", "too short", UNIT_COUNT,                                   \
	  "stays that were too short for the state, by the kernel's counter")                     \
	X(M_WAKE_BELOW, "below_total", "too long", UNIT_COUNT,                                    \
	  "stays that were long enough for a deeper state, by the kernel's counter")              \
	X(M_WAKE_REFUSED, "refused_total", "refused", UNIT_COUNT,                                 \
	  "entries that the driver or the firmware refused, by the kernel's counter")             \
	X(M_WAKE_ENTERED_TOTAL, "entered_total", "entered", UNIT_COUNT,                           \
	  "wake-ups for which a counter shows that the state was entered")                        \
	X(M_WAKE_ENTERED_RATIO, "entered_ratio", "entered", UNIT_RATIO,                           \
	  "share of wake-ups for which a counter shows that the state was entered")               \
	X(M_WAKE_ENTERED_BY, "entered_by", "by", UNIT_TEXT,                                       \
	  "counter of entered_total: cstate_core (hardware), cpuidle (kernel), or null")           \
	X(M_WAKE_ENTERED_MAX_NS, "entered_max_ns", "longest entered", UNIT_NS,                    \
	  "longest wake latency of the wake-ups in entered_total, or of all if that is unknown; "  \
	  "the verdict compares it")                                                               \
	X(M_WAKE_PACKAGE_TOTAL, "package_slept_total", "package slept", UNIT_COUNT,               \
	  "wake-ups in entered_total during which the package was in PC3 or deeper; null "         \
	  "without a counter")                                                                     \
	X(M_WAKE_HW_STATE, "name", "state", UNIT_TEXT, "C-state that the hardware counts; PC: of the package") \
	X(M_WAKE_HW_NS, "hardware_ns", "time", UNIT_NS,                                            \
	  "time spent in the state, by its residency counter")                                     \
	X(M_WAKE_HW_RATIO, "hardware_ratio", "share", UNIT_RATIO,                                  \
	  "hardware_ns ÷ the time of the sweep")                                                   \
	X(M_WAKE_REQUESTED, "requested_total", "requested", UNIT_COUNT, "points that were tried")              \
	X(M_WAKE_TAKEN, "taken_total", "taken", UNIT_COUNT, "points that count")                   \
	X(M_WAKE_OVERHEAD_NS, "overhead_ns", "overhead", UNIT_NS,                                  \
	  "estimated time from the idle exit to subtick's own timestamp, already subtracted")      \
	X(M_WAKE_UNCERTAINTY_NS, "uncertainty_ns", "uncertainty", UNIT_NS,                         \
	  "error bound of a latency: spread of the overhead, step of the clock, launch timestamp") \
	X(M_WAKE_BUSY_MEDIAN_NS, "busy_median_ns", "busy irq", UNIT_NS,                            \
	  "median interrupt latency of the same core while it never idles")                        \
	X(M_WAKE_BUSY_MAX_NS, "busy_max_ns", "busy max", UNIT_NS,                                  \
	  "longest interrupt latency of the same core while it never idles")                       \
	X(M_WAKE_CLOCK_READ_NS, "clock_read_ns", "clock", UNIT_NS, "median cost of reading the clock") \
	X(M_WAKE_CLOCK_STEP_NS, "clock_step_ns", "step", UNIT_NS, "smallest step of the clock that was seen") \
	X(M_WAKE_REJ_BEFORE_IDLE, "rejected.before_idle_total", "before idle", UNIT_COUNT,         \
	  "the core was not idle at the launch")                                                   \
	X(M_WAKE_REJ_WOKEN_EARLY, "rejected.woken_early_total", "woken early", UNIT_COUNT,         \
	  "the core was idle, but another event woke it before the launch")                        \
	X(M_WAKE_REJ_OTHER_FIRST, "rejected.other_first_total", "other first", UNIT_COUNT,         \
	  "another interrupt or timer came first after the launch")                                \
	X(M_WAKE_REJ_NEGATIVE, "rejected.negative_total", "negative", UNIT_COUNT,                  \
	  "the core was awake before the launch, by the timestamps")                               \
	X(M_WAKE_REJ_ELSEWHERE, "rejected.elsewhere_total", "elsewhere", UNIT_COUNT,               \
	  "the timer ran on another CPU")                                                          \
	X(M_WAKE_REJ_NMI, "rejected.nmi_total", "NMI", UNIT_COUNT, "an NMI came in between")       \
	X(M_WAKE_REJ_LOST, "rejected.lost_total", "lost", UNIT_COUNT,                              \
	  "no launch was stamped, or no interrupt came")                                           \
	X(M_WAKE_REJ_OTHER, "rejected.not_a_timer_total", "not a timer", UNIT_COUNT,               \
	  "passive: idle exits that no timer caused")                                              \
	X(M_WAKE_REJ_ODD, "rejected.odd_state_total", "odd state", UNIT_COUNT,                     \
	  "wake-ups from a state number that the driver lacks")                                    \
	X(M_WAKE_STAGE, "stage", "stage", UNIT_TEXT,                                               \
	  "stage that the core had reached: exit, interrupt, timer, switch or user")               \
	X(M_WAKE_STEP_NS, "step_median_ns", "step", UNIT_NS,                                       \
	  "median time since the previous stage")                                                  \
	X(M_WAKE_PRE_TIMER_NS, "timer_median_ns", "timer", UNIT_NS, "median wake latency by timer") \
	X(M_WAKE_PRE_REMOTE_NS, "remote_median_ns", "remote", UNIT_NS,                             \
	  "median wake latency by another core")                                                   \
	X(M_WAKE_PRE_NS, "prewake_ns", "pre-wake", UNIT_NS,                                        \
	  "remote median − timer median: a core can start to wake before its own timer expires")   \
	X(M_WAKE_PRE_RATIO, "prewake_ratio", "share", UNIT_RATIO, "pre-wake ÷ remote median")      \
	X(M_WAKE_PRE_REAL, "significant", "significant", UNIT_BOOL,                                \
	  "whether the pre-wake exceeds the uncertainty of both medians")                          \
	X(M_WAKE_DRIVER, "driver", "driver", UNIT_TEXT, "cpuidle driver, none without one")        \
	X(M_WAKE_GOVERNOR, "governor", "governor", UNIT_TEXT, "cpuidle governor")                  \
	X(M_WAKE_GUEST, "guest", "guest", UNIT_TEXT,                                               \
	  "hypervisor, if this is a guest: its exit latencies are mostly the host's")              \
	X(M_WAKE_HALTPOLL, "haltpoll", "haltpoll", UNIT_BOOL,                                      \
	  "whether the guest spins before it halts")                                               \
	X(M_WAKE_BUDGET_NS, "budget_ns", "budget", UNIT_NS, "wake latency that 99.9 % of the wake-ups may take") \
	X(M_WAKE_BUDGET_FITS, "fits", "fits", UNIT_BOOL, "whether an idle state fits the budget; null: none has enough points for a p99.9") \
	X(M_WAKE_BUDGET_NAME, "name", "deepest", UNIT_TEXT, "deepest idle state that fits")        \
	X(M_WAKE_BUDGET_LIMIT_NS, "limit_ns", "limit", UNIT_NS, "latency limit that allows this state and no deeper one; null: none is needed or possible") \
	X(M_WAKE_BUDGET_SETTING, "setting", "set", UNIT_TEXT,                                      \
	  "file and value that set limit_ns for this CPU")                                         \
	X(M_WAKE_BUDGET_DEEPER, "deeper_ratio", "lost idle", UNIT_RATIO, "share of idle time in deeper states, which the limit forbids: since boot, or in the window of passive") \
	X(M_MACHINE_HOST, "machine.host", "host", UNIT_TEXT, "name of the machine")               \
	X(M_MACHINE_KERNEL, "machine.kernel", "kernel", UNIT_TEXT, "release of the kernel")        \
	X(M_MACHINE_ARCH, "machine.arch", "arch", UNIT_TEXT, "architecture of the machine")        \
	X(M_MACHINE_CPU_MODEL, "machine.cpu_model", "CPU model", UNIT_TEXT,                        \
	  "model of the processors")                                                               \
	X(M_MACHINE_MICROCODE, "machine.microcode", "microcode", UNIT_TEXT,                        \
	  "revision of the microcode")                                                             \
	X(M_MACHINE_EPB, "machine.energy_perf_bias", "EPB", UNIT_TEXT,                            \
	  "energy performance bias of the measured CPUs, 0 (performance) to 15 (powersave), or mixed") \
	X(M_MACHINE_EPP, "machine.energy_performance_preference", "EPP", UNIT_TEXT,               \
	  "energy performance preference of the measured CPUs, or mixed")                         \
	X(M_MACHINE_SOCKETS, "machine.sockets_total", "sockets", UNIT_COUNT, "packages with an online CPU") \
	X(M_MACHINE_SMT, "machine.smt", "SMT", UNIT_BOOL, "whether hyperthreads are in use")      \
	X(M_MACHINE_CPUFREQ_DRIVER, "machine.cpufreq_driver", "cpufreq", UNIT_TEXT,               \
	  "cpufreq driver of the measured CPUs, or mixed")                                        \
	X(M_MACHINE_CPUFREQ_GOVERNOR, "machine.cpufreq_governor", "cpufreq governor", UNIT_TEXT,  \
	  "cpufreq governor of the measured CPUs, or mixed")                                      \
	X(M_WAKE_FROM_NS, "from_ns", "from", UNIT_NS, "smallest launch distance")                  \
	X(M_WAKE_TO_NS, "to_ns", "to", UNIT_NS, "largest launch distance")                         \
	X(M_WAKE_STEP_RATIO, "step_ratio", "step", UNIT_RATIO, "growth of the launch distance per step") \
	X(M_WAKE_POINTS_STEP, "points_per_step_total", "points/step", UNIT_COUNT,                  \
	  "points per step")                                                                       \
	X(M_WAKE_POINT_NR, "point", "point", UNIT_ID,                                              \
	  "number of the point, in the order of the measurement")                                  \
	X(M_WAKE_LAUNCH_NS, "launch_ns", "launch", UNIT_NS, "launch time, CLOCK_MONOTONIC")        \
	X(M_WAKE_DISTANCE_NS, "distance_ns", "launch distance", UNIT_NS,                           \
	  "requested launch distance")                                                             \
	X(M_WAKE_POINT_SILENT_NS, "silent_ns", "silent time", UNIT_NS, "time from going idle to the launch") \
	X(M_WAKE_LATENCY_NS, "latency_ns", "wake latency", UNIT_NS,                                \
	  "time from launch to the idle exit or the interrupt handler, whichever came first")      \
	X(M_WAKE_IRQ_NS, "irq_ns", "interrupt", UNIT_NS, "time from launch to the interrupt handler") \
	X(M_WAKE_EXPIRE_NS, "timer_ns", "timer", UNIT_NS, "time from launch to the timer's own handler") \
	X(M_WAKE_SWITCH_NS, "switch_ns", "switch", UNIT_NS, "time from launch to the switch to the woken task") \
	X(M_WAKE_USER_NS, "user_ns", "user", UNIT_NS, "time from launch to user code")             \
	X(M_WAKE_ORDER, "order", "order", UNIT_TEXT, "exit-first, irq-first or no-irq")            \
	X(M_WAKE_REJECT, "rejected", "rejected", UNIT_TEXT,                                        \
	  "reason if the point does not count; null if it counts")                                 \
	X(M_WAKE_POINT_ENTERED, "entered", "entered", UNIT_BOOL,                                  \
	  "whether the state was entered, by a counter before and after the point; null if unknown") \
	X(M_WAKE_POINT_PACKAGE, "package_slept", "package slept", UNIT_BOOL,                      \
	  "whether the package was in PC3 or deeper during the point; null if unknown")           \
	X(M_WAKE_DEPTH_NS, "depth_ns", "residency", UNIT_NS,                                      \
	  "time in the state during the point, by its residency counter")                          \
	X(M_WAKE_PHC_DRIFT_PPB, "phc_drift_ppb", "drift", UNIT_COUNT,                              \
	  "nic: largest drift of the card's clock relative to the system's, parts per 10⁹")        \
	X(M_WAKE_DMA_NS, "dma_ns", "DMA", UNIT_NS,                                                \
	  "nic: median time from the launch until the packet is sent, by the card's own "          \
	  "timestamps, or from --dma; null if unknown")                                            \
	X(M_WAKE_DMA_HALF_NS, "dma_half_spread_ns", "DMA ±", UNIT_NS,                              \
	  "nic: half of the 10th to the 90th percentile of dma_ns; null if it was not measured")   \
	X(M_WAKE_PHC_HALF_NS, "phc_half_window_ns", "PHC ±", UNIT_NS,                              \
	  "nic: half the width of the tightest clock reading, in the worst batch")                 \
	X(M_CGROUP, "cgroup", "cgroup", UNIT_TEXT, "cgroup of the tasks that waited")              \
	X(M_CGROUP_ID, "cgroup_id", "id", UNIT_ID, "the kernel's id of the cgroup")                \
	X(M_POD_UID, "pod_uid", "pod UID", UNIT_TEXT,                                              \
	  "UID of the Kubernetes pod, from the cgroup path")                                       \
	X(M_CONTAINER_ID, "container_id", "container id", UNIT_TEXT,                               \
	  "id of the container or name of the VM, from the cgroup path")                     \
	X(M_RUNTIME, "runtime", "runtime", UNIT_TEXT,                                              \
	  "container runtime or manager of the VM, from the cgroup path")                                    \
	X(M_SHOWN, "name", "name", UNIT_TEXT,                                                      \
	  "namespace/pod/container if known, VM or VM/vCPU, else the cgroup")                      \
	X(M_VM, "vm", "VM", UNIT_TEXT, "virtual machine, as its hypervisor process names it")      \
	X(M_VCPU, "vcpu", "vCPU", UNIT_ID, "number of the virtual CPU in its virtual machine")     \
	X(M_NAMESPACE, "namespace", "namespace", UNIT_TEXT,                                        \
	  "namespace of the Kubernetes pod, from the files of kubelet or the runtime")              \
	X(M_POD, "pod", "pod", UNIT_TEXT,                                                          \
	  "name of the Kubernetes pod, from the files of kubelet or the runtime")                   \
	X(M_CONTAINER, "container", "container", UNIT_TEXT,                                        \
	  "name of the container, from the files of kubelet or the runtime")                       \
	X(M_IMAGE, "image", "image", UNIT_TEXT,                                                    \
	  "image of the container, from the files of the runtime")                                 \
	X(M_QOS, "qos", "QoS", UNIT_TEXT,                                                          \
	  "QoS class of the Kubernetes pod: guaranteed, burstable or besteffort, from the cgroup path") \
	X(M_COMM, "comm", "command", UNIT_TEXT, "name of the task")                                \
	X(M_PID, "pid", "PID", UNIT_ID, "thread")                                                  \
	X(M_TGID, "tgid", "process", UNIT_ID, "process of the thread")                             \
	X(M_ENDED, "ended", "ended", UNIT_BOOL,                                                    \
	  "whether the group had ended at the end of the window")                                  \
	X(M_CAUSE_IDLE_NS, "causes.idle_exit_ns", "idle exit", UNIT_NS,                            \
	  "the core was idle and left its idle state; no contention")                              \
	X(M_CAUSE_SAME_NS, "causes.same_group_ns", "same", UNIT_NS,                                \
	  "waited behind tasks of the same group")                                                 \
	X(M_CAUSE_OTHER_NS, "causes.other_group_ns", "others", UNIT_NS,                            \
	  "waited behind tasks of other groups")                                                   \
	X(M_CAUSE_KTHREAD_NS, "causes.kernel_thread_ns", "kthreads", UNIT_NS,                      \
	  "waited behind kernel threads")                                                          \
	X(M_CAUSE_PREEMPTED_NS, "causes.preempted_ns", "preempted", UNIT_NS,                       \
	  "waited to run again after a preemption")                                                \
	X(M_CAUSE_THROTTLED_NS, "causes.throttled_ns", "quota", UNIT_NS, "throttled by CPU quota") \
	X(M_CAUSE_MIGRATED_NS, "causes.migrated_ns", "moved", UNIT_NS,                             \
	  "waited on another core before the task was moved to the core that ran it")              \
	X(M_CAUSE_UNKNOWN_NS, "causes.unknown_ns", "unknown", UNIT_NS,                             \
	  "part of the wait before the oldest task switch that is recorded for the core")          \
	X(M_VICTIM, "victim", "who waited", UNIT_TEXT, "group whose tasks waited")                 \
	X(M_CULPRIT, "culprit", "behind whom", UNIT_TEXT, "group that had the core during the wait") \
	X(M_VICTIM_NAME, "victim_name", "who waited", UNIT_TEXT,                                   \
	  "name of the victim: namespace/pod/container if known, else the cgroup")                 \
	X(M_CULPRIT_NAME, "culprit_name", "behind whom", UNIT_TEXT,                                \
	  "name of the culprit: namespace/pod/container if known, else the cgroup")                \
	X(M_WAITING_NS, "waiting_ns", "waiting", UNIT_NS,                                          \
	  "wall time in which at least one task of the cgroup, or of a cgroup below it, waited "   \
	  "for a core")                                                                            \
	X(M_WAITING_CONTENTION_NS, "waiting_contention_ns", "contention", UNIT_NS,                 \
	  "part of waiting_ns in which a task waited for a core that another task had")            \
	X(M_WAITING_KTHREAD_NS, "waiting_kernel_thread_ns", "kthreads", UNIT_NS,                   \
	  "part of the rest in which a task waited for a core that a kernel thread had")           \
	X(M_WAITING_IDLE_NS, "waiting_idle_exit_ns", "idle exit", UNIT_NS,                         \
	  "part of the rest in which a task waited for a core to leave its idle state")            \
	X(M_WAITING_QUOTA_NS, "waiting_quota_ns", "quota", UNIT_NS,                                \
	  "the rest of waiting_ns: CPU quota throttled the tasks")                                 \
	X(M_STALLED_NS, "stalled_ns", "stalled", UNIT_NS,                                          \
	  "wall time in which at least one of these tasks waited and none ran")                    \
	X(M_STALLED_CONTENTION_NS, "stalled_contention_ns", "stalled, contention", UNIT_NS,        \
	  "part of stalled_ns with the cause of waiting_contention_ns")                            \
	X(M_STALLED_KTHREAD_NS, "stalled_kernel_thread_ns", "stalled, kthreads", UNIT_NS,          \
	  "part of stalled_ns with the cause of waiting_kernel_thread_ns")                         \
	X(M_STALLED_IDLE_NS, "stalled_idle_exit_ns", "stalled, idle exit", UNIT_NS,                \
	  "part of stalled_ns with the cause of waiting_idle_exit_ns")                             \
	X(M_STALLED_QUOTA_NS, "stalled_quota_ns", "stalled, quota", UNIT_NS,                       \
	  "part of stalled_ns with the cause of waiting_quota_ns")                                 \
	X(M_PSI_WAITING_NS, "psi_waiting_ns", "PSI waiting", UNIT_NS,                              \
	  "waiting time by the kernel (PSI some), which includes quota")                           \
	X(M_PSI_STALLED_NS, "psi_stalled_ns", "PSI stalled", UNIT_NS,                              \
	  "stalled time by the kernel (PSI full), which includes quota; null for the machine")     \
	X(M_WAIT_NS, "wait_ns", "waited", UNIT_NS, "time waited")                                  \
	X(M_CULPRIT_NS, "culprit_ns", "of it", UNIT_NS, "part of the wait in which the culprit ran") \
	X(M_PREV_COMM, "prev_comm", "ran last", UNIT_TEXT, "task that had the core just before")   \
	X(M_PREV_PID, "prev_pid", "its PID", UNIT_ID, "PID of prev_comm")                         \
	X(M_END_NS, "end_monotonic_ns", "at", UNIT_ID, "when the wait ended, CLOCK_MONOTONIC")     \
	X(M_WAITS_SEEN, "waits_seen", "waits", UNIT_COUNT,                                         \
	  "waits that ended in the window, of all groups; null with --cgroup, unless --causes")                     \
	X(M_STEAL_NS, "steal_ns", "steal", UNIT_NS,                                                \
	  "time that the hypervisor took from the CPUs; null if the kernel does not account it")   \
	X(M_HIERARCHY, "hierarchy", "hierarchy", UNIT_TEXT, "cgroup hierarchy: v1 or v2")          \
	X(M_SCHEDULER, "scheduler", "scheduler", UNIT_TEXT,                                        \
	  "BPF scheduler (sched_ext) that is enabled at the end of the window; missing without one") \
	X(M_SCHEDSTAT_RATIO, "schedstat_ratio", "of schedstat", UNIT_RATIO,                        \
	  "accounted part of the observed waits ÷ kernel run_delay of all tasks")    \
	X(M_MISSING_FROM_RUN_DELAY_RATIO, "missing_from_run_delay_ratio", "not in run_delay",   \
	  UNIT_RATIO, "share of the observed waits that is missing from the kernel's run_delay")               \
	X(M_SAMPLE_RATIO, "sample_ratio", "sampled", UNIT_RATIO,                                   \
	  "probability with which each wait is counted; figures are scaled by its inverse")         \
	X(M_COUNT_STDERR_RATIO, "count_stderr_ratio", "±count", UNIT_RATIO,                        \
	  "standard error of the count, from sampling")                                            \
	X(M_SUM_STDERR_RATIO, "sum_stderr_ratio", "±sum", UNIT_RATIO,                              \
	  "standard error of the sum, from sampling")                                              \
	X(M_PERCENTILE_ERROR_RATIO, "percentile_error_ratio", "percentiles ±", UNIT_RATIO,         \
	  "width of a histogram bucket ÷ its lower edge: the bound of a percentile's error")       \
	X(M_TRACE_LINE, "timeline", "timeline", UNIT_TEXT,                                         \
	  "context of the core, from left to right; each character is the context with most time") \
	X(M_EDGES_TOTAL, "edges_total", "edges", UNIT_COUNT, "recorded context changes and wake-ups") \
	X(M_GAPS_TOTAL, "gaps_total", "gaps", UNIT_COUNT,                                          \
	  "places where edges are missing; the core's time there is unknown")                      \
	X(M_AT_NS, "at_ns", "at", UNIT_NS, "time since the start of the recording")                \
	X(M_BEGAN, "began", "began", UNIT_TEXT,                                                    \
	  "how the wait began: woken, or preempted when the task lost a core")                     \
	X(M_QUOTA_HELD, "quota_held", "quota", UNIT_BOOL,                                          \
	  "whether the CPU quota of the task was used up when the wait began")                     \
	X(M_QUOTA_HELD_NS, "quota_held_ns", "held", UNIT_NS,                                       \
	  "time that CPU quota held the task, from the start of the wait")                         \
	X(M_WAKER_COMM, "waker_comm", "woken by", UNIT_TEXT,                                       \
	  "task that woke the waiting task; or timer, or the name of another interrupt or softirq") \
	X(M_WAKER_PID, "waker_pid", "its PID", UNIT_ID, "PID of the waker")                       \
	X(M_WAKER_CPU, "waker_cpu", "on CPU", UNIT_ID, "CPU that the wake-up came from")           \
	X(M_CULPRIT_PID, "culprit_pid", "its PID", UNIT_ID, "PID of the culprit")                 \
	X(M_WAIT_IRQ_NS, "irq_ns", "irq", UNIT_NS, "part of the wait in which the core handled interrupts") \
	X(M_WAIT_SOFTIRQ_NS, "softirq_ns", "softirq", UNIT_NS,                                     \
	  "part of the wait in which the core ran softirqs")                                       \
	X(M_WAIT_IDLE_NS, "idle_ns", "idle", UNIT_NS,                                              \
	  "part of the wait in which the core was idle or left idle")                              \
	X(M_AVOIDABLE_NS, "avoidable_ns", "avoidable", UNIT_NS,                                    \
	  "part of the wait in which another CPU that the task may use was idle")                  \
	X(M_AVOIDABLE_MOST_NS, "avoidable_most_ns", "at most", UNIT_NS,                            \
	  "upper bound of the avoidable part; equal to avoidable_ns if that is exact")             \
	X(M_EXCLUDED_NS, "excluded_ns", "excluded", UNIT_NS,                                       \
	  "part of the wait in which the only idle CPUs were outside the affinity or the cpuset")  \
	X(M_EXCLUDED_CPU, "excluded_cpu", "excluded CPU", UNIT_ID,                                 \
	  "one of the excluded idle CPUs")                                                         \
	X(M_IDLE_CPU, "idle_cpu", "idle CPU", UNIT_ID,                                             \
	  "allowed CPU that was idle longest in the avoidable part")                               \
	X(M_IDLE_CPU_NS, "idle_cpu_ns", "idle for", UNIT_NS,                                       \
	  "idle time of idle_cpu in the avoidable part")                                           \
	X(M_PLACED_BY, "placed_by", "placed by", UNIT_TEXT,                                        \
	  "wake-up: a CPU was idle when the wait began; balance: a CPU became idle later")         \
	X(M_AVOIDABLE_UNKNOWN_TOTAL, "avoidable_unknown_total", "avoidable?", UNIT_COUNT,          \
	  "waits whose avoidable part is unknown, because affinity or length of the quota hold "   \
	  "is unknown")                                                                            \
	X(M_RUN_NS, "run_ns", "ran", UNIT_NS,                                                      \
	  "time on a core, without interrupts and softirqs on top")                                \
	X(M_EVENT, "event", "ended by", UNIT_TEXT,                                                 \
	  "event that ended the recording: wait, wake, noise or percentile")                       \
	X(M_EVENT_AT_NS, "event_at_ns", "at", UNIT_NS,                                             \
	  "time of the event since the start of the recording")                                    \
	X(M_EVENT_LEN_NS, "event_ns", "length", UNIT_NS,                                           \
	  "length of the wait or interrupt; for a percentile, the limit that it reached")          \
	X(M_EVENT_CPU, "event_cpu", "CPU", UNIT_ID, "CPU of the event")                            \
	X(M_EVENT_COMM, "event_comm", "task", UNIT_TEXT, "task that waited or was interrupted")    \
	X(M_EVENT_PID, "event_pid", "PID", UNIT_ID, "PID of event_comm")                          \
	X(M_EVENT_CGROUP, "event_cgroup", "cgroup", UNIT_TEXT, "cgroup whose percentile reached its limit") \
	X(M_EVENT_WAITS_TOTAL, "event_waits_total", "waits", UNIT_COUNT,                           \
	  "waits of the cgroup in event_window_ns")                                                \
	X(M_EVENT_LONG_TOTAL, "event_long_total", "long", UNIT_COUNT,                              \
	  "waits of the cgroup of event_ns or longer")                                             \
	X(M_EVENT_WINDOW_NS, "event_window_ns", "within", UNIT_NS,                                 \
	  "time before event_at_ns in which these waits ended")                                    \
	X(M_TICKS_TOTAL, "ticks_total", "ticks", UNIT_COUNT, "ticks of this CPU, with --tick")     \
	X(M_FREQUENCY_HZ, "frequency_hz", "frequency", UNIT_HZ,                                    \
	  "frequency that the kernel set last, with --frequency; null without a change")           \
	X(M_HOSTNAME, "hostname", "host", UNIT_TEXT, "name of the machine")                         \
	X(M_KERNEL_RELEASE, "kernel_release", "kernel", UNIT_TEXT, "release of the kernel")        \
	X(M_FILE, "file", "recording", UNIT_TEXT, "name of the file")                               \
	X(M_WRITTEN_UNIX_NS, "written_unix_ns", "written", UNIT_ID, "when the file was last written") \
	X(M_SIZE_BYTES, "size_bytes", "size", UNIT_BYTES, "size of the file")                       \
	X(M_LEFT_OUT_TOTAL, "left_out_total", "left out", UNIT_COUNT,                               \
	  "recordings that are not listed, the oldest ones")                                         \
	X(M_BOOT_UNIX_NS, "boot_unix_ns", "booted", UNIT_ID, "when the machine was started")       \
	X(M_VERSION, "subtick_version", "subtick", UNIT_TEXT, "version of subtick")                \
	X(M_KERNEL_BYTES, "kernel_bytes", "kernel memory", UNIT_BYTES, "kernel memory in BPF maps") \
	X(M_NOISE_RATIO, "noise_ratio", "noise", UNIT_RATIO,                                       \
	  "share of the core's window that interrupts, softirqs and kernel threads took")          \
	X(M_NOISE_SOFTIRQ_RATIO, "softirqs_ratio", "softirq", UNIT_RATIO,                          \
	  "share spent in softirqs, except softirqs that ksoftirqd ran")                           \
	X(M_KTHREAD_RATIO, "kthread_ratio", "kthreads", UNIT_RATIO,                                \
	  "share spent in kernel threads, ksoftirqd among them")                                   \
	X(M_TASKS_RATIO, "tasks_ratio", "tasks", UNIT_RATIO,                                       \
	  "share spent in tasks that are no kernel threads")                                       \
	X(M_EVENTS_TOTAL, "events_total", "events", UNIT_COUNT,                                    \
	  "interrupts, softirqs, NMIs and runs of kernel threads that ended in the window")        \
	X(M_EVENTS_HZ, "events_hz", "events/s", UNIT_HZ, "events per second")                      \
	X(M_EXCEEDED, "exceeded", "over limit", UNIT_BOOL, "whether the core exceeds a limit")     \
	X(M_EXCEEDED_TOTAL, "exceeded_total", "cores over limit", UNIT_COUNT,                      \
	  "cores that exceed a limit")                                                             \
	X(M_LIMIT_MAX_NS, "limit_max_ns", "limit: longest", UNIT_NS, "limit on the longest of any source") \
	X(M_LIMIT_RATE_HZ, "limit_rate_hz", "limit: events/s", UNIT_HZ, "limit on events per second of a core") \
	X(M_LIMIT_SHARE_RATIO, "limit_share_ratio", "limit: noise", UNIT_RATIO,                    \
	  "limit on the share of a core's window")                                                 \
	X(M_NOISE_KIND, "kind", "kind", UNIT_TEXT, "irq, vector, softirq, kthread or nmi")         \
	X(M_NOISE_NAME, "name", "source", UNIT_TEXT,                                               \
	  "source of noise: handler or vector as in /proc/interrupts, softirq vector, kernel thread") \
	X(M_NOISE_TIME_RATIO, "time_ratio", "of core", UNIT_RATIO, "share of the core's window")   \
	X(M_NOISE_ADVICE, "advice", "what would move it", UNIT_TEXT,                                         \
	  "setting that would move the source to another core")                                    \
	X(M_HIT_CGROUP, "cgroup", "hit", UNIT_TEXT,                                                \
	  "victim: the cgroup of the current task, (idle) or (kernel threads)")                    \
	X(M_HIT_HARDIRQ_NS, "hardirq_ns", "hardirq", UNIT_NS,                                      \
	  "time in interrupts on top of its tasks")                                                \
	X(M_HIT_HARDIRQ_TOTAL, "hardirq_total", "hardirqs", UNIT_COUNT,                            \
	  "interrupts on top of its tasks")                                                        \
	X(M_HIT_SOFTIRQ_NS, "softirqs_ns", "softirq", UNIT_NS,                                     \
	  "time in softirqs on top of its tasks")                                                  \
	X(M_HIT_SOFTIRQ_TOTAL, "softirqs_total", "softirqs", UNIT_COUNT,                           \
	  "softirqs on top of its tasks")                                                          \
	X(M_HIT_KTHREAD_NS, "kthread_ns", "kthreads", UNIT_NS,                                     \
	  "time in kernel threads that preempted one of its tasks")                                \
	X(M_HIT_KTHREAD_TOTAL, "kthread_total", "preempted", UNIT_COUNT,                           \
	  "runs of kernel threads that preempted one of its tasks")                                \
	X(M_NMI_KNOWN, "nmi_known", "NMIs known", UNIT_BOOL, "whether this kernel reports NMIs")   \
	X(M_FROM_CPU, "from_cpu", "from", UNIT_ID, "CPU that sent the IPI or called the function")  \
	X(M_CALLED_FUNCTION, "function", "function", UNIT_TEXT,                                    \
	  "function of the kernel that another CPU called there; null if it has no symbol")        \
	X(M_CALLS_KNOWN, "calls_known", "calls known", UNIT_BOOL,                                  \
	  "whether this kernel reports the functions called on other CPUs")                        \
	X(M_IPI, "ipi", "interrupt", UNIT_TEXT, "purpose of the IPI, as in /proc/interrupts")      \
	X(M_SENT_BY_TOTAL, "sent_by_total", "at least", UNIT_COUNT,                                \
	  "smallest possible number of IPIs from this process")                                    \
	X(M_SENT_BY_PID, "sent_by_pid", "by process", UNIT_ID,                                     \
	  "a process that sent some of the IPIs: the one that sent more than half, if there is "   \
	  "one")                                                                                   \
	X(M_SENT_BY, "sent_by", "by", UNIT_TEXT,                                                   \
	  "command of the sending process; (idle): the idle task, (interrupt): an interrupt or "   \
	  "softirq")                                                                               \
	X(M_WORK_FUNCTION, "function", "work function", UNIT_TEXT,                                 \
	  "function of the kernel that a kworker executed; null if it has no symbol")              \
	X(M_EXECUTIONS_TOTAL, "executions_total", "executed", UNIT_COUNT,                          \
	  "executions that began in the window")                                                   \
	X(M_WORK_NS, "work_ns", "CPU time", UNIT_NS,                                               \
	  "CPU time of the function, without interrupts on top of it; also in its kworker's row")  \
	X(M_WORK_MAX_NS, "work_max_ns", "longest", UNIT_NS,                                        \
	  "longest time on the core without a switch")                                             \
	X(M_QUEUE_DELAY_NS, "delay_ns", "delay", UNIT_NS,                                          \
	  "delay from queueing to execution, for executions whose queueing was recorded")          \
	X(M_QUEUE_DELAY_COUNT, "delay_count", "delays", UNIT_COUNT, "executions with a known delay") \
	X(M_SOURCE_LOST_NS, "source_lost_ns", "time lost", UNIT_NS,                                \
	  "time of the events in source_lost_total")

#endif
