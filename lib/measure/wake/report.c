/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The report of `subtick wake`: cores, rejected points, the machine, what to know about them. */
#include "measure/wake/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

double wake_report_uncertainty(const struct wake_result *r, const struct wake_worker *w)
{
	const struct wake_calibration *c = &w->calibration;
	double ns = c->stamp.spread_ns + c->clock_step_ns;

	/* The sender's stamp is taken before the IPI goes out, by the rest of that program. */
	if (wake_has(r->opts->sources, WAKE_REMOTE))
		ns += c->stamp.median_ns;
	if (wake_has(r->opts->sources, WAKE_NIC))
		ns += wake_nic_uncertainty(r->run->plan.nic);
	return ns;
}

/* The largest of any core; null unless every core's is known. */
static void add_overhead(const struct wake_result *r, struct report *report)
{
	struct value *overhead = report_field(report, M_WAKE_OVERHEAD_NS);
	struct value *uncertainty;
	double most = 0.0, spread = 0.0;
	bool known = r->run->nr_workers > 0;

	for (unsigned int i = 0; i < r->run->nr_workers; i++) {
		const struct wake_worker *w = &r->run->workers[i];

		known &= w->calibration.known;
		most = fmax(most, w->calibration.stamp.median_ns);
		spread = fmax(spread, wake_report_uncertainty(r, w));
	}
	if (known)
		value_u64(overhead, (uint64_t)most);
	uncertainty = report_field(report, M_WAKE_UNCERTAINTY_NS);
	if (known)
		value_u64(uncertainty, (uint64_t)spread);
}

static void add_cpus(const struct wake_result *r, struct report *report)
{
	struct table *t =
		report_table(report, "cpus", "per core: points, and what the core costs by itself");
	size_t cpu = table_col(t, M_CPU), asked = table_col(t, M_WAKE_ASKED);
	size_t taken = table_col(t, M_WAKE_TAKEN), overhead = table_col(t, M_WAKE_OVERHEAD_NS);
	size_t uncertainty = table_col(t, M_WAKE_UNCERTAINTY_NS);
	size_t busy = table_col(t, M_WAKE_BUSY_MEDIAN_NS),
	       busy_max = table_col(t, M_WAKE_BUSY_MAX_NS);
	size_t clock = table_col(t, M_WAKE_CLOCK_READ_NS),
	       step = table_col(t, M_WAKE_CLOCK_STEP_NS);

	for (unsigned int i = 0; i < r->run->nr_workers; i++) {
		const struct wake_worker *w = &r->run->workers[i];
		const struct wake_calibration *c = &w->calibration;
		size_t at = table_row(t);
		uint64_t nr = 0;

		for (size_t p = 0; p < w->nr; p++)
			nr += w->points[p].reject == WAKE_TAKEN;
		value_u64(table_cell(t, at, cpu), w->cpu);
		if (!wake_has(r->opts->sources, WAKE_PASSIVE)) {
			value_u64(table_cell(t, at, asked), w->nr);
			value_u64(table_cell(t, at, taken), nr);
		}
		if (c->known) {
			value_u64(table_cell(t, at, overhead), c->stamp.median_ns);
			wake_value_ns(table_cell(t, at, uncertainty),
				      wake_report_uncertainty(r, w));
		}
		if (c->busy.count) {
			wake_value_ns(table_cell(t, at, busy), c->busy.median_ns);
			wake_value_ns(table_cell(t, at, busy_max), c->busy.max_ns);
		}
		/* No clock moves by nothing: then nobody has looked at it. */
		if (c->clock_step_ns) {
			value_u64(table_cell(t, at, clock), c->clock_read_ns);
			value_u64(table_cell(t, at, step), c->clock_step_ns);
		}
	}
}

static const enum metric_id reject_metrics[WAKE_NR_REJECTS] = {
	[WAKE_REJ_BEFORE_IDLE] = M_WAKE_REJ_BEFORE_IDLE,
	[WAKE_REJ_WOKEN_EARLY] = M_WAKE_REJ_WOKEN_EARLY,
	[WAKE_REJ_OTHER_FIRST] = M_WAKE_REJ_OTHER_FIRST,
	[WAKE_REJ_NEGATIVE] = M_WAKE_REJ_NEGATIVE,
	[WAKE_REJ_ELSEWHERE] = M_WAKE_REJ_ELSEWHERE,
	[WAKE_REJ_NMI] = M_WAKE_REJ_NMI,
	[WAKE_REJ_LOST] = M_WAKE_REJ_LOST,
};

static void add_rejected_points(const struct wake_result *r, struct report *report)
{
	uint64_t nr[WAKE_NR_REJECTS] = {0}, asked = 0;

	for (unsigned int i = 0; i < r->run->nr_workers; i++) {
		const struct wake_worker *w = &r->run->workers[i];

		asked += w->nr;
		for (size_t p = 0; p < w->nr; p++)
			nr[w->points[p].reject]++;
	}
	value_u64(report_field(report, M_WAKE_ASKED), asked);
	value_u64(report_field(report, M_WAKE_TAKEN), nr[WAKE_TAKEN]);
	for (enum wake_reject reject = WAKE_TAKEN + 1; reject < WAKE_NR_REJECTS; reject++)
		value_u64(report_field(report, reject_metrics[reject]), nr[reject]);
}

static void add_rejected_passive(const struct wake_result *r, struct report *report)
{
	unsigned int nr_states = r->probe->nr_states;
	struct wake_counts sum = {0};
	uint64_t taken = 0;

	for (unsigned int i = 0; i < r->run->nr_workers; i++) {
		unsigned int cpu = r->run->workers[i].cpu;
		const struct wake_counts *now = &r->window->counts[cpu],
					 *was = &r->window->counts_prev[cpu];

		for (unsigned int k = cpu * nr_states; k < (cpu + 1) * nr_states; k++)
			for (unsigned int b = 0; b < HIST_NR; b++)
				taken += r->window->hists[k].count[b] -
					 r->window->hists_prev[k].count[b];
		sum.other += now->other - was->other;
		sum.other_first += now->other_first - was->other_first;
		sum.before_idle += now->before_idle - was->before_idle;
		sum.early += now->early - was->early;
		sum.odd_state += now->odd_state - was->odd_state;
	}
	value_u64(report_field(report, M_WAKE_ASKED), taken + sum.other + sum.other_first +
							      sum.before_idle + sum.early +
							      sum.odd_state);
	value_u64(report_field(report, M_WAKE_TAKEN), taken);
	value_u64(report_field(report, M_WAKE_REJ_BEFORE_IDLE), sum.before_idle);
	value_u64(report_field(report, M_WAKE_REJ_OTHER_FIRST), sum.other_first);
	value_u64(report_field(report, M_WAKE_REJ_NEGATIVE), sum.early);
	value_u64(report_field(report, M_WAKE_REJ_OTHER), sum.other);
	value_u64(report_field(report, M_WAKE_REJ_ODD), sum.odd_state);
}

static void add_machine(const struct wake_result *r, struct report *report)
{
	const struct wake_env *env = r->env;

	value_str(report_field(report, M_WAKE_DRIVER), env->idle.driver);
	value_str(report_field(report, M_WAKE_GOVERNOR),
		  env->idle.governor[0] ? env->idle.governor : NULL);
	value_str(report_field(report, M_WAKE_GUEST),
		  env->virt.kind == VIRT_GUEST ? env->virt.name[0] ? env->virt.name : "yes" : NULL);
	value_bool(report_field(report, M_WAKE_HALTPOLL), env->haltpoll);
}

static void add_sweep(const struct wake_result *r, struct report *report)
{
	value_u64(report_field(report, M_WAKE_FROM_NS), r->opts->sweep.from_ns);
	value_u64(report_field(report, M_WAKE_TO_NS), r->opts->sweep.to_ns);
	value_f64(report_field(report, M_WAKE_STEP_RATIO), r->opts->sweep.step - 1.0);
	value_u64(report_field(report, M_WAKE_POINTS_STEP), r->opts->sweep.points);
}

static void note_source(const struct wake_result *r, struct report *report)
{
	unsigned int sources = r->opts->sources;

	if (wake_has(sources, WAKE_TIMER))
		report_note(report,
			    "source timer: the core armed this timer itself and may begin to "
			    "wake before it is due; compare --sources timer,remote");
	if (wake_has(sources, WAKE_REMOTE))
		report_note(
			report, "source remote: woken by another core; launch stamped %s",
			r->probe->launch_at_waking
				? "as the wake-up began, some 100 ns to 1 us before the IPI (this "
				  "kernel has no event at the IPI)"
				: "as the kernel sent the IPI, or set the flag of a polling core");
	if (wake_has(sources, WAKE_PASSIVE))
		report_note(report,
			    "source passive: timers that were there anyway; percentiles, and "
			    "after the first window min and max, from buckets of at most "
			    "3.1 %%");
}

static void add_notes(const struct wake_result *r, struct report *report)
{
	const struct wake_env *env = r->env;
	bool known = true;

	note_source(r, report);
	if (env->virt.kind == VIRT_GUEST)
		report_note(report, "this is a guest (%s): the exit latency is mostly the host's",
			    env->virt.evidence);
	if (env->haltpoll)
		report_note(report, "haltpoll spins before it halts: short idle times show no exit "
				    "latency at all");
	if (!env->nr_states)
		report_note(report, "no cpuidle driver: one idle state, and nobody claims anything "
				    "for it");
	else if (env->dma_latency_ns >= 0)
		report_note(report,
			    "something holds /dev/cpu_dma_latency at %lld us: deeper states "
			    "are not entered",
			    (long long)(env->dma_latency_ns / (int64_t)NSEC_PER_USEC));
	for (unsigned int i = 0; i < r->run->nr_workers; i++) {
		known &= r->run->workers[i].calibration.known;
		if (r->run->workers[i].moved)
			report_note(report, "CPU %u went offline during the run",
				    r->run->workers[i].cpu);
	}
	if (r->run->sender_moved)
		report_note(report, "the sender's CPU went offline, which ended the run");
	if (!known)
		report_note(report, "a core never idled while its stamps were characterised: its "
				    "overhead is not known and not taken off");
	if (r->stopped)
		report_note(report, "stopped before the end");
	if (r->replayed)
		report_note(report, "put back %u settings that an earlier run had left behind",
			    r->replayed);
	if (r->replay_error)
		report_note(report,
			    "settings that an earlier run left behind could not be put back "
			    "(%s): see /run/subtick/restore",
			    strerror(-r->replay_error));
}

int wake_report(const struct wake_result *r, struct report **ret_report, bool *ret_exceeds)
{
	struct report *report = report_new("wake");
	bool passive = wake_has(r->opts->sources, WAKE_PASSIVE);
	char sources[48] = "";
	int rc, len = 0;

	if (!report)
		return -ENOMEM;
	report->time_unix_ns = clock_unix_ns();
	report->window_ns = r->window_ns;
	for (enum wake_source source = WAKE_TIMER; source < WAKE_NR_SOURCES; source++)
		if (wake_has(r->opts->sources, source))
			len += snprintf(sources + len, sizeof(sources) - len, "%s%s",
					len ? "," : "", wake_source_name(source));
	report_source(report, sources);
	add_overhead(r, report);
	add_machine(r, report);
	if (passive) {
		add_rejected_passive(r, report);
	} else {
		add_sweep(r, report);
		add_rejected_points(r, report);
	}
	*ret_exceeds = wake_report_states(r, report);
	if (!passive && r->opts->breakdown)
		wake_report_breakdown(r, report);
	if (!passive) {
		wake_report_prewake(r, report);
		wake_report_residency(r, report);
	}
	add_cpus(r, report);
	value_u64(report_quality(report, M_RECURSION_MISSES_TOTAL), r->misses);
	if (wake_has(r->opts->sources, WAKE_NIC))
		wake_nic_quality(r->run->plan.nic, report);
	add_notes(r, report);
	rc = report_check(report);
	if (rc)
		report_free(report);
	else
		*ret_report = report;
	return rc;
}
