/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Computes statistics of idle states per core and over all cores. Compares measured with claimed
 * exit latencies, and finds the idle states that fit the latency budget.
 */
#include "measure/wake/fill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/hist.h"
#include "stats/quantile.h"

static uint64_t since(uint64_t is, uint64_t was)
{
	return is == CPUIDLE_UNKNOWN || was == CPUIDLE_UNKNOWN || is < was ? WAKE_UNKNOWN
									   : is - was;
}

/* Sets name, claimed exit latency and verdict of the idle state @s, and its cpuidle counters. */
static void describe(struct wake_state *s, const struct wake_env *env, double uncertainty_ns)
{
	static const struct cpuidle_count nothing;
	const struct wake_cpu_env *c = &env->cpus[s->cpu];
	const struct cpuidle_count *was, *is;

	strcpy(s->name, wake_env_name(env, s->cpu, s->index));
	s->claimed_ns = cpuidle_state_latency(c->states, c->nr, s->index);
	s->verdict = wake_verdict(s->claimed_ns != WAKE_UNKNOWN, s->claimed_ns, &s->summary,
				  &s->evidence, uncertainty_ns);
	s->usage = s->residency_ns = s->above = s->below = s->rejected = WAKE_UNKNOWN;
	if ((int)s->index >= c->nr || !c->counted)
		return;
	was = &c->before[s->index];
	is = &c->after[s->index];
	/* the cpuidle counters of a core restart at 0 when the core comes back online */
	if (is->usage < was->usage || is->time_ns < was->time_ns)
		was = &nothing;
	s->usage = is->usage - was->usage;
	s->residency_ns = is->time_ns - was->time_ns;
	s->above = since(is->above, was->above);
	s->below = since(is->below, was->below);
	s->rejected = since(is->rejected, was->rejected);
}

static void add_state(struct wake_window *w, const struct wake_env *env, struct wake_state *s,
		      double uncertainty_ns)
{
	describe(s, env, uncertainty_ns);
	w->exceeded |= s->verdict == WAKE_EXCEEDS;
	WAKE_ADD(w, states, *s);
}

static unsigned int count_states(const struct wake_worker *worker)
{
	unsigned int nr = 0;

	array_for_each(p, worker->points, worker->nr)
		if (p->reject == WAKE_TAKEN && p->state >= nr)
			nr = p->state + 1;
	return nr;
}

static void add_evidence(struct wake_evidence *e, const struct wake_point *p)
{
	e->entered += p->entered == WAKE_ENTERED_YES;
	e->not_entered += p->entered == WAKE_ENTERED_NO;
	if (p->entered == WAKE_ENTERED_NO)
		return;
	e->max_ns = fmax(e->max_ns, p->latency_ns);
	e->package_slept += p->package == WAKE_ENTERED_YES;
	e->package_awake += p->package == WAKE_ENTERED_NO;
}

/*
 * Collects the wake-ups of one core that have the source, idle state and round of @s. @latency
 * receives the latencies, and @silent the times from idle entry to launch. Each array must have
 * room for all wake-ups of the core. Returns the number of collected wake-ups.
 */
static size_t gather(const struct wake_worker *worker, struct wake_state *s, double *latency,
		     double *silent)
{
	size_t nr = 0;

	array_for_each(p, worker->points, worker->nr) {
		if (p->reject != WAKE_TAKEN || p->source != s->source || p->state != s->index ||
		    p->round != s->round)
			continue;
		s->order[p->order]++;
		add_evidence(&s->evidence, p);
		latency[nr] = p->latency_ns;
		silent[nr++] = p->silent_ns;
	}
	s->entered_by = wake_depth_by(&worker->depth, s->index);
	s->evidence.package_can |=
		s->index < CPUIDLE_MAX_STATES && worker->depth.package_can[s->index];
	return nr;
}

/*
 * Computes the latency summary of the idle state @s from the wake-ups of @workers. Returns the
 * number of wake-ups. @latency must have room for two values per wake-up: the latency, and the time
 * from idle entry to launch.
 */
static size_t summarize(struct wake_state *s, const struct wake_worker *workers,
			unsigned int nr_workers, double *latency, size_t max)
{
	double *silent = latency + max;
	size_t nr = 0;

	array_for_each(worker, workers, nr_workers)
		nr += gather(worker, s, latency + nr, silent + nr);
	wake_summarize(latency, nr, &s->summary);
	quantile_sort(silent, nr);
	s->silent_median_ns = nr ? silent[nr / 2] : NAN;
	return nr;
}

void wake_states_points(struct wake_window *w, const struct wake_env *env,
			const struct wake_worker *worker, double uncertainty_ns)
{
	unsigned int nr_states = count_states(worker);
	double *latency = malloc(2 * (worker->nr + 1) * sizeof(*latency));

	w->failed |= !latency;
	for (unsigned int round = 0; round < w->nr_rounds; round++)
		for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC; source++)
			for (unsigned int state = 0; state < nr_states && !w->failed; state++) {
				struct wake_state s = {.cpu = worker->cpu,
						       .index = state,
						       .source = source,
						       .round = round};

				if (round + 1 < w->nr_rounds && w->by_preference)
					strcpy(s.preference, worker->plan->rounds->values[round]);
				else if (round + 1 < w->nr_rounds)
					snprintf(s.forced, sizeof(s.forced), "%s",
						 wake_env_name(env, worker->cpu, round));
				if (summarize(&s, worker, 1, latency, worker->nr))
					add_state(w, env, &s, uncertainty_ns);
			}
	free(latency);
}

static void count_le(struct wake_state *s)
{
	unsigned int i, end;
	uint64_t sum = 0;

	wake_hist_range(s->hist, &i, &end);
	for (unsigned int le = 0; le < WAKE_NR_LE; le++) {
		unsigned int above = hist_index(wake_le_ns(le)) + 1;

		for (; i < end && i < above; i++)
			sum += s->hist->count[i] - s->hist_was->count[i];
		s->le[le] = sum;
	}
}

void wake_states_passive(struct wake_window *w, const struct wake_env *env,
			 const struct wake_worker *worker, const struct wake_passive *passive,
			 double uncertainty_ns)
{
	const struct wake_passive_hist *hists =
		&passive->hists[(size_t)worker->cpu * passive->live->nr_states];

	for (unsigned int i = 0; i < passive->live->nr_states; i++) {
		const struct wake_hist *now = hists[i].now, *was = hists[i].was;
		struct wake_state s = {
			.cpu = worker->cpu,
			/* without a cpuidle driver the kernel reports idle state 1 */
			.index = passive->live->one_state ? 1 : i,
			.source = WAKE_PASSIVE,
			.silent_median_ns = NAN,
			.sum_ns = now->sum_ns - was->sum_ns,
			.hist = now,
			.hist_was = was,
		};
		uint64_t inside = now->inside - was->inside;

		wake_summarize_hist(now, was, worker->calibration.stamp.median_ns, &s.summary);
		if (!s.summary.count && !passive->live->one_state)
			continue;
		/*
		 * wake_hist.inside may be one above wake_hist.count, because the BPF programs can
		 * write during the copy
		 */
		s.order[WAKE_IRQ_FIRST] = inside < s.summary.count ? inside : s.summary.count;
		s.order[WAKE_EXIT_FIRST] = s.summary.count - s.order[WAKE_IRQ_FIRST];
		if (s.summary.count)
			count_le(&s);
		s.evidence.max_ns = s.summary.max_ns;
		add_state(w, env, &s, uncertainty_ns);
	}
}

void wake_totals(struct wake_window *w, const struct wake_env *env, const struct wake_run *run)
{
	double uncertainty_ns = w->uncertainty_ns == WAKE_UNKNOWN ? NAN : (double)w->uncertainty_ns;
	size_t max = 1;
	double *latency;

	array_for_each(worker, run->workers, run->nr_workers)
		max += worker->nr;
	if (w->nr_rounds < 2 || w->by_preference || !run->nr_workers)
		return;
	latency = malloc(2 * max * sizeof(*latency));
	w->failed |= !latency;
	for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC; source++)
		for (unsigned int round = 0; round + 1 < w->nr_rounds && !w->failed; round++) {
			struct wake_state s = {.cpu = run->workers[0].cpu,
					       .index = round,
					       .round = round,
					       .source = source};

			if (!wake_has(w->sources, source) || round >= CPUIDLE_MAX_STATES)
				continue;
			summarize(&s, run->workers, run->nr_workers, latency, max);
			/* a row without wake-ups shows that the core never entered the state */
			describe(&s, env, uncertainty_ns);
			WAKE_ADD(w, totals, s);
		}
	free(latency);
}

/*
 * True if the row counts for the latency budget. If idle states are forced, the latency of a state
 * counts only in the round that forces it.
 */
static bool counts(const struct wake_window *w, const struct wake_state *s)
{
	return s->verdict != WAKE_NOT_ENTERED && (w->nr_rounds < 2 || !strcmp(s->forced, s->name));
}

/*
 * Returns the maximum p99.9 of the wake-up latency of an idle state in ns over all sources; NAN if
 * a source has too few wake-ups for a p99.9.
 */
static double p999_of(const struct wake_window *w, const struct wake_cpu *cpu, uint32_t index)
{
	double longest = NAN;

	for (size_t i = cpu->first_state; i < cpu->end_state; i++) {
		const struct wake_state *s = &w->states[i];

		if (s->index != index || !counts(w, s))
			continue;
		if (isnan(s->summary.p999_ns))
			return NAN;
		longest = fmax(s->summary.p999_ns, isnan(longest) ? 0.0 : longest);
	}
	return longest;
}

/* Share of the idle time that a core spent in idle states deeper than @index. */
static double deeper_ratio(const struct wake_window *w, const struct wake_cpu_env *c, int index)
{
	bool passive = wake_has(w->sources, WAKE_PASSIVE);
	double all = 0.0, deeper = 0.0;

	if (passive && !c->counted)
		return NAN;
	for (int i = 0; i < c->nr; i++) {
		/*
		 * For all sources except passive, use the idle time before the run, because the
		 * measured wake-ups change the idle time.
		 */
		double ns = passive ? (double)c->after[i].time_ns - (double)c->before[i].time_ns
				    : (double)c->before[i].time_ns;

		all += ns;
		deeper += i > index ? ns : 0.0;
	}
	return all > 0.0 ? deeper / all : NAN;
}

static void add_budget(struct wake_window *w, const struct wake_env *env, const struct wake_cpu *cpu)
{
	const struct wake_cpu_env *c = &env->cpus[cpu->cpu];
	double error_ns = isnan(cpu->uncertainty_ns) ? 0.0 : cpu->uncertainty_ns;
	/*
	 * Without a cpuidle driver there are two states: POLL (idle=poll) and the idle function of
	 * the architecture.
	 */
	struct wake_candidate states[CPUIDLE_MAX_STATES] = {0};
	int nr = c->nr ? c->nr : 2, found;
	uint64_t deepest_ns = 0;
	struct wake_budget b = {.cpu = cpu->cpu,
				.index = UINT32_MAX,
				.p999_ns = NAN,
				.limit_ns = WAKE_UNKNOWN,
				.deeper_ratio = NAN};

	for (int i = 0; i < nr; i++) {
		states[i].claimed_ns = c->nr ? c->states[i].latency_ns : 0;
		states[i].tail_ns = p999_of(w, cpu, i) + error_ns;
		if (states[i].claimed_ns > deepest_ns)
			deepest_ns = states[i].claimed_ns;
	}
	found = wake_budget_state(states, nr, (double)w->budget_ns);
	b.fits = found >= 0 ? 1 : found == -1 ? 0 : -1;
	w->over_budget |= found < 0;
	if (found >= 0) {
		strcpy(b.name, wake_env_name(env, cpu->cpu, found));
		b.index = found;
		b.p999_ns = states[found].tail_ns - error_ns;
		b.deeper_ratio = deeper_ratio(w, c, found);
		if (states[found].claimed_ns < deepest_ns)
			b.limit_ns = states[found].claimed_ns;
	}
	WAKE_ADD(w, budgets, b);
}

void wake_budgets(struct wake_window *w, const struct wake_env *env)
{
	array_for_each(cpu, w->cpus, w->budget_ns ? w->nr_cpus : 0)
		add_budget(w, env, cpu);
}
