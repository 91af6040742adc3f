/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fills a window core by core: calibration, points or histograms, what was rejected and why. */
#include "measure/wake/fill.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "measure/wake/nic.h"
#include "measure/wake/stages.h"
#include "measure/wake/states.h"
#include "measure/wake/totals.h"

/* Of one core. A clock step of 0 means that the clock was not examined. */
static void fill_calibration(struct wake_cpu *cpu, const struct wake_calibration *c,
			     double uncertainty_ns)
{
	cpu->overhead_ns = c->known ? c->stamp.median_ns : WAKE_UNKNOWN;
	cpu->uncertainty_ns = uncertainty_ns;
	cpu->busy_median_ns = c->busy.count ? c->busy.median_ns : NAN;
	cpu->busy_max_ns = c->busy.count ? c->busy.max_ns : NAN;
	cpu->clock_read_ns = c->clock_step_ns ? c->clock_read_ns : WAKE_UNKNOWN;
	cpu->clock_step_ns = c->clock_step_ns ? c->clock_step_ns : WAKE_UNKNOWN;
}

/* Of all cores: the largest, and unknown is larger than any. */
static void add_calibration(struct wake_window *w, const struct wake_cpu *cpu)
{
	uint64_t uncertainty_ns =
		isnan(cpu->uncertainty_ns) ? WAKE_UNKNOWN : (uint64_t)cpu->uncertainty_ns;

	if (cpu->overhead_ns > w->overhead_ns)
		w->overhead_ns = cpu->overhead_ns;
	if (uncertainty_ns > w->uncertainty_ns)
		w->uncertainty_ns = uncertainty_ns;
}

static void fill_points(struct wake_window *w, struct wake_cpu *cpu, const struct wake_env *env,
			const struct wake_worker *worker, double uncertainty_ns)
{
	uint64_t nr[WAKE_NR_REJECTS] = {0};

	for (size_t i = 0; i < worker->nr; i++)
		nr[worker->points[i].reject]++;
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
	wake_states_points(w, env, worker, uncertainty_ns);
	cpu->end_state = w->nr_states;
	if (w->breakdown)
		wake_stages(w, worker);
	wake_pairs(w, cpu, uncertainty_ns);
	wake_residencies(w, worker);
}

static void fill_passive(struct wake_window *w, struct wake_cpu *cpu, const struct wake_env *env,
			 const struct wake_worker *worker, const struct wake_passive *passive,
			 double uncertainty_ns)
{
	const struct wake_counts *now = &passive->counts[cpu->cpu],
				 *was = &passive->counts_prev[cpu->cpu];
	uint64_t rejected;

	cpu->asked = cpu->taken = WAKE_UNKNOWN;
	wake_states_passive(w, env, worker, passive, uncertainty_ns);
	cpu->end_state = w->nr_states;
	for (size_t i = cpu->first_state; i < cpu->end_state; i++)
		w->taken += w->states[i].summary.count;
	w->rejected[WAKE_REJ_BEFORE_IDLE] += now->before_idle - was->before_idle;
	w->rejected[WAKE_REJ_OTHER_FIRST] += now->other_first - was->other_first;
	w->rejected[WAKE_REJ_NEGATIVE] += now->early - was->early;
	w->not_a_timer += now->other - was->other;
	w->odd_state += now->odd_state - was->odd_state;
	rejected = w->rejected[WAKE_REJ_BEFORE_IDLE] + w->rejected[WAKE_REJ_OTHER_FIRST] +
		   w->rejected[WAKE_REJ_NEGATIVE] + w->not_a_timer + w->odd_state;
	w->asked = w->taken + rejected;
}

/* Counts begin at 0; what the source cannot tell is set to unknown. */
static void begin(struct wake_window *w, const struct wake_plan *plan, bool passive)
{
	wake_window_clear(w);
	w->sources = plan->sources;
	w->nr_rounds = wake_run_rounds(plan);
	w->overhead_ns = w->uncertainty_ns = 0;
	w->asked = w->taken = 0;
	memset(w->rejected, 0, sizeof(w->rejected));
	w->exceeds = false;
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

int wake_fill(struct wake_window *w, const struct wake_env *env, const struct wake_run *run,
	      const struct wake_passive *passive)
{
	begin(w, &run->plan, passive);
	w->machine = env->machine;
	w->launch_at_waking = run->probe->launch_at_waking;
	w->sender_near = run->sender_near;
	w->sender_offline = run->sender_moved;
	if (run->plan.nic)
		wake_nic_card(run->plan.nic, &w->card);
	for (unsigned int i = 0; i < run->nr_workers && !w->failed; i++) {
		const struct wake_worker *worker = &run->workers[i];
		double uncertainty_ns = wake_uncertainty(&worker->calibration, w->sources,
							 (double)(w->card.half_window_ns +
								  w->card.dma.half_spread_ns));
		struct wake_cpu *cpu = wake_window_cpu(w);

		if (!cpu)
			break;
		cpu->cpu = worker->cpu;
		cpu->offline = worker->moved;
		cpu->first_state = w->nr_states;
		fill_calibration(cpu, &worker->calibration, uncertainty_ns);
		add_calibration(w, cpu);
		if (passive)
			fill_passive(w, cpu, env, worker, passive, uncertainty_ns);
		else
			fill_points(w, cpu, env, worker, uncertainty_ns);
	}
	if (!passive && !w->failed)
		wake_totals(w, env, run);
	return w->failed ? -ENOMEM : 0;
}
