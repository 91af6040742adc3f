/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of a window: appended, cleared, freed. */
#include "measure/wake/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define ADD(name, type, rows)                                                \
	type *name(struct wake_window *w)                                    \
	{                                                                    \
		type *grown = grow(w->rows, w->nr_##rows, sizeof(*w->rows)); \
                                                                             \
		if (!grown) {                                                \
			w->failed = true;                                    \
			return NULL;                                         \
		}                                                            \
		w->rows = grown;                                             \
		return memset(&grown[w->nr_##rows++], 0, sizeof(*grown));    \
	}

ADD(wake_window_state, struct wake_state, states)
ADD(wake_window_cpu, struct wake_cpu, cpus)
ADD(wake_window_pair, struct wake_pair, pairs)
ADD(wake_window_stage, struct wake_stage, stages)
ADD(wake_window_residency, struct wake_residency, residencies)
ADD(wake_window_total, struct wake_state, totals)

void wake_window_clear(struct wake_window *w)
{
	w->nr_states = w->nr_cpus = w->nr_pairs = w->nr_stages = w->nr_residencies = 0;
	w->nr_totals = 0;
	w->failed = false;
}

void wake_window_free(struct wake_window *w)
{
	free(w->states);
	free(w->cpus);
	free(w->pairs);
	free(w->stages);
	free(w->residencies);
	free(w->totals);
	*w = (struct wake_window){0};
}
