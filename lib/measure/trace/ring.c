/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's side of abi/trace.h. */
#include "measure/trace/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define SEE(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)

/* Room for @more edges; -ENOMEM. Doubles, so that the copies cost no more than the edges. */
static int make_room(struct trace_core *core, size_t more)
{
	size_t room = 1, need = core->nr_edges + more;
	struct trace_edge *edges;

	while (room < core->nr_edges)
		room *= 2;
	if (core->nr_edges && need <= room)
		return 0;
	while (room < need)
		room *= 2;
	edges = reallocarray(core->edges, room, sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	core->edges = edges;
	return 0;
}

static int add_gap(struct trace_reader *r, uint64_t lost)
{
	struct trace_core *core = &r->core;
	size_t *gaps;

	r->lost += lost;
	/* Without an edge before it, the trace begins later, and that is all. */
	if (!core->nr_edges) {
		r->cut = true;
		return 0;
	}
	if (core->nr_gaps && core->gaps[core->nr_gaps - 1] == core->nr_edges)
		return 0;
	gaps = grow(core->gaps, core->nr_gaps, sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	core->gaps = gaps;
	core->gaps[core->nr_gaps++] = core->nr_edges;
	return 0;
}

/* The edges [from, to); false if some of them were overwritten meanwhile. */
static bool copy(struct trace_reader *r, uint64_t from, uint64_t to, bool last,
		 struct trace_edge *ret_edges)
{
	uint64_t head;

	for (uint64_t i = from; i < to; i++)
		ret_edges[i - from] = r->ring->edges[i & r->mask];
	if (last)
		return true;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	head = SEE(r->ring->head);
	/* The edge that is being written overwrites the oldest one. */
	return from + r->mask >= head;
}

static int take_edges(struct trace_reader *r, bool last)
{
	uint64_t head = SEE(r->ring->head), to = last ? head : r->seen_head, nr;
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
			r->core.nr_edges += nr;
			r->next = to;
		} else {
			head = SEE(r->ring->head);
		}
	}
	return rc;
}

/* The place of an edge that interrupted the writing of another. */
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
		const struct trace_edge *edge = &r->ring->nested[i % TRACE_NR_NESTED];

		/* What was around it is gone. */
		if (r->cut && trace_edge_ns(edge) < trace_edge_ns(&r->core.edges[0]))
			continue;
		rc = insert(&r->core, edge);
	}
	return rc;
}

int trace_ring_take(struct trace_reader *reader, bool last)
{
	int rc = take_edges(reader, last);

	if (!rc && last)
		rc = take_nested(reader);
	return rc;
}

/* The first edge that tells which task has the core. */
static const struct trace_edge *first_telling(const struct trace_core *core)
{
	for (size_t i = 0; i < core->nr_edges; i++) {
		enum trace_kind kind = trace_edge_kind(&core->edges[i]);

		if (kind == TRACE_SWITCH || kind == TRACE_IDLE_ENTER || kind == TRACE_IDLE_LEAVE)
			return &core->edges[i];
	}
	return NULL;
}

void trace_ring_finish(struct trace_reader *reader, uint64_t to_ns)
{
	struct trace_core *core = &reader->core;
	const struct trace_edge *telling = first_telling(core);
	uint64_t seed = reader->ring->seed;

	core->to_ns = to_ns;
	if (core->nr_edges && trace_edge_ns(&core->edges[core->nr_edges - 1]) > to_ns)
		core->to_ns = trace_edge_ns(&core->edges[core->nr_edges - 1]);
	if (reader->cut) {
		core->from_ns = telling ? trace_edge_ns(telling) : core->to_ns;
		return;
	}
	core->from_ns = 0;
	core->first_known = true;
	/* The walk over the tasks came after the start: an edge knows better. */
	if (!telling)
		core->first_pid = seed ? seed - 1 : 0;
	else if (trace_edge_kind(telling) == TRACE_SWITCH)
		core->first_pid = TRACE_FIRST(telling->what);
}

void trace_ring_free(struct trace_reader *reader)
{
	free(reader->core.edges);
	free(reader->core.gaps);
	reader->core.edges = NULL;
	reader->core.gaps = NULL;
}
