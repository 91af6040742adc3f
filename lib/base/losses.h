/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All counters of lost events, and the counters of each meter. Members of windows, quality keys,
 * the JSON Schema, metrics and man pages are generated from the lists of losses.h.
 */
#ifndef SUBTICK_BASE_LOSSES_H
#define SUBTICK_BASE_LOSSES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * List of all loss counters: X(key, title, help). The JSON key of a loss counter is "key_total".
 * The value of enum metric_id is M_key_total. The exporter shows the counter as
 * subtick_losses_total{kind="key"}. @title is the column heading in text output. The help text
 * states which events were lost and how the loss changes the figures.
 */
#define LOSSES(X)                                                                                  \
	X(torn, "torn",                                                                            \
	  "abandoned samples, because the core's data changed during every attempt to read it; "   \
	  "the core has no figure in this window")                                                 \
	X(odd_edges, "odd edges",                                                                  \
	  "context exits without an entry, or entries without an exit; some time is in the "       \
	  "wrong context")                                                                         \
	X(paused_softirq_lost, "lost pauses",                                                      \
	  "preempted softirqs beyond the four that one core can store; the rest of their time "    \
	  "is in tasks")                                                                           \
	X(recursion_misses, "misses",                                                              \
	  "events that the kernel dropped because the program was already running on that core; "  \
	  "they are not counted")                                                                  \
	X(read_error, "read errors",                                                               \
	  "failed reads; the CPU has no figure in this window")                                    \
	X(irq_lost, "irq lost",                                                                    \
	  "interrupts whose line found no room in the table; hardirq contains their time, but "    \
	  "no line does")                                                                          \
	X(unknown_start, "unknown starts",                                                         \
	  "dispatches whose wait has an unknown start; not counted as waits")                      \
	X(negative, "negative",                                                                    \
	  "waits with a negative length; not counted as waits")                                    \
	X(table_full, "without a slot",                                                            \
	  "waits of groups that got no slot; they are in the row (other)")                         \
	X(blame_full, "blame without room",                                                        \
	  "charges that did not fit into the blame table; they are in the row (other)")            \
	X(path_cut, "paths cut",                                                                   \
	  "groups whose path has more than 11 names or 720 bytes; it is shown with the number "    \
	  "of the cgroup, /…(N)")                                                                  \
	X(ring_lost, "events lost",                                                                \
	  "long waits that were counted but not streamed, because the reader was too slow")        \
	X(idle_states_full, "idle states without room",                                            \
	  "waits for idle cores that found no room in the table of groups and states; the "        \
	  "list of idle states lacks them")                                                        \
	X(avoidable_lost, "avoidable unknown",                                                     \
	  "waits whose avoidable part is unknown: the wait began before the start, the cgroup "    \
	  "found no room in the table, or another task has the same lower PID bits")               \
	X(pressure_full, "pressure without room",                                                  \
	  "state changes of tasks whose cgroup found no room in the pressure table, or is "        \
	  "nested too deeply; pressure lacks them")                                                \
	X(pressure_shared, "pressure entries lost",                                                \
	  "waiting or running tasks replaced by another task with the same lower PID bits; "       \
	  "pressure lacks them")                                                                   \
	X(pressure_crowded, "pressure counts near their limit",                                    \
	  "state changes while a cgroup had more waiting tasks than its counter safely holds; "    \
	  "its pressure can be wrong")                                                             \
	X(pressure_unstable, "pressure not read",                                                  \
	  "cgroups whose counts changed during the read; their time is in the next window")        \
	X(source_lost, "sources lost",                                                             \
	  "events whose source found no room in the core's table; source_lost_ns is their time")   \
	X(victim_lost, "victims lost",                                                             \
	  "events whose victim found no room in the core's table; only their sources have their "  \
	  "time")                                                                                  \
	X(raise_unseen, "raises unseen",                                                           \
	  "softirqs whose raise was not recorded; the delays lack them")                           \
	X(queued_lost, "queueings lost",                                                           \
	  "queueing times of work items overwritten by another item; the execution has no delay")  \
	X(function_lost, "functions lost",                                                         \
	  "executions of work whose function found no room in the core's table")                   \
	X(sender_lost, "senders lost",                                                             \
	  "IPIs whose sender found no room in its table; the list of senders lacks them")          \
	X(call_lost, "calls lost",                                                                 \
	  "function calls that found no room in the caller's table; the list of calls lacks "      \
	  "them")                                                                                  \
	X(edges_lost, "edges lost",                                                                \
	  "edges that were overwritten before they were read, or found no room; the time of "      \
	  "each gap is unknown")                                                                   \
	X(names_lost, "names lost",                                                                \
	  "tasks whose name was overwritten by a later task; there is room for 32,768")

/*
 * Loss counters of `subtick load`: X(member, key). Loss counters that exist only with some options
 * are in other lists, such as LOAD_IRQ_LOSSES.
 */
#define LOAD_LOSSES(X)                        \
	X(torn, torn)                         \
	X(odd_edges, odd_edges)               \
	X(paused_lost, paused_softirq_lost)   \
	X(recursion_misses, recursion_misses) \
	X(read_errors, read_error)

/* Additional loss counters of `subtick load --irq`. */
#define LOAD_IRQ_LOSSES(X) X(lines_lost, irq_lost)

/*
 * Loss counters of `subtick runq`: X(member, key, from). @from is KERNEL if the BPF programs count
 * the loss in member @member of struct runq_cpu, else USER.
 */
#define RUNQ_LOSSES(X)                              \
	X(unknown_start, unknown_start, KERNEL)     \
	X(negative, negative, KERNEL)               \
	X(table_full, table_full, KERNEL)           \
	X(blame_full, blame_full, KERNEL)           \
	X(path_cut, path_cut, USER)                 \
	X(recursion_misses, recursion_misses, USER) \
	X(events_lost, ring_lost, KERNEL)

/* Additional loss counters of `subtick runq` with --idle-states, --avoidable and --pressure. */
#define RUNQ_IDLE_LOSSES(X) X(idle_full, idle_states_full)
#define RUNQ_AVOIDABLE_LOSSES(X) X(avoidable_lost, avoidable_lost)
#define RUNQ_PRESSURE_LOSSES(X)      \
	X(full, pressure_full)       \
	X(shared, pressure_shared)   \
	X(crowded, pressure_crowded) \
	X(unstable, pressure_unstable)

/* Loss counters of `subtick noise`, in addition to LOAD_LOSSES. */
#define NOISE_LOSSES(X)               \
	X(sources, source_lost)       \
	X(victims, victim_lost)       \
	X(raises, raise_unseen)       \
	X(queueings, queued_lost)     \
	X(functions, function_lost)

/* Additional loss counters of `subtick noise --senders`. */
#define NOISE_SENDER_LOSSES(X) \
	X(sends, sender_lost)  \
	X(calls, call_lost)

#define WAKE_LOSSES(X) X(recursion_misses, recursion_misses)

#define TRACE_LOSSES(X)                       \
	X(edges, edges_lost)                  \
	X(names, names_lost)                  \
	X(odd_edges, odd_edges)               \
	X(recursion_misses, recursion_misses) \
	X(unknown_start, unknown_start)

/* Declares a loss counter as a member of a struct. */
#define LOSS_MEMBER(member, key, ...) uint64_t member;

/*
 * The load that another tool shows is called wrong if it differs from the true load by more than 5
 * percentage points. The live page reads LOAD_WRONG_RATIO from the report. Files in packaging/
 * repeat the number, and ./check fleet compares the files with this definition.
 */
#define LOAD_WRONG_RATIO 0.05

/* False if a ratio is NaN. */
static inline bool load_is_wrong(double shown_ratio, double true_ratio)
{
	return fabs(shown_ratio - true_ratio) > LOAD_WRONG_RATIO;
}

#endif
