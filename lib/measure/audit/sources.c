/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples all sources of CPU load while synthetic loads run. Before the loads, searches for a phase
 * of the tick at which /proc/stat does not show a periodic task.
 */
#include "measure/audit/sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/flood.h"
#include "gen/loads.h"
#include "measure/audit/audit.h"
#include "measure/load/sources.h"

#define GOLDEN	    0.6180339887
#define SETTLE_NS   (100 * NSEC_PER_MSEC)
#define NICE	    10
#define NO_TICK_NS  (4 * NSEC_PER_MSEC) /* period of synthetic loads if no tick was found */
#define LONG_NS	    (11 * NSEC_PER_SEC) /* run time of a load with windows of 10 s */
#define SHORTEST_NS (250 * NSEC_PER_MSEC)
#define LEAST_NS    (SETTLE_NS + SHORTEST_NS) /* minimum run time of a synthetic load */
/* Maximum run time of a synthetic load. All samples of a load are kept in memory. */
#define LONGEST_NS  (120 * NSEC_PER_SEC)
#define BRIEF_NS    (3500 * NSEC_PER_MSEC)
#define FINE_NS	    (400 * NSEC_PER_MSEC)
/* bit mask of the loads that need the result of hide_search() */
#define SEARCHED  (1u << AUDIT_EXPOSED | 1u << AUDIT_HIDDEN)
#define SEARCH_NS (4 * NSEC_PER_SEC)
/* Time for measuring the CPU load of other tasks before the first synthetic load starts. */
#define FREE_NS (300 * NSEC_PER_MSEC)

#define PROBE_SETTLE_NS (20 * NSEC_PER_MSEC)
#define PROBE_NS  (200 * NSEC_PER_MSEC)
/*
 * A task is hidden if /proc/stat shows at most HIDDEN_SHARE of its CPU time. HIDDEN_SHARE is above
 * 0, because /proc/stat also counts other tasks of the core.
 */
#define HIDDEN_SHARE 0.25
#define PROBE_ROUNDS 3

static const char *const load_names[AUDIT_NR_LOADS] = {
	"random", "swept", "locked", "exposed", "hidden", "nice", "iowait", "message", "softirq", "xdp-drop",
};

struct sources {
	const struct audit_opts *opts;
	const struct audit_env *env;
	struct audit_findings *findings;
	struct audit_samples samples;
	struct audit_core core;
	uint64_t period_ns;
	uint64_t end_ns;   /* end of the time budget, or UINT64_MAX without a time budget */
	uint64_t until_ns; /* time at which the current synthetic load must end */
	struct audit_sources *result;
};

static int probe(struct sources *s, struct phase_probe *probe, struct err *err)
{
	struct duty_opts opts = {.cpu = (int)s->opts->cpu,
				 .duty = s->opts->share,
				 .period_ns = s->result->tick_ns,
				 .locked = true,
				 .phase_ns = probe->phase_ns};
	struct audit_samples *samples = &s->samples;
	int columns = source_set_find(&samples->set, "procstat"), rc;
	bool *stopped = &s->result->hide.stopped, bound;
	struct load_cpu_window truth, shown;
	struct gen_child duty;

	if (columns < 0)
		return err_unsupported(err, -ENOENT, "mount -t proc proc /proc",
				       "/proc/stat is missing");
	rc = duty_start(&duty, &opts, err);
	if (rc)
		return rc;
	samples->nr = 0;
	*stopped = audit_wait(s->env, clock_mono_ns() + PROBE_SETTLE_NS);
	audit_samples_add(samples);
	*stopped |= audit_wait(s->env, clock_mono_ns() + PROBE_NS);
	audit_samples_add(samples);
	bound = gen_child_on(&duty, opts.cpu);
	if (!gen_child_alive(&duty))
		rc = audit_no_load(err, samples->cpu);
	gen_child_stop(&duty);
	if (rc || *stopped)
		return rc;
	audit_samples_window(samples, 0, 0, 1, &truth);
	audit_samples_window(samples, columns, 0, 1, &shown);
	/* the probe is invalid if other tasks used more than AUDIT_OTHERS_MAX of the core */
	probe->valid = bound && !((truth.flags | shown.flags) & LOAD_NO_FIGURE) &&
		       truth.busy_ratio <= opts.duty + AUDIT_OTHERS_MAX;
	probe->true_ratio = truth.busy_ratio;
	probe->shown_ratio = shown.busy_ratio;
	return 0;
}

/*
 * Searches for the phases of the tick at which /proc/stat shows the smallest and the largest share
 * of a task. The task is busy for opts->share of every tick. Repeats an unusable measurement at
 * most twice, and not after @until_ns (CLOCK_MONOTONIC).
 */
static int hide_search(struct sources *s, uint64_t until_ns, struct err *err)
{
	struct audit_hide *hide = &s->result->hide;
	uint64_t period_ns = s->result->tick_ns;
	size_t nr_valid = 0;
	int rc = 0;

	hide->period_ns = period_ns;
	phase_plan(hide->probes, AUDIT_PROBES, period_ns);
	for (size_t i = 0; i < PROBE_ROUNDS * AUDIT_PROBES && !rc && !hide->stopped; i++) {
		struct phase_probe *at = &hide->probes[i % AUDIT_PROBES];
		struct phase_probe again = {.phase_ns = at->phase_ns};

		if (!phase_doubtful(at, HIDDEN_SHARE))
			continue;
		if (i >= AUDIT_PROBES && clock_mono_ns() > until_ns)
			break;
		audit_progress(s->env,
			       "sources: searching for a phase that hides a task, %zu of %d",
			       i % AUDIT_PROBES + 1, AUDIT_PROBES);
		rc = probe(s, &again, err);
		if (again.valid || !at->valid)
			*at = again;
	}
	if (rc)
		return rc;
	for (size_t i = 0; i < AUDIT_PROBES; i++)
		nr_valid += hide->probes[i].valid;
	hide->enough = nr_valid > AUDIT_PROBES / 2;
	hide->hidden = phase_hidden(hide->probes, AUDIT_PROBES, period_ns, HIDDEN_SHARE,
				    &hide->hidden_phase_ns);
	hide->exposed =
		phase_exposed(hide->probes, AUDIT_PROBES, period_ns, &hide->exposed_phase_ns);
	return 0;
}

static bool run_wanted(const struct sources *s, enum audit_load load)
{
	if (s->opts->phase_given)
		return load == AUDIT_LOCKED;
	if (load == AUDIT_LOCKED || !((s->opts->loads ?: ~AUDIT_ON_REQUEST) >> load & 1))
		return false;
	if (load == AUDIT_HIDDEN)
		return s->result->hide.hidden;
	if (load == AUDIT_EXPOSED)
		return s->result->hide.exposed;
	return true;
}

/* True if the load begins each busy loop at a random time of its period. */
static bool is_random(enum audit_load load)
{
	return load == AUDIT_RANDOM || AUDIT_ON_REQUEST >> load & 1;
}

static void run_duty_opts(const struct sources *s, enum audit_load load, int peer_cpu,
			  struct duty_opts *duty)
{
	*duty = (struct duty_opts){.cpu = (int)s->opts->cpu,
				   .duty = s->opts->duty,
				   .period_ns = s->period_ns,
				   .nice = load == AUDIT_NICE ? NICE : 0,
				   .wait = load == AUDIT_IOWAIT	   ? DUTY_READ
					   : load == AUDIT_MESSAGE ? DUTY_MESSAGE
								   : DUTY_TIMER,
				   .peer_cpu = peer_cpu,
				   .locked = !is_random(load),
				   .phase_ns = s->opts->phase_ns};
	/*
	 * A load with a period of a whole number of ticks is synchronous with the tick. A period of
	 * 1.618 ticks (golden ratio) is the least synchronous, because fractions approximate the
	 * golden ratio worst.
	 */
	if (is_random(load) && !s->opts->period_ns)
		duty->period_ns = (uint64_t)((double)s->result->tick_ns * GOLDEN);
	/* with a period 1/64 longer than the tick, the load runs at all phases of the tick */
	if (load == AUDIT_SWEPT)
		duty->period_ns += s->result->tick_ns / 64;
	if (1u << load & SEARCHED) {
		const struct audit_hide *hide = &s->result->hide;

		duty->period_ns = s->result->tick_ns;
		duty->phase_ns =
			load == AUDIT_HIDDEN ? hide->hidden_phase_ns : hide->exposed_phase_ns;
		duty->duty = s->opts->share;
	}
}

static uint64_t run_length(const struct sources *s, enum audit_load load)
{
	uint64_t now = clock_mono_ns(), left;

	if (s->until_ns == UINT64_MAX)
		return s->opts->brief && load != AUDIT_RANDOM ? BRIEF_NS : LONG_NS;
	left = s->until_ns > now ? s->until_ns - now : 0;
	return left < SHORTEST_NS ? SHORTEST_NS : left > LONGEST_NS ? LONGEST_NS : left;
}

/* Takes the samples for windows below 10 ms. Must run before sample_run(), which reuses memory. */
static int sample_fine(struct sources *s, struct audit_load_run *run)
{
	uint64_t end = clock_mono_ns() + FINE_NS, now;

	if (s->opts->brief || run_length(s, run - s->result->runs) < 2 * FINE_NS)
		return 0;
	s->samples.nr = 0;
	do {
		audit_samples_add(&s->samples);
		now = clock_mono_ns();
		/*
		 * wait a whole sampling interval even if the last sample was late, so that no
		 * window is too short
		 */
		s->result->stopped |= audit_wait(s->env, now + AUDIT_FINE_STEP_NS);
	} while (!s->result->stopped && now < end);
	return audit_load_run_fine(run, &s->samples);
}

/*
 * Runs one synthetic load and samples all sources. Returns -EAGAIN if the load was stopped before
 * the second sample.
 */
static int sample_run(struct sources *s, struct audit_load_run *run, uint64_t length_ns)
{
	uint64_t next = clock_mono_ns(), end = next + length_ns;

	s->samples.nr = 0;
	audit_samples_begin(&s->samples);
	run->levels_known = !audit_core_read(&s->core, &run->from, NULL);
	audit_samples_add(&s->samples);
	while (!s->result->stopped && next < end) {
		next += AUDIT_STEP_NS;
		s->result->stopped = audit_wait(s->env, next);
		audit_samples_add(&s->samples);
	}
	run->levels_known = run->levels_known && !audit_core_read(&s->core, &run->to, NULL);
	audit_samples_loadavg(&s->samples, &run->loadavg, &run->true_loadavg);
	return s->samples.nr < 2 ? -EAGAIN : 0;
}

/* Derives results from the run of one load, unless CPU hotplug moved the load to another core. */
static int judge_run(struct sources *s, enum audit_load load, const struct audit_load_run *run)
{
	int columns = source_set_find(&s->samples.set, "procstat"), rc = 0;
	char text[64];

	if (run->strayed)
		return 0;
	snprintf(text, sizeof(text), "the load \"%s\"", run->name);
	for (size_t i = 0; i < AUDIT_NR_WINDOWS && columns > 0; i++)
		audit_judge_worst(s->findings, run->errors[columns][i].max, audit_windows_ns[i],
				  text);
	if (columns > 0 && load == AUDIT_RANDOM)
		rc = audit_judge_good(s->findings, &s->samples, columns, run);
	if (load == AUDIT_HIDDEN)
		audit_judge_hidden(s->findings, run, s->opts->share);
	if (load == AUDIT_SOFTIRQ)
		audit_judge_softirq(s->findings, run);
	return rc;
}

static int start_load(struct sources *s, enum audit_load load, struct gen_child *child,
		      struct err *err)
{
	struct audit_load_run *run = &s->result->runs[load];
	int other = audit_other_cpu(s->opts->cpu);
	struct flood_opts flood = {.send_cpu = other,
				   .recv_cpu = (int)s->opts->cpu,
				   .burst = 32,
				   .pause_ns = 50000,
				   .xdp_drop = load == AUDIT_XDP_DROP};
	struct duty_opts duty;

	if (other < 0 && load >= AUDIT_MESSAGE)
		return err_unsupported(err, -ENODEV,
				       "allow this process two CPUs: taskset, cpuset.cpus",
				       "%s to the audited core must be sent from a second core, "
				       "and this process may use only one",
				       load == AUDIT_MESSAGE ? "messages" : "packets");
	if (load >= AUDIT_SOFTIRQ)
		return flood_start(child, &flood, err);
	run_duty_opts(s, load, other, &duty);
	run->period_ns = duty.period_ns;
	run->phase_known = duty.locked && load != AUDIT_SWEPT;
	run->phase_ns = duty.phase_ns;
	return duty_start(child, &duty, err);
}

static int run_load(struct sources *s, enum audit_load load, struct err *err)
{
	struct audit_load_run *run = &s->result->runs[load];
	bool flood = load >= AUDIT_SOFTIRQ;
	struct duty_usage from, to;
	struct gen_child child;
	int rc = start_load(s, load, &child, &run->why);

	run->state = AUDIT_NOT_TRIED;
	if (rc && (flood || run->why.unsupported))
		return 0;
	if (rc && err)
		*err = run->why;
	if (rc)
		return rc;
	run->state = AUDIT_TOO_SHORT;
	s->result->stopped |= audit_wait(s->env, clock_mono_ns() + SETTLE_NS);
	rc = sample_fine(s, run);
	/*
	 * sample_fine() may run on the core of the load and delay a busy loop. Wait for one period,
	 * so that the busy loop ends.
	 */
	s->result->stopped |= audit_wait(s->env, clock_mono_ns() + run->period_ns);
	run->recorded = !flood && duty_read(&child, &from);
	rc = rc ?: sample_run(s, run, run_length(s, load));
	run->recorded = run->recorded && duty_read(&child, &to) && to.at_ns > from.at_ns;
	run->strayed = !flood && !gen_child_on(&child, (int)s->opts->cpu);
	if (!flood && !gen_child_alive(&child))
		rc = audit_no_load(err, s->opts->cpu);
	/* Skip the load if it sent no packets: on an idle core every source is accurate. */
	if (flood && (!gen_child_alive(&child) || !flood_sent(&child))) {
		run->state = AUDIT_NOT_SENT;
		rc = -EAGAIN;
	}
	gen_child_stop(&child);
	if (!rc && run->recorded) {
		double wall = (double)(to.at_ns - from.at_ns);

		run->burn_ratio = (double)(to.burn_ns - from.burn_ns) / wall;
		run->thread_ratio = (double)(to.cpu_ns - from.cpu_ns) / wall;
		run->wait_ratio = (double)(to.wait_ns - from.wait_ns) / wall;
	}
	rc = rc ?: audit_load_run_sum(run, &s->samples, s->findings->user_hz) ?:
		   judge_run(s, load, run);
	if (!rc)
		run->state = AUDIT_MEASURED;
	if (rc == -ENOMEM)
		return err_set(err, rc, "out of memory");
	return rc == -EAGAIN ? 0 : rc;
}

static bool search_wanted(const struct sources *s)
{
	return !s->opts->phase_given && (!s->opts->loads || s->opts->loads & SEARCHED);
}

static void measure_other_load(struct sources *s)
{
	struct load_cpu_window window;

	audit_progress(s->env, "sources: is CPU %u free?", s->opts->cpu);
	s->samples.nr = 0;
	audit_samples_add(&s->samples);
	s->result->stopped |= audit_wait(s->env, clock_mono_ns() + FREE_NS);
	audit_samples_add(&s->samples);
	audit_samples_window(&s->samples, 0, 0, 1, &window);
	s->result->others_ratio = window.flags & LOAD_NO_FIGURE ? 0.0 : window.busy_ratio;
}

/* Returns the minimum time for measure_other_load(), hide_search() and all synthetic loads. */
static uint64_t search_takes(const struct sources *s)
{
	uint64_t takes = FREE_NS + SEARCH_NS;

	for (int i = 0; i < AUDIT_NR_LOADS; i++)
		if (i != AUDIT_LOCKED && (s->opts->loads ?: ~AUDIT_ON_REQUEST) >> i & 1)
			takes += LEAST_NS;
	return takes;
}

/* Fails if hide_search() is impossible, because the core is busy or the time is too short. */
static int check_search(struct sources *s, struct err *err)
{
	uint64_t takes = search_takes(s);

	s->result->hide_too_long = !audit_part_end(clock_mono_ns(), s->end_ns, 1.0, takes);
	if (search_wanted(s) && !s->result->hide_too_long)
		measure_other_load(s);
	/* loads that do not need the result of hide_search() can still run */
	if (!search_wanted(s) || !s->opts->loads || s->opts->loads & ~SEARCHED ||
	    s->result->stopped)
		return 0;
	if (s->result->others_ratio > AUDIT_OTHERS_MAX)
		return err_set(err, -EBUSY,
			       "CPU %u is not free: other tasks use %.0f %% of it, the limit is "
			       "%.0f %%; choose another CPU with -C, or stop them",
			       s->opts->cpu, s->result->others_ratio * 100.0,
			       AUDIT_OTHERS_MAX * 100.0);
	if (s->result->hide_too_long)
		return err_set(err, -EINVAL,
			       "the search for a phase that hides a task takes %d s: use "
			       "--budget %ds or more",
			       (int)(SEARCH_NS / NSEC_PER_SEC),
			       (int)((takes + AUDIT_FIND_NS) / NSEC_PER_SEC) + 1);
	return 0;
}

static int run_all(struct sources *s, struct err *err)
{
	struct audit_sources *r = s->result;
	size_t left = 0;
	int rc = 0;

	if (search_wanted(s) && !r->hide_too_long && r->others_ratio <= AUDIT_OTHERS_MAX) {
		/* hide_search() may repeat invalid measurements in half of the remaining time */
		uint64_t until = audit_part_end(clock_mono_ns(), s->end_ns, 0.5, SEARCH_NS);

		rc = hide_search(s, until, err);
		r->hide_searched = !rc;
		r->stopped |= r->hide.stopped;
		s->findings->hide_tried = !rc && !r->hide.stopped && r->hide.enough;
		s->findings->hide_phase = !rc && r->hide.hidden;
	}
	for (int i = 0; i < AUDIT_NR_LOADS; i++)
		left += run_wanted(s, i);
	for (int i = 0; i < AUDIT_NR_LOADS && !rc && !r->stopped; i++) {
		if (!run_wanted(s, i))
			continue;
		s->until_ns = audit_part_end(clock_mono_ns(), s->end_ns, 1.0 / (double)left--,
					     LEAST_NS);
		if (!s->until_ns) {
			r->runs[i].state = AUDIT_NOT_TRIED;
			audit_no_time(&r->runs[i].why);
			continue;
		}
		audit_progress(s->env, "sources: load %s", load_names[i]);
		rc = run_load(s, i, err);
	}
	return rc;
}

int audit_sources(const struct audit_opts *opts, const struct audit_env *env,
		  struct audit_findings *findings, struct audit_sources *ret_sources,
		  struct err *err)
{
	struct sources s = {.opts = opts, .env = env, .findings = findings, .result = ret_sources};
	uint64_t begin = clock_mono_ns(), longest = opts->budget_ns ? LONGEST_NS : LONG_NS;
	struct audit_sources *r = ret_sources;
	int rc;

	s.end_ns = opts->budget_ns ? begin + opts->budget_ns : UINT64_MAX;
	memset(r, 0, sizeof(*r));
	for (int i = 0; i < AUDIT_NR_LOADS; i++) {
		r->runs[i].name = load_names[i];
		r->runs[i].burns = i == AUDIT_NICE ? AUDIT_MODE_NICE : AUDIT_MODE_USER;
		r->runs[i].waits_for_io = i == AUDIT_IOWAIT;
	}
	findings->user_hz = sysconf(_SC_CLK_TCK);
	rc = audit_samples_open(&s.samples, opts->cpu, longest / AUDIT_STEP_NS + 8, err) ?:
	     audit_find_tick(opts->cpu, opts->budget_ns, env, findings, err) ?:
	     check_search(&s, err);
	if (rc) {
		audit_samples_close(&s.samples);
		return rc;
	}
	r->tick_ns = findings->tick_known ? findings->tick_ns : NO_TICK_NS;
	s.period_ns = opts->period_ns ?: r->tick_ns;
	r->nr_sources = s.samples.set.nr;
	for (unsigned int i = 0; i < r->nr_sources; i++)
		r->names[i] = s.samples.set.source[i]->ops->name;
	r->passed_over = s.samples.set.passed_over;
	findings->source = r->names[0];
	rc = audit_core_open(&s.core, opts->cpu, err) ?: run_all(&s, err);
	audit_core_close(&s.core);
	load_source_losses(s.samples.set.source[0], &r->losses);
	audit_samples_close(&s.samples);
	r->window_ns = clock_mono_ns() - begin;
	return rc;
}
