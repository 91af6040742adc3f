/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the two formulas of CPU load with a simulated counter, and every flag of a sample. */
#include "stats/load.h"

#include <math.h>

#include "test.h"

#define HZ_TSC 2500000000ULL
#define SEC    1000000000ULL

/*
 * Returns a sample at time @ns of a core that was busy for @busy_ns. The core's cycle counter
 * starts at @offset.
 */
static struct load_sample fake(uint64_t ns, uint64_t busy_ns, uint64_t offset)
{
	return (struct load_sample){
		.stamp_ns = ns,
		.wall_ns = ns,
		.busy = offset + busy_ns / 1000 * (HZ_TSC / 1000000),
		.enabled_ns = ns,
		.running_ns = ns,
	};
}

static struct load_cpu_window tsc_window(struct load_sample prev, struct load_sample cur)
{
	struct load_cpu_window w;

	prev.total = prev.stamp_ns / 1000 * (HZ_TSC / 1000000);
	cur.total = cur.stamp_ns / 1000 * (HZ_TSC / 1000000);
	load_subtract(&prev, &cur, 1.0, 0, &w);
	return w;
}

static struct load_cpu_window calibrated_window(struct load_sample prev, struct load_sample cur)
{
	struct load_cpu_window w;

	prev.total = prev.enabled_ns;
	cur.total = cur.enabled_ns;
	load_subtract(&prev, &cur, 1e9 / (double)HZ_TSC, 0, &w);
	return w;
}

/*
 * The sum over CPUs adds times and averages ratios by weight. CPUs without a load value are
 * omitted.
 */
TEST(test_sum)
{
	struct load_cpu_window cpu[4] = {
		{.window_ns = SEC, .busy_ns = SEC / 2, .busy_ratio = 0.5,
		 .part_ns[LOAD_PART_TASK] = SEC / 2, .closure_error_ratio = 0.002},
		{.window_ns = 3 * SEC, .busy_ns = 3 * SEC, .busy_ratio = 1.0,
		 .part_ns[LOAD_PART_TASK] = SEC, .part_ns[LOAD_PART_HARDIRQ] = 2 * SEC},
		{.window_ns = SEC, .flags = LOAD_TORN},
		{.window_ns = SEC, .busy_ns = SEC, .busy_ratio = 1.0},
	};
	struct load_cpu_window sum;
	struct cpuset cpus = {0};

	assert_int_equal(load_sum(cpu, &cpus, &sum), 0);
	assert_int_equal(sum.window_ns, 0);
	for (unsigned int i = 0; i < 3; i++)
		cpuset_add(&cpus, i);
	assert_int_equal(load_sum(cpu, &cpus, &sum), 2);
	assert_int_equal(sum.window_ns, 4 * SEC);
	assert_int_equal(sum.busy_ns, 3 * SEC + SEC / 2);
	assert_int_equal(sum.part_ns[LOAD_PART_TASK], SEC + SEC / 2);
	assert_true(fabs(sum.busy_ratio - 0.875) < 1e-9);
	assert_true(fabs(sum.closure_error_ratio - 0.0005) < 1e-9);
	assert_true(fabs(load_part_ratio(&sum, LOAD_PART_HARDIRQ) - 0.5) < 1e-9);
	assert_int_equal(sum.flags, 0);
}

TEST(test_formulas)
{
	static const double shares[] = {0.0, 0.001, 0.3, 0.5, 0.999, 1.0};

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct load_sample prev = fake(7 * SEC, SEC, 0);
		struct load_sample cur = fake(8 * SEC, SEC + shares[i] * SEC, 0);
		struct load_cpu_window tsc = tsc_window(prev, cur),
				       cal = calibrated_window(prev, cur);

		assert_true(fabs(tsc.busy_ratio - shares[i]) < 1e-6);
		assert_true(fabs(cal.busy_ratio - shares[i]) < 1e-6);
		assert_int_equal(tsc.flags, 0);
		assert_int_equal(cal.flags, 0);
		assert_int_equal(tsc.window_ns, SEC);
	}
}

TEST(test_wrap)
{
	struct load_sample prev = fake(SEC, 0, UINT64_MAX - 1000);
	struct load_sample cur = fake(2 * SEC, SEC / 4, UINT64_MAX - 1000);

	assert_true(cur.busy < prev.busy);
	assert_true(fabs(tsc_window(prev, cur).busy_ratio - 0.25) < 1e-6);
	assert_true(fabs(calibrated_window(prev, cur).busy_ratio - 0.25) < 1e-6);
}

TEST(test_multiplexed)
{
	struct load_sample prev = fake(SEC, 0, 0), cur = fake(2 * SEC, SEC / 2, 0);

	cur.running_ns -= SEC / 10;
	assert_true(tsc_window(prev, cur).flags & LOAD_MULTIPLEXED);
	assert_false(tsc_window(prev, cur).flags & LOAD_NO_FIGURE);
}

TEST(test_zero_delta)
{
	struct load_sample prev = fake(SEC, 0, 0), cur = prev;
	struct load_cpu_window w;

	assert_true(tsc_window(prev, cur).flags & LOAD_NO_TIME);
	cur.stamp_ns += 1000000;
	load_subtract(&prev, &cur, 1.0, 0, &w);
	assert_true(w.flags & LOAD_NO_TIME);
	assert_true(w.busy_ratio == 0.0);
}

TEST(test_failed_read)
{
	struct load_sample prev = fake(SEC, 0, 0), cur = fake(2 * SEC, SEC, 0);
	struct load_sample failed = {.stamp_ns = 2 * SEC, .flags = LOAD_READ_FAILED};

	assert_true(tsc_window(prev, failed).flags & LOAD_READ_FAILED);
	/*
	 * The window after a failed read has no load value, because the sample at its start is
	 * missing.
	 */
	cur.stamp_ns += SEC;
	assert_true(tsc_window(failed, cur).flags & LOAD_NO_FIGURE);
}

TEST(test_hotplug)
{
	struct load_sample on = fake(SEC, 0, 0), off = {.flags = LOAD_OFFLINE};
	struct load_sample back = fake(3 * SEC, SEC, 0), later = fake(4 * SEC, SEC + SEC / 2, 0);

	assert_true(tsc_window(on, off).flags & LOAD_OFFLINE);
	assert_true(tsc_window(off, off).flags & LOAD_NO_FIGURE);
	/* A CPU has no load value in the window in which the CPU came online. */
	assert_true(tsc_window(off, back).flags & LOAD_HOTPLUGGED);
	assert_true(tsc_window(off, back).flags & LOAD_NO_FIGURE);
	assert_false(tsc_window(off, back).flags & LOAD_OFFLINE);
	assert_int_equal(tsc_window(back, later).flags, 0);
	assert_true(fabs(tsc_window(back, later).busy_ratio - 0.5) < 1e-6);
	/* The first sample after a CPU hotplug is a valid start of the next window. */
	back.flags = LOAD_HOTPLUGGED;
	assert_int_equal(tsc_window(back, later).flags, 0);
	/*
	 * The CPU went offline and online again between two samples. A window with flag
	 * LOAD_OFFLINE has no other flag.
	 */
	later.hotplug_steps = off.hotplug_steps = 2;
	assert_int_equal(tsc_window(back, later).flags, LOAD_HOTPLUGGED);
	back.hotplug_steps = 2;
	assert_int_equal(tsc_window(back, later).flags, 0);
	assert_int_equal(tsc_window(on, off).flags, LOAD_OFFLINE);
}

TEST(test_clamp_sides)
{
	struct load_sample prev = {.stamp_ns = SEC, .wall_ns = SEC, .total = SEC, .busy = SEC};
	struct load_sample cur = {.stamp_ns = 2 * SEC, .wall_ns = 2 * SEC, .total = 2 * SEC};
	struct load_cpu_window w;

	cur.busy = SEC - SEC / 20;
	load_subtract(&prev, &cur, 1.0, 0, &w);
	assert_int_equal(w.flags, LOAD_CLAMPED);
	assert_true(w.busy_ratio == 0.0 && w.busy_ns == 0);
	cur.busy = SEC - SEC / 10000;
	load_subtract(&prev, &cur, 1.0, 0, &w);
	assert_int_equal(w.flags, 0);
	cur.busy = 2 * SEC + SEC / 20;
	load_subtract(&prev, &cur, 1.0, 0, &w);
	assert_int_equal(w.flags, LOAD_CLAMPED);
	assert_true(w.busy_ratio == 1.0 && w.busy_ns == SEC);
	/*
	 * Task time decreased by as much as idle time increased, so the sum of all parts is
	 * correct.
	 */
	cur.busy = SEC;
	prev.part_ns[LOAD_PART_TASK] = SEC / 20;
	cur.part_ns[LOAD_PART_IDLE] = SEC + SEC / 20;
	load_subtract(&prev, &cur, 1.0, (1u << LOAD_NR_PARTS) - 1, &w);
	assert_int_equal(w.flags, LOAD_CLAMPED);
	assert_int_equal(w.part_ns[LOAD_PART_TASK], 0);
	assert_int_equal(w.part_ns[LOAD_PART_IDLE], SEC);
	/* The closure error is computed before negative parts are set to 0. */
	prev.part_ns[LOAD_PART_TASK] = SEC / 5;
	cur.part_ns[LOAD_PART_IDLE] = SEC;
	load_subtract(&prev, &cur, 1.0, (1u << LOAD_NR_PARTS) - 1, &w);
	assert_true(fabs(w.closure_error_ratio - 0.2) < 1e-9);
	load_subtract(&prev, &cur, 1.0, 0, &w);
	assert_int_equal(w.flags, 0);
	assert_int_equal(w.part_ns[LOAD_PART_IDLE], 0);
	assert_true(w.closure_error_ratio == 0.0);
	cur.wall_ns = prev.wall_ns;
	load_subtract(&prev, &cur, 1.0, (1u << LOAD_NR_PARTS) - 1, &w);
	assert_true(w.closure_error_ratio == 1.0);
}

TEST(test_closure)
{
	struct load_sample prev = {.stamp_ns = SEC, .wall_ns = SEC, .total = SEC};
	struct load_sample cur = {.stamp_ns = 2 * SEC, .wall_ns = 2 * SEC, .total = 2 * SEC};
	struct load_cpu_window w;

	cur.part_ns[LOAD_PART_TASK] = SEC / 4;
	cur.part_ns[LOAD_PART_IDLE] = SEC / 2;
	load_subtract(&prev, &cur, 1.0, (1u << LOAD_NR_PARTS) - 1, &w);
	assert_true(fabs(w.closure_error_ratio - 0.25) < 1e-9);
	cur.part_ns[LOAD_PART_HARDIRQ] = SEC / 4;
	load_subtract(&prev, &cur, 1.0, (1u << LOAD_NR_PARTS) - 1, &w);
	assert_true(w.closure_error_ratio < 1e-9);
	assert_int_equal(w.part_ns[LOAD_PART_TASK], SEC / 4);
	assert_true(fabs(load_part_ratio(&w, LOAD_PART_TASK) - 0.25) < 1e-9);
	/* Parts that the source does not measure are 0 and are not in the sum of the parts. */
	load_subtract(&prev, &cur, 1.0, 1u << LOAD_PART_IDLE, &w);
	assert_int_equal(w.part_ns[LOAD_PART_TASK], 0);
	assert_true(fabs(w.closure_error_ratio - 0.5) < 1e-9);
}

TEST(test_exact_ns)
{
	const uint64_t window = 86399ULL * SEC + 123456789, busy = 12345ULL * SEC + 987654321;
	struct load_sample prev = {.stamp_ns = 77, .wall_ns = 77, .total = 5, .busy = 3};
	struct load_sample cur = {.stamp_ns = 77 + window,
				  .wall_ns = 77 + window,
				  .total = 5 + window,
				  .busy = 3 + busy};
	struct load_cpu_window w;

	cur.part_ns[LOAD_PART_TASK] = busy;
	cur.part_ns[LOAD_PART_IDLE] = window - busy;
	load_subtract(&prev, &cur, 1.0, (1u << LOAD_NR_PARTS) - 1, &w);
	assert_true(w.busy_ns == busy);
	assert_true(w.part_ns[LOAD_PART_TASK] == busy);
	assert_true(w.part_ns[LOAD_PART_IDLE] == window - busy);
	/*
	 * The source's clock ran at a quarter of the rate of the window's clock, so busy time is
	 * multiplied by 4.
	 */
	cur.total = 5 + window / 4;
	cur.busy = 3 + window / 8;
	load_subtract(&prev, &cur, 1.0, 0, &w);
	assert_true(w.busy_ns > window / 2 - 10 && w.busy_ns < window / 2 + 10);
	cur.busy = 3 + window;
	cur.part_ns[LOAD_PART_TASK] = 2 * window;
	prev.part_ns[LOAD_PART_IDLE] = window;
	cur.part_ns[LOAD_PART_IDLE] = 0;
	load_subtract(&prev, &cur, 1.0, (1u << LOAD_NR_PARTS) - 1, &w);
	assert_true(w.busy_ns == window && w.part_ns[LOAD_PART_TASK] == window);
	assert_true(w.part_ns[LOAD_PART_IDLE] == 0);
	assert_true(w.flags & LOAD_CLAMPED);
}

static uint64_t part_sum(const struct load_cpu_window *w)
{
	uint64_t sum = 0;

	for (int i = 0; i < LOAD_NR_PARTS; i++)
		sum += w->part_ns[i];
	return sum;
}

TEST(test_steal)
{
	struct load_cpu_window w = {.window_ns = SEC, .busy_ns = 8 * SEC / 10, .busy_ratio = 0.8};

	w.part_ns[LOAD_PART_TASK] = 6 * SEC / 10;
	w.part_ns[LOAD_PART_HARDIRQ] = 2 * SEC / 10;
	w.part_ns[LOAD_PART_IDLE] = 2 * SEC / 10;
	load_move_steal(&w, SEC / 5);
	assert_int_equal(w.part_ns[LOAD_PART_STEAL], SEC / 5);
	assert_int_equal(w.part_ns[LOAD_PART_TASK], 48 * SEC / 100);
	assert_int_equal(w.part_ns[LOAD_PART_IDLE], 16 * SEC / 100);
	assert_int_equal(w.busy_ns, 64 * SEC / 100);
	assert_true(fabs(w.busy_ratio - 0.64) < 1e-9);
	assert_int_equal(part_sum(&w), SEC);
	/*
	 * load_move_steal() takes steal time from all parts, with rounding. The sum of the parts
	 * stays the same.
	 */
	w.part_ns[LOAD_PART_STEAL] = 0;
	w.part_ns[LOAD_PART_TASK] = SEC / 3;
	w.part_ns[LOAD_PART_HARDIRQ] = SEC / 7;
	w.part_ns[LOAD_PART_IDLE] = SEC - SEC / 3 - SEC / 7;
	load_move_steal(&w, SEC / 11);
	assert_int_equal(part_sum(&w), SEC);
	assert_true(w.part_ns[LOAD_PART_STEAL] >= SEC / 11 - 6 &&
		    w.part_ns[LOAD_PART_STEAL] <= SEC / 11);
	/* Steal time is subtracted even from idle loop and polling, but not from unknown time. */
	w = (struct load_cpu_window){.window_ns = SEC, .busy_ns = SEC / 4, .busy_ratio = 0.25};
	w.part_ns[LOAD_PART_IDLE_LOOP] = SEC / 4;
	w.part_ns[LOAD_PART_POLL_IDLE] = SEC / 4;
	w.part_ns[LOAD_PART_UNKNOWN] = SEC / 2;
	load_move_steal(&w, SEC / 8);
	assert_int_equal(w.part_ns[LOAD_PART_STEAL], SEC / 8);
	assert_int_equal(w.part_ns[LOAD_PART_IDLE_LOOP], 3 * SEC / 16);
	assert_int_equal(w.part_ns[LOAD_PART_POLL_IDLE], 3 * SEC / 16);
	assert_int_equal(w.part_ns[LOAD_PART_UNKNOWN], SEC / 2);
	assert_int_equal(w.busy_ns, 3 * SEC / 16);
	/* The hypervisor may steal time of a core that is idle in the whole window. */
	w = (struct load_cpu_window){.window_ns = SEC};
	w.part_ns[LOAD_PART_IDLE] = SEC;
	load_move_steal(&w, SEC / 4);
	assert_int_equal(w.part_ns[LOAD_PART_STEAL], SEC / 4);
	assert_int_equal(w.part_ns[LOAD_PART_IDLE], 3 * SEC / 4);
	assert_true(w.busy_ratio == 0.0);
	w.part_ns[LOAD_PART_STEAL] = 0;
	w.part_ns[LOAD_PART_IDLE] = 2 * SEC / 10;
	w.part_ns[LOAD_PART_TASK] = 8 * SEC / 10;
	load_move_steal(&w, 10 * SEC);
	assert_int_equal(part_sum(&w), SEC);
	assert_int_equal(w.part_ns[LOAD_PART_STEAL], SEC);
	assert_int_equal(w.part_ns[LOAD_PART_TASK], 0);
	assert_int_equal(w.busy_ns, 0);
}

TEST(test_flags_format)
{
	char buf[64];

	load_flags_format(0, buf, sizeof(buf));
	assert_string_equal(buf, "");
	load_flags_format(LOAD_OFFLINE | LOAD_CLAMPED, buf, sizeof(buf));
	assert_string_equal(buf, "offline,clamped");
	/* "offline,clamped" needs 16 bytes. A buffer of 15 bytes gets only the first name. */
	load_flags_format(LOAD_OFFLINE | LOAD_CLAMPED, buf, 16);
	assert_string_equal(buf, "offline,clamped");
	load_flags_format(LOAD_OFFLINE | LOAD_CLAMPED, buf, 15);
	assert_string_equal(buf, "offline");
	load_flags_format(~0u, buf, 12);
	assert_string_equal(buf, "offline");
}

TEST_MAIN()
