/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests counters of `subtick load` other than times: bursts, cycles, running tasks at the start,
 * hotplug.
 */
#include "load_script.h"

#include "stats/hist.h"

static const struct script_word script_words[] = {LOAD_WORDS, {0}};

static void expect_bursts(u64 nr, u64 ns, u64 of_these)
{
	assert_int_equal(hist_total((const uint64_t *)burst_counts.count), nr);
	assert_int_equal(burst_counts.count[hist_index(ns)], of_these);
}

/* A burst lasts from idle exit to idle entry. A burst that began before the start is ignored. */
TEST_WITH(bursts_from_exit, reset, NULL)
{
	want_bursts = true;
	go_idle(1000, 1);
	expect_bursts(0, 0, 0);
	play("5000 exit; 5100 irq 5200; 5300 task; 6000 irq 6100; 7000 other; 8000 swapper; "
	     "8300 idle 1");
	expect_bursts(1, 3300, 1);
	go_idle(9000, 1);
	expect_bursts(1, 3300, 1);
	leave_idle(9100);
	go_idle(9110, 1);
	expect_bursts(2, 10, 1);
	/* If the event of an idle entry was lost, a second idle exit continues the busy period. */
	play("9200 exit; 9250 exit; 9300 idle 1");
	expect_bursts(3, 100, 1);
	leave_idle(9500);
	go_idle(9490, 1);
	expect_bursts(3, UINT64_MAX, 0);
	/* The first event of the core is an interrupt while the core is idle. */
	reset(state);
	want_bursts = true;
	play("3000 irq 3100; 3200 exit; 3600 idle 1");
	expect_bursts(1, 600, 1);
}

/*
 * An interrupt handler before the idle exit begins a burst. If the handler has no tracepoint, its
 * softirq begins the burst.
 */
TEST_WITH(bursts_inside_halt, reset, NULL)
{
	want_bursts = true;
	play("1000 idle 1; 3000 irq 3100; 3200 exit; 3500 idle 1");
	expect_bursts(1, 500, 1);
	play("4000 softirq 3 4100; 4200 exit; 4700 idle 1");
	expect_bursts(2, 700, 1);
	want_bursts = false;
	leave_idle(5000);
	go_idle(6000, 1);
	expect_bursts(2, 1000, 0);
}

/*
 * The hardware counter is stored with the time of the event. A failed read of the counter is
 * counted as an error.
 */
TEST_WITH(counter, reset, NULL)
{
	struct load_stored stored;
	u64 value = 1000;

	want_pmu = true;
	to_task(1000, &task);
	assert_int_equal(slot->pmu_errors, 1);
	assert_false(load_slot_pmu(slot, 1500, &stored));
	shim_counter = &value;
	to_task(2000, &other);
	assert_true(load_slot_pmu(slot, 2500, &stored));
	assert_int_equal(stored.cycles, 1000);
	assert_int_equal(stored.holds_ns, 2000);
	value = 1900;
	irq(3000, 3100);
	assert_int_equal(slot->pmu_check, ~(slot->pmu_cycles ^ slot->pmu_ns));
	assert_true(load_slot_pmu(slot, 3500, &stored));
	assert_int_equal(stored.cycles, 1900);
	assert_int_equal(stored.holds_ns, 3000);
	value = 2500;
	go_idle(4000, 1);
	value = 9999;
	assert_true(load_slot_pmu(slot, 8000, &stored));
	assert_int_equal(stored.cycles, 2500);
	assert_int_equal(stored.holds_ns, 8000);
	assert_int_equal(slot->pmu_errors, 1);
}

/*
 * A core stores its hardware counter at every idle entry. While the core is halted, readers use the
 * stored value.
 */
TEST_WITH(counter_at_idle, reset, NULL)
{
	struct load_stored stored;
	u64 value = 100;

	want_pmu = true;
	shim_counter = &value;
	for (u32 idle_state = 0; idle_state < 2; idle_state++) {
		u64 from = 10000 * (idle_state + 1);

		leave_idle(from);
		to_task(from + 100, &task);
		value += 5000;
		to_task(from + 5100, &idle);
		value += 70;
		go_idle(from + 5170, idle_state);
		assert_int_equal(slot->pmu_cycles, value);
		assert_int_equal(slot->pmu_ns, from + 5170);
		assert_true(load_slot_pmu(slot, from + 9000, &stored));
		assert_int_equal(stored.cycles, value);
		/* Idle state 0 polls, so the hardware counter continues to run. */
		assert_int_equal(stored.holds_ns, idle_state ? from + 9000 : from + 5170);
	}
	assert_int_equal(slot->pmu_errors, 0);
}

/* A core that halts just after its clock stepped back still stores its hardware counter. */
TEST_WITH(counter_at_idle_stepped_back, reset, NULL)
{
	struct load_stored stored;
	u64 value = 100;

	want_pmu = true;
	shim_counter = &value;
	to_task(1000, &task);
	to_task(5000, &idle);
	value = 200;
	go_idle(4990, 1);
	assert_true(load_slot_pmu(slot, 9000, &stored));
	assert_int_equal(stored.cycles, 200);
	assert_int_equal(stored.holds_ns, 9000);
}

/* No core writes to the counters of another core. */
TEST_WITH(own_slot, reset, NULL)
{
	struct load_slot *const second = &cores[1].load;
	struct load_sample s;

	*second = (struct load_slot){.poll_states = 1};
	shim_cpu = task.thread_info.cpu = idle.thread_info.cpu = 1;
	at(1000);
	load_idle(NULL, 1, 1);
	at(3000);
	load_idle(NULL, PWR_EVENT_EXIT, 1);
	play("3100 irq 3200; 4000 task; 4500 softirq 3 4600; 6000 swapper");
	shim_cpu = task.thread_info.cpu = idle.thread_info.cpu = 0;
	assert_true(load_slot_read(second, 7000, LOAD_HALT, &s));
	assert_int_equal(s.part_ns[LOAD_PART_IDLE], 2000);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 100);
	assert_int_equal(s.part_ns[LOAD_PART_TASK], 1900);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_TASK], 100);
	assert_int_equal(slot->base | slot->hirq | slot->vec_count[3], 0);
}

/* At the start the task iterator stores the running task of each CPU. */
TEST_WITH(seeds, reset, NULL)
{
	struct task_struct liar = {.pid = 34, .comm = "ksoftirqd/0"};
	struct bpf_iter__task ctx = {.task = &task};

	load_seed(&ctx);
	assert_int_equal(note.seed_ctx, 0);
	task.on_cpu = 1;
	/* Before Linux 5.16, x86 has the CPU in task_struct.cpu. */
	task.cpu = 5;
	load_seed(&ctx);
	assert_int_equal(note.seed_ctx, LOAD_TASK + 1);
	note.seed_ctx = 0;
	shim_fields = " cpu ";
	load_seed(&ctx);
	assert_int_equal(note.seed_ctx, 0);
	task.cpu = 0;
	task.thread_info.cpu = 5;
	load_seed(&ctx);
	assert_int_equal(note.seed_ctx, LOAD_TASK + 1);
	task.thread_info.cpu = 0;
	ksoftirqd.on_cpu = 1;
	ctx.task = &ksoftirqd;
	load_seed(&ctx);
	assert_int_equal(note.seed_ctx, LOAD_KSOFTIRQD + 1);
	liar.on_cpu = 1;
	ctx.task = &liar;
	load_seed(&ctx);
	assert_int_equal(note.seed_ctx, LOAD_TASK + 1);
	ctx.task = NULL;
	load_seed(&ctx);
	task.on_cpu = ksoftirqd.on_cpu = 0;
}

/* Begin and end of a hotplug step are counted, so that a step in progress is detected. */
TEST_WITH(hotplug, reset, NULL)
{
	load_hotplug_enter(NULL, 0);
	assert_int_equal(note.hotplug_steps, 1);
	assert_int_equal(hotplug_steps, 1);
	load_hotplug_exit(NULL, 0);
	load_hotplug_enter(NULL, 5);
	load_hotplug_exit(NULL, 5);
	assert_int_equal(note.hotplug_steps, 1);
	assert_int_equal(hotplug_steps, 4);
}

/* Only complete softirqs are counted. An unknown vector is not stored. */
TEST_WITH(vectors, reset, NULL)
{
	struct load_vecs vecs;

	play("1000 task; 1100 softirq 1 1200; 1300 softirq 9 1700; 1800 softirq 9 1900");
	softirq(2000, 2100, LOAD_NR_VECS);
	at(2200);
	load_softirq_entry(NULL, 1);
	load_slot_vecs(slot, &vecs);
	assert_int_equal(vecs.ns[1], 100);
	assert_int_equal(vecs.count[1], 1);
	assert_int_equal(vecs.ns[9], 500);
	assert_int_equal(vecs.count[9], 2);
	assert_int_equal(slot->odd_edges, 0);
	at(2300);
	load_softirq_exit(NULL, 2);
	assert_int_equal(slot->odd_edges, 1);
	assert_int_equal(slot->vec_count[2], 0);
}

TEST_MAIN()
