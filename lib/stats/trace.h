/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Replays the edges of a trace: what each core did, and who waited for one. Arithmetic only. */
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

/* The core woke the task just before, and there is no edge of that. */
static inline bool trace_edge_wakes(const struct trace_edge *edge)
{
	enum trace_kind kind = trace_edge_kind(edge);

	return (kind == TRACE_WAKEUP || kind == TRACE_MIGRATE) && edge->what & TRACE_WAKES;
}

/* Recording of one core. */
struct trace_core {
	struct trace_edge *edges; /* in the order of their stamps */
	size_t nr_edges;
	uint64_t from_ns, to_ns; /* the time it covers, ns since the start */
	uint32_t first_pid;	 /* who had the core at from_ns, if first_known */
	bool first_known;
	/* Before these edges, in ascending order, some are missing: what the core did is unknown. */
	size_t *gaps;
	size_t nr_gaps;
	uint64_t poll_states; /* bit n: idle state n polls */
};

/* Interval in one context. */
struct trace_slice {
	uint64_t from_ns, to_ns;
	enum load_part part;
	uint32_t pid;  /* of the task below; 0: idle, or unknown */
	uint64_t what; /* HARDIRQ: what its edge has; softirqs: the vector; idle: the state */
	enum trace_kind kind; /* HARDIRQ: of the edge that began it */
};

struct trace_replay {
	uint64_t part_ns[LOAD_NR_PARTS]; /* they sum to to_ns - from_ns, exactly */
	uint64_t odd_edges;		 /* exits without their entry, or the reverse */
};

/* Whose time is that of ksoftirqd, as LOAD_KSOFTIRQD. */
typedef bool trace_is_softirqd(void *arg, uint32_t pid);
typedef void trace_on_slice(void *arg, const struct trace_slice *slice);

/*
 * The contexts of a core by the same rules as those of source bpf of `load`. Slices come in order and
 * without a gap; @on_slice may be NULL.
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
 * The part of a wait in which another allowed core was idle. Excluded: the time that CPU quota held
 * the task, and the time in which the core that it was queued on left its own idle state.
 */
struct trace_avoidable {
	uint64_t ns;
	uint32_t cpu;	 /* allowed CPU with the longest idle time in the wait; UINT32_MAX: none */
	uint64_t cpu_ns; /* idle time of that CPU */
	bool known;	 /* false: the allowed CPUs or the time held by quota are not known */
	bool at_start;	 /* one was idle when the wait began; else one became idle later */
	size_t first_span, nr_spans; /* the avoidable times, in the list of all waits */
};

/* One wait of a task for a core. */
struct trace_wait {
	uint64_t from_ns, to_ns;
	uint32_t pid;
	uint32_t cpu;	    /* CPU that it got */
	uint32_t queue_cpu; /* CPU that it was first queued on */
	uint64_t moved_ns;  /* time of the migration to `cpu` during the wait; to_ns: none */
	bool woken;	    /* it slept before; else it lost a core */
	bool held;	    /* its CPU quota was used up when the wait began */
	uint64_t held_ns;   /* held: for so long from the beginning of the wait; 0: not known */
	uint32_t waker;	    /* woken: the task that was current there; 0 for idle, UINT32_MAX: not known */
	uint32_t waker_cpu; /* woken: where the wake-up came from */
	uint64_t waking_ns; /* woken: when the waker began to wake it, or from_ns if it queued it itself */
	struct trace_avoidable avoidable; /* filled by trace_find_avoidable() */
};

struct trace_waits {
	struct trace_wait *list; /* by their end */
	size_t nr;
	uint64_t sum_ns;
	uint64_t unknown_start; /* got a core, and the start of the wait is not in the trace */
};

/*
 * All waits that end in the trace. @cores is indexed by CPU; the wake-ups among their edges get TRACE_WAKES
 * where it belongs. 0 or -ENOMEM.
 */
int trace_find_waits(const struct trace_core *cores, size_t nr_cores, struct trace_waits *ret_waits);

/*
 * Finds the times in which the idle task was current on @core, in order. Behind a gap the core counts
 * as busy until its next switch. 0 or -ENOMEM.
 */
int trace_find_idle(const struct trace_core *core, struct trace_spans *ret_idle);

/*
 * Fills @wait->avoidable, and appends the avoidable times to @spans. @idle: by CPU, @nr_cpus of them.
 * @allowed: NULL if not known. 0 or -ENOMEM.
 */
int trace_find_avoidable(const struct trace_spans *idle, size_t nr_cpus,
			 const struct cpuset *allowed, struct trace_spans *spans,
			 struct trace_wait *wait);

#endif
