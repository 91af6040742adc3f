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
	irq(11300, 27);
	expire(11400, 10100, 0, &monotonic);
	irq_ends(11500);
	go_idle(12000, 1);
	expect_one(2, 700, false);
}

/* A latency of 0 is stored as minimum 1, because 0 stands for an unknown minimum. */
TEST_WITH(passive_without_latency, reset_passive, NULL)
{
	for (int i = 0; i < 2; i++) {
		go_idle(2000, 1);
		irq(10000, 27);
		expire(10500, 10000, 0, &monotonic);
		irq_ends(10600);
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
	irq(10300, 27);
	expire(10500, 10000, 0, &monotonic);
	irq_ends(10600);
	leave_idle(10700);
	go_idle(12000, 1);
	expect_one(1, 300, true);
}

/* On x86 a core may halt again before the idle exit. Only the timer's interrupt counts. */
TEST_WITH(passive_halted_again, reset_passive, NULL)
{
	go_idle(2000, 1);
	irq(5000, 3);
	irq_ends(5100);
	irq(10300, 27);
	expire(10500, 10000, 0, &monotonic);
	irq_ends(10600);
	leave_idle(10700);
	go_idle(12000, 1);
	expect_one(1, 300, true);
}

/* Each idle period counts once. Without a cpuidle driver all count for state 0. */
TEST_WITH(passive_one_state, reset_passive, NULL)
{
	one_state = true;
	go_idle(2000, 7);
	leave_idle(10700);
	irq(10900, 27);
	expire(11000, 10000, 0, &monotonic);
	irq_ends(11100);
	go_idle(12000, 7);
	leave_idle(13000);
	go_idle(14000, 7);
	expect_one(0, 700, false);
	assert_int_equal(count_of(HERE)->other, 1);
}

/* Tests idle exits that are not counted as wake-ups, each with its reason. */
TEST_WITH(passive_rejects, reset_passive, NULL)
{
	struct wake_counts *c = count_of(HERE);

	go_idle(2000, 1);
	leave_idle(3000);
	irq(3100, 4);
	irq_ends(3200);
	go_idle(4000, 1);
	assert_int_equal(c->other, 1);
	leave_idle(5000);
	irq(5100, 4);
	irq_ends(5200);
	irq(5300, 27);
	expire(5400, 4900, 0, &monotonic);
	irq_ends(5500);
	go_idle(6000, 1);
	assert_int_equal(c->other_first, 1);
	leave_idle(7000);
	shim_current = &worker;
	irq(7100, 27);
	expire(7200, 6900, 0, &monotonic);
	irq_ends(7300);
	shim_current = &idle;
	go_idle(8000, 1);
	assert_int_equal(c->other_first, 2);
	leave_idle(9000);
	irq(9100, 27);
	expire(9200, 7999, 0, &monotonic);
	irq_ends(9300);
	go_idle(10000, 1);
	assert_int_equal(c->before_idle, 1);
	leave_idle(11000);
	irq(11100, 27);
	expire(11200, 11001, 0, &monotonic);
	irq_ends(11300);
	go_idle(12000, 9);
	assert_int_equal(c->early, 1);
	/* The cpuidle driver has no idle state 9, the state of the last idle entry. */
	leave_idle(13000);
	irq(13100, 27);
	expire(13200, 12900, 0, &monotonic);
	irq_ends(13300);
	go_idle(14000, 1);
	assert_int_equal(c->odd_state, 1);
	assert_int_equal(c->other + c->other_first + c->before_idle + c->early + c->odd_state, 6);
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
		irq(now + 170000, 27);
		expire(now + 171000, now + 100000, 0, &monotonic);
		irq_ends(now + 172000);
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
