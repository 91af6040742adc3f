/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calibrates the cycle clock. */
#include "sys/cycles.h"

#include <errno.h>
#include <time.h>

#include "arch/arch.h"
#include "base/clock.h"

#define CALIBRATE_NS (20 * NSEC_PER_MSEC)

/* Reads both clocks together: of three tries, the one with the least time in between. */
static void read_both(uint64_t *ret_ns, uint64_t *ret_cycles)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = clock_mono_ns(), cycles = arch_cycles(), after = clock_mono_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		*ret_ns = before + best / 2;
		*ret_cycles = cycles;
	}
}

uint64_t cycles_hz(void)
{
	struct timespec end;
	uint64_t ns0 = 0, ns1 = 0, cycles0 = 0, cycles1 = 0;

	if (!ARCH_HAS_CYCLES)
		return 0;
	if (arch_cycles_hz())
		return arch_cycles_hz();
	read_both(&ns0, &cycles0);
	end = clock_timespec(ns0 + CALIBRATE_NS);
	/* A program with timer signals interrupts the sleep; the rate needs all of it. */
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
	read_both(&ns1, &cycles1);
	return (double)(cycles1 - cycles0) * 1e9 / (double)(ns1 - ns0);
}
