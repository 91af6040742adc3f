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

int runq_window_idle(struct runq_window *w, struct runq_idle *idle,
		     const struct runq_kernel *kernel, const struct runq_filter *filter,
		     struct err *err)
{
	const struct cpuidle_state *states;
	int nr_states = runq_idle_states(idle, &states);
	const struct runq_idle_row *rows;
	size_t nr_rows = runq_idle_window(idle, &rows);

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
		w->nr_idle_states += runq_filter_passes(filter, runq_party_path(&s->party));
	}
	w->idle_full = runq_idle_full(idle);
	return 0;
}
