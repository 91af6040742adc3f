/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source timer: the core sleeps on an absolute timer of its own and may know when it is due. */
#include "measure/wake/timer.h"

#include <time.h>

#include "base/clock.h"

static void timer_point(struct wake_worker *worker, uint64_t distance_ns,
			struct wake_point *ret_point)
{
	struct wake_kpoint k;
	struct wake_raw raw = {
		.source = WAKE_TIMER,
		.k = &k,
		.launch_ns = clock_mono_ns() + distance_ns,
		.distance_ns = distance_ns,
		.overhead_ns = worker->calibration.stamp.median_ns,
	};
	/* A known delay that the method must find again; 0 but in tests. */
	uint32_t delay_ns = worker->plan->delay_ns;
	struct timespec until = clock_timespec(raw.launch_ns + delay_ns);

	worker->launch->delay_ns = delay_ns;
	wake_arm(worker, raw.launch_ns);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	raw.user_ns = clock_mono_ns();
	wake_disarm(worker, &k);
	wake_judge(&raw, ret_point);
}

const struct wake_source_ops wake_timer_ops = {.point = timer_point};
