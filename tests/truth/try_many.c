/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * 200 experiments with a known effect and 200 A/A experiments, on waits that vary by chance. Counts
 * the intervals that contain the true effect and the experiments that find one. One run-queue meter
 * measures all of them, with the rounds and the statistics of subtick try.
 */
#include <stdio.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measure/runq/runq.h"
#include "measure/try/groups.h"
#include "pinned.h"
#include "truth.h"

#define EXPERIMENTS 200
#define PAIRS	    10
#define PERIOD_NS   (5 * NSEC_PER_MSEC)
#define EACH_NS	    (5 * PERIOD_NS)
#define SETTLE_NS   PERIOD_NS
#define BURN_NS	    (400 * NSEC_PER_USEC)
#define EFFECT	    0.4

struct schedule {
	uint32_t word, changed;
	double factor; /* mean wait of changed rounds */
	double shared; /* disturbance of both rounds of a pair */
	/* Burns and waits of the victim, from the timestamps of both tasks. */
	uint64_t wake_ns, path_ns, count;
	uint64_t burn_ns;
};

/* splitmix64, 0 to 1. */
static double chance(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static void hog_run(void *shared)
{
	struct schedule *s = shared;
	uint64_t next = clock_mono_ns(), random = 1;

	for (;;) {
		truth_sleep_until(next += PERIOD_NS);
		s->burn_ns = (uint64_t)((double)BURN_NS * s->shared * (0.5 + chance(&random)) *
					(s->changed ? s->factor : 1.0));
		s->wake_ns = clock_mono_ns();
		pinned_wake(&s->word);
		truth_burn(s->burn_ns);
	}
}

static void victim_run(void *shared)
{
	struct schedule *s = shared;

	for (uint32_t i = 1;; i++) {
		pinned_wait(&s->word, i);
		s->path_ns += clock_mono_ns() - s->wake_ns - s->burn_ns;
		s->count++;
	}
}

static void measure_round(struct meter *meter, struct try_groups *groups, unsigned int pair,
			  enum try_arm arm)
{
	struct err err = {0};
	int rc;

	truth_sleep_until(clock_mono_ns() + SETTLE_NS);
	rc = meter->ops->read(meter, &err);
	if (!rc)
		rc = try_groups_begin(groups, &err);
	truth_sleep_until(clock_mono_ns() + EACH_NS);
	if (!rc)
		rc = meter->ops->read(meter, &err);
	if (!rc)
		rc = try_groups_end(groups, runq_window(meter), pair, arm, &err);
	if (rc)
		live_fail_all("%s", err.what);
}

static struct paired experiment(struct meter *meter, struct schedule *s, const char *watch,
				uint64_t *random)
{
	struct try_groups groups;
	struct paired effect;
	struct err err;

	if (try_groups_open(&groups, runq_window(meter)->hierarchy, &watch, 1, &err))
		live_fail_all("%s", err.what);
	for (unsigned int pair = 0; pair < PAIRS; pair++) {
		enum try_arm first = chance(random) < 0.5 ? TRY_ORIGINAL : TRY_CHANGED;

		s->shared = 0.6 + 0.8 * chance(random);
		for (int i = 0; i < 2; i++) {
			enum try_arm arm = i ? !first : first;

			s->changed = arm == TRY_CHANGED;
			measure_round(meter, &groups, pair, arm);
		}
	}
	try_groups_compare(&groups, PAIRS);
	effect = groups.groups[0].effect[TRY_WAIT];
	try_groups_close(&groups);
	return effect;
}

static void judge(struct meter *meter, struct schedule *s, const char *watch, double factor)
{
	unsigned int covered = 0, found = 0;
	uint64_t random = 2;
	double path, truth;

	s->factor = factor;
	for (int i = 0; i < EXPERIMENTS; i++) {
		struct paired effect = experiment(meter, s, watch, &random);

		/* Each wait is the burn, and the time from the wake-up and to the victim. */
		path = (double)s->path_ns / (double)s->count;
		truth = ((double)BURN_NS * factor + path) / ((double)BURN_NS + path) - 1.0;
		covered += effect.low <= truth && truth <= effect.high;
		found += effect.found;
	}
	live_note("a wait is %.0f ns longer than the burn", path);
	live_ok(covered >= 0.92 * EXPERIMENTS && covered <= 0.98 * EXPERIMENTS,
		"the true effect of %.1f %% is in %u of %d intervals", truth * 100.0, covered,
		EXPERIMENTS);
	if (factor < 1.0)
		live_ok(found == EXPERIMENTS, "and found in %u", found);
	else
		live_ok(found <= 0.08 * EXPERIMENTS, "and found in %u, at most %.0f", found,
			0.08 * EXPERIMENTS);
}

int main(void)
{
	struct runq_opts opts = {
		.per = RUNQ_PER_CGROUP, .percentiles = {99}, .nr_percentiles = 1, .blame = true};
	const char *victim;
	struct schedule *s;
	struct meter *meter;
	struct err err = {0};
	pid_t tasks[2];

	truth_begin(1);
	cgroups_open();
	s = pinned_share(sizeof(*s));
	s->factor = s->shared = 1.0;
	victim = cgroups_make("try-victim");
	tasks[0] = pinned_start(&(struct pinned_task){.cgroup = cgroups_make("try-hog"),
						      .priority = 20,
						      .run = hog_run},
				s);
	tasks[1] = pinned_start(
		&(struct pinned_task){.cgroup = victim, .priority = 10, .run = victim_run}, s);
	if (runq_open(&opts, &meter, &err) || meter->ops->start(meter, &err))
		live_fail_all("%s", err.what);
	judge(meter, s, victim, EFFECT);
	judge(meter, s, victim, 1.0);
	meter->ops->close(meter);
	pinned_stop(tasks[0]);
	pinned_stop(tasks[1]);
	return live_done();
}
