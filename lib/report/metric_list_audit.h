/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics that only `subtick audit` uses. */
#ifndef SUBTICK_REPORT_METRIC_LIST_AUDIT_H
#define SUBTICK_REPORT_METRIC_LIST_AUDIT_H

/* X(id, key, title, unit, help), as in METRICS(). */
#define METRICS_AUDIT(X)                                                                           \
	X(M_EXPERIMENT, "experiment", "experiment", UNIT_TEXT,                                     \
	  "ticks, delays or sources; or verdict or precision, which are computed from them")       \
	X(M_USER_HZ, "user_hz", "USER_HZ", UNIT_HZ, "units per second of the figures in /proc")    \
	X(M_TICK_HZ, "tick_hz", "HZ", UNIT_HZ,                                                     \
	  "ticks per second, from the times at which the figures change")                          \
	X(M_TICK_NS, "tick_ns", "tick", UNIT_NS, "1 ÷ tick_hz")                                    \
	X(M_TICK_PHASE_NS, "tick_phase_ns", "tick at", UNIT_NS,                                    \
	  "phase of the tick on CLOCK_MONOTONIC")                                                  \
	X(M_COHERENCE_RATIO, "coherence_ratio", "on tick", UNIT_RATIO,                             \
	  "100 % if all increments are at one phase of the tick, near 0 if they are spread "       \
	  "evenly")                                                                                \
	X(M_AUDIT_SET, "set", "load: columns", UNIT_TEXT, "load, and the watched columns")         \
	X(M_AUDIT_LOAD, "load", "load", UNIT_TEXT, "load on the audited core")                     \
	X(M_INCREMENTS_TOTAL, "increments_total", "increments", UNIT_COUNT,                        \
	  "readings in which a watched column had changed")                                        \
	X(M_TOP_PEAKS, "top_peaks", "most frequent intervals", UNIT_TEXT,                          \
	  "the most frequent times between increments, for people")                                \
	X(M_READER_DELAYED_TOTAL, "reader_delayed_total", "reader late", UNIT_COUNT,                                 \
	  "increments left out because the reader was delayed, so that their time is unknown")     \
	X(M_READ_HZ, "read_hz", "reads/s", UNIT_HZ, "readings of /proc/stat per second")           \
	X(M_READ_NS, "read_ns", "a read", UNIT_NS, "duration of one read")                         \
	X(M_READER_RATIO, "reader_busy_ratio", "reader", UNIT_RATIO,                               \
	  "share of its own core that the reader used")                                            \
	X(M_INTERVAL_NS, "interval_ns", "interval", UNIT_NS, "time between two increments")        \
	X(M_INTERVAL_END_NS, "interval_end_ns", "to", UNIT_NS, "upper edge of the bin, exclusive") \
	X(M_INTERVAL_TICKS, "interval_ticks", "ticks", UNIT_COUNT, "interval ÷ tick")              \
	X(M_SHARE_RATIO, "share_ratio", "share", UNIT_RATIO, "share of all intervals")             \
	X(M_DELAY_NS, "delay_ns", "delay", UNIT_NS, "argument of nanosleep; 0: an invalid call")   \
	X(M_SLACK_NS, "slack_ns", "slack", UNIT_NS,                                                \
	  "timer slack of the loop: the kernel may end a sleep this much later")                   \
	X(M_ITERATIONS_TOTAL, "iterations_total", "loops", UNIT_COUNT, "calls made")               \
	X(M_REAL_NS, "real_ns", "real", UNIT_NS, "wall time of the loop")                          \
	X(M_EXPECTED_NS, "expected_ns", "expected", UNIT_NS, "delay × iterations")                 \
	X(M_RUSAGE_USER_NS, "rusage_user_ns", "user", UNIT_NS, "user time by getrusage")           \
	X(M_RUSAGE_SYSTEM_NS, "rusage_system_ns", "system", UNIT_NS, "system time by getrusage")   \
	X(M_PIDSTAT_USER_NS, "pidstat_user_ns", "pid user", UNIT_NS, "user time by /proc/PID/stat") \
	X(M_PIDSTAT_SYSTEM_NS, "pidstat_system_ns", "pid system", UNIT_NS,                         \
	  "system time by /proc/PID/stat")                                                         \
	X(M_PROCSTAT_USER_NS, "procstat_user_ns", "cpu user", UNIT_NS,                             \
	  "user and nice columns of the core in /proc/stat")                                       \
	X(M_PROCSTAT_SYSTEM_NS, "procstat_system_ns", "cpu system", UNIT_NS,                       \
	  "system column of the core in /proc/stat")                                               \
	X(M_PROCSTAT_BUSY_NS, "procstat_busy_ns", "cpu busy", UNIT_NS,                             \
	  "all busy columns of the core in /proc/stat")                                            \
	X(M_THREAD_CLOCK_NS, "thread_clock_ns", "thread clock", UNIT_NS,                           \
	  "CPU time of the loop by its thread clock, which is updated at each switch, not at each tick") \
	X(M_BPF_TASK_NS, "bpf_task_ns", "bpf task", UNIT_NS, "time in tasks on the core by source bpf") \
	X(M_BPF_BUSY_NS, "bpf_busy_ns", "bpf busy", UNIT_NS, "busy time of the core by source bpf") \
	X(M_BPF_LOOP_NS, "bpf_loop_ns", "bpf loop", UNIT_NS,                                       \
	  "CPU time of the loop by source bpf; null on kernels without IRQ_TIME_ACCOUNTING, "      \
	  "where the thread clock is true")                                                        \
	X(M_REAL_EACH_NS, "real_per_iteration_ns", "real/loop", UNIT_NS, "wall time ÷ iterations") \
	X(M_USER_EACH_NS, "user_per_iteration_ns", "user/loop", UNIT_NS,                           \
	  "user time by getrusage ÷ iterations")                                                   \
	X(M_SYSTEM_EACH_NS, "system_per_iteration_ns", "system/loop", UNIT_NS,                     \
	  "system time by getrusage ÷ iterations")                                                 \
	X(M_PROCSTAT_EACH_NS, "procstat_per_iteration_ns", "cpu/loop", UNIT_NS,                    \
	  "busy columns of the core ÷ iterations")                                                 \
	X(M_TRUE_EACH_NS, "true_per_iteration_ns", "true/loop", UNIT_NS,                           \
	  "bpf_loop_ns, or if null thread_clock_ns, ÷ iterations")                                 \
	X(M_RUSAGE_FACTOR_RATIO, "rusage_factor_ratio", "rusage/true", UNIT_RATIO,                 \
	  "user and system time by getrusage ÷ bpf_loop_ns, or if null ÷ thread_clock_ns")         \
	X(M_PROCSTAT_FACTOR_RATIO, "procstat_factor_ratio", "cpu/true", UNIT_RATIO,                \
	  "busy columns ÷ true busy time of the core")                                             \
	X(M_ERROR_RATIO, "error_ratio", "error", UNIT_RATIO,                                       \
	  "shown minus true, in percentage points")                                                \
	X(M_USER_TIMES, "user_times_ratio", "user x", UNIT_COUNT,                                  \
	  "user time of a loop ÷ user time of the loop without a delay")                           \
	X(M_SYSTEM_TIMES, "system_times_ratio", "system x", UNIT_COUNT,                            \
	  "system time of a loop ÷ system time of the loop without a delay")                       \
	X(M_CLAIM, "claim", "finding", UNIT_TEXT, "finding of the paper")                            \
	X(M_CLAIM_VALUE, "value", "value", UNIT_TEXT, "the finding in the paper and on this machine, for people") \
	X(M_LOOPS_NS, "loops_ns", "loops", UNIT_NS,                                                  \
	  "time of ten million loops, from table 1 of the paper or scaled from the loops of this machine") \
	X(M_LOADAVG, "load_average", "loadavg", UNIT_COUNT, "load average of one minute at the end of the load") \
	X(M_TRUE_LOADAVG, "true_load_average", "true loadavg", UNIT_COUNT,                           \
	  "load average of one minute by the kernel's formula from the true load of all cores since the load " \
	  "began; without tasks that wait for a core")                                               \
	X(M_MODE, "mode", "mode", UNIT_TEXT,                                                       \
	  "mode of /proc/stat; tasks are user, nice and system together")                          \
	X(M_SHOWN_NS, "shown_ns", "shown", UNIT_NS, "time in this mode by the columns of /proc/stat") \
	X(M_TRUE_NS, "true_ns", "true", UNIT_NS,                                                   \
	  "time in this mode by the reference source; null if only a sum with other modes is "     \
	  "known")                                                                                 \
	X(M_SHOWN_LEVEL_RATIO, "shown_level_ratio", "shown level", UNIT_RATIO,                     \
	  "shown_ns ÷ the sum over all modes: the load level of top and mpstat")                   \
	X(M_TRUE_LEVEL_RATIO, "true_level_ratio", "true level", UNIT_RATIO,                        \
	  "true_ns ÷ the sum over all modes")                                                      \
	X(M_COMMAND_LINE, "command_line", "command", UNIT_TEXT, "the audited command, possibly cut off") \
	X(M_CPU_LIST, "cpu_list", "CPUs", UNIT_TEXT, "CPUs on which the command could run")                \
	X(M_EXIT_STATUS, "exit_status", "exit status", UNIT_ID,                                    \
	  "exit status of the command; null if a signal ended it")                                 \
	X(M_EXIT_SIGNAL, "exit_signal", "exit signal", UNIT_ID, "the signal that ended the command") \
	X(M_TASK_CLOCK_NS, "task_clock_ns", "used", UNIT_NS,                                       \
	  "CPU time of the command and its descendants by perf's task clock, exact to the switch") \
	X(M_TRUE_USER_NS, "true_user_ns", "used user", UNIT_NS,                                    \
	  "the part of the task clock in user mode, by the PMU's cycles; null without a PMU")      \
	X(M_TRUE_SYSTEM_NS, "true_system_ns", "used system", UNIT_NS,                              \
	  "the rest of the task clock: kernel mode, and interrupts on top")                        \
	X(M_USER_ERROR_RATIO, "user_error_ratio", "user error", UNIT_RATIO,                        \
	  "(accounted user time − used user time) ÷ used time")                                    \
	X(M_OTHERS_NS, "others_ns", "others", UNIT_NS,                                             \
	  "run time of other tasks on the command's CPUs, by the reference source")                \
	X(M_COMPLETE, "complete", "complete", UNIT_BOOL,                                           \
	  "whether the measurement is complete; false after Ctrl-C or an error")                   \
	X(M_RESUMED, "resumed", "resumed", UNIT_BOOL,                                              \
	  "whether the row was measured by the earlier run of --resume")                           \
	X(M_REQUESTED_DELAYS_TOTAL, "requested_delays_total", "requested", UNIT_COUNT,                         \
	  "number of requested rows")                                                              \
	X(M_REQUESTED_ITERATIONS_TOTAL, "requested_iterations_total", "requested loops", UNIT_COUNT,           \
	  "--iterations; null if the loops were limited by time")                                  \
	X(M_REQUESTED_EACH_NS, "requested_each_ns", "requested time", UNIT_NS,                                 \
	  "time for each delay; null with --iterations")                                           \
	X(M_MACHINE, "machine", "machine", UNIT_TEXT, "host name, kernel and CPUs")                \
	X(M_AUDIT_SOURCE, "shown_by", "source", UNIT_TEXT, "source, as in subtick load")           \
	X(M_ERROR_WINDOW_NS, "length_ns", "window", UNIT_NS, "length of the windows")              \
	X(M_WINDOWS_TOTAL, "windows_total", "windows", UNIT_COUNT,                                 \
	  "number of windows; they overlap")                                                       \
	X(M_UNAVAILABLE_TOTAL, "unavailable_total", "no figure", UNIT_COUNT, "windows in which the source had no figure") \
	X(M_TRUE_RATIO, "true_ratio", "true", UNIT_RATIO,                                          \
	  "true busy ratio, by the reference source")                                              \
	X(M_SHOWN_RATIO, "shown_ratio", "shown", UNIT_RATIO, "busy ratio by the audited source")   \
	X(M_ERROR_MEDIAN_RATIO, "error_median_ratio", "median", UNIT_RATIO,                        \
	  "median of the absolute errors, in percentage points")                                   \
	X(M_ERROR_P99_RATIO, "error_p99_ratio", "p99", UNIT_RATIO,                                 \
	  "99th percentile of the absolute errors")                                                \
	X(M_ERROR_MAX_RATIO, "error_max_ratio", "max", UNIT_RATIO, "largest absolute error")       \
	X(M_PERIOD_NS, "period_ns", "period", UNIT_NS, "period of the generated load")             \
	X(M_PHASE_NS, "phase_ns", "phase", UNIT_NS, "phase of the burn within the period")         \
	X(M_BURN_RATIO, "burn_ratio", "burnt", UNIT_RATIO,                                         \
	  "load by the generator's own timestamps")                                                \
	X(M_THREAD_RATIO, "thread_ratio", "thread", UNIT_RATIO, "load by the generator's thread clock") \
	X(M_COLUMNS_SUM_RATIO, "columns_sum_ratio", "sum/wall", UNIT_RATIO,                        \
	  "sum of all columns of the core ÷ wall time: 100 % if they are right")                   \
	X(M_REGIME, "regime", "regime", UNIT_TEXT,                                                 \
	  "tick, irqtime (interrupts exact, tasks by the tick) or virt-gen (all exact)")           \
	X(M_IRQ_COHERENCE_RATIO, "irq_coherence_ratio", "irq on tick", UNIT_RATIO,                 \
	  "coherence of the irq and softirq columns")                                              \
	X(M_SOFTIRQ_IS_IDLE, "softirq_counts_as_idle", "softirq idle", UNIT_BOOL,                  \
	  "whether softirqs that run inline on the idle task count as idle time")                  \
	X(M_HIDDEN_TRUE_RATIO, "hidden_true_ratio", "hidden", UNIT_RATIO,                          \
	  "true load of the core under load hidden")                                               \
	X(M_HIDDEN_SHOWN_RATIO, "hidden_shown_ratio", "hidden shown", UNIT_RATIO,                  \
	  "load by the columns of /proc/stat under load hidden")                                   \
	X(M_WORST_ERROR_RATIO, "worst_error_ratio", "worst", UNIT_RATIO,                           \
	  "largest error of the columns of /proc/stat in windows of a second and longer")          \
	X(M_GOOD_1_NS, "good_to_1_percent_ns", "good to 1%", UNIT_NS,                              \
	  "window length from which on 95 of 100 windows are within 1 point under a random "       \
	  "load; an estimate")                                                                     \
	X(M_GOOD_01_NS, "good_to_01_percent_ns", "good to 0.1%", UNIT_NS,                          \
	  "window length from which on 95 of 100 are within 0.1 points; an estimate")              \
	X(M_PRECISION_RATIO, "precision_ratio", "wanted", UNIT_RATIO, "wanted precision")                    \
	X(M_ROUNDING_WINDOW_NS, "rounding_window_ns", "by rounding", UNIT_NS,                      \
	  "window in which one unit of the figures is the wanted precision")                       \
	X(M_SAMPLING_WINDOW_NS, "sampling_window_ns", "by sampling", UNIT_NS,                      \
	  "window in which 95 % of figures of a half-loaded core are within the wanted precision")

#endif
