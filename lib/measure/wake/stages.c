/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Stages from launch to user code, pre-wake by state, and the hardware's residency. */
#include "measure/wake/stages.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum stage {
	STAGE_EXIT,
	STAGE_INTERRUPT,
	STAGE_TIMER,
	STAGE_SWITCH,
	STAGE_USER,
	NR_STAGES,
};

static const char *const stage_names[] = {"exit", "interrupt", "timer", "switch", "user"};

/* From launch to that stage; false when the point has no stamp of it. */
static bool stage_of(const struct wake_point *p, enum stage stage, double *ret_ns)
{
	switch (stage) {
	case STAGE_EXIT:
		*ret_ns = p->exit_ns;
		return true;
	case STAGE_INTERRUPT:
		*ret_ns = p->irq_ns;
		return p->irq_ns != INT32_MIN;
	case STAGE_TIMER:
		*ret_ns = p->expire_ns;
		return p->expire_ns != 0;
	case STAGE_SWITCH:
		*ret_ns = p->switch_ns;
		return p->switch_ns != 0;
	default:
		*ret_ns = p->user_ns;
		return p->user_ns != 0;
	}
}

static int by_median(const void *a, const void *b)
{
	const struct wake_stage *x = a, *y = b;

	return (x->summary.median_ns > y->summary.median_ns) -
	       (x->summary.median_ns < y->summary.median_ns);
}

/* Sorted by median: the order in which a typical point reached them. */
static void add_stages(struct wake_window *w, const struct wake_worker *worker,
		       enum wake_source source, double *scratch)
{
	struct wake_stage stages[NR_STAGES], *row;
	size_t nr_stages = 0;

	for (enum stage stage = STAGE_EXIT; stage < NR_STAGES; stage++) {
		size_t nr = 0;

		for (size_t i = 0; i < worker->nr; i++)
			if (worker->points[i].reject == WAKE_TAKEN &&
			    worker->points[i].source == source)
				nr += stage_of(&worker->points[i], stage, &scratch[nr]);
		if (!nr)
			continue;
		stages[nr_stages] = (struct wake_stage){
			.cpu = worker->cpu, .source = source, .name = stage_names[stage]};
		wake_summarize(scratch, nr, &stages[nr_stages++].summary);
	}
	qsort(stages, nr_stages, sizeof(*stages), by_median);
	for (size_t i = 0; i < nr_stages && (row = wake_window_stage(w)); i++) {
		*row = stages[i];
		row->step_ns = row->summary.median_ns - (i ? stages[i - 1].summary.median_ns : 0.0);
	}
}

void wake_stages(struct wake_window *w, const struct wake_worker *worker)
{
	double *scratch = malloc((worker->nr + 1) * sizeof(*scratch));

	w->failed |= !scratch;
	for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC && !w->failed; source++)
		add_stages(w, worker, source, scratch);
	free(scratch);
}

static const struct wake_state *find_state(const struct wake_window *w, const struct wake_cpu *cpu,
					   enum wake_source source, const struct wake_state *like)
{
	for (size_t i = cpu->first_state; i < cpu->end_state; i++)
		if (w->states[i].source == source && w->states[i].index == like->index &&
		    w->states[i].round == like->round)
			return &w->states[i];
	return NULL;
}

void wake_pairs(struct wake_window *w, const struct wake_cpu *cpu, double uncertainty_ns)
{
	for (size_t i = cpu->first_state; i < cpu->end_state; i++) {
		const struct wake_state *timer = &w->states[i];
		const struct wake_state *remote = find_state(w, cpu, WAKE_REMOTE, timer);
		struct wake_pair *pair;

		if (timer->source != WAKE_TIMER || !remote)
			continue;
		pair = wake_window_pair(w);
		if (!pair)
			return;
		pair->cpu = timer->cpu;
		pair->index = timer->index;
		memcpy(pair->name, timer->name, sizeof(pair->name));
		memcpy(pair->forced, timer->forced, sizeof(pair->forced));
		pair->timer_median_ns = timer->summary.median_ns;
		pair->remote_median_ns = remote->summary.median_ns;
		wake_prewake(&timer->summary, &remote->summary, uncertainty_ns, &pair->prewake);
	}
}

void wake_residencies(struct wake_window *w, const struct wake_worker *worker)
{
	const struct wake_depth *depth = &worker->depth;

	for (int i = 0; i < depth->hw.nr && depth->ns_per_cycle > 0 && worker->sweep_ns; i++) {
		struct wake_residency *row = wake_window_residency(w);

		if (!row)
			return;
		row->cpu = worker->cpu;
		memcpy(row->name, depth->hw.name[i], sizeof(row->name));
		row->ns = (double)depth->sum[i] * depth->ns_per_cycle;
		row->ratio = row->ns / (double)worker->sweep_ns;
	}
}
