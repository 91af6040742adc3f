/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests windows of `subtick wake`: histograms, unknown values, failing allocations. */
#include "test.h"
#include "oom.h"

#include <math.h>

#include "measure/wake/fill.h"
#include "stats/hist.h"

static struct blocks memory;

#define POINTS 40

/* Two cores without a cpuidle driver. The only idle state of the cores is WFI, number 1. */
struct bench {
	struct wake_cpu_env cpus[2];
	struct wake_env env;
	struct wake_probe probe;
	struct wake_worker workers[2];
	struct wake_run run;
	struct wake_point points[POINTS];
	struct wake_window window;
};

static int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	b->env = (struct wake_env){.cpus = b->cpus};
	b->run = (struct wake_run){.probe = &b->probe, .workers = b->workers, .nr_workers = 2};
	b->run.plan.sources = 1u << WAKE_TIMER | 1u << WAKE_REMOTE;
	b->run.plan.sweep = (struct wake_sweep){300000, 400000, 1.1, POINTS / 2};
	for (int i = 0; i < POINTS; i++)
		b->points[i] = (struct wake_point){
			.latency_ns = i % 2 ? 5000 : 1000,
			.user_ns = 9000,
			.irq_ns = INT32_MIN,
			.state = 1,
			.source = i % 2 ? WAKE_REMOTE : WAKE_TIMER,
		};
	for (int i = 0; i < 2; i++) {
		b->workers[i].cpu = i;
		b->workers[i].points = b->points;
		b->workers[i].nr = POINTS;
		b->workers[i].calibration = (struct wake_calibration){
			.known = true, .stamp = {50 + i, 4}, .clock_step_ns = 32};
	}
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bench *b = *state;

	wake_window_free(&b->window);
	free(b);
	return 0;
}

TEST_WITH(test_points, setup, teardown)
{
	struct bench *b = *state;
	struct wake_window *w = &b->window;

	w->breakdown = true;
	assert_int_equal(wake_fill(w, &b->env, &b->run, NULL), 0);
	assert_int_equal(w->nr_cpus, 2);
	assert_int_equal(w->nr_states, 4);
	assert_int_equal(w->cpus[1].first_state, 2);
	assert_int_equal(w->states[2].cpu, 1);
	assert_int_equal(w->states[2].source, WAKE_TIMER);
	assert_int_equal(w->states[3].source, WAKE_REMOTE);
	assert_int_equal(w->states[0].claimed_ns, WAKE_UNKNOWN);
	assert_int_equal(w->states[0].usage, WAKE_UNKNOWN);
	assert_int_equal(w->states[0].verdict, WAKE_NO_CLAIM);
	assert_int_equal(w->nr_pairs, 2);
	assert_true(w->pairs[1].cpu == 1 && w->pairs[1].prewake.ns == 4000);
	/* The stages are "exit" and "user" for each of two sources on each of two cores. */
	assert_int_equal(w->nr_stages, 8);
	assert_int_equal(w->nr_residencies, 0);
	assert_int_equal(w->overhead_ns, 51);
	assert_int_equal(w->uncertainty_ns, 4 + 32 + 2 * 51);
	assert_int_equal(w->not_a_timer, WAKE_UNKNOWN);
	assert_true(isnan(w->cpus[0].busy_median_ns));
	b->workers[0].calibration.known = false;
	assert_int_equal(wake_fill(w, &b->env, &b->run, NULL), 0);
	assert_int_equal(w->nr_cpus, 2);
	assert_int_equal(w->overhead_ns, WAKE_UNKNOWN);
	assert_int_equal(w->cpus[0].overhead_ns, WAKE_UNKNOWN);
	assert_int_equal(w->uncertainty_ns, WAKE_UNKNOWN);
	assert_int_equal(w->cpus[1].overhead_ns, 51);
}

/* Counts at boundaries are exact: 1023 ns counts at the first boundary, 1024 ns at the second. */
TEST_WITH(test_histogram, setup, teardown)
{
	static struct wake_hist hists[2], prev[2];
	struct wake_counts counts[2] = {{104, 203, 302, 401, 500, {0}}, {.odd_state = 1}};
	struct wake_counts counts_prev[2] = {{100, 200, 300, 400, 500, {0}}, {0}};
	struct wake_passive_hist ends[2] = {{&hists[0], &prev[0]}, {&prev[1], &prev[1]}};
	struct load_wake shape = {.nr_cpus = 2, .nr_states = 1, .one_state = true};
	struct wake_passive passive = {&shape, ends, counts, counts_prev, NULL};
	struct bench *b = *state;
	struct wake_window *w = &b->window;

	memset(hists, 0, sizeof(hists));
	memset(prev, 0, sizeof(prev));
	prev[0].count[hist_index(5)] = hists[0].count[hist_index(5)] = 100;
	prev[0].sum_ns = 500;
	hists[0].count[hist_index(1023)] += 3;
	hists[0].count[hist_index(1024)] += 2;
	hists[0].count[hist_index(20000000)] += 1;
	hists[0].sum_ns = 500 + 3 * 1023 + 2 * 1024 + 20000000;
	hists[0].min_ns = 5;
	hists[0].max_ns = 20000000;
	b->run.plan.sources = 1u << WAKE_PASSIVE;
	assert_int_equal(wake_fill(w, &b->env, &b->run, &passive), 0);
	assert_int_equal(w->nr_states, 2);
	assert_int_equal(w->states[0].index, 1);
	assert_int_equal(w->states[0].summary.count, 6);
	assert_int_equal(w->states[0].le[0], 3);
	assert_int_equal(w->states[0].le[1], 5);
	assert_int_equal(w->states[0].le[WAKE_NR_LE - 1], 5);
	assert_int_equal(w->states[0].sum_ns, 3 * 1023 + 2 * 1024 + 20000000);
	assert_int_equal(w->states[1].summary.count, 0);
	assert_true(isnan(w->states[1].summary.max_ns));
	assert_int_equal(w->states[1].verdict, WAKE_NO_POINTS);
	assert_int_equal(w->taken, 6);
	/* Every idle exit is counted, either as a wake-up or as rejected. */
	assert_int_equal(w->asked, 6 + 4 + 3 + 2 + 1 + 1);
	assert_int_equal(w->not_a_timer, 4);
	assert_int_equal(w->rejected[WAKE_REJ_OTHER_FIRST], 3);
	assert_int_equal(w->rejected[WAKE_REJ_BEFORE_IDLE], 2);
	assert_int_equal(w->rejected[WAKE_REJ_NEGATIVE], 1);
	assert_int_equal(w->odd_state, 1);
	assert_int_equal(w->rejected[WAKE_REJ_LOST], WAKE_UNKNOWN);
	assert_int_equal(w->from_ns, WAKE_UNKNOWN);
}

/*
 * A window copies a histogram only if it has a new wake-up. A wake-up with a latency of 0 ns counts
 * as new.
 */
TEST(test_snapshots)
{
	static struct wake_hist live[2];
	struct wake_counts counts[1] = {{.other = 3}};
	struct load_wake wake = {.nr_cpus = 1, .nr_states = 2, .hists = live, .counts = counts};
	struct wake_passive p;
	struct wake_summary summary;

	live[0].count[5] = 1;
	live[0].sum_ns = live[0].min_ns = live[0].max_ns = 5;
	assert_int_equal(wake_passive_open(&p, &memory, &wake, NULL), 0);
	wake_passive_end(&p);
	assert_int_equal(p.hists[0].now->count[5], 1);
	live[1].min_ns = 1;
	live[1].max_ns = 2;
	wake_passive_end(&p);
	for (uint64_t ns = 0; ns < 3; ns++) {
		live[1].count[ns]++;
		live[1].sum_ns += ns;
		counts[0].other++;
		wake_passive_end(&p);
		assert_ptr_equal(p.hists[0].now, p.hists[0].was);
		wake_summarize_hist(p.hists[0].now, p.hists[0].was, 0, &summary);
		assert_int_equal(summary.count, 0);
		assert_int_equal(p.hists[1].now->count[ns], 1);
		assert_int_equal(p.hists[1].was->count[ns], 0);
		assert_int_equal(p.hists[1].now->sum_ns - p.hists[1].was->sum_ns, ns);
		assert_int_equal(p.counts[0].other - p.counts_prev[0].other, 1);
	}
	wake_passive_end(&p);
	assert_ptr_equal(p.hists[1].now, p.hists[1].was);
	assert_int_equal(p.hists[1].now->count[2], 1);
	blocks_free(&memory);
}

TEST_WITH(test_without_memory, setup, teardown)
{
	struct bench *b = *state;
	unsigned long failed = 1, at;

	b->window.breakdown = true;
	b->run.plan.rounds = &(struct wake_rounds){.nr = 1};
	for (at = 0; failed; at++) {
		int rc;

		wake_window_free(&b->window);
		b->window.breakdown = true;
		oom_arm(at, false);
		rc = wake_fill(&b->window, &b->env, &b->run, NULL);
		failed = oom_disarm();
		assert_int_equal(rc, failed ? -ENOMEM : 0);
	}
	assert_true(at > 10);
	assert_int_equal(b->window.nr_states, 4);
}

TEST_MAIN()
