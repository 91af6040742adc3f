/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes the result of a window core by core: calibration, wake-ups or histograms, stages,
 * pre-wake and residency.
 */
#include "measure/wake/fill.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/wake/nic.h"

#define NR_STAGES 5

static const char *const stage_names[NR_STAGES] = {"exit", "interrupt", "timer", "switch", "user"};

/* Time from launch to a stage of the wake-up, or NAN if the timestamp is missing. */
static double stage_ns(const struct wake_point *p, size_t stage)
{
	const uint32_t stamps[] = {p->expire_ns, p->switch_ns, p->user_ns};

	if (stage < 2)
		return !stage ? p->exit_ns : p->irq_ns != INT32_MIN ? p->irq_ns : NAN;
	return stamps[stage - 2] ? stamps[stage - 2] : NAN;
}

static int by_median(const void *a, const void *b)
{
	const struct wake_stage *x = a, *y = b;

	return CMP(x->summary.median_ns, y->summary.median_ns);
}

/* Adds a row for each stage from launch to user code, sorted by median time. */
static void add_stages(struct wake_window *w, const struct wake_worker *worker,
		       enum wake_source source, double *scratch)
{
	struct wake_stage stages[NR_STAGES];
	size_t nr_stages = 0;
	double before_ns = 0.0;

	for (size_t stage = 0; stage < NR_STAGES; stage++) {
		size_t nr = 0;

		array_for_each(p, worker->points, worker->nr) {
			if (p->reject != WAKE_TAKEN || p->source != source)
				continue;
			scratch[nr] = stage_ns(p, stage);
			nr += !isnan(scratch[nr]);
		}
		if (!nr)
			continue;
		stages[nr_stages] = (struct wake_stage){
			.cpu = worker->cpu,
			.source = wake_source_names[source],
			.name = stage_names[stage]};
		wake_summarize(scratch, nr, &stages[nr_stages++].summary);
	}
	qsort(stages, nr_stages, sizeof(*stages), by_median);
	array_for_each(stage, stages, nr_stages) {
		stage->step_ns = stage->summary.median_ns - before_ns;
		before_ns = stage->summary.median_ns;
		WAKE_ADD(w, stages, *stage);
	}
}

static void add_breakdown(struct wake_window *w, const struct wake_worker *worker)
{
	double *scratch = malloc((worker->nr + 1) * sizeof(*scratch));

	w->failed |= !scratch;
	for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC && !w->failed; source++)
		add_stages(w, worker, source, scratch);
	free(scratch);
}

/* Compares the sources timer and remote for each idle state and round that both measured. */
static void add_pairs(struct wake_window *w, const struct wake_cpu *cpu)
{
	for (size_t i = cpu->first_state; i < cpu->end_state; i++)
		for (size_t k = cpu->first_state; k < cpu->end_state; k++) {
			const struct wake_state *timer = &w->states[i], *remote = &w->states[k];
			struct wake_pair pair = {
				.cpu = timer->cpu,
				.index = timer->index,
				.timer_median_ns = timer->summary.median_ns,
				.remote_median_ns = remote->summary.median_ns,
			};

			if (timer->source != WAKE_TIMER || remote->source != WAKE_REMOTE ||
			    remote->index != timer->index || remote->round != timer->round)
				continue;
			memcpy(pair.name, timer->name, sizeof(pair.name));
			memcpy(pair.forced, timer->forced, sizeof(pair.forced));
			wake_prewake(&timer->summary, &remote->summary, cpu->uncertainty_ns,
				     &pair.prewake);
			WAKE_ADD(w, pairs, pair);
		}
}

static void add_residencies(struct wake_window *w, const struct wake_worker *worker)
{
	const struct wake_depth *depth = &worker->depth;

	for (int i = 0; i < depth->hw.nr && depth->ns_per_cycle > 0 && worker->sweep_ns; i++) {
		struct wake_residency row = {.cpu = worker->cpu};

		memcpy(row.name, depth->name[i], sizeof(row.name));
		row.ns = (double)depth->sum[i] * depth->ns_per_cycle;
		row.ratio = row.ns / (double)worker->sweep_ns;
		WAKE_ADD(w, residencies, row);
	}
}

static void fill_points(struct wake_window *w, struct wake_cpu *cpu, const struct wake_env *env,
			const struct wake_worker *worker)
{
	uint64_t nr[WAKE_NR_REJECTS] = {0};

	array_for_each(p, worker->points, worker->nr)
		nr[p->reject]++;
	for (enum wake_reject reject = WAKE_TAKEN + 1; reject < WAKE_NR_REJECTS; reject++)
		w->rejected[reject] += nr[reject];
	cpu->points = worker->points;
	cpu->nr_points = cpu->asked = worker->nr;
	cpu->depth_ns = worker->depth.ns;
	cpu->depth_names = worker->depth.name;
	cpu->nr_depths = worker->depth.nr_columns;
	cpu->taken = nr[WAKE_TAKEN];
	w->asked += cpu->asked;
	w->taken += cpu->taken;
	wake_states_points(w, env, worker, cpu->uncertainty_ns);
	cpu->end_state = w->nr_states;
	if (w->breakdown)
		add_breakdown(w, worker);
	add_pairs(w, cpu);
	add_residencies(w, worker);
}

static void fill_passive(struct wake_window *w, struct wake_cpu *cpu, const struct wake_env *env,
			 const struct wake_worker *worker, const struct wake_passive *passive)
{
	const struct wake_counts *now = &passive->counts[cpu->cpu],
				 *was = &passive->counts_prev[cpu->cpu];

	cpu->asked = cpu->taken = WAKE_UNKNOWN;
	wake_states_passive(w, env, worker, passive, cpu->uncertainty_ns);
	cpu->end_state = w->nr_states;
	for (size_t i = cpu->first_state; i < cpu->end_state; i++)
		w->taken += w->states[i].summary.count;
	w->rejected[WAKE_REJ_BEFORE_IDLE] += now->before_idle - was->before_idle;
	w->rejected[WAKE_REJ_OTHER_FIRST] += now->other_first - was->other_first;
	w->rejected[WAKE_REJ_NEGATIVE] += now->early - was->early;
	w->not_a_timer += now->other - was->other;
	w->odd_state += now->odd_state - was->odd_state;
	w->asked = w->taken + w->rejected[WAKE_REJ_BEFORE_IDLE] +
		   w->rejected[WAKE_REJ_OTHER_FIRST] + w->rejected[WAKE_REJ_NEGATIVE] +
		   w->not_a_timer + w->odd_state;
}

/* Clears the window. Sets the loss counters that the source lacks to WAKE_UNKNOWN. */
static void begin(struct wake_window *w, const struct wake_plan *plan, bool passive)
{
	w->nr_states = w->nr_cpus = w->nr_pairs = w->nr_stages = w->nr_residencies = 0;
	w->nr_totals = w->nr_budgets = 0;
	w->failed = false;
	w->sources = plan->sources;
	w->nr_rounds = wake_run_rounds(plan);
	w->by_preference = plan->rounds && plan->rounds->file;
	w->overhead_ns = w->uncertainty_ns = 0;
	w->asked = w->taken = 0;
	memset(w->rejected, 0, sizeof(w->rejected));
	w->not_a_timer = w->odd_state = passive ? 0 : WAKE_UNKNOWN;
	if (passive) {
		w->rejected[WAKE_REJ_WOKEN_EARLY] = w->rejected[WAKE_REJ_ELSEWHERE] =
			w->rejected[WAKE_REJ_NMI] = w->rejected[WAKE_REJ_LOST] = WAKE_UNKNOWN;
		w->from_ns = w->to_ns = w->points_per_step = WAKE_UNKNOWN;
		w->step_ratio = NAN;
		return;
	}
	w->from_ns = plan->sweep.from_ns;
	w->to_ns = plan->sweep.to_ns;
	w->step_ratio = plan->sweep.step - 1.0;
	w->points_per_step = plan->sweep.points;
}

static void fill_cpu(struct wake_window *w, const struct wake_env *env,
		     const struct wake_worker *worker, const struct wake_passive *passive)
{
	const struct wake_calibration *c = &worker->calibration;
	double card_ns = (double)(w->card.half_window_ns + w->card.dma.half_spread_ns);
	/* a clock_step_ns of 0 means that the overhead was not calibrated */
	struct wake_cpu cpu = {
		.cpu = worker->cpu,
		.offline = worker->moved,
		.first_state = w->nr_states,
		.overhead_ns = c->known ? c->stamp.median_ns : WAKE_UNKNOWN,
		.uncertainty_ns = wake_uncertainty(c, w->sources, card_ns),
		.busy_median_ns = c->busy.count ? c->busy.median_ns : NAN,
		.busy_max_ns = c->busy.count ? c->busy.max_ns : NAN,
		.clock_read_ns = c->clock_step_ns ? c->clock_read_ns : WAKE_UNKNOWN,
		.clock_step_ns = c->clock_step_ns ? c->clock_step_ns : WAKE_UNKNOWN,
	};
	uint64_t uncertainty_ns =
		isnan(cpu.uncertainty_ns) ? WAKE_UNKNOWN : (uint64_t)cpu.uncertainty_ns;

	/* WAKE_UNKNOWN is the largest value, so one unknown value makes the maximum unknown */
	if (cpu.overhead_ns > w->overhead_ns)
		w->overhead_ns = cpu.overhead_ns;
	if (uncertainty_ns > w->uncertainty_ns)
		w->uncertainty_ns = uncertainty_ns;
	if (passive)
		fill_passive(w, &cpu, env, worker, passive);
	else
		fill_points(w, &cpu, env, worker);
	WAKE_ADD(w, cpus, cpu);
}

int wake_fill(struct wake_window *w, const struct wake_env *env, const struct wake_run *run,
	      const struct wake_passive *passive)
{
	begin(w, &run->plan, passive);
	w->machine = env->machine;
	w->launch_at_waking = run->probe->launch_at_waking;
	w->sender_shares_package = run->sender_shares_package;
	w->sender_offline = run->sender_moved;
	if (run->plan.nic)
		wake_nic_card(run->plan.nic, &w->card);
	array_for_each(worker, run->workers, run->nr_workers)
		fill_cpu(w, env, worker, passive);
	if (!passive && !w->failed)
		wake_totals(w, env, run);
	wake_budgets(w, env);
	return w->failed ? -ENOMEM : 0;
}

void wake_window_free(struct wake_window *w)
{
	free(w->states);
	free(w->cpus);
	free(w->pairs);
	free(w->stages);
	free(w->residencies);
	free(w->totals);
	free(w->budgets);
	*w = (struct wake_window){0};
}
