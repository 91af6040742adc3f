/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the parts of a wait in which another CPU that the task may use was idle. */
#include "stats/trace.h"

#include <stdlib.h>

#include "base/array.h"

static int add_span(struct trace_spans *spans, uint64_t from_ns, uint64_t to_ns)
{
	if (from_ns >= to_ns)
		return 0;
	return array_push(spans->list, spans->nr, (struct trace_span){from_ns, to_ns});
}

int trace_find_idle(const struct trace_core *core, struct trace_spans *ret_idle)
{
	bool idle = core->first_known && !core->first_pid;
	struct trace_spans spans = {0};
	uint64_t since_ns = core->from_ns;
	size_t gap = 0;
	int rc = 0;

	for (size_t i = 0; i < core->nr_edges && !rc; i++) {
		const struct trace_edge *edge = &core->edges[i];

		if (gap < core->nr_gaps && core->gaps[gap] == i) {
			/* after the last event before a gap, the CPU may have left idle */
			if (idle && i)
				rc = add_span(&spans, since_ns, trace_edge_ns(&core->edges[i - 1]));
			idle = false;
			gap++;
		}
		if (rc || trace_edge_kind(edge) != TRACE_SWITCH)
			continue;
		if (idle)
			rc = add_span(&spans, since_ns, trace_edge_ns(edge));
		idle = !TRACE_SECOND(edge->what);
		since_ns = trace_edge_ns(edge);
	}
	if (idle && !rc)
		rc = add_span(&spans, since_ns, core->to_ns);
	if (rc)
		free(spans.list);
	else
		*ret_idle = spans;
	return rc;
}

/*
 * At time @ns, a CPU becomes idle (+1) or busy (-1): @own for the CPU on which the task is queued,
 * @others for an allowed CPU.
 */
struct change {
	uint64_t ns;
	int others, own;
};

struct changes {
	struct change *list;
	size_t nr;
};

static int by_time(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	return CMP(left->ns, right->ns);
}

/* Index of the first span that ends after @ns. */
static size_t span_at(const struct trace_spans *spans, uint64_t ns)
{
	return array_above(spans->list, spans->nr, sizeof(*spans->list),
			   offsetof(struct trace_span, to_ns), ns);
}

static struct trace_span overlap(const struct trace_span *a, const struct trace_span *b)
{
	return (struct trace_span){a->from_ns > b->from_ns ? a->from_ns : b->from_ns,
				   a->to_ns < b->to_ns ? a->to_ns : b->to_ns};
}

/* Adds the idle times of a CPU during @part, which is a part of the wait, to @changes. */
static int add_core(struct changes *changes, const struct trace_spans *idle,
		    const struct trace_span *part, bool own)
{
	int rc = 0;

	for (size_t i = span_at(idle, part->from_ns);
	     i < idle->nr && idle->list[i].from_ns < part->to_ns && !rc; i++) {
		struct trace_span both = overlap(&idle->list[i], part);

		if (both.from_ns >= both.to_ns)
			continue;
		rc = array_push(changes->list, changes->nr,
				(struct change){both.from_ns, !own, own}) ?:
		     array_push(changes->list, changes->nr,
				(struct change){both.to_ns, -!own, -own});
	}
	return rc;
}

/* Appends to @spans the times in which the task's CPU was busy while another CPU was idle. */
static int sweep(struct changes *changes, struct trace_spans *spans, struct trace_avoidable *found)
{
	int others = 0, own = 0, rc = 0;

	if (changes->nr)
		qsort(changes->list, changes->nr, sizeof(*changes->list), by_time);
	for (size_t i = 0; i + 1 < changes->nr && !rc; i++) {
		uint64_t from_ns = changes->list[i].ns, to_ns = changes->list[i + 1].ns;

		others += changes->list[i].others;
		own += changes->list[i].own;
		if (!others || own)
			continue;
		found->ns += to_ns - from_ns;
		if (spans->nr > found->first_span && spans->list[spans->nr - 1].to_ns == from_ns)
			spans->list[spans->nr - 1].to_ns = to_ns;
		else
			rc = add_span(spans, from_ns, to_ns);
	}
	found->nr_spans = spans->nr - found->first_span;
	return rc;
}

/* Finds the allowed CPU that was idle longest during the avoidable parts of the wait. */
static void choose_core(const struct trace_spans *idle, size_t nr_cpus, const struct cpuset *allowed,
			const struct trace_spans *spans, struct trace_avoidable *found)
{
	cpuset_for_each(cpu, allowed) {
		uint64_t ns = 0;

		for (size_t at = found->first_span; cpu < nr_cpus && at < spans->nr; at++)
			for (size_t i = span_at(&idle[cpu], spans->list[at].from_ns);
			     i < idle[cpu].nr && idle[cpu].list[i].from_ns < spans->list[at].to_ns; i++) {
				struct trace_span both = overlap(&idle[cpu].list[i], &spans->list[at]);

				ns += both.to_ns - both.from_ns;
			}
		if (ns > found->cpu_ns) {
			found->cpu = cpu;
			found->cpu_ns = ns;
		}
	}
}

int trace_find_avoidable(const struct trace_spans *idle, size_t nr_cpus,
			 const struct cpuset *allowed, struct trace_spans *spans,
			 struct trace_wait *wait)
{
	struct trace_avoidable found = {.cpu = UINT32_MAX, .first_span = spans->nr};
	struct trace_span part = {wait->from_ns + wait->throttled_ns, wait->to_ns};
	uint64_t moved_ns = wait->moved_ns < part.from_ns ? part.from_ns : wait->moved_ns;
	struct changes changes = {0};
	int rc = 0;

	wait->avoidable = found;
	if (!allowed || (wait->throttled && !wait->throttled_ns))
		return 0;
	cpuset_for_each(cpu, allowed)
		if (!rc && cpu < nr_cpus)
			rc = add_core(&changes, &idle[cpu], &part, false);
	if (!rc && wait->queue_cpu < nr_cpus)
		rc = add_core(&changes, &idle[wait->queue_cpu],
			      &(struct trace_span){part.from_ns, moved_ns}, true);
	if (!rc)
		rc = add_core(&changes, &idle[wait->cpu],
			      &(struct trace_span){moved_ns, part.to_ns}, true);
	if (!rc)
		rc = sweep(&changes, spans, &found);
	free(changes.list);
	if (rc)
		return rc;
	found.known = true;
	found.at_start = found.nr_spans && spans->list[found.first_span].from_ns == part.from_ns;
	choose_core(idle, nr_cpus, allowed, spans, &found);
	wait->avoidable = found;
	return 0;
}
