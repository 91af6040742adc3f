/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the BPF programs of `subtick load` in cases that the random schedule of load_schedule.c
 * lacks: lost events, preempted softirqs, and interrupted BPF programs.
 */
#include "load_core.h"

/* Field of task_struct that exists only on kernels with PREEMPT_RT. */
#define PREEMPT_RT " softirq_disable_cnt "

/* The interrupt that wakes the core has no tracepoint, so the first event is the softirq. */
TEST_WITH(unseen_handler, reset, NULL)
{
	struct load_sample s;

	go_idle(1000, 1);
	softirq(3000, 3500, 3);
	leave_idle(3600);
	to_task(3700, &task);
	s = see(4000);
	EXPECT_PARTS(s, P(IDLE) = 2000, P(SOFTIRQ_ON_IDLE) = 500, P(TASK) = 300,
			P(IDLE_LOOP) = 1200);
}

/* The cpuidle driver determines which idle state polls instead of halting. */
TEST_WITH(polling, reset, NULL)
{
	struct load_sample s;

	slot->poll_states = 1 << 2;
	go_idle(1000, 2);
	go_idle(1500, 1);
	s = see(2000);
	EXPECT_PARTS(s, P(POLL_IDLE) = 500, P(IDLE) = 500, P(IDLE_LOOP) = 1000);
}

/*
 * If one interrupt handler calls another handler, only entry and exit of the calling handler count.
 */
TEST_WITH(nested_handlers, reset, NULL)
{
	struct load_sample s;

	to_task(1000, &task);
	at(2000);
	load_irq_enter(NULL, 0, &one_handler);
	irq(2100, 2200);
	at(2300);
	load_irq_leave(NULL);
	s = see(3000);
	EXPECT_PARTS(s, P(HARDIRQ) = 300, P(TASK) = 1000 + 700, P(IDLE_LOOP) = 1000);
	assert_int_equal(slot->odd_edges, 0);
}

/*
 * The exit event of an interrupt handler was lost. A task switch cannot occur inside a handler, so
 * a switch to the idle task or to a kernel thread shows the loss. The BPF programs discard the time
 * of a handler whose exit event was lost.
 */
TEST_WITH(lost_exit, reset, NULL)
{
	struct load_sample s;

	to_task(1000, &task);
	at(1500);
	load_irq_enter(NULL, 0, &one_handler);
	to_task(2000, &ksoftirqd);
	irq(2500, 2600);
	s = see(3000);
	EXPECT_PARTS(s, P(HARDIRQ) = 100, P(TASK) = 1000, P(KSOFTIRQD) = 900, P(IDLE_LOOP) = 1000);
	assert_int_equal(slot->odd_edges, 1);
}

/*
 * At a switch between two ordinary tasks the BPF programs neither end the time interval of the load
 * part nor read the clock.
 */
TEST_WITH(task_to_task, reset, NULL)
{
	static struct task_struct kworker = {.pid = 33, .flags = PF_KTHREAD, .comm = "kworker/0:1"};
	struct task_struct *const tasks[] = {&other, &kworker, &task, &other};
	struct load_sample s;
	u64 base;

	to_task(1000, &task);
	base = slot->base;
	for (int i = 0; i < 4; i++) {
		to_task(2000 + i * 1000, tasks[i]);
		assert_int_equal(slot->base, base);
		assert_int_equal(see(2500 + i * 1000).part_ns[LOAD_PART_TASK], 1500 + i * 1000);
	}
	to_task(6000, &ksoftirqd);
	to_task(6500, &task);
	to_task(7000, &other);
	to_task(8000, &idle);
	s = see(9000);
	EXPECT_PARTS(s, P(TASK) = 5000 + 1500, P(KSOFTIRQD) = 500, P(IDLE_LOOP) = 2000);
}

/*
 * Kernel threads that run softirqs are recognized by name. A user task with the name of a softirq
 * thread is an ordinary task.
 */
TEST_WITH(softirq_threads, reset, NULL)
{
	static struct task_struct napi = {.pid = 31, .flags = PF_KTHREAD, .comm = "napi/eth0-8"};
	static struct task_struct backlog = {.pid = 32, .flags = PF_KTHREAD,
					     .comm = "backlog_napi/0"};
	static struct task_struct kworker = {.pid = 33, .flags = PF_KTHREAD, .comm = "kworker/0:1"};
	static struct task_struct liar = {.pid = 34, .comm = "ksoftirqd/0"};
	struct load_sample s;

	to_task(1000, &napi);
	to_task(1100, &backlog);
	to_task(1300, &kworker);
	to_task(1700, &liar);
	s = see(2500);
	EXPECT_PARTS(s, P(KSOFTIRQD) = 100 + 200, P(TASK) = 400 + 800, P(IDLE_LOOP) = 1000);
}

/* Kernel threads with similar names are not softirq threads. */
TEST_WITH(like_softirq_threads, reset, NULL)
{
	static const char *const names[] = {"ksofti", "napi/", "backlog_"};

	for (int i = 0; i < 3; i++)
		for (size_t at = 0; at <= strlen(names[i]); at++) {
			struct task_struct like = {.pid = 40, .flags = PF_KTHREAD};

			strcpy(like.comm, names[i]);
			like.comm[at] = like.comm[at] ? 'X' : '9';
			assert_int_equal(task_ctx(&like),
					 at == strlen(names[i]) ? LOAD_KSOFTIRQD : LOAD_TASK);
			strcpy(like.comm, "XXXXXXXX");
			like.comm[at] = names[i][at];
			assert_int_equal(task_ctx(&like), LOAD_TASK);
		}
}

/*
 * Tests a handler exit without an entry event, and the exit of a handler that began before the
 * start of the measurement.
 */
TEST_WITH(exit_alone, reset, NULL)
{
	struct load_sample s;

	shim_current = &task;
	at(300);
	load_irq_leave(NULL);
	s = see(1000);
	EXPECT_PARTS(s, P(HARDIRQ) = 300, P(TASK) = 700);
	assert_int_equal(slot->odd_edges, 0);
	at(2000);
	load_irq_leave(NULL);
	s = see(2000);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 300);
	assert_int_equal(slot->odd_edges, 1);
	/*
	 * If a handler exit without an entry event is not the first event of the core, the entry
	 * event was lost.
	 */
	reset(state);
	to_task(1000, &task);
	at(1500);
	load_irq_leave(NULL);
	irq(2000, 2100);
	s = see(3000);
	assert_int_equal(s.part_ns[LOAD_PART_HARDIRQ], 100);
	assert_int_equal(slot->odd_edges, 1);
}

/*
 * The exit event of a softirq was lost. After a lost softirq exit, softirq time lasts until the
 * exit of the next softirq.
 */
TEST_WITH(lost_softirq_exit, reset, NULL)
{
	struct load_sample s;

	to_task(1000, &task);
	at(2000);
	load_softirq_entry(NULL, 3);
	softirq(3000, 3500, 1);
	s = see(4000);
	EXPECT_PARTS(s, P(SOFTIRQ_ON_TASK) = 1500, P(TASK) = 1000 + 500, P(IDLE_LOOP) = 1000);
	assert_int_equal(slot->vec_ns[1], 500);
	assert_int_equal(slot->odd_edges, 1);
}

/*
 * On PREEMPT_RT a softirq is preempted together with the task that executes it, and continues when
 * the task runs again.
 */
TEST_WITH(preempted, reset, NULL)
{
	struct load_sample s;

	shim_fields = PREEMPT_RT;
	to_task(1000, &task);
	at(1500);
	load_softirq_entry(NULL, 3);
	to_task(2000, &other);
	irq(2500, 2600);
	to_task(4000, &task);
	at(4300);
	load_softirq_exit(NULL, 3);
	s = see(5000);
	EXPECT_PARTS(s, P(SOFTIRQ_ON_TASK) = 500 + 300, P(TASK) = 500 + 1900 + 700,
			P(HARDIRQ) = 100, P(IDLE_LOOP) = 1000);
	assert_int_equal(slot->vec_ns[3], 500 + 300);
	assert_int_equal(slot->vec_count[3], 1);
	assert_int_equal(slot->paused_lost + slot->odd_edges, 0);
}

/*
 * Several softirqs are preempted, including a softirq in ksoftirqd. A preempted softirq continues
 * when its task runs again. When a preempted softirq continues, its entry in the table of preempted
 * softirqs is freed.
 */
TEST_WITH(preempted_in_turns, reset, NULL)
{
	struct load_sample s;

	shim_fields = PREEMPT_RT;
	for (int round = 0; round < 3; round++) {
		u64 from = 10000 * (round + 1);

		to_task(from, &ksoftirqd);
		at(from + 100);
		load_softirq_entry(NULL, 3);
		to_task(from + 200, &task);
		at(from + 300);
		load_softirq_entry(NULL, 1);
		to_task(from + 400, &other);
		to_task(from + 500, &ksoftirqd);
		at(from + 600);
		load_softirq_exit(NULL, 3);
		to_task(from + 700, &task);
		at(from + 800);
		load_softirq_exit(NULL, 1);
		to_task(from + 900, &idle);
	}
	s = see(40000);
	EXPECT_PARTS(s, P(KSOFTIRQD) = 3 * 400, P(SOFTIRQ_ON_TASK) = 3 * 200, P(TASK) = 3 * 300,
			P(IDLE_LOOP) = 37300);
	assert_int_equal(slot->vec_ns[3], 3 * 200);
	assert_int_equal(slot->vec_ns[1], 3 * 200);
	assert_int_equal(slot->vec_ns[0], 0);
	assert_int_equal(slot->paused_lost + slot->odd_edges, 0);
	for (int i = 0; i < LOAD_NR_PAUSED; i++)
		assert_int_equal(slot->paused[i].pid, 0);
	assert_int_equal(slot->nr_paused, 0);
}

/* The table of preempted softirqs becomes full, and then each softirq in the table continues. */
TEST_WITH(preempted_and_back, reset, NULL)
{
	struct task_struct tasks[LOAD_NR_PAUSED];
	u64 now = 1000;

	shim_fields = PREEMPT_RT;
	memset(tasks, 0, sizeof(tasks));
	for (int i = 0; i < LOAD_NR_PAUSED; i++) {
		tasks[i].pid = 100 + i;
		to_task(now += 100, &tasks[i]);
		at(now += 100);
		load_softirq_entry(NULL, i);
	}
	to_task(now += 100, &other);
	for (int i = 0; i < LOAD_NR_PAUSED; i++) {
		to_task(now += 100, &tasks[i]);
		at(now += 100);
		load_softirq_exit(NULL, i);
		assert_int_equal(slot->vec_ns[i], 200);
		assert_int_equal(slot->vec_count[i], 1);
	}
	assert_int_equal(slot->paused_lost + slot->odd_edges, 0);
}

/*
 * If more softirqs are preempted than the core can store, the lost softirqs are counted. The sum of
 * the load parts still equals the length of the window.
 */
TEST_WITH(preempted_too_often, reset, NULL)
{
	struct task_struct tasks[LOAD_NR_PAUSED + 2];
	u64 now = 1000;

	shim_fields = PREEMPT_RT;
	memset(tasks, 0, sizeof(tasks));
	for (int i = 0; i < LOAD_NR_PAUSED + 2; i++) {
		tasks[i].pid = 100 + i;
		to_task(now += 100, &tasks[i]);
		at(now += 100);
		load_softirq_entry(NULL, 3);
	}
	assert_int_equal(slot->paused_lost, 1);
	see(now + 50);
}

static u64 cut_at;

/* Simulates an interrupt and its softirq in the middle of a BPF program. */
static void interrupt(void)
{
	u64 was = shim_now;

	shim_at_barrier = NULL;
	at(cut_at);
	load_irq_enter(NULL, 0, &one_handler);
	at(cut_at + 50);
	load_irq_leave(NULL);
	softirq(cut_at + 60, cut_at + 160, 3);
	shim_now = was;
}

/*
 * Before Linux 6.3 interrupts are enabled at the idle exit event. The sum of the load parts stays
 * correct, and no time counts twice.
 */
TEST_WITH(cut_in_two, reset, NULL)
{
	struct load_sample s;

	go_idle(1000, 1);
	cut_at = 4010;
	shim_at_barrier = interrupt;
	leave_idle(4000);
	assert_null(shim_at_barrier);
	to_task(5000, &task);
	s = see(6000);
	EXPECT_PARTS(s, P(IDLE) = 3000, P(HARDIRQ) = 50, P(TASK) = 1000, P(IDLE_LOOP) = 1950);
	/*
	 * The softirq occurred while the BPF program stored the new context of the core. The two
	 * events of the softirq are counted as unexpected, and the time of the softirq counts as
	 * time of the stored context.
	 */
	EXPECT_PARTS(s, P(IDLE_LOOP) = 1000 + 1000 - 50, P(TASK) = 1000, P(HARDIRQ) = 50,
			P(IDLE) = 3000);
	assert_int_equal(slot->odd_edges, 2);
}

/* An interrupt occurs while a BPF program handles the first event of the core. */
TEST_WITH(first_cut_in_two, reset, NULL)
{
	struct load_sample s;

	cut_at = 4010;
	shim_at_barrier = interrupt;
	leave_idle(4000);
	assert_null(shim_at_barrier);
	s = see(6000);
	EXPECT_PARTS(s, P(IDLE) = 4000, P(HARDIRQ) = 50, P(IDLE_LOOP) = 2000 - 50);
	assert_int_equal(slot->odd_edges, 2);
}

/* The first event of a core shows the context of the core since the start of the measurement. */
TEST_WITH(first_edges, reset, NULL)
{
	leave_idle(3000);
	assert_int_equal(see(3000).part_ns[LOAD_PART_IDLE], 3000);
	reset(state);
	irq(3000, 3100);
	assert_int_equal(see(3100).part_ns[LOAD_PART_IDLE], 3000);
	reset(state);
	irq(3000, 3100);
	leave_idle(3150);
	assert_int_equal(see(3150).part_ns[LOAD_PART_IDLE], 3000);
	assert_int_equal(see(3150).part_ns[LOAD_PART_IDLE_LOOP], 50);
	reset(state);
	shim_current = &task;
	irq(3000, 3100);
	assert_int_equal(see(3100).part_ns[LOAD_PART_TASK], 3000);
	reset(state);
	shim_current = &ksoftirqd;
	irq(3000, 3100);
	assert_int_equal(see(3100).part_ns[LOAD_PART_KSOFTIRQD], 3000);
	reset(state);
	/* A user task can have the name of ksoftirqd. */
	shim_current = &(struct task_struct){.pid = 9, .tgid = 9, .comm = "ksoftirqd/1"};
	irq(3000, 3100);
	assert_int_equal(see(3100).part_ns[LOAD_PART_TASK], 3000);
	reset(state);
	softirq(3000, 3100, 1);
	assert_int_equal(see(3200).part_ns[LOAD_PART_IDLE_LOOP], 3000 + 100);
	assert_int_equal(see(3200).part_ns[LOAD_PART_SOFTIRQ_ON_IDLE], 100);
	reset(state);
	shim_current = &task;
	softirq(3000, 3100, 1);
	assert_int_equal(see(3200).part_ns[LOAD_PART_TASK], 3000 + 100);
	reset(state);
	shim_current = &task;
	to_task(3000, &idle);
	assert_int_equal(see(3000).part_ns[LOAD_PART_TASK], 3000);
	reset(state);
	/* The first event is a softirq inside ksoftirqd, and the softirq ends at its exit event. */
	shim_current = &ksoftirqd;
	softirq(3000, 3100, 3);
	to_task(4000, &task);
	assert_int_equal(see(4000).part_ns[LOAD_PART_KSOFTIRQD], 4000);
	assert_int_equal(slot->vec_ns[3], 100);
	assert_int_equal(slot->vec_count[3], 1);
	reset(state);
	/* A softirq interrupted a task before the start of the measurement. */
	shim_current = &task;
	at(3000);
	load_softirq_exit(NULL, 3);
	assert_int_equal(see(3000).part_ns[LOAD_PART_SOFTIRQ_ON_TASK], 3000);
	reset(state);
}

/*
 * Events before the start of the measurement do not count. An event does not count if its BPF
 * program read the clock before the start, even if the program stores the event after the start.
 */
TEST_WITH(before_the_start, reset, NULL)
{
	static const u64 starts[] = {LOAD_NEVER, START + 9000};

	for (int i = 0; i < 2; i++) {
		slot->start_ns = starts[i];
		irq(3000, 3100);
		leave_idle(3200);
		softirq(3300, 3400, 3);
		to_task(3500, &task);
		to_task(3600, &idle);
		go_idle(3700, 1);
		assert_int_equal(slot->base | slot->hirq | slot->vec | slot->moving, 0);
		assert_int_equal(slot->odd_edges | slot->vec_count[3], 0);
	}
}

/* A clock that steps back by a few ns must not give an interval of 584 years. */
TEST_WITH(clock_steps_back, reset, NULL)
{
	to_task(1000, &task);
	at(2000);
	load_softirq_entry(NULL, 3);
	at(1990);
	load_softirq_exit(NULL, 3);
	assert_int_equal(slot->vec_ns[3], 0);
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

/*
 * The load parts in a sample add up to the elapsed time for any order of events, even if events are
 * lost.
 */
TEST_WITH(any_order, reset, NULL)
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
			load_irq_enter(NULL, 0, &one_handler);
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
			see_any(now + next_random(100));
			break;
		}
	}
}

TEST_MAIN()
