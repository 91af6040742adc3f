/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adds the findings of `subtick noise`: sources that take much of a core's time, and delayed
 * softirqs.
 */
#include "present/noise.h"

#include <string.h>

#include "present/overview_rules.h"

/*
 * Minimum p99 of softirq delays for a finding. The interrupt that raises a softirq delays the
 * softirq for at most DELAY_P99_NS.
 */
#define DELAY_P99_NS 1000000

static const struct finding_rule thread = {"thread_on_core", "kernel_thread", RULE_NOISE, NULL};
static const struct finding_rule function = {
	"work_function", "kernel_thread", RULE_NOISE,
	"find the code that queues this function with subtick trace"};
static const struct finding_rule delay = {"softirq_delay", "softirq", RULE_NOISE,
					  "move CPU-bound tasks to other CPUs: ksoftirqd shares "
					  "this CPU with the tasks, and runs the softirqs late"};

static struct finding core_finding(const struct noise_window *w, const struct finding_rule *rule,
				   uint32_t cpu, uint64_t ns)
{
	struct finding f = finding_of(rule, ns);

	f.cpu = cpu;
	f.share = (double)ns / (double)w->window_ns;
	return f;
}

/*
 * Adds findings about kernel threads, except kworkers: other findings name the functions that
 * kworkers execute.
 */
static void add_threads(const struct noise_window *w, struct report *report)
{
	array_for_each(s, w->sources, w->nr_sources) {
		struct finding f = core_finding(w, &thread, s->cpu, s->ns);

		if (s->kind != NOISE_KIND_THREAD || !strncmp(s->name, "kworker/", 8) ||
		    !findings_due(report, &thread, s->ns))
			continue;
		f.next = s->knob;
		f.p99_ns = s->p99_ns == UINT64_MAX ? NAN : (double)s->p99_ns;
		finding_set(f.culprit, "%s", s->name);
		finding_set(f.victim, "%s", noise_hit_most(w, NOISE_THREAD));
		findings_add(report, &f, "kernel thread %s takes %.0f %% of CPU %u%s%s", s->name,
			     100.0 * f.share, s->cpu, f.victim[0] ? ", mostly from tasks of " : "",
			     f.victim);
	}
}

static void add_functions(const struct noise_window *w, struct report *report)
{
	array_for_each(n, w->functions, w->nr_functions) {
		struct finding f = core_finding(w, &function, n->cpu, n->ns);
		const char *name = n->name[0] ? n->name : "(unknown)";

		if (!findings_due(report, &function, n->ns))
			continue;
		finding_set(f.culprit, "%s", name);
		finding_set(f.victim, "%s", noise_hit_most(w, NOISE_THREAD));
		findings_add(report, &f, "kworkers take %.0f %% of CPU %u for %s%s%s",
			     100.0 * f.share, n->cpu, name,
			     f.victim[0] ? ", mostly from tasks of " : "", f.victim);
	}
}

static void add_delays(const struct noise_window *w, struct report *report)
{
	array_for_each(d, w->delays, w->nr_delays) {
		struct finding f = core_finding(w, &delay, d->cpu, d->times.ns);
		const char *name = load_vec_name(d->vec);

		if (d->times.p99_ns == UINT64_MAX || d->times.p99_ns < DELAY_P99_NS ||
		    !findings_due(report, &delay, d->times.ns))
			continue;
		f.share = NAN;
		f.p99_ns = (double)d->times.p99_ns;
		finding_set(f.culprit, "%s", name);
		findings_add(report, &f,
			     "%s softirqs of CPU %u begin up to %.3g ms (p99) after they are raised, "
			     "%.0f per second",
			     name, d->cpu, f.p99_ns / 1e6,
			     (double)d->times.count * 1e9 / (double)w->window_ns);
	}
}

void noise_findings(const struct noise_window *w, const struct overview_window *all,
		    struct report *report)
{
	const struct overview_window of_noise = {.noise = w}, *o = all ?: &of_noise;
	struct overview_steal steal = overview_steal(o);

	add_noise_finding(o, &steal, report);
	add_threads(w, report);
	add_functions(w, report);
	add_delays(w, report);
}
