/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The load programs on a made-up core: idle, interrupts inside it, preempted softirqs, cut edges. */
#include "test.h"

#include "bpf_shim.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "bpf/load.bpf.c"

#include "measure/load/slot.h"

static struct load_slot slot;
static struct load_cpu_note note;
static struct bursts burst_counts;
static u64 polls;

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	assert_int_equal(*(const u32 *)key, 0);
	if (map == &slots)
		return &slot;
	if (map == &notes)
		return &note;
	if (map == &bursts)
		return &burst_counts;
	return &polls;
}

static struct task_struct idle = {.comm = "swapper/0"};
static struct task_struct task = {.pid = 10, .comm = "work"};
static struct task_struct other = {.pid = 20, .comm = "other"};
static struct task_struct ksoftirqd = {.pid = 30, .flags = PF_KTHREAD, .comm = "ksoftirqd/0"};

#define START 1000000

static int reset(void **state)
{
	memset(&slot, 0, sizeof(slot));
	memset(&note, 0, sizeof(note));
	polls = 1; /* state 0 polls, as without a driver */
	start_ns = START;
	shim_current = &idle;
	shim_at_barrier = NULL;
	return 0;
}

static void at(u64 ns)
{
	shim_now = START + ns;
}

static void go_idle(u64 ns, u32 idle_state)
{
	at(ns);
	load_idle(NULL, idle_state, 0);
}

static void leave_idle(u64 ns)
{
	at(ns);
	load_idle(NULL, PWR_EVENT_EXIT, 0);
}

static void irq(u64 from, u64 to)
{
	at(from);
	load_irq_enter(NULL);
	at(to);
	load_irq_leave(NULL);
}

static void softirq(u64 from, u64 to, u32 vec)
{
	at(from);
	load_softirq_entry(NULL, vec);
	at(to);
	load_softirq_exit(NULL, vec);
}

static void to_task(u64 ns, struct task_struct *next)
{
	u64 args[3] = {0, (unsigned long)shim_current, (unsigned long)next};

	at(ns);
	load_switch(args);
	shim_current = next;
}

/* What a reader on another core sees at @ns; the parts must make up the time since the start. */
static struct load_sample see(u64 ns)
{
	struct load_sample s;
	u64 sum = 0;

	assert_true(load_slot_read(&slot, ns, LOAD_HALT, &s));
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		sum += s.part_ns[i];
	assert_int_equal(sum, ns);
	return s;
}

/* cpuidle, and arm64: the exit comes before the handler. */
static void exit_first(void **state)
{
	struct load_sample s;

	go_idle(1000, 1);
	assert_int_equal(see(3500).part_ns[LOAD_PART_IDLE], 2500);
	leave_idle(4000);
	irq(4100, 4300);
	softirq(4350, 4850, 3);
	to_task(5000, &task);
	irq(6000, 6100);
	softirq(6100, 6400, 1);
	to_task(8000, &idle);
	go_idle(8200, 1);
	s = see(9000);
	assert_int_equal(s.part_ns[LOAD_PART_IDLE], 3000 + 800);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 300);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_IDLE], 500);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_TASK], 300);
	assert_int_equal(s.part_ns[LOAD_PART_TASK], 3000 - 100 - 300);
	assert_int_equal(s.part_ns[LOAD_PART_IDLE_LOOP], 1000 + 100 + 50 + 150 + 200);
	assert_int_equal(slot.vec_ns[3], 500);
	assert_int_equal(slot.vec_count[1], 1);
	assert_int_equal(slot.odd_edges, 0);
}

/* x86 `sti; hlt`: handlers run inside the idle window, and the core may halt again without exit. */
static void inside_halt(void **state)
{
	struct load_sample s;

	go_idle(1000, 1);
	irq(3000, 3100);
	softirq(3110, 3300, 3);
	/* No edge tells that it halted again; the reader knows that it has. */
	assert_int_equal(see(6000).part_ns[LOAD_PART_IDLE], 2000 + 2700);
	irq(9000, 9050);
	leave_idle(9060);
	to_task(9100, &task);
	s = see(9500);
	assert_int_equal(s.part_ns[LOAD_PART_IDLE], 2000 + 5700);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 150);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_IDLE], 190);
	assert_int_equal(s.part_ns[LOAD_PART_IDLE_LOOP], 1000 + 10 + 10 + 40);
	assert_int_equal(s.part_ns[LOAD_PART_TASK], 400);
	assert_int_equal(slot.odd_edges, 0);
}

/* Woken by an interrupt that has no tracepoint: the softirq is the first to tell. */
static void unseen_handler(void **state)
{
	struct load_sample s;

	go_idle(1000, 1);
	softirq(3000, 3500, 3);
	leave_idle(3600);
	to_task(3700, &task);
	s = see(4000);
	assert_int_equal(s.part_ns[LOAD_PART_IDLE], 2000);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_IDLE], 500);
}

static void polling(void **state)
{
	struct load_sample s;

	go_idle(1000, 0);
	irq(2000, 2100);
	leave_idle(5000);
	s = see(5000);
	assert_int_equal(s.part_ns[LOAD_PART_POLL_IDLE], 3900);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 100);
	/* Idle to the kernel, so not busy; told apart, because the counter says otherwise. */
	assert_int_equal(s.busy, 1000 + 100);
}

static void in_ksoftirqd(void **state)
{
	struct load_sample s;

	to_task(1000, &ksoftirqd);
	softirq(1100, 1900, 3);
	to_task(2000, &task);
	s = see(3000);
	assert_int_equal(s.part_ns[LOAD_PART_KSOFTIRQD], 1000);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_TASK], 0);
	assert_int_equal(slot.vec_ns[3], 800);
}

/* PREEMPT_RT: a softirq is switched out with its task and goes on with it. */
static void preempted(void **state)
{
	struct load_sample s;

	to_task(1000, &task);
	at(1500);
	load_softirq_entry(NULL, 3);
	to_task(2000, &other);
	irq(2500, 2600);
	to_task(4000, &task);
	at(4300);
	load_softirq_exit(NULL, 3);
	s = see(5000);
	assert_int_equal(s.part_ns[LOAD_PART_SOFTIRQ_ON_TASK], 500 + 300);
	assert_int_equal(s.part_ns[LOAD_PART_TASK], 500 + 1900 + 700);
	assert_int_equal(slot.vec_ns[3], 500 + 300);
	assert_int_equal(slot.vec_count[3], 1);
	assert_int_equal(slot.paused_lost + slot.odd_edges, 0);
}

/* More of them at once than there is room for: counted, and the books still close. */
static void preempted_too_often(void **state)
{
	struct task_struct tasks[LOAD_NR_PAUSED + 2];
	u64 now = 1000;

	memset(tasks, 0, sizeof(tasks));
	for (int i = 0; i < LOAD_NR_PAUSED + 2; i++) {
		tasks[i].pid = 100 + i;
		to_task(now += 100, &tasks[i]);
		at(now += 100);
		load_softirq_entry(NULL, 3);
	}
	assert_int_equal(slot.paused_lost, 1);
	see(now + 50);
}

static u64 cut_at;

/* An interrupt and its softirq between the two halves of an edge; only once. */
static void interrupt(void)
{
	u64 was = shim_now;

	shim_at_barrier = NULL;
	at(cut_at);
	load_irq_enter(NULL);
	at(cut_at + 50);
	load_irq_leave(NULL);
	softirq(cut_at + 60, cut_at + 160, 3);
	shim_now = was;
}

/* Idle exit with interrupts on, as before 6.3: the books must close, and no time be counted twice. */
static void cut_in_two(void **state)
{
	struct load_sample s;

	go_idle(1000, 1);
	cut_at = 4010;
	shim_at_barrier = interrupt;
	leave_idle(4000);
	assert_null(shim_at_barrier);
	to_task(5000, &task);
	s = see(6000);
	assert_int_equal(s.part_ns[LOAD_PART_IDLE], 3000);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 50);
	/* The softirq's time goes where the edge was going, and both its edges are told. */
	assert_int_equal(s.part_ns[LOAD_PART_IDLE_LOOP], 1000 + 1000 - 50);
	assert_int_equal(s.part_ns[LOAD_PART_TASK], 1000);
	assert_int_equal(slot.odd_edges, 2);
}

/* The first edge of a core decides what it did since the start. */
static void first_edges(void **state)
{
	leave_idle(3000);
	assert_int_equal(see(3000).part_ns[LOAD_PART_IDLE], 3000);
	reset(state);
	irq(3000, 3100);
	assert_int_equal(see(3100).part_ns[LOAD_PART_IDLE], 3000);
	reset(state);
	shim_current = &task;
	irq(3000, 3100);
	assert_int_equal(see(3100).part_ns[LOAD_PART_TASK], 3000);
	reset(state);
	shim_current = &task;
	to_task(3000, &idle);
	assert_int_equal(see(3000).part_ns[LOAD_PART_TASK], 3000);
	reset(state);
	/* In a softirq on top of a task since before. */
	shim_current = &task;
	at(3000);
	load_softirq_exit(NULL, 3);
	assert_int_equal(see(3000).part_ns[LOAD_PART_SOFTIRQ_ON_TASK], 3000);
	reset(state);
	/* Before everything is attached nothing counts. */
	start_ns = 0;
	irq(3000, 3100);
	assert_int_equal(slot.base | slot.hirq, 0);
}

/* A clock that steps back by a few ns makes no interval of 584 years. */
static void clock_steps_back(void **state)
{
	to_task(1000, &task);
	at(2000);
	load_softirq_entry(NULL, 3);
	at(1990);
	load_softirq_exit(NULL, 3);
	assert_int_equal(slot.vec_ns[3], 0);
	irq(1980, 1970);
	go_idle(1960, 1);
	assert_int_equal(see(3000).part_ns[LOAD_PART_IDLE], 1000);
}

static u64 next_random(u64 below)
{
	static u64 random = 5;

	random = random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random >> 33) % below;
}

/* Any order of edges, lost ones included: the two equations hold, so every reader closes. */
static void any_order(void **state)
{
	struct task_struct *const tasks[] = {&idle, &task, &other, &ksoftirqd};
	u64 now = 1;

	for (int i = 0; i < 200000; i++) {
		at(now += next_random(300));
		switch (next_random(8)) {
		case 0:
			load_idle(NULL, next_random(2), 0);
			break;
		case 1:
			load_idle(NULL, PWR_EVENT_EXIT, 0);
			break;
		case 2:
			load_irq_enter(NULL);
			break;
		case 3:
			load_irq_leave(NULL);
			break;
		case 4:
			load_softirq_entry(NULL, next_random(10));
			break;
		case 5:
			load_softirq_exit(NULL, next_random(10));
			break;
		case 6:
			to_task(now, tasks[next_random(4)]);
			break;
		default:
			see(now + next_random(100));
			break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(exit_first, reset),
		cmocka_unit_test_setup(inside_halt, reset),
		cmocka_unit_test_setup(unseen_handler, reset),
		cmocka_unit_test_setup(polling, reset),
		cmocka_unit_test_setup(in_ksoftirqd, reset),
		cmocka_unit_test_setup(preempted, reset),
		cmocka_unit_test_setup(preempted_too_often, reset),
		cmocka_unit_test_setup(cut_in_two, reset),
		cmocka_unit_test_setup(first_edges, reset),
		cmocka_unit_test_setup(clock_steps_back, reset),
		cmocka_unit_test_setup(any_order, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
