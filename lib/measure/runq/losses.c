/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The waits that runq observed against the kernel's run_delay. */
#include "measure/runq/window.h"

#include <math.h>

#include "base/clock.h"

#define COMPARE_EVERY_NS (10 * NSEC_PER_SEC)

double runq_schedstat_ratio(const struct runq_losses *was, const struct runq_losses *now)
{
	double accounted = (double)(now->wait_ns - was->wait_ns) -
			   (double)(now->unbooked_ns - was->unbooked_ns);

	if (!now->delay_ns || now->delay_ns <= was->delay_ns)
		return NAN;
	return accounted / (double)(now->delay_ns - was->delay_ns);
}

bool runq_compare_due(uint64_t open_ns, uint64_t compared_ns, uint64_t now_ns)
{
	uint64_t ran_ns = compared_ns - open_ns;

	return !compared_ns ||
	       now_ns - compared_ns >= (ran_ns < COMPARE_EVERY_NS ? ran_ns : COMPARE_EVERY_NS);
}

double runq_unbooked_ratio(const struct runq_losses *was, const struct runq_losses *now)
{
	if (now->wait_ns == was->wait_ns)
		return NAN;
	return (double)(now->unbooked_ns - was->unbooked_ns) /
	       (double)(now->wait_ns - was->wait_ns);
}
