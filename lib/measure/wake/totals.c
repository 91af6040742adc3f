/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sums up the rounds in which one idle state was forced. */
#include "measure/wake/totals.h"

#include <stdio.h>
#include <stdlib.h>

#include "measure/wake/states.h"

/* The points of one core in the round of @s and in its state. */
static size_t gather(const struct wake_worker *worker, struct wake_state *s, double *latency)
{
	size_t nr = 0;

	for (size_t i = 0; i < worker->nr; i++) {
		const struct wake_point *p = &worker->points[i];

		if (p->reject != WAKE_TAKEN || p->source != s->source || p->round != s->round ||
		    p->state != s->index)
			continue;
		wake_evidence_add(&s->evidence, p);
		latency[nr++] = p->latency_ns;
	}
	return nr;
}

/* A state without a single point keeps its row: that it was not reached is a result as well. */
static void add_total(struct wake_window *w, const struct wake_env *env, const struct wake_run *run,
		      struct wake_state *s, double *latency)
{
	unsigned int cpu = run->workers[0].cpu;
	struct wake_state *row;
	size_t nr = 0;

	for (unsigned int i = 0; i < run->nr_workers; i++) {
		const struct wake_depth *depth = &run->workers[i].depth;

		nr += gather(&run->workers[i], s, latency + nr);
		s->evidence.package_can |= depth->package_can[s->index];
	}
	wake_summarize(latency, nr, &s->summary);
	snprintf(s->name, sizeof(s->name), "%s", wake_env_name(env, cpu, s->index));
	s->claimed_ns = WAKE_UNKNOWN;
	wake_env_claim(env, cpu, s->index, &s->claimed_ns);
	s->entered_by = wake_depth_by(&run->workers[0].depth, s->index);
	s->verdict = wake_verdict_entered(
		s->claimed_ns != WAKE_UNKNOWN, s->claimed_ns, &s->summary, &s->evidence,
		w->uncertainty_ns == WAKE_UNKNOWN ? 0.0 : (double)w->uncertainty_ns);
	row = wake_window_total(w);
	if (row)
		*row = *s;
}

void wake_totals(struct wake_window *w, const struct wake_env *env, const struct wake_run *run)
{
	size_t nr = 1;
	double *latency;

	for (unsigned int i = 0; i < run->nr_workers; i++)
		nr += run->workers[i].nr;
	if (w->nr_rounds < 2 || !run->nr_workers)
		return;
	latency = malloc(nr * sizeof(*latency));
	w->failed |= !latency;
	for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC; source++)
		for (unsigned int round = 0; round + 1 < w->nr_rounds && !w->failed; round++) {
			struct wake_state s = {.index = round, .round = round, .source = source};

			if (wake_has(w->sources, source) && round < CPUIDLE_MAX_STATES)
				add_total(w, env, run, &s, latency);
		}
	free(latency);
}
