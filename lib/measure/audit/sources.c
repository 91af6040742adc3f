/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit sources: every source of load side by side, under loads that are hard to see. */
#include "measure/audit/audit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/duty.h"
#include "gen/flood.h"
#include "measure/audit/hide.h"
#include "measure/audit/samples.h"
#include "measure/audit/sources_report.h"
#include "measure/audit/sources_judge.h"
#include "measure/audit/watch.h"
#include "measure/load/report.h"
#include "measure/load/sources.h"

#define GOLDEN	    0.6180339887
#define SETTLE_NS   (100 * NSEC_PER_MSEC)
#define NO_TICK_NS  (4 * NSEC_PER_MSEC) /* period of the loads where no tick was found */
#define LONG_NS	    (11 * NSEC_PER_SEC) /* room for windows of 10 s */
#define SHORTEST_NS (250 * NSEC_PER_MSEC)
#define LONGEST_NS  (120 * NSEC_PER_SEC) /* all samples are kept */
#define BRIEF_NS    (3500 * NSEC_PER_MSEC)
/* Loads whose phase has to be searched first. */
#define SEARCHED  (1u << AUDIT_EXPOSED | 1u << AUDIT_HIDDEN)
#define SEARCH_NS (4 * NSEC_PER_SEC)

static const char *const load_names[AUDIT_NR_LOADS] = {
	"random", "swept", "locked", "exposed", "hidden", "softirq", "xdp-drop",
};

const char *audit_load_name(unsigned int load)
{
	return load < AUDIT_NR_LOADS ? load_names[load] : NULL;
}

struct sources {
	const struct audit_opts *opts;
	const struct audit_env *env;
	struct audit_findings *findings;
	struct audit_samples samples;
	struct audit_hide hide;
	bool hide_done;
	uint64_t period_ns, tick_ns;
	struct report *report;
	struct audit_tables tables;
	bool stopped;
};

static bool scene_wanted(const struct sources *s, enum audit_load scene)
{
	if (s->opts->phase_given)
		return scene == AUDIT_LOCKED;
	if (scene == AUDIT_LOCKED || (s->opts->loads && !(s->opts->loads >> scene & 1)))
		return false;
	if (scene == AUDIT_HIDDEN)
		return s->hide.hidden;
	if (scene == AUDIT_EXPOSED)
		return s->hide.exposed;
	return true;
}

static void scene_duty(const struct sources *s, enum audit_load scene, struct duty_opts *duty)
{
	*duty = (struct duty_opts){.cpu = (int)s->opts->cpu,
				   .duty = s->opts->duty,
				   .period_ns = s->period_ns,
				   .locked = scene != AUDIT_RANDOM,
				   .phase_ns = s->opts->phase_ns};
	/*
	 * A period of whole ticks would keep each burn, wherever it begins, on one side of a tick
	 * that falls on its edge. This ratio is as far from any step with it as can be.
	 */
	if (scene == AUDIT_RANDOM && !s->opts->period_ns)
		duty->period_ns = (uint64_t)((double)s->tick_ns * GOLDEN);
	/* One part in 64 too long: the burn moves across the tick and comes round. */
	if (scene == AUDIT_SWEPT)
		duty->period_ns += s->tick_ns / 64;
	if (scene == AUDIT_HIDDEN || scene == AUDIT_EXPOSED) {
		duty->period_ns = s->tick_ns;
		duty->phase_ns =
			scene == AUDIT_HIDDEN ? s->hide.hidden_phase_ns : s->hide.exposed_phase_ns;
		duty->duty = s->opts->share;
	}
}

static uint64_t scene_length(const struct sources *s, enum audit_load scene)
{
	size_t nr = 0;

	for (int i = 0; i < AUDIT_NR_LOADS; i++)
		nr += scene_wanted(s, i);
	if (s->opts->budget_ns) {
		uint64_t search = s->hide_done ? SEARCH_NS : 0;
		uint64_t left = s->opts->budget_ns > search ? s->opts->budget_ns - search : 0;

		left /= nr;
		return left < SHORTEST_NS ? SHORTEST_NS : left > LONGEST_NS ? LONGEST_NS : left;
	}
	return s->opts->brief && scene != AUDIT_RANDOM ? BRIEF_NS : LONG_NS;
}

static int sample_scene(struct sources *s, uint64_t length_ns)
{
	uint64_t next = clock_mono_ns(), end = next + length_ns;

	audit_samples_reset(&s->samples);
	audit_samples_add(&s->samples);
	while (!s->stopped && next < end) {
		next += AUDIT_STEP_NS;
		s->stopped = audit_wait(s->env, next);
		audit_samples_add(&s->samples);
	}
	return s->samples.nr < 2 ? -EAGAIN : 0;
}

static void describe(struct sources *s, struct audit_scene *scene)
{
	const struct audit_samples *samples = &s->samples;
	const struct source_set *set = &samples->set;
	int columns = source_set_find(set, "procstat"), idle = source_set_find(set, "procidle");
	size_t last = samples->nr - 1;

	audit_samples_window(samples, 0, 0, last, &scene->truth);
	scene->parts_known = set->source[0]->parts >> LOAD_PART_SOFTIRQ_ON_IDLE & 1;
	scene->idle_known = idle >= 0;
	if (idle >= 0)
		audit_samples_window(samples, idle, 0, last, &scene->idle_based);
	if (columns < 0)
		return;
	audit_samples_window(samples, columns, 0, last, &scene->columns);
	scene->columns_sum =
		(double)(samples->kept[columns][last].total - samples->kept[columns][0].total) *
		1e9 / s->findings->user_hz / (double)scene->columns.window_ns;
}

static int finish_scene(struct sources *s, enum audit_load id, struct audit_scene *scene)
{
	struct audit_error errors[SOURCE_SET_MAX][AUDIT_NR_WINDOWS] = {0};
	int columns = source_set_find(&s->samples.set, "procstat"), rc = 0;
	bool disturbed;

	describe(s, scene);
	disturbed =
		scene->booked && scene->truth.busy_ratio > scene->thread_ratio + AUDIT_OTHERS_MAX;
	if (disturbed)
		report_note(s->report, "others took %.0f points of the core during the load \"%s\"",
			    (scene->truth.busy_ratio - scene->thread_ratio) * 100.0, scene->name);
	if (scene->strayed)
		report_note(s->report,
			    "the load \"%s\" did not stay on CPU %u: nothing is concluded from it",
			    scene->name, s->opts->cpu);
	for (size_t at = 1; at < s->samples.set.nr && !rc; at++)
		for (size_t i = 0; i < AUDIT_NR_WINDOWS && !rc; i++)
			rc = audit_samples_error(&s->samples, at,
						 audit_windows_ns[i] / AUDIT_STEP_NS,
						 &errors[at][i]);
	if (rc)
		return rc;
	audit_tables_scene(&s->tables, scene);
	for (size_t at = 1; at < s->samples.set.nr; at++)
		audit_tables_errors(&s->tables, scene, s->samples.set.source[at]->ops->name,
				    errors[at]);
	if (scene->strayed)
		return 0;
	if (columns > 0)
		audit_take_worst(s->findings, load_names[id], errors[columns]);
	if (columns > 0 && id == AUDIT_RANDOM)
		rc = audit_take_good(s->findings, &s->samples, columns, scene, disturbed);
	if (id == AUDIT_HIDDEN)
		audit_take_hidden(s->findings, scene, s->opts->share);
	if (id == AUDIT_SOFTIRQ)
		audit_take_softirq(s->findings, scene);
	return rc;
}

static int run_duty(struct sources *s, enum audit_load id, struct err *err)
{
	struct audit_scene scene = {.name = load_names[id]};
	struct duty_books from, to;
	struct duty_opts opts;
	struct duty duty;
	bool booked;
	int rc;

	scene_duty(s, id, &opts);
	scene.period_ns = opts.period_ns;
	scene.phase_known = opts.locked && id != AUDIT_SWEPT;
	scene.phase_ns = opts.phase_ns;
	rc = duty_start(&duty, &opts, err);
	if (rc)
		return rc;
	s->stopped |= audit_wait(s->env, clock_mono_ns() + SETTLE_NS);
	booked = duty_read(&duty, &from);
	rc = sample_scene(s, scene_length(s, id));
	booked = booked && duty_read(&duty, &to) && to.at_ns > from.at_ns;
	scene.strayed = !gen_child_on(&duty.child, opts.cpu);
	if (!gen_child_alive(&duty.child))
		rc = audit_no_load(err, s->opts->cpu);
	duty_stop(&duty);
	if (rc)
		return rc == -EAGAIN ? 0 : rc;
	if (booked) {
		double wall = (double)(to.at_ns - from.at_ns);

		scene.booked = true;
		scene.burn_ratio = (double)(to.burn_ns - from.burn_ns) / wall;
		scene.thread_ratio = (double)(to.cpu_ns - from.cpu_ns) / wall;
	}
	rc = finish_scene(s, id, &scene);
	return rc ? err_set(err, rc, "out of memory") : 0;
}

static int run_flood(struct sources *s, enum audit_load id, struct err *err)
{
	struct audit_scene scene = {.name = load_names[id]};
	struct flood_opts opts = {.send_cpu = audit_other_cpu(s->opts->cpu),
				  .recv_cpu = (int)s->opts->cpu,
				  .burst = 32,
				  .pause_ns = 50000,
				  .xdp_drop = id == AUDIT_XDP_DROP};
	struct flood flood;
	struct err why = {0};
	int rc;

	if (opts.send_cpu < 0)
		rc = err_unsupported(&why, -ENODEV, "run it on a machine with two cores",
				     "packets for one core must come from another");
	else
		rc = flood_start(&flood, &opts, &why);
	if (rc) {
		report_note(s->report, "load \"%s\" was not tried: %s%s%s", scene.name, why.what,
			    why.fix[0] ? "; fix: " : "", why.fix);
		return 0;
	}
	s->stopped |= audit_wait(s->env, clock_mono_ns() + SETTLE_NS);
	rc = sample_scene(s, scene_length(s, id));
	/* Without packets the core is idle, and any source is right about that. */
	if (!gen_child_alive(&flood.child) || !flood_sent(&flood)) {
		report_note(s->report, "load \"%s\" did not run: its packets could not be sent",
			    scene.name);
		rc = -EAGAIN;
	}
	flood_stop(&flood);
	if (!rc)
		rc = finish_scene(s, id, &scene);
	return rc && rc != -EAGAIN ? err_set(err, rc, "out of memory") : 0;
}

static int run_all(struct sources *s, struct err *err)
{
	int rc = 0;

	if (!s->opts->phase_given && (!s->opts->loads || s->opts->loads & SEARCHED)) {
		rc = audit_hide_search(&s->samples, s->opts->share, s->tick_ns, s->env, &s->hide,
				       err);
		s->hide_done = !rc;
		s->stopped |= s->hide.stopped;
		s->findings->hide_tried = !rc && !s->hide.stopped && s->hide.enough;
		s->findings->hide_phase = !rc && s->hide.hidden;
		if (!rc)
			audit_tables_probes(&s->tables, s->hide.probes, AUDIT_PROBES);
	}
	for (int i = 0; i < AUDIT_NR_LOADS && !rc && !s->stopped; i++) {
		if (!scene_wanted(s, i))
			continue;
		audit_progress(s->env, "sources: load %s", load_names[i]);
		rc = i >= AUDIT_SOFTIRQ ? run_flood(s, i, err) : run_duty(s, i, err);
	}
	return rc;
}

static void add_notes(const struct sources *s)
{
	const struct audit_findings *f = s->findings;

	report_note(s->report, "truth: source %s; errors are in points of load",
		    s->samples.set.source[0]->ops->name);
	if (s->samples.set.passed_over.code)
		report_note(s->report, "a better truth was passed over: %s",
			    s->samples.set.passed_over.what);
	if (!f->tick_known && f->tick_unclear)
		report_note(
			s->report,
			"no tick was found, which says nothing: %s; loads that should keep step "
			"with it repeat every %.3g ms instead",
			f->tick_unclear, (double)s->tick_ns / 1e6);
	if (f->hide_found)
		report_note(s->report,
			    "a task that burns %.0f %% of each tick from %.2f ms on: the core was "
			    "%.1f %% busy, the columns of /proc/stat show %.1f %%",
			    s->opts->share * 100.0, (double)f->hidden_phase_ns / 1e6,
			    f->hidden_true * 100.0, f->hidden_shown * 100.0);
	else if (f->hide_tried && f->hidden_true > 0.0)
		report_note(s->report,
			    "a task hid at %.2f ms while the phases were tried, but not later: the "
			    "core "
			    "was %.1f %% busy, the columns show %.1f %%; others may have used it",
			    (double)f->hidden_phase_ns / 1e6, f->hidden_true * 100.0,
			    f->hidden_shown * 100.0);
	else if (f->hide_tried && !f->hide_phase)
		report_note(s->report, "no phase was found at which a task hides from /proc/stat");
	else if (s->hide_done && !s->hide.enough && !s->hide.stopped)
		report_note(s->report,
			    "others kept the core too busy to search a phase to hide in");
	if (s->stopped)
		report_note(s->report, "stopped early");
}

int audit_sources(const struct audit_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct sources s = {.opts = opts, .env = env, .findings = findings};
	uint64_t begin = clock_mono_ns(), longest = opts->budget_ns ? LONGEST_NS : LONG_NS;
	int rc;

	findings->user_hz = sysconf(_SC_CLK_TCK);
	rc = audit_find_tick(opts->cpu, env, findings, err);
	if (rc)
		return rc;
	s.tick_ns = findings->tick_known ? findings->tick_ns : NO_TICK_NS;
	s.period_ns = opts->period_ns ?: s.tick_ns;
	rc = audit_samples_open(&s.samples, opts->cpu, longest / AUDIT_STEP_NS + 8, err);
	if (rc)
		return rc;
	s.report = audit_report("sources", opts, findings, begin);
	if (!s.report) {
		audit_samples_close(&s.samples);
		return err_set(err, -ENOMEM, "out of memory");
	}
	findings->source = s.samples.set.source[0]->ops->name;
	report_source(s.report, findings->source);
	audit_tables_init(&s.tables, s.report);
	/* As a part of all, people get the loads; the errors are a screenful of their own. */
	if (opts->brief && !s.report->failed)
		s.tables.errors->text_hidden = true;
	rc = run_all(&s, err);
	s.report->window_ns = clock_mono_ns() - begin;
	if (!rc) {
		struct load_losses losses;

		load_source_losses(s.samples.set.source[0], &losses);
		load_report_losses(&losses, s.report);
	}
	add_notes(&s);
	audit_samples_close(&s.samples);
	if (rc) {
		report_free(s.report);
		return rc;
	}
	return audit_report_done(s.report, ret_report, err);
}
