/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the evaluation of wake-ups: network cards, sweeps, and every reason to reject. */
#include "test.h"

#include <limits.h>
#include <math.h>

#include "stats/wake.h"

/*
 * Tests equations 8 and 9 of the thesis that docs/methods/wake.md cites, with an interrupt offset
 * of 1.8 µs and a DMA read of 0.9 µs.
 */
TEST(test_nic_offset)
{
	assert_int_equal(wake_nic_offset(true, 900, WAKE_I210_IRQ_OFFSET_NS), 1800);
	assert_int_equal(wake_nic_offset(false, 900, WAKE_I210_IRQ_OFFSET_NS), 2700);
}

/*
 * The thesis has 525 sets of 1500 wake-ups: 15 combinations of core and idle state, times 35 launch
 * distances.
 */
TEST(test_sweep)
{
	struct wake_sweep sweep = {300000, 8000000, 1.1, 1500};

	assert_int_equal(wake_sweep_steps(&sweep), 35);
	assert_int_equal(wake_sweep_steps(&sweep) * 15, 525);
	assert_int_equal(wake_sweep_distance(&sweep, 0), 300000);
	assert_int_equal(wake_sweep_distance(&sweep, 1), 330000);
	assert_true(wake_sweep_distance(&sweep, 34) <= 8000000);
	assert_true(wake_sweep_distance(&sweep, 35) > 8000000);
	assert_true(wake_sweep_total_ns(&sweep) > 81000000 &&
		    wake_sweep_total_ns(&sweep) < 82000000);
	sweep.to_ns = 300000;
	assert_int_equal(wake_sweep_steps(&sweep), 1);
	sweep.to_ns = 200000;
	assert_int_equal(wake_sweep_steps(&sweep), 0);
	sweep = (struct wake_sweep){300000, 8000000, 1.0, 10};
	assert_int_equal(wake_sweep_steps(&sweep), 1);
}

/*
 * Progress is a share of the duration, not of the wake-ups. If half of the wake-ups take 100 µs
 * each and the others 200 µs, the first half takes a third of the time.
 */
TEST(test_sweep_share)
{
	struct wake_sweep sweep = {100000, 200000, 2.0, 10}, none = {300000, 200000, 2.0, 10};

	assert_true(wake_sweep_share(&sweep, 0, 2) == 0.0);
	assert_true(fabs(wake_sweep_share(&sweep, 10, 2) - 1.0 / 6) < 1e-9);
	assert_true(fabs(wake_sweep_share(&sweep, 20, 2) - 1.0 / 3) < 1e-9);
	assert_true(fabs(wake_sweep_share(&sweep, 30, 2) - 2.0 / 3) < 1e-9);
	assert_true(fabs(wake_sweep_share(&sweep, 40, 2) - 1.0) < 1e-9);
	assert_true(wake_sweep_share(&none, 5, 1) == 0.0);
	sweep.points = 0;
	assert_true(wake_sweep_share(&sweep, 5, 1) == 0.0);
}

/*
 * Returns a valid wake-up: the core is awake 7 us after the trigger, and the interrupt handler runs
 * 1 us later.
 */
static struct wake_kpoint good_point(void)
{
	return (struct wake_kpoint){
		.tbi_ns = 700000,
		.tai_ns = 1007000,
		.ti_ns = 1008000,
		.expire_ns = 1009000,
		.switch_ns = 1012000,
		.state = 2,
		.irqs = 1,
		.expire_irqs = 1,
		.irq_kind = WAKE_IRQ_DEVICE,
	};
}

static struct wake_raw raw_of(enum wake_source source, const struct wake_kpoint *k)
{
	return (struct wake_raw){.source = source,
				 .k = k,
				 .launch_ns = 1000000,
				 .distance_ns = 310000,
				 .user_ns = 1015000,
				 .overhead_ns = 60,
				 .irq_ours = true};
}

static enum wake_reject reject_of(const struct wake_raw *raw)
{
	struct wake_point point;

	wake_judge(raw, &point);
	return point.reject;
}

TEST(test_taken)
{
	struct wake_kpoint k = good_point();
	struct wake_raw raw = raw_of(WAKE_TIMER, &k);
	struct wake_point p;

	wake_judge(&raw, &p);
	assert_int_equal(p.reject, WAKE_TAKEN);
	assert_int_equal(p.latency_ns, 6940);
	assert_int_equal(p.exit_ns, 7000);
	assert_int_equal(p.silent_ns, 300000);
	assert_int_equal(p.irq_ns, 8000);
	assert_int_equal(p.expire_ns, 9000);
	assert_int_equal(p.switch_ns, 12000);
	assert_int_equal(p.user_ns, 15000);
	assert_int_equal(p.state, 2);
	assert_int_equal(p.order, WAKE_EXIT_FIRST);
	/*
	 * If the interrupt handler runs before the idle exit, the core counts as awake from the
	 * entry of the handler.
	 */
	k.ti_ns = 1003000;
	k.inside = 1;
	wake_judge(&raw, &p);
	assert_int_equal(p.latency_ns, 2940);
	assert_int_equal(p.order, WAKE_IRQ_FIRST);
	raw.source = WAKE_NIC;
	raw.offset_ns = 1800;
	wake_judge(&raw, &p);
	assert_int_equal(p.latency_ns, 1140);
}

TEST(test_filter_window)
{
	struct wake_kpoint k = good_point();
	struct wake_raw raw = raw_of(WAKE_TIMER, &k);

	k.tbi_ns = 1000000;
	assert_int_equal(reject_of(&raw), WAKE_REJ_BEFORE_IDLE);
	k = good_point();
	k.tai_ns = k.tbi_ns = 0;
	assert_int_equal(reject_of(&raw), WAKE_REJ_BEFORE_IDLE);
	k.early_exits = 1;
	assert_int_equal(reject_of(&raw), WAKE_REJ_WOKEN_EARLY);
	k = good_point();
	k.tai_ns = 1000000;
	k.ti_ns = 1000500;
	assert_int_equal(reject_of(&raw), WAKE_REJ_NEGATIVE);
	/* The core is awake so soon that the latency minus the overhead would be negative. */
	k = good_point();
	k.tai_ns = 1000050;
	assert_int_equal(reject_of(&raw), WAKE_REJ_NEGATIVE);
	k = good_point();
	raw.launch_ns = 0;
	assert_int_equal(reject_of(&raw), WAKE_REJ_LOST);
	raw.launch_ns = 1000000;
	k.nmis = 1;
	assert_int_equal(reject_of(&raw), WAKE_REJ_NMI);
}

TEST(test_filter_cause)
{
	struct wake_kpoint k = good_point();
	struct wake_raw raw = raw_of(WAKE_TIMER, &k);

	k.expire_irqs = 2;
	assert_int_equal(reject_of(&raw), WAKE_REJ_OTHER_FIRST);
	k = good_point();
	k.due_before = 1;
	assert_int_equal(reject_of(&raw), WAKE_REJ_OTHER_FIRST);
	k = good_point();
	k.expire_ns = 0;
	assert_int_equal(reject_of(&raw), WAKE_REJ_ELSEWHERE);
	/* The kernel has no tracepoint for the timer interrupt. */
	k = good_point();
	k.irqs = k.expire_irqs = 0;
	k.ti_ns = 0;
	assert_int_equal(reject_of(&raw), WAKE_TAKEN);
	/* The timer ran in an interrupt that began just before the trigger. */
	k.expire_ns = 1006000;
	assert_int_equal(reject_of(&raw), WAKE_REJ_NEGATIVE);

	raw = raw_of(WAKE_REMOTE, &k);
	k = good_point();
	assert_int_equal(reject_of(&raw), WAKE_REJ_OTHER_FIRST);
	k.irq_kind = WAKE_IRQ_IPI;
	assert_int_equal(reject_of(&raw), WAKE_TAKEN);
	/* With MWAIT a write to the core's polling flag wakes the core without an interrupt. */
	k.irqs = 0;
	k.ti_ns = 0;
	assert_int_equal(reject_of(&raw), WAKE_TAKEN);

	raw = raw_of(WAKE_NIC, &k);
	assert_int_equal(reject_of(&raw), WAKE_REJ_LOST);
	k = good_point();
	assert_int_equal(reject_of(&raw), WAKE_TAKEN);
	raw.irq_ours = false;
	assert_int_equal(reject_of(&raw), WAKE_REJ_OTHER_FIRST);
}

TEST(test_names)
{
	for (int i = 0; i < WAKE_NR_REJECTS; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(wake_reject_names[i], wake_reject_names[k]);
	for (int i = 0; i < WAKE_NR_SOURCES; i++)
		assert_non_null(wake_source_names[i]);
	assert_string_equal(wake_source_names[WAKE_PASSIVE], "passive");
	assert_string_equal(wake_order_names[WAKE_IRQ_FIRST], "irq-first");
}

TEST_MAIN()
