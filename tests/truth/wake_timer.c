/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares each wake-up by a timer with the timer's expiry and with perf's timestamps of the woken
 * core's first events.
 */
#include "live.h"
#include "truth.h"
#include "wake_points.h"

int main(void)
{
	truth_begin(1);
	wake_points_judge("timer", 0, 100);
	return live_done();
}
