/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares each wake-up by another core with perf's timestamps of the IPI and of the woken core's
 * first events.
 */
#include "live.h"
#include "truth.h"
#include "wake_points.h"

int main(void)
{
	truth_begin(2);
	wake_points_judge("remote", 1, 100);
	return live_done();
}
