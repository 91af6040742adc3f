/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPUs above 1,024: the test replaces the system calls, as the machine has fewer CPUs. */
#include "test.h"

#include <sched.h>
#include <unistd.h>

#include "gen/loads.h"
#include "host/cpu.h"

#define FAR 5000

static unsigned char mask[CPUSET_MAX / 8];
static size_t mask_size;

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);

int __wrap_sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	mask_size = size;
	memset(mask, 0, sizeof(mask));
	memcpy(mask, set, size < sizeof(mask) ? size : sizeof(mask));
	return 0;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	/* The kernel refuses a mask that is too small for the machine; so does this replacement. */
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

/* gen_child_on() finds a load generator on its core, also on a large machine. */
TEST(test_child)
{
	struct gen_child child = {0};
	struct err err = {0};

	assert_int_equal(gen_child_start(&child, FAR, 4096, sleep_on, NULL, &err), 0);
	assert_true(gen_child_on(&child, FAR));
	assert_false(gen_child_on(&child, 1));
	gen_child_stop(&child);
}

TEST_MAIN()
