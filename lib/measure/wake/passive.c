/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of the passive source's arrays, two of each that take turns. */
#include "measure/wake/passive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t nr_hists(const struct wake_window *w)
{
	return (size_t)w->nr_cpus * w->nr_states;
}

int wake_window_alloc(struct wake_window *w, const struct wake_probe *probe, struct err *err)
{
	*w = (struct wake_window){.nr_cpus = probe->nr_cpus, .nr_states = probe->nr_states};
	w->hists = calloc(nr_hists(w), sizeof(*w->hists));
	w->hists_prev = calloc(nr_hists(w), sizeof(*w->hists_prev));
	w->counts = calloc(w->nr_cpus, sizeof(*w->counts));
	w->counts_prev = calloc(w->nr_cpus, sizeof(*w->counts_prev));
	if (w->hists && w->hists_prev && w->counts && w->counts_prev)
		return 0;
	wake_window_free(w);
	return err_set(err, -ENOMEM, "out of memory");
}

void wake_window_end(struct wake_window *w, const struct wake_probe *probe)
{
	memcpy(w->hists, probe->hists, nr_hists(w) * sizeof(*w->hists));
	memcpy(w->counts, probe->counts, w->nr_cpus * sizeof(*w->counts));
}

void wake_window_next(struct wake_window *w)
{
	struct wake_hist *hists = w->hists_prev;
	struct wake_counts *counts = w->counts_prev;

	w->hists_prev = w->hists;
	w->counts_prev = w->counts;
	w->hists = hists;
	w->counts = counts;
}

void wake_window_free(struct wake_window *w)
{
	free(w->hists);
	free(w->hists_prev);
	free(w->counts);
	free(w->counts_prev);
	*w = (struct wake_window){0};
}
