/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads records from the rings of the trace programs (abi/trace.h). */
#include "measure/trace/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SEE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

/* Mask of the nanoseconds in trace_edge.stamp, after a shift by the 8 bits of the kind. */
#define STAMP_NS    ((1ULL << 56) - 1)
#define REASON_MASK ((1ULL << 48) - 1)

/* Number of records that the core has written into its ring since the recording started. */
static uint64_t see_head(const struct trace_reader *r)
{
	return SEE(r->ring->head) / sizeof(struct trace_edge);
}

/*
 * Makes the timestamp of a record relative to the start of the recording, and clears the unused
 * bits of `what`. Returns false if the record is older than the start of the recording.
 */
static bool since_start(const struct trace_reader *r, struct trace_edge *edge)
{
	uint64_t ns = ((edge->stamp >> 8) - r->start_ns) & STAMP_NS;
	enum trace_kind kind = trace_edge_kind(edge);

	edge->stamp = ns << 8 | (edge->stamp & 0xff);
	if (kind == TRACE_IPI_ENTER)
		edge->what &= REASON_MASK;
	/* the BPF programs do not set `what` in records of interrupt exits, idle exits and ticks */
	if (kind == TRACE_IRQ_LEAVE || kind == TRACE_IDLE_LEAVE || kind == TRACE_TICK)
		edge->what = 0;
	return ns <= STAMP_NS / 2;
}

/*
 * Makes room for @more records in the array of kept records. Doubles the size of the array, so that
 * the amortized cost per record is constant. Returns 0 or -ENOMEM.
 */
static int make_room(struct trace_core *core, size_t more)
{
	size_t need = core->nr_edges + more;
	struct trace_edge *edges;

	if (core->nr_edges && need <= roundup_pow_of_two(core->nr_edges))
		return 0;
	edges = reallocarray(core->edges, roundup_pow_of_two(need), sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	core->edges = edges;
	return 0;
}

static int add_gap(struct trace_reader *r, uint64_t lost)
{
	struct trace_core *core = &r->core;

	r->lost += lost;
	/*
	 * Records that were lost before the first kept record are not a gap, because the trace
	 * starts with the first kept record.
	 */
	if (!core->nr_edges) {
		r->cut = true;
		return 0;
	}
	if (core->nr_gaps && core->gaps[core->nr_gaps - 1] == core->nr_edges)
		return 0;
	return array_push(core->gaps, core->nr_gaps, core->nr_edges);
}

/*
 * Copies the records with numbers in [from, to) from the ring. Returns false if a record was
 * overwritten during the copy.
 */
static bool copy(struct trace_reader *r, uint64_t from, uint64_t to, bool last,
		 struct trace_edge *ret_edges)
{
	for (uint64_t i = from; i < to; i++)
		ret_edges[i - from] = r->ring->edges[i & r->mask];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* the core may be overwriting the oldest record at this moment */
	return last || from + r->mask >= see_head(r);
}

static void keep_edges(struct trace_reader *r, uint64_t nr)
{
	struct trace_edge *from = r->core.edges + r->core.nr_edges;

	for (uint64_t i = 0; i < nr; i++)
		if (since_start(r, &from[i]))
			r->core.edges[r->core.nr_edges++] = from[i];
}

static int take_edges(struct trace_reader *r, bool last)
{
	uint64_t head = see_head(r), to = last ? head : r->seen_head, nr;
	int rc = 0;

	r->seen_head = head;
	while (r->next < to && !rc) {
		uint64_t from = r->next, oldest = head > r->mask ? head - r->mask - last : 0;

		if (from < oldest) {
			uint64_t skip = (oldest < to ? oldest : to) - from;

			rc = add_gap(r, skip);
			r->next += skip;
			continue;
		}
		nr = to - from;
		if (r->core.nr_edges + nr > r->max_edges) {
			rc = add_gap(r, nr);
			r->next = to;
			break;
		}
		rc = make_room(&r->core, nr);
		if (rc)
			break;
		if (copy(r, from, to, last, &r->core.edges[r->core.nr_edges])) {
			keep_edges(r, nr);
			r->next = to;
		} else {
			head = see_head(r);
		}
	}
	return rc;
}

/* Inserts a nested record, which was recorded while another record was being written. */
static int insert(struct trace_core *core, const struct trace_edge *edge)
{
	size_t at = core->nr_edges;
	int rc = make_room(core, 1);

	if (rc)
		return rc;
	while (at && trace_edge_ns(&core->edges[at - 1]) > trace_edge_ns(edge))
		at--;
	memmove(&core->edges[at + 1], &core->edges[at], (core->nr_edges - at) * sizeof(*edge));
	core->edges[at] = *edge;
	core->nr_edges++;
	for (size_t i = 0; i < core->nr_gaps; i++)
		core->gaps[i] += core->gaps[i] > at;
	return 0;
}

static int take_nested(struct trace_reader *r)
{
	uint64_t head = SEE(r->ring->nested_head);
	uint64_t from = head > TRACE_NR_NESTED ? head - TRACE_NR_NESTED : 0;
	int rc = 0;

	r->lost += from + r->ring->nested_lost;
	for (uint64_t i = from; i < head && !rc; i++) {
		struct trace_edge edge = r->ring->nested[i % TRACE_NR_NESTED];

		/* drop a record that is older than the first kept record */
		if (!since_start(r, &edge) ||
		    (r->cut && trace_edge_ns(&edge) < trace_edge_ns(&r->core.edges[0])))
			continue;
		rc = insert(&r->core, &edge);
	}
	return rc;
}

int trace_ring_take(struct trace_reader *reader, bool last)
{
	int rc = take_edges(reader, last);

	return rc || !last ? rc : take_nested(reader);
}

/* Finds the first record in [@from, @to) that shows which task is current. */
static const struct trace_edge *first_with_task(const struct trace_core *core, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		enum trace_kind kind = trace_edge_kind(&core->edges[i]);

		if (kind == TRACE_SWITCH || kind == TRACE_IDLE_ENTER || kind == TRACE_IDLE_LEAVE)
			return &core->edges[i];
	}
	return NULL;
}

/* Returns the pid of the task that was current before @edge, a record from first_with_task(). */
static uint32_t pid_before(const struct trace_edge *edge)
{
	return trace_edge_kind(edge) == TRACE_SWITCH ? TRACE_FIRST(edge->what) : 0;
}

/*
 * Sets the current task in the wake-up records of [@from, @to), which must contain no gap. @current
 * is the pid of the task that is current at @from, or TRACE_NOBODY if unknown.
 */
static void fill_current(struct trace_core *core, size_t from, size_t to, uint32_t current)
{
	const struct trace_edge *first = first_with_task(core, from, to);

	if (first)
		current = pid_before(first);
	for (size_t i = from; i < to; i++) {
		struct trace_edge *edge = &core->edges[i];
		enum trace_kind kind = trace_edge_kind(edge);

		if (kind == TRACE_SWITCH)
			current = TRACE_SECOND(edge->what);
		else if (kind >= TRACE_WAKING && kind <= TRACE_MIGRATE)
			edge->what |= TRACE_WHAT(0, current, 0);
	}
}

/* Computes the current task in all wake-up records from the switches of the same core. */
static void fill_wakeups(struct trace_reader *reader)
{
	struct trace_core *core = &reader->core;
	uint32_t current = core->first_known ? core->first_pid : TRACE_NOBODY;
	size_t from = 0;

	if (reader->ring->unwanted)
		return;
	for (size_t i = 0; i < core->nr_gaps; i++) {
		fill_current(core, from, core->gaps[i], current);
		from = core->gaps[i];
		current = TRACE_NOBODY;
	}
	fill_current(core, from, core->nr_edges, current);
}

/* Sets the start time of the core's trace, and the task that was running at the start time. */
static void fill_begin(struct trace_reader *reader)
{
	struct trace_core *core = &reader->core;
	const struct trace_edge *first = first_with_task(core, 0, core->nr_edges);
	uint64_t seed = reader->ring->seed;

	if (reader->cut) {
		core->from_ns = first ? trace_edge_ns(first) : core->to_ns;
		return;
	}
	core->from_ns = 0;
	core->first_known = true;
	/* prefer the task in a record: the task iterator runs after the start of the recording */
	core->first_pid = first ? pid_before(first) : seed ? seed - 1 : 0;
}

void trace_ring_finish(struct trace_reader *reader, uint64_t to_ns)
{
	struct trace_core *core = &reader->core;

	core->to_ns = to_ns;
	if (core->nr_edges && trace_edge_ns(&core->edges[core->nr_edges - 1]) > to_ns)
		core->to_ns = trace_edge_ns(&core->edges[core->nr_edges - 1]);
	fill_begin(reader);
	fill_wakeups(reader);
}

void trace_ring_free(struct trace_reader *reader)
{
	free(reader->core.edges);
	free(reader->core.gaps);
	reader->core = (struct trace_core){0};
}
