/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the waits of a window with the kernel's run_delay, without the time that the kernel
 * omits.
 */
#include "measure/runq/window.h"

#include <math.h>

#include "base/clock.h"

#include "test.h"

TEST(test_ratio)
{
	struct runq_losses was = {.wait_ns = 5000, .unbooked_ns = 800, .delay_ns = 4000};
	struct runq_losses now = {.wait_ns = 6000, .unbooked_ns = 1000, .delay_ns = 4800};

	(void)state;
	/* Waits of 1000 ns, of which the kernel omits 200 and accounted 800. */
	assert_true(runq_schedstat_ratio(&was, &now) == 1.0);
	assert_true(runq_unbooked_ratio(&was, &now) == 0.2);
	/* With a late clock the kernel may account more than subtick. */
	now.unbooked_ns = 400;
	assert_true(runq_schedstat_ratio(&was, &now) == 1.75);
	assert_true(runq_unbooked_ratio(&was, &now) == -0.4);
}

/* Without run_delay, or without waits, the ratio is unknown, not 0. */
TEST(test_unknown)
{
	struct runq_losses was = {.wait_ns = 5000, .delay_ns = 4000}, now = was;

	(void)state;
	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
	assert_true(isnan(runq_unbooked_ratio(&was, &now)));
	now.wait_ns += 10;
	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
	was.delay_ns = now.delay_ns = 0;
	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
	/* The run_delay of tasks that exited is gone from the sum. */
	was.delay_ns = 100;
	now.delay_ns = 90;
	assert_true(isnan(runq_schedstat_ratio(&was, &now)));
}

/*
 * With windows of a second comparisons are due at 1, 2, 4 and 8 s and then every 10 s. With windows
 * of a minute every window has one.
 */
TEST(test_due)
{
	const uint64_t open_ns = 777 * NSEC_PER_SEC;
	uint64_t compared_ns = open_ns + NSEC_PER_SEC / 10;
	char at[64] = "", *end = at;

	(void)state;
	assert_true(runq_compare_due(open_ns, 0, open_ns));
	for (unsigned int second = 1; second <= 40; second++) {
		if (!runq_compare_due(open_ns, compared_ns, open_ns + second * NSEC_PER_SEC))
			continue;
		compared_ns = open_ns + second * NSEC_PER_SEC;
		end += sprintf(end, "%u ", second);
	}
	assert_string_equal(at, "1 2 4 8 16 26 36 ");
	assert_true(runq_compare_due(open_ns, compared_ns, compared_ns + 60 * NSEC_PER_SEC));
}

TEST_MAIN()
