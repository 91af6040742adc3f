/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names, types, units and help texts of all metric families of the exporter. */
#ifndef SUBTICK_REPORT_FAMILY_H
#define SUBTICK_REPORT_FAMILY_H

#include "report/metrics.h"

enum family_type {
	FAMILY_COUNTER,
	FAMILY_GAUGE,
	FAMILY_HISTOGRAM,
	FAMILY_INFO, /* info metric: has only labels, and the constant value 1 */
};

/*
 * List of all metric families: X(id, name, type, unit, help). The name of a family ends in its
 * unit. The values of families with UNIT_NS are exported in seconds instead of ns. The exporter
 * adds type suffixes such as _total to the name of a family.
 */
#define FAMILIES(X)                                                                                \
	X(F_BUILD, "subtick_build", FAMILY_INFO, UNIT_TEXT, "Version of subtick and of the kernel it measures.") \
	X(F_SOURCE, "subtick_source", FAMILY_INFO, UNIT_TEXT, "Source of the figures of a collector.") \
	X(F_CPU, "subtick_cpu_seconds", FAMILY_COUNTER, UNIT_NS,                                   \
	  "Time of each core by context; the contexts of a core sum to its measured time.")        \
	X(F_CPU_ONLINE, "subtick_cpu_online", FAMILY_GAUGE, UNIT_BOOL, "Whether the core is online.") \
	X(F_CPU_VOID, "subtick_cpu_unmeasured_windows", FAMILY_COUNTER, UNIT_COUNT,                \
	  "Windows without a figure for this core, by reason; their time is in no context.")       \
	X(F_CPU_CLOSURE, "subtick_closure_error_ratio", FAMILY_GAUGE, UNIT_RATIO,                  \
	  "Difference between the sum of the core's contexts and the last window.")                \
	X(F_PROCSTAT_BUSY, "subtick_procstat_busy_seconds", FAMILY_COUNTER, UNIT_NS,               \
	  "Busy time of each core by the columns of /proc/stat, for comparison.")                  \
	X(F_PROCSTAT_ERROR, "subtick_procstat_error_ratio", FAMILY_GAUGE, UNIT_RATIO,              \
	  "Busy share by /proc/stat minus the measured busy share, in the last window.")           \
	X(F_SOFTIRQ, "subtick_softirq_seconds", FAMILY_COUNTER, UNIT_NS, "Time in softirqs by vector.") \
	X(F_SOFTIRQ_RUNS, "subtick_softirq_runs", FAMILY_COUNTER, UNIT_COUNT,                      \
	  "Runs of the handler of a softirq vector.")                                              \
	X(F_CORE, "subtick_core_siblings_busy_seconds", FAMILY_COUNTER, UNIT_NS,                   \
	  "Time of each physical core by how many of its hyperthreads were busy at the same time; only with SMT.") \
	X(F_CORE_PAIRS, "subtick_core_pairs_seconds", FAMILY_COUNTER, UNIT_NS,                     \
	  "CPU time of a cgroup while the cgroup sibling ran on the other hyperthread of the same core.") \
	X(F_NOISE, "subtick_noise_seconds", FAMILY_COUNTER, UNIT_NS,                               \
	  "Time that interrupts, softirqs and kernel threads took from the tasks of each core, by source.") \
	X(F_NOISE_EVENTS, "subtick_noise_events", FAMILY_COUNTER, UNIT_COUNT,                      \
	  "Number of runs of the sources of noise.")                                               \
	X(F_NOISE_LONGEST, "subtick_noise_longest_seconds", FAMILY_GAUGE, UNIT_NS,                 \
	  "Longest run of a source of noise in the last one to two minutes.")                      \
	X(F_SOFTIRQ_DELAY, "subtick_softirq_delay_seconds", FAMILY_HISTOGRAM, UNIT_NS,             \
	  "Delay of softirqs from raise to run on all cores, by vector; counts at boundaries are exact.") \
	X(F_SOFTIRQ_DELAY_LONGEST, "subtick_softirq_delay_longest_seconds", FAMILY_GAUGE, UNIT_NS, \
	  "Longest delay of softirqs on each core in the last one to two minutes.")                \
	X(F_RUNQ, "subtick_runqueue_latency_seconds", FAMILY_HISTOGRAM, UNIT_NS,                   \
	  "Run-queue latency: waits of runnable tasks for a core, by cgroup; counts at boundaries are exact.") \
	X(F_RUNQ_CAUSE, "subtick_runqueue_cause_seconds", FAMILY_COUNTER, UNIT_NS,                 \
	  "Run-queue latency by cause.")                                                           \
	X(F_RUNQ_BLAME, "subtick_runqueue_blame_seconds", FAMILY_COUNTER, UNIT_NS,                 \
	  "Time that tasks of the victim waited while tasks of the culprit had the core.")         \
	X(F_RUNQ_IDLE, "subtick_runqueue_idle_seconds", FAMILY_COUNTER, UNIT_NS,                  \
	  "Time from the wake-up of a task until it ran on an idle core, by cgroup and idle state.") \
	X(F_RUNQ_IDLE_WAITS, "subtick_runqueue_idle_waits", FAMILY_COUNTER, UNIT_COUNT,           \
	  "Number of waits for idle cores, by cgroup and idle state.")                             \
	X(F_RUNQ_AVOIDABLE, "subtick_runqueue_avoidable_seconds", FAMILY_COUNTER, UNIT_NS,         \
	  "Waits while another CPU that the task may use was idle, by cgroup: lower and upper bound, equal if exact.") \
	X(F_RUNQ_EXCLUDED, "subtick_runqueue_excluded_seconds", FAMILY_COUNTER, UNIT_NS,           \
	  "Waits while the only idle CPUs were outside the affinity or the cpuset of the task, by cgroup.") \
	X(F_RUNQ_WAITING, "subtick_runqueue_waiting_seconds", FAMILY_COUNTER, UNIT_NS,             \
	  "Wall time in which at least one task of a cgroup, or of a cgroup below it, waited for a core, by cause; / is the machine.") \
	X(F_RUNQ_STALLED, "subtick_runqueue_stalled_seconds", FAMILY_COUNTER, UNIT_NS,             \
	  "Wall time in which at least one task of a cgroup waited for a core and none of its tasks ran, by cause.") \
	X(F_RUNQ_FOLDED, "subtick_runqueue_folded", FAMILY_COUNTER, UNIT_COUNT,                    \
	  "Waits (kind waits), charges (kind blame) and pairs of a window (kind core_pairs) added to the series (other) because of the limits.") \
	X(F_RUNQ_EVICTED, "subtick_runqueue_evicted", FAMILY_COUNTER, UNIT_COUNT,                   \
	  "Cgroups whose counters continue in (other), because a live cgroup replaced them.")      \
	X(F_RUNQ_GROUPS, "subtick_runqueue_cgroups", FAMILY_GAUGE, UNIT_COUNT,                     \
	  "Number of cgroups with their own series.")                                              \
	X(F_WAKE, "subtick_idle_wake_latency_seconds", FAMILY_HISTOGRAM, UNIT_NS,                  \
	  "Wake latency: time from a timer's expiry until the idle core ran, by requested idle state.") \
	X(F_LOSS, "subtick_losses", FAMILY_COUNTER, UNIT_COUNT,                                    \
	  "Losses of a collector, by kind; the JSON has a key of the same name. Collectors load and noise share programs, so both count the losses of these programs.") \
	X(F_UP, "subtick_collector_up", FAMILY_GAUGE, UNIT_BOOL, "Whether the collector works.")   \
	X(F_UPDATES, "subtick_collector_updates", FAMILY_COUNTER, UNIT_COUNT, "Windows read.")     \
	X(F_UPDATE_COST, "subtick_collector_cpu_seconds", FAMILY_COUNTER, UNIT_NS,                 \
	  "CPU time spent reading windows.")                                                       \
	X(F_UPDATE_TIME, "subtick_collector_last_update_seconds", FAMILY_GAUGE, UNIT_NS,           \
	  "End of the last window, Unix time.")                                                    \
	X(F_BPF_TIME, "subtick_bpf_run_seconds", FAMILY_COUNTER, UNIT_NS,                          \
	  "Run time of subtick's BPF programs; needs kernel.bpf_stats_enabled.")                   \
	X(F_BPF_RUNS, "subtick_bpf_runs", FAMILY_COUNTER, UNIT_COUNT,                              \
	  "Runs of subtick's BPF programs; needs kernel.bpf_stats_enabled.")                       \
	X(F_BPF_MEMORY, "subtick_bpf_map_bytes", FAMILY_GAUGE, UNIT_BYTES,                        \
	  "Kernel memory of subtick's BPF maps at the start.")                                     \
	X(F_HISTORY, "subtick_history_bytes", FAMILY_GAUGE, UNIT_BYTES, "Kept windows of the last ten minutes, compressed.") \
	X(F_HISTORY_FILES, "subtick_history_file_bytes", FAMILY_GAUGE, UNIT_BYTES, "Size of the files of --history.") \
	X(F_HISTORY_WINDOWS, "subtick_history_windows", FAMILY_COUNTER, UNIT_COUNT,                \
	  "Windows for the files of --history: written, lost by a failed write, left out to save CPU time.") \
	X(F_HTTP_REQUESTS, "subtick_http_requests", FAMILY_COUNTER, UNIT_COUNT,                    \
	  "Responses by status code.")                                                             \
	X(F_HTTP_CONNECTIONS, "subtick_http_connections", FAMILY_GAUGE, UNIT_COUNT, "Open connections.") \
	X(F_HTTP_RESPONSES, "subtick_http_response_bytes", FAMILY_GAUGE, UNIT_BYTES,               \
	  "Memory of the responses of the last window and of the responses being sent.")           \
	X(F_HTTP_CUT, "subtick_http_cut", FAMILY_COUNTER, UNIT_COUNT,                              \
	  "Connections closed by the exporter: slow (no request in time), full (too many), stalled (does not read).") \
	X(F_PROC_CPU, "process_cpu_seconds", FAMILY_COUNTER, UNIT_NS, "CPU time of this process, user and system.") \
	X(F_PROC_RSS, "process_resident_memory_bytes", FAMILY_GAUGE, UNIT_BYTES, "Resident memory of this process.") \
	X(F_PROC_VIRTUAL, "process_virtual_memory_bytes", FAMILY_GAUGE, UNIT_BYTES, "Virtual memory of this process.") \
	X(F_PROC_START, "process_start_time_seconds", FAMILY_GAUGE, UNIT_NS, "Start of this process, Unix time.")

#define FAMILY_ENUM(id, name, type, unit, help) id,
enum family_id { FAMILIES(FAMILY_ENUM) FAMILY_NR };
#undef FAMILY_ENUM

struct family {
	const char *name;
	enum family_type type;
	enum unit unit;
	const char *help;
};

const struct family *family_get(enum family_id id);
/* Type suffix of a metric name, such as "_total", or "". */
const char *family_suffix(const struct family *family);

#endif
