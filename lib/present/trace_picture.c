/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Selects the slices and waits of a recording for the picture in its trace file. */
#include "present/trace.h"

#include <errno.h>
#include <stdlib.h>

struct range {
	uint64_t from_ns, to_ns;
};

static size_t slices_in(const struct trace_window *w, const struct range *range)
{
	size_t nr = 0;

	array_for_each(cpu, w->cpu, w->nr_cpus) {
		size_t end = trace_slice_at(cpu, range->to_ns);

		/* Include a slice that begins inside the time range and ends after it. */
		end += end < cpu->nr_slices && cpu->slices[end].from_ns < range->to_ns;
		nr += end - trace_slice_at(cpu, range->from_ns);
	}
	return nr;
}

static struct range around(const struct trace_window *w, uint64_t centre_ns, uint64_t reach_ns)
{
	struct range range = {w->from_ns, w->to_ns};

	if (centre_ns > w->from_ns + reach_ns)
		range.from_ns = centre_ns - reach_ns;
	if (w->to_ns > centre_ns + reach_ns)
		range.to_ns = centre_ns + reach_ns;
	return range;
}

/* Returns the longest time range around the time @centre_ns that has at most @max slices. */
static struct range choose(const struct trace_window *w, uint64_t centre_ns, size_t max)
{
	uint64_t low = 0, high = w->to_ns - w->from_ns;
	struct range range = around(w, centre_ns, high);

	if (slices_in(w, &range) <= max)
		return range;
	while (low + 1 < high) {
		uint64_t mid = low + (high - low) / 2;

		range = around(w, centre_ns, mid);
		if (slices_in(w, &range) <= max)
			low = mid;
		else
			high = mid;
	}
	return around(w, centre_ns, low);
}

static void add_slices(const struct trace_window *w, uint32_t cpu, const struct range *range,
		       struct timeline *t)
{
	const struct trace_cpu *c = &w->cpu[cpu];

	for (size_t i = trace_slice_at(c, range->from_ns);
	     i < c->nr_slices && c->slices[i].from_ns < range->to_ns; i++) {
		const struct trace_slice *s = &c->slices[i];
		bool idle = s->part == LOAD_PART_IDLE || s->part == LOAD_PART_POLL_IDLE;

		t->slices[t->nr_slices++] = (struct timeline_slice){
			.from_ns = w->start_mono_ns + s->from_ns,
			.to_ns = w->start_mono_ns + s->to_ns,
			.part = load_part_name(s->part),
			.name = trace_slice_name(w, s),
			.cpu = cpu,
			.pid = s->pid,
			.state = idle ? s->what : 0,
		};
	}
}

static int add_waits(const struct trace_window *w, const struct trace_wait *list, size_t nr,
		     struct timeline *t)
{
	t->waits = calloc(nr + 1, sizeof(*t->waits));
	if (!t->waits)
		return -ENOMEM;
	array_for_each(wait, list, nr) {
		struct trace_chain chain;

		trace_wait_chain(w, wait, &chain);
		t->waits[t->nr_waits++] = (struct timeline_wait){
			.from_ns = w->start_mono_ns + wait->from_ns,
			.to_ns = w->start_mono_ns + wait->to_ns,
			.waking_ns = wait->waking_ns ? w->start_mono_ns + wait->waking_ns : 0,
			.cpu = wait->cpu,
			.pid = wait->pid,
			.woken = wait->woken,
			.held = wait->throttled,
			.throttled_ns = wait->throttled_ns,
			.waker = wait->waker,
			.waker_cpu = wait->waker_cpu,
			.waker_irq = trace_waker_irq(w, wait),
			.culprit = chain.culprit,
			.culprit_ns = chain.culprit_ns,
			.irq_ns = chain.irq_ns,
			.softirq_ns = chain.softirq_ns,
			.idle_ns = chain.idle_ns,
			.avoidable_ns = wait->avoidable.ns,
			.idle_cpu = wait->avoidable.cpu,
			.idle_cpu_ns = wait->avoidable.cpu_ns,
		};
	}
	t->all_waits = w->waits.nr;
	return 0;
}

int trace_timeline_picture(const struct trace_window *w, size_t max_slices, size_t max_waits,
			   struct timeline *timeline)
{
	struct trace_wait *list;
	struct range range;
	uint64_t centre_ns = w->event ? w->event_ns : w->to_ns;
	size_t nr;
	int rc = trace_longest_waits(w, max_waits, &list, &nr);

	if (rc)
		return rc;
	if (!w->event && nr)
		centre_ns = list[0].from_ns + (list[0].to_ns - list[0].from_ns) / 2;
	range = choose(w, centre_ns, max_slices);
	timeline->from_ns = w->start_mono_ns + range.from_ns;
	timeline->to_ns = w->start_mono_ns + range.to_ns;
	timeline->slices = calloc(slices_in(w, &range) + 1, sizeof(*timeline->slices));
	rc = timeline->slices ? add_waits(w, list, nr, timeline) : -ENOMEM;
	for (size_t cpu = 0; cpu < w->nr_cpus && !rc; cpu++) {
		add_slices(w, cpu, &range, timeline);
		timeline->all_slices += w->cpu[cpu].nr_slices;
	}
	free(list);
	return rc;
}
