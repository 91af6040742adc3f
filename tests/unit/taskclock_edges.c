/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the BPF program of taskclock: charged tasks, and the sum that readers check. */
#include "test.h"

#include "bpf_shim.h"

#include "bpf/taskclock.bpf.c"

#define START 5000000

static struct taskclock_slot slot;
static struct task_struct idle = {.comm = "swapper/0"};
static struct task_struct task = {.pid = 10}, other = {.pid = 20};

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	assert_ptr_equal(map, &slots);
	assert_int_equal(*(const u32 *)key, shim_cpu);
	return &slot;
}

static int reset(void **state)
{
	memset(&slot, 0, sizeof(slot));
	start_ns = START;
	shim_cpu = 3;
	return 0;
}

static void to(u64 ns, struct task_struct *prev, struct task_struct *next)
{
	u64 args[3] = {0, (unsigned long)prev, (unsigned long)next};

	shim_now = START + ns;
	taskclock_switch(args);
	/*
	 * task_ns + idle_ns equals the timestamp in `state`. Otherwise a reader treats the counters
	 * as half-written.
	 */
	assert_int_equal(slot.task_ns + slot.idle_ns, slot.state >> 1);
}

/* Each interval, including the first, is charged to the task that leaves the core at its end. */
TEST_WITH(stretches, reset, NULL)
{
	to(100, &idle, &task);
	assert_int_equal(slot.idle_ns, 100);
	assert_int_equal(slot.state & 1, 1);
	to(250, &task, &other);
	assert_int_equal(slot.task_ns, 150);
	assert_int_equal(slot.state & 1, 1);
	to(300, &other, &idle);
	assert_int_equal(slot.task_ns, 200);
	assert_int_equal(slot.state & 1, 0);
	to(1000, &idle, &other);
	assert_int_equal(slot.idle_ns, 800);
	assert_int_equal(slot.state >> 1, 1000);
}

TEST_WITH(first_is_a_task, reset, NULL)
{
	to(400, &task, &idle);
	assert_int_equal(slot.task_ns, 400);
	assert_int_equal(slot.idle_ns, 0);
}

TEST_WITH(clock_steps_back, reset, NULL)
{
	to(1000, &idle, &task);
	to(990, &task, &idle);
	assert_int_equal(slot.task_ns, 0);
	assert_int_equal(slot.state >> 1, 1000);
}

TEST_WITH(before_the_start, reset, NULL)
{
	start_ns = 0;
	to(1000, &idle, &task);
	assert_int_equal(slot.state, 0);
}

TEST_MAIN()
