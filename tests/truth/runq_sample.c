/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs sixteen cgroups with equal numbers of scheduled waits. One subtick process counts all waits,
 * and other subtick processes estimate the waits of each cgroup from samples. The deviations of the
 * estimates must agree with the reported standard errors.
 */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "runq_schedules.h"
#include "scrape.h"
#include "truth.h"

#define GROUPS	  16
#define ROUNDS	  800
#define PERIOD_NS (500 * NSEC_PER_USEC)
/*
 * Limits for the deviation of one estimate and of the mean of all estimates, each in its own
 * standard errors, and for the sum of the squared deviations. In 60,000 simulated runs, one
 * estimate deviated by at most 6.3 standard errors, the mean by at most 4.4, and the sum of the
 * squares was between 1.9 and 64. If all estimates were wrong by 20 %, their mean would deviate by
 * 7 standard errors.
 */
#define ALONE_MAX    8.0
#define TOGETHER_MAX 6.0
#define SQUARES_MIN  1.4
#define SQUARES_MAX  85.0
/* Allowed relative difference between the sums of the fast path and of the slow path. */
#define PATHS_RATIO 1e-4

struct victim {
	const char *cgroup;
	uint32_t word;
	pid_t pid;
	uint64_t dispatches; /* dispatches of the task before the schedule begins */
};

struct sampled {
	uint64_t begin_ns;
	pid_t waker;
	struct victim victim[GROUPS];
};

static void victim_run(void *shared)
{
	struct victim *victim = shared;

	for (int i = 0; i < ROUNDS; i++)
		pinned_wait(&victim->word, i + 1);
}

/*
 * Runs the waker, which keeps the core of the sixteen sampled tasks busy and wakes all sixteen
 * tasks. When the waker sleeps, the sixteen sampled tasks run one after the other.
 */
static void waker_run(void *shared)
{
	struct sampled *sampled = shared;

	for (int i = 0; i < ROUNDS; i++) {
		truth_sleep_until(sampled->begin_ns + i * PERIOD_NS);
		for (int g = 0; g < GROUPS; g++)
			pinned_wake(&sampled->victim[(g + i) % GROUPS].word);
	}
}

static void *start(uint64_t begin_ns, uint64_t *ret_end_ns)
{
	struct sampled *sampled = pinned_share(sizeof(*sampled));
	struct pinned_task task = {.priority = 20, .run = waker_run};
	char name[32];

	sampled->begin_ns = begin_ns;
	sampled->waker = pinned_start(&task, sampled);
	for (int g = 0; g < GROUPS; g++) {
		struct victim *victim = &sampled->victim[g];

		snprintf(name, sizeof(name), "sampled%d", g);
		victim->cgroup = cgroups_make(name);
		task = (struct pinned_task){
			.cgroup = victim->cgroup, .priority = 10, .run = victim_run};
		victim->pid = pinned_start(&task, victim);
		victim->dispatches = pinned_schedstat(victim->pid).dispatches;
	}
	*ret_end_ns = begin_ns + (ROUNDS + 4) * PERIOD_NS;
	return sampled;
}

/*
 * Returns the number of the task's dispatches: one per round, and one more for each preemption by a
 * kernel thread of the highest priority.
 */
static double waits_of(const struct victim *victim)
{
	return (double)(pinned_schedstat(victim->pid).dispatches - victim->dispatches);
}

static void judge(void *state, const char *source, json_t *root)
{
	struct sampled *sampled = state;
	int exact = 0;

	for (int g = 0; g < GROUPS; g++) {
		const struct victim *victim = &sampled->victim[g];
		double count = measured_figure(root, victim->cgroup, "count");

		exact += count == waits_of(victim) && count >= ROUNDS;
		if (count != ROUNDS)
			live_note("%s: %.0f waits", victim->cgroup, count);
	}
	live_ok(exact == GROUPS, "%s: in full, %d of %d groups have as many waits as dispatches",
		source, exact, GROUPS);
	pinned_stop(sampled->waker);
	for (int g = 0; g < GROUPS; g++)
		pinned_stop(sampled->victim[g].pid);
}

/* Checks the deviations of all estimates from their true values, in standard errors. */
static void judge_deviates(const char *who, const char *what, const double deviates[GROUPS])
{
	double squares = 0.0, sum = 0.0;
	bool fits = true;

	for (int g = 0; g < GROUPS; g++) {
		squares += deviates[g] * deviates[g];
		sum += deviates[g];
		fits &= fabs(deviates[g]) <= ALONE_MAX;
	}
	/* The mean of sixteen estimates has a quarter of the standard error of one estimate. */
	live_ok(fits && fabs(sum / sqrt(GROUPS)) <= TOGETHER_MAX && squares >= SQUARES_MIN &&
			squares <= SQUARES_MAX,
		"%s: %s: off by %+.2f standard errors together, sum of %d squares %.1f", who, what,
		sum / sqrt(GROUPS), GROUPS, squares);
}

/*
 * Returns the deviation of a sampled count in standard errors. The standard error of a count is
 * known in advance, because each wait is sampled with probability @ratio.
 */
static double count_deviate(const struct victim *victim, double ratio, double count)
{
	return (count - waits_of(victim)) * ratio / sqrt(ROUNDS * ratio * (1.0 - ratio));
}

void runq_sample_judge(void *state, double ratio, json_t *full, json_t *root)
{
	struct sampled *sampled = state;
	double counts[GROUPS], sums[GROUPS];
	int stated = 0;

	for (int g = 0; g < GROUPS; g++) {
		json_t *whole = measured_group(full, sampled->victim[g].cgroup);
		json_t *group = measured_group(root, sampled->victim[g].cgroup);
		double count = live_number(group, "count"), sum = live_number(group, "sum_ns");
		double error = live_number(group, "count_stderr_ratio");

		counts[g] = count_deviate(&sampled->victim[g], ratio, count);
		sums[g] = (sum / live_number(whole, "sum_ns") - 1.0) /
			  live_number(group, "sum_stderr_ratio");
		stated += fabs(error - sqrt((1.0 - ratio) / (count * ratio))) < 1e-6;
	}
	live_ok(stated == GROUPS, "sample: %d of %d state the standard error of their count",
		stated, GROUPS);
	judge_deviates("sample", "counts", counts);
	judge_deviates("sample", "sums", sums);
	live_ok(live_number(root, "quality.sample_ratio") == ratio, "sample: the report says %.1f",
		ratio);
}

void runq_sample_judge_paths(void *state, json_t *quick, json_t *other)
{
	struct sampled *sampled = state;
	double sum = 0.0, apart = 0.0;
	int alike = 0;

	for (int g = 0; g < GROUPS; g++) {
		const char *cgroup = sampled->victim[g].cgroup;

		alike += measured_figure(quick, cgroup, "count") ==
			 measured_figure(other, cgroup, "count");
		sum += measured_figure(other, cgroup, "sum_ns");
		apart += measured_figure(quick, cgroup, "sum_ns") -
			 measured_figure(other, cgroup, "sum_ns");
	}
	live_ok(alike == GROUPS, "paths: %d of %d groups have the same count", alike, GROUPS);
	live_ok(fabs(apart) <= PATHS_RATIO * sum,
		"paths: the sum by the quick path differs by %+.0f of %.0f ns, allowed %.2f %%",
		apart, sum, 100 * PATHS_RATIO);
}

/*
 * Returns the mean of the reported standard errors. All groups have equal waits, so the mean is the
 * best estimate of the true standard error.
 */
static double sum_error(const struct sampled *sampled, json_t *root)
{
	double error = 0.0;

	for (int g = 0; g < GROUPS; g++)
		error += measured_figure(root, sampled->victim[g].cgroup, "sum_stderr_ratio");
	return error / GROUPS;
}

/*
 * The metrics page has no standard errors of the sampled counts and sums, because the reader of the
 * counters chooses the window.
 */
void runq_sample_judge_scrape(void *state, double ratio, json_t *full, json_t *root,
			      const char *who, const char *text)
{
	static const char name[] = "subtick_runqueue_latency_seconds";
	struct sampled *sampled = state;
	double counts[GROUPS], sums[GROUPS], error = sum_error(sampled, root);
	int whole = 0, last = 0;

	for (int g = 0; g < GROUPS; g++) {
		const char *cgroup = sampled->victim[g].cgroup;
		double count = scrape_value(text, "%s_count{cgroup=\"%s\"}", name, cgroup);
		double sum = 1e9 * scrape_value(text, "%s_sum{cgroup=\"%s\"}", name, cgroup);

		counts[g] = count_deviate(&sampled->victim[g], ratio, count);
		sums[g] = (sum / measured_figure(full, cgroup, "sum_ns") - 1.0) / error;
		/*
		 * With a ratio of 0.1, a tenth of the waits is in the sample, and each sampled wait
		 * counts as ten waits.
		 */
		whole += count > 0 && fabs(fmod(count * ratio + 0.5, 1.0) - 0.5) < 1e-6;
		last += count == scrape_value(text, "%s_bucket{cgroup=\"%s\",le=\"+Inf\"}", name,
					      cgroup);
	}
	live_ok(whole == GROUPS && last == GROUPS,
		"%s: %d of %d counts are of whole waits in the sample, %d buckets end there", who,
		whole, GROUPS, last);
	judge_deviates(who, "counts", counts);
	judge_deviates(who, "sums", sums);
}

const struct runq_schedule runq_sample = {.start = start, .judge = judge};
