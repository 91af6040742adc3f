/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests source passive: counted wake-ups, latencies, and reasons to reject. */
#include "wake_core.h"

static int reset_passive(void **state)
{
	reset(state);
	want_points = false;
	want_passive = true;
	return 0;
}

static void expect_one(u32 idle_state, u64 ns, bool inside)
{
	const struct wake_hist *h = &hist[HERE * NR_STATES + idle_state];
	u64 all = 0;

	for (int i = 0; i < NR_CPUS * NR_STATES; i++)
		all += hist_total((const uint64_t *)hist[i].count);
	assert_int_equal(all, 1);
	assert_int_equal(h->count[hist_index(ns)], 1);
	assert_int_equal(h->sum_ns, ns);
	assert_int_equal(h->min_ns, ns);
	assert_int_equal(h->max_ns, ns);
	assert_int_equal(h->sum_units, ns / WAKE_SQ_UNIT);
	assert_int_equal(h->sum_sq, (ns / WAKE_SQ_UNIT) * (ns / WAKE_SQ_UNIT));
	assert_int_equal(h->inside, inside);
}

/* The latency begins at the expiry time that was programmed into the timer hardware. */
TEST_WITH(passive_exit_first, reset_passive, NULL)
{
	go_idle(2000, 2);
	leave_idle(10700);
	irq(10900, 27);
	expire(11000, 9000, 1000, &realtime);
	irq_ends(11100);
	/* If one interrupt runs several timers, the latency begins at the earliest expiry. */
	expire(11200, 10400, 0, &monotonic);
	/* A timer that runs in an interrupt after the wake-up does not change the latency. */
	timer_irq(11300, 10100);
	go_idle(12000, 1);
	expect_one(2, 700, false);
}

/* A latency of 0 is stored as minimum 1, because 0 stands for an unknown minimum. */
TEST_WITH(passive_without_latency, reset_passive, NULL)
{
	for (int i = 0; i < 2; i++) {
		go_idle(2000, 1);
		timer_irq(10000, 10000);
		leave_idle(10700);
		go_idle(12000, 1);
	}
	assert_int_equal(hist[HERE * NR_STATES + 1].count[0], 2);
	assert_int_equal(hist[HERE * NR_STATES + 1].min_ns, 1);
	assert_int_equal(hist[HERE * NR_STATES + 1].inside, 2);
}

TEST_WITH(passive_irq_first, reset_passive, NULL)
{
	go_idle(2000, 1);
	timer_irq(10300, 10000);
	leave_idle(10700);
	go_idle(12000, 1);
	expect_one(1, 300, true);
}

/*
 * On x86 a core may halt again before the idle exit event. Only the interrupt that runs a timer
 * counts as a wake-up.
 */
TEST_WITH(passive_halted_again, reset_passive, NULL)
{
	go_idle(2000, 1);
	irq(5000, 3);
	irq_ends(5100);
	timer_irq(10300, 10000);
	leave_idle(10700);
	go_idle(12000, 1);
	expect_one(1, 300, true);
}

/* Each idle period counts once. Without a cpuidle driver all idle periods count for state 0. */
TEST_WITH(passive_one_state, reset_passive, NULL)
{
	one_state = true;
	go_idle(2000, 7);
	leave_idle(10700);
	timer_irq(10900, 10000);
	go_idle(12000, 7);
	leave_idle(13000);
	go_idle(14000, 7);
	expect_one(0, 700, false);
	assert_int_equal(count_of(HERE)->other, 1);
}

/* The idle periods are not counted as wake-ups. Times are relative to the idle entry. */
TEST_WITH(passive_rejects, reset_passive, NULL)
{
	static const struct {
		u32 state;
		u64 other, timer, due; /* times of other interrupt, timer interrupt, timer expiry */
		struct task_struct *runs; /* task that runs after the idle exit */
		struct wake_counts counts; /* after this period */
	} rows[] = {
		{.state = 1, .other = 1100, .counts = {.other = 1}},
		{.state = 1, .other = 1100, .timer = 1300, .due = 900,
		 .counts = {.other = 1, .other_first = 1}},
		{.state = 1, .timer = 1100, .due = 900, .runs = &worker,
		 .counts = {.other = 1, .other_first = 2}},
		/* The timer expired before the core went idle. */
		{.state = 1, .timer = 1100, .due = -1,
		 .counts = {.other = 1, .other_first = 2, .before_idle = 1}},
		/* The timer expired after the core was awake. */
		{.state = 1, .timer = 1100, .due = 1001,
		 .counts = {.other = 1, .other_first = 2, .before_idle = 1, .early = 1}},
		/* The cpuidle driver has no idle state 9. */
		{.state = 9, .timer = 1100, .due = 900,
		 .counts = {.other = 1, .other_first = 2, .before_idle = 1, .early = 1, .odd_state = 1}},
	};
	u64 from = 2000;

	go_idle(from, rows[0].state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		leave_idle(from + 1000);
		shim_current = rows[i].runs ?: &idle;
		if (rows[i].other) {
			irq(from + rows[i].other, 4);
			irq_ends(from + rows[i].other + 100);
		}
		if (rows[i].timer)
			timer_irq(from + rows[i].timer, from + rows[i].due);
		shim_current = &idle;
		from += 2000;
		go_idle(from, i < 5 ? rows[i + 1].state : 1);
		assert_memory_equal(count_of(HERE), &rows[i].counts, sizeof(rows[i].counts));
	}
	for (int i = 0; i < NR_CPUS * NR_STATES; i++)
		assert_int_equal(hist[i].sum_ns, 0);
}

TEST_WITH(passive_many, reset_passive, NULL)
{
	const struct wake_hist *h = &hist[HERE * NR_STATES + 1];
	static double each[5000];
	static const struct wake_hist none;
	struct wake_summary exact, from_hist;
	u64 now = 1000;

	for (int i = 0; i < 5000; i++) {
		each[i] = 200 + i * 7919 % 60000;
		go_idle(now, 1);
		leave_idle(now + 100000 + each[i]);
		timer_irq(now + 170000, now + 100000);
		now += 200000;
	}
	go_idle(now, 1);
	wake_summarize_hist(h, &none, 0, &from_hist);
	wake_summarize(each, 5000, &exact);
	assert_int_equal(from_hist.count, 5000);
	assert_true(from_hist.min_ns == exact.min_ns && from_hist.max_ns == exact.max_ns);
	assert_true(from_hist.mean_ns > exact.mean_ns - 1 && from_hist.mean_ns < exact.mean_ns + 1);
	assert_true(from_hist.stddev_ns > exact.stddev_ns * 0.99 &&
		    from_hist.stddev_ns < exact.stddev_ns * 1.01);
	assert_true(from_hist.p99_ns > exact.p99_ns * 0.968 && from_hist.p99_ns < exact.p99_ns * 1.032);
}

TEST_MAIN()
