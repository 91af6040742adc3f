/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the contexts of CPUs and the waits of tasks from recorded trace events. */
#ifndef SUBTICK_STATS_TRACE_H
#define SUBTICK_STATS_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/trace.h"
#include "base/cpuset.h"
#include "stats/load.h"

static inline uint64_t trace_edge_ns(const struct trace_edge *edge)
{
	return edge->stamp >> 8;
}

static inline enum trace_kind trace_edge_kind(const struct trace_edge *edge)
{
	return edge->stamp & 0xff;
}

/* True if the enqueue event also starts the wake-up, because there is no TRACE_WAKING event. */
static inline bool trace_edge_wakes(const struct trace_edge *edge)
{
	enum trace_kind kind = trace_edge_kind(edge);

	return (kind == TRACE_WAKEUP || kind == TRACE_MIGRATE) && edge->what & TRACE_WAKES;
}

/* Recorded trace events of one CPU. */
struct trace_core {
	struct trace_edge *edges; /* events, sorted by timestamp */
	size_t nr_edges;
	/* time range of the events, in ns since the start of the recording */
	uint64_t from_ns, to_ns;
	uint32_t first_pid; /* pid of the current task at from_ns; valid if first_known is true */
	bool first_known;
	/*
	 * Gaps: index in `edges` of each event before which events are missing, ascending. The
	 * context of the CPU is unknown in a gap.
	 */
	size_t *gaps;
	size_t nr_gaps;
	uint64_t poll_states; /* bit n is set if idle state n polls instead of halting */
};

/* Interval of a CPU in one context. */
struct trace_slice {
	uint64_t from_ns, to_ns;
	enum load_part part;
	uint32_t pid;  /* pid of the current task, or 0 if idle or unknown */
	/* hardirq: `what` of its entry event; softirq: vector; else: idle state */
	uint64_t what;
	enum trace_kind kind; /* for a hardirq: kind of its entry event */
};

struct trace_replay {
	/* time per context in ns; the sum is exactly to_ns - from_ns */
	uint64_t part_ns[LOAD_NR_PARTS];
	/* number of exit events without entry event, and of entry events without exit event */
	uint64_t odd_edges;
};

/* True for ksoftirqd and NAPI threads, whose run time counts as LOAD_PART_KSOFTIRQD. */
typedef bool trace_is_softirqd(void *arg, uint32_t pid);
typedef void trace_on_slice(void *arg, const struct trace_slice *slice);

/*
 * Computes the contexts of a CPU, as `subtick load --source bpf` does. Calls @on_slice, which may
 * be NULL, for each interval in order of time.
 */
void trace_replay(const struct trace_core *core, trace_is_softirqd *is_softirqd,
		  trace_on_slice *on_slice, void *arg, struct trace_replay *ret_replay);

struct trace_span {
	uint64_t from_ns, to_ns;
};

struct trace_spans {
	struct trace_span *list;
	size_t nr;
};

/*
 * Avoidable part of a wait: the time in which another allowed CPU was idle. Two parts of a wait are
 * not avoidable: time throttled by CPU quota, and time in which the CPU with the queued task leaves
 * an idle state.
 */
struct trace_avoidable {
	uint64_t ns;
	uint32_t cpu; /* allowed CPU that was idle longest in the avoidable parts, or UINT32_MAX */
	uint64_t cpu_ns; /* idle time of `cpu` in the avoidable parts */
	bool known;	 /* false if the allowed CPUs or the throttled time are unknown */
	/* true if the wait is avoidable from its start, or from the end of the throttling */
	bool at_start;
	/* avoidable parts: nr_spans elements of the array of all waits, beginning at first_span */
	size_t first_span, nr_spans;
};

/* A wait of a runnable task for a CPU. */
struct trace_wait {
	uint64_t from_ns, to_ns;
	uint32_t pid;
	uint32_t cpu;	    /* CPU on which the task finally ran */
	uint32_t queue_cpu; /* CPU on which the task was first enqueued */
	/* Time of the migration to `cpu`, or to_ns without a migration. */
	uint64_t moved_ns;
	bool woken;	    /* true: task slept before the wait; false: task was preempted */
	bool throttled;	    /* true if CPU quota throttled the task at the start of the wait */
	/* time in ns from the start of the wait in which the task was throttled, or 0 if unknown */
	uint64_t throttled_ns;
	/* pid of the current task on waker_cpu at the wake-up; 0: idle, UINT32_MAX: unknown */
	uint32_t waker;
	uint32_t waker_cpu; /* CPU that started the wake-up */
	/* start of the wake-up: from_ns if the waker enqueued the task, 0 after preemption */
	uint64_t waking_ns;
	struct trace_avoidable avoidable; /* filled by trace_find_avoidable() */
};

struct trace_waits {
	struct trace_wait *list; /* waits, sorted by their end */
	size_t nr;
	uint64_t sum_ns;
	/* number of waits whose start is missing in the trace */
	uint64_t unknown_start;
};

/*
 * Finds all waits that end in the trace. @cores is indexed by CPU. Sets TRACE_WAKES in each wake-up
 * event that has no preceding TRACE_WAKING event. Returns 0 or -ENOMEM.
 */
int trace_find_waits(const struct trace_core *cores, size_t nr_cores, struct trace_waits *ret_waits);

/*
 * Finds the times in which a CPU runs its idle task, ascending. After a gap in the recording, the
 * CPU is busy until its next context switch. Returns 0 or -ENOMEM.
 */
int trace_find_idle(const struct trace_core *core, struct trace_spans *ret_idle);

/*
 * Computes @wait->avoidable, and appends the avoidable times to @spans. @idle contains the idle
 * times by CPU. @allowed is the set of allowed CPUs of the task, or NULL if unknown. Returns 0 or
 * -ENOMEM.
 */
int trace_find_avoidable(const struct trace_spans *idle, size_t nr_cpus,
			 const struct cpuset *allowed, struct trace_spans *spans,
			 struct trace_wait *wait);

#endif
