/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Deepest idle state of each core that fits a latency budget, and what a limit there costs. */
#include "measure/wake/fill.h"

#include <math.h>
#include <string.h>

/* A forced state counts in its own round only: there it has the most points. */
static bool counts(const struct wake_window *w, const struct wake_state *s)
{
	return s->verdict != WAKE_NOT_ENTERED && (w->nr_rounds < 2 || !strcmp(s->forced, s->name));
}

/* Longest p99.9 of a state by any source; NAN without enough points by one of them. */
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

/* Share of idle time in states deeper than @index. */
static double deeper_ratio(const struct wake_window *w, const struct wake_cpu_env *c, int index)
{
	bool passive = wake_has(w->sources, WAKE_PASSIVE);
	double all = 0.0, deeper = 0.0;

	if (passive && !c->counted)
		return NAN;
	for (int i = 0; i < c->nr; i++) {
		/* Other sources fill the window with idle time of their own. */
		double ns = passive ? (double)c->after[i].time_ns - (double)c->before[i].time_ns
				    : (double)c->before[i].time_ns;

		all += ns;
		deeper += i > index ? ns : 0.0;
	}
	return all > 0.0 ? deeper / all : NAN;
}

static uint64_t deepest_claim(const struct wake_candidate *states, int nr)
{
	uint64_t deepest = 0;

	for (int i = 0; i < nr; i++)
		if (states[i].claimed_ns > deepest)
			deepest = states[i].claimed_ns;
	return deepest;
}

static void add_budget(struct wake_window *w, const struct wake_env *env, const struct wake_cpu *cpu)
{
	const struct wake_cpu_env *c = &env->cpus[cpu->cpu];
	double error_ns = isnan(cpu->uncertainty_ns) ? 0.0 : cpu->uncertainty_ns;
	/* Without a driver there is POLL, of idle=poll, and the state of the architecture. */
	struct wake_candidate states[CPUIDLE_MAX_STATES] = {0};
	int nr = c->nr ? c->nr : 2, found;
	struct wake_budget b = {.cpu = cpu->cpu,
				.index = UINT32_MAX,
				.p999_ns = NAN,
				.limit_ns = WAKE_UNKNOWN,
				.deeper_ratio = NAN};

	for (int i = 0; i < nr; i++) {
		states[i].claimed_ns = c->nr ? c->states[i].latency_ns : 0;
		states[i].tail_ns = p999_of(w, cpu, i) + error_ns;
	}
	found = wake_budget_state(states, nr, (double)w->budget_ns);
	b.fits = found >= 0 ? 1 : found == -1 ? 0 : -1;
	w->over_budget |= found < 0;
	if (found >= 0) {
		strcpy(b.name, wake_env_name(env, cpu->cpu, found));
		b.index = found;
		b.p999_ns = states[found].tail_ns - error_ns;
		b.deeper_ratio = deeper_ratio(w, c, found);
		if (states[found].claimed_ns < deepest_claim(states, nr))
			b.limit_ns = states[found].claimed_ns;
	}
	WAKE_ADD(w, budgets, b);
}

void wake_budgets(struct wake_window *w, const struct wake_env *env)
{
	for (size_t i = 0; i < w->nr_cpus && w->budget_ns && !w->failed; i++)
		add_budget(w, env, &w->cpus[i]);
}
