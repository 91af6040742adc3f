/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Snapshots of the arrays of source passive. */
#include "measure/wake/passive.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "stats/wake.h"

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
	p->copies = calloc(nr_hists(p), sizeof(*p->copies));
	p->counts = calloc(p->nr_cpus, sizeof(*p->counts));
	p->counts_prev = calloc(p->nr_cpus, sizeof(*p->counts_prev));
	if (!p->hists || !p->copies || !p->counts || !p->counts_prev) {
		wake_passive_free(p);
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < nr_hists(p); i++)
		p->hists[i].now = p->copies[i];
	return 0;
}

/* Sums and extremes, behind the counts. */
#define SUMS_AT	  offsetof(struct wake_hist, sum_ns)
#define SUMS_SIZE (sizeof(struct wake_hist) - SUMS_AT)

/* Each wake-up raises a sum; one of 0 ns raises the first count instead. */
static bool has_changed(const struct wake_hist *live, const struct wake_hist *was)
{
	return memcmp((const char *)live + SUMS_AT, (const char *)was + SUMS_AT, SUMS_SIZE) ||
	       live->count[0] != was->count[0];
}

/*
 * The programs raise the count before sums and extremes. Copied in the opposite order, a wake-up
 * that is missing from the counts is missing from one of these as well: the next window copies it.
 */
static void copy(struct wake_hist *ret, const struct wake_hist *live)
{
	unsigned int first, end;

	memcpy((char *)ret + SUMS_AT, (const char *)live + SUMS_AT, SUMS_SIZE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	wake_hist_range(ret, &first, &end);
	if (first < end)
		memcpy(&ret->count[first], &live->count[first],
		       (end - first) * sizeof(ret->count[0]));
}

void wake_passive_end(struct wake_passive *p, const struct wake_probe *probe)
{
	struct wake_counts *counts = p->counts_prev;

	for (size_t i = 0; i < nr_hists(p); i++) {
		struct wake_passive_hist *h = &p->hists[i];
		struct wake_hist *other;

		h->was = h->now;
		if (!has_changed(&probe->hists[i], h->was))
			continue;
		other = &p->copies[i][h->was == p->copies[i]];
		copy(other, &probe->hists[i]);
		h->now = other;
	}
	p->counts_prev = p->counts;
	p->counts = counts;
	memcpy(p->counts, probe->counts, p->nr_cpus * sizeof(*p->counts));
}

void wake_passive_free(struct wake_passive *p)
{
	free(p->hists);
	free(p->copies);
	free(p->counts);
	free(p->counts_prev);
	*p = (struct wake_passive){0};
}
