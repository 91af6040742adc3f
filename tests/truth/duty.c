/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Periodic load for tests in virtual time. */
#include "duty.h"

#include "base/clock.h"
#include "live.h"
#include "truth.h"
#include "tests/random.h"

static void run(void *memory, void *arg)
{
	const struct truth_duty_opts *opts = arg;
	uint64_t burn_ns = (uint64_t)(opts->duty * (double)opts->period_ns);
	uint64_t slack_ns = opts->period_ns - burn_ns;
	uint64_t random = 88172645463325252ULL;
	uint64_t period = clock_mono_ns() / opts->period_ns + 1;
	struct truth_duty *duty = memory;

	for (;; period++) {
		uint64_t begin = period * opts->period_ns, now;

		begin += opts->locked ? opts->phase_ns : xorshift64(&random) % slack_ns;
		truth_sleep_until(begin);
		truth_burn(burn_ns);
		__atomic_fetch_add(&duty->cycles, 1, __ATOMIC_RELAXED);
		/* A load that is late skips periods instead of catching up. */
		now = clock_mono_ns();
		if (now / opts->period_ns > period)
			period = now / opts->period_ns;
	}
}

const struct truth_duty *truth_duty_start(const struct truth_duty_opts *opts,
					  struct gen_child *ret_child)
{
	struct truth_duty_opts own = *opts;
	struct err err = {0};

	if (gen_child_start(ret_child, opts->cpu, sizeof(struct truth_duty), run, &own, &err))
		live_fail_all("%s", err.what);
	return ret_child->shared;
}
