/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts names to groups and idle states, and finds the state that costs most. */
#include "measure/runq/idle_states.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"

/* Name and claim by the first CPU online; cores of another kind may have other states. */
static void describe(struct runq_idle_state *s, const struct cpuidle_state *states, int nr)
{
	if ((int)s->index < nr) {
		snprintf(s->name, sizeof(s->name), "%s", states[s->index].name);
		s->claimed_ns = states[s->index].polls ? UINT64_MAX : states[s->index].latency_ns;
		return;
	}
	/* Without a driver the idle loop reports 1, or 0 when it was told to poll. */
	snprintf(s->name, sizeof(s->name), "%s",
		 nr > 0	    ? "unknown"
		 : s->index ? arch_idle_name()
			    : "POLL");
	s->claimed_ns = UINT64_MAX;
}

static int by_party(const void *a, const void *b)
{
	const struct runq_idle_state *x = a, *y = b;
	uint64_t left = x->party.group ? x->party.group->key : 0;
	uint64_t right = y->party.group ? y->party.group->key : 0;

	if (x->party.kind != y->party.kind)
		return x->party.kind < y->party.kind ? -1 : 1;
	if (left != right)
		return left < right ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int by_wait(const void *a, const void *b)
{
	const struct runq_idle_state *x = a, *y = b;

	return x->wait_ns != y->wait_ns ? (x->wait_ns < y->wait_ns) - (x->wait_ns > y->wait_ns)
					: by_party(a, b);
}

/* Rows of one party and state become one; returns how many are left. */
static size_t merge(struct runq_idle_state *rows, size_t nr)
{
	size_t left = 0;

	qsort(rows, nr, sizeof(*rows), by_party);
	for (size_t i = 0; i < nr; i++) {
		if (left && !by_party(&rows[left - 1], &rows[i])) {
			rows[left - 1].count += rows[i].count;
			rows[left - 1].wait_ns += rows[i].wait_ns;
		} else {
			rows[left++] = rows[i];
		}
	}
	qsort(rows, left, sizeof(*rows), by_wait);
	return left;
}

int runq_window_idle(struct runq_window *w, struct runq_idle *idle,
		     const struct runq_kernel *kernel, const struct runq_filter *filter,
		     struct runq_rollup *rollup, struct err *err)
{
	const struct cpuidle_state *states;
	int nr_states = runq_idle_states(idle, &states);
	const struct runq_idle_row *rows;
	size_t nr_rows;
	int rc = runq_idle_window(idle, &rows, &nr_rows, err);

	if (rc)
		return rc;
	w->idle_states = calloc(nr_rows ? nr_rows : 1, sizeof(*w->idle_states));
	if (!w->idle_states)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr_rows; i++) {
		struct runq_idle_state *s = &w->idle_states[w->nr_idle_states];

		*s = (struct runq_idle_state){
			.party = runq_kernel_party(kernel, rows[i].key.group),
			.index = rows[i].key.state,
			.count = rows[i].waits.count,
			.wait_ns = rows[i].waits.wait_ns,
		};
		describe(s, states, nr_states);
		w->nr_idle_states += runq_filter_passes_party(filter, &s->party);
		if (rollup)
			s->party = runq_rollup_party(rollup, &s->party);
	}
	if (rollup)
		w->nr_idle_states = merge(w->idle_states, w->nr_idle_states);
	w->idle_full = runq_idle_full(idle);
	return 0;
}
