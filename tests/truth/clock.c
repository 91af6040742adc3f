/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that the guest's virtual time advances in proportion to the number of executed
 * instructions.
 */
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"
#include "live.h"
#include "truth.h"

#define BURNS	   200
#define BURN_NS	   10000
#define CLOCK_STEP 64 /* length in ns of four steps of a 62.5 MHz counter */

int main(void)
{
	uint64_t least = UINT64_MAX, begin;
	uint64_t took[BURNS];
	int same = 0;

	truth_begin((int)sysconf(_SC_NPROCESSORS_ONLN));
	live_ok(truth_loop_ns() >= 2.0, "a pass of the loop takes %.0f ns, an instruction %u ns",
		truth_loop_ns(), truth_instruction_ns());
	for (int i = 0; i < BURNS; i++) {
		begin = clock_mono_ns();
		truth_burn(BURN_NS);
		took[i] = clock_mono_ns() - begin;
		if (took[i] < least)
			least = took[i];
	}
	for (int i = 0; i < BURNS; i++)
		same += took[i] <= least + CLOCK_STEP;
	live_ok(least >= BURN_NS && least < BURN_NS + 1000, "a burn of %d ns takes %llu ns",
		BURN_NS, (unsigned long long)least);
	/* All BURNS busy loops take 2 ms in total, so ticks interrupt at most three loops. */
	live_ok(same >= BURNS - 3, "%d of %d burns take the same time", same, BURNS);
	begin = clock_mono_ns();
	truth_sleep_until(begin + 60 * NSEC_PER_SEC);
	live_ok(clock_mono_ns() - begin < 60 * NSEC_PER_SEC + NSEC_PER_MSEC,
		"a minute of sleep is a minute of the guest's clock");
	return live_done();
}
