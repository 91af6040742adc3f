/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two copies of each array of source passive, swapped at the end of a window. */
#include "measure/wake/passive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t nr_hists(const struct wake_passive *p)
{
	return (size_t)p->nr_cpus * p->nr_states;
}

int wake_passive_alloc(struct wake_passive *p, const struct wake_probe *probe, struct err *err)
{
	*p = (struct wake_passive){.nr_cpus = probe->nr_cpus,
				   .nr_states = probe->nr_states,
				   .one_state = probe->one_state};
	p->hists = calloc(nr_hists(p), sizeof(*p->hists));
	p->hists_prev = calloc(nr_hists(p), sizeof(*p->hists_prev));
	p->counts = calloc(p->nr_cpus, sizeof(*p->counts));
	p->counts_prev = calloc(p->nr_cpus, sizeof(*p->counts_prev));
	if (p->hists && p->hists_prev && p->counts && p->counts_prev)
		return 0;
	wake_passive_free(p);
	return err_set(err, -ENOMEM, "out of memory");
}

void wake_passive_end(struct wake_passive *p, const struct wake_probe *probe)
{
	memcpy(p->hists, probe->hists, nr_hists(p) * sizeof(*p->hists));
	memcpy(p->counts, probe->counts, p->nr_cpus * sizeof(*p->counts));
}

void wake_passive_next(struct wake_passive *p)
{
	struct wake_hist *hists = p->hists_prev;
	struct wake_counts *counts = p->counts_prev;

	p->hists_prev = p->hists;
	p->counts_prev = p->counts;
	p->hists = hists;
	p->counts = counts;
}

void wake_passive_free(struct wake_passive *p)
{
	free(p->hists);
	free(p->hists_prev);
	free(p->counts);
	free(p->counts_prev);
	*p = (struct wake_passive){0};
}
