/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate of the cycle clock, in a program whose sleeps are interrupted by signals. */
#include "test.h"

#include <errno.h>
#include <time.h>

#include "host/arch.h"
#include "base/clock.h"
#include "host/cpu.h"

uint64_t __wrap_arch_cycles_hz(void);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *rem);
int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *rem);

static int interruptions;

/* Returns 0, so that the rate must be measured as on x86. */
uint64_t __wrap_arch_cycles_hz(void)
{
	return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *rem)
{
	if (interruptions > 0) {
		interruptions--;
		return EINTR;
	}
	return __real_clock_nanosleep(clock, flags, time, rem);
}

TEST(test_interrupted)
{
	uint64_t start = clock_mono_ns();

	(void)state;
	if (!ARCH_HAS_CYCLES)
		skip();
	interruptions = 3;
	assert_true(cycles_hz() > 0);
	assert_int_equal(interruptions, 0);
	assert_true(clock_mono_ns() - start >= 20 * NSEC_PER_MSEC);
}

TEST_MAIN()
