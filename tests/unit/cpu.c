/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests CPU affinity with more than 1,024 CPUs, and the rate of the cycle counter. */
#include "test.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "gen/loads.h"
#include "host/cpu.h"
#include "host/arch.h"
#include "base/clock.h"

#define FAR 5000

static unsigned char mask[CPUSET_MAX / 8];
static size_t mask_size;

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	mask_size = size;
	memset(mask, 0, sizeof(mask));
	memcpy(mask, set, size < sizeof(mask) ? size : sizeof(mask));
	return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	/* The kernel also refuses a CPU mask that is too small for the machine. */
	if (size < FAR / 8 + 1) {
		errno = EINVAL;
		return -1;
	}
	memset(set, 0, size);
	CPU_SET_S(FAR, size, set);
	return 0;
}

TEST(test_far_cpu)
{
	struct cpuset cpus = {0};

	assert_int_equal(affinity_pin(0, FAR), 0);
	assert_true(mask_size > FAR / 8);
	assert_int_equal(mask[FAR / 8], 1 << FAR % 8);
	assert_int_equal(affinity_get(0, &cpus), 0);
	assert_int_equal(cpuset_count(&cpus), 1);
	assert_true(cpuset_has(&cpus, FAR));
	assert_int_equal(affinity_pin(0, CPUSET_MAX), -EINVAL);
}

static void sleep_on(void *shared, void *arg)
{
	for (;;)
		pause();
}

/* gen_child_on() recognizes a load generator on its core, also with more than 1,024 CPUs. */
TEST(test_child)
{
	struct gen_child child = {0};
	struct err err = {0};

	assert_int_equal(gen_child_start(&child, FAR, 4096, sleep_on, NULL, &err), 0);
	assert_true(gen_child_on(&child, FAR));
	assert_false(gen_child_on(&child, 1));
	gen_child_stop(&child);
}

int __real_clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
			   struct timespec *rem);

static int interruptions;

/* Returns 0 for an unknown rate, as on x86, so that the library must measure the rate. */
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

	if (!ARCH_HAS_CYCLES)
		skip();
	interruptions = 3;
	assert_true(cycles_hz() > 0);
	assert_int_equal(interruptions, 0);
	assert_true(clock_mono_ns() - start >= 20 * NSEC_PER_MSEC);
}

TEST_MAIN()
