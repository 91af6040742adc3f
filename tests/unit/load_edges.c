/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests `subtick load` with lost events, preempted softirqs, interrupted BPF programs. */
#include "load_script.h"
#include "tests/random.h"

/* Field of task_struct that exists only on kernels with PREEMPT_RT. */
#define PREEMPT_RT " softirq_disable_cnt "

static struct task_struct napi = {.pid = 31, .flags = PF_KTHREAD, .comm = "napi/eth0-8"};
static struct task_struct backlog = {.pid = 32, .flags = PF_KTHREAD, .comm = "backlog_napi/0"};
static struct task_struct kworker = {.pid = 33, .flags = PF_KTHREAD, .comm = "kworker/0:1"};
/* A user task may have the name of a softirq thread. */
static struct task_struct liar = {.pid = 34, .tgid = 34, .comm = "ksoftirqd/0"};

static const struct scenario {
	const char *events;
	u64 end; /* time of the sample */
	u64 parts[LOAD_NR_PARTS];
	struct task_struct *first; /* task that runs at the start, or NULL for the idle task */
	bool rt;
	u32 odd_edges;
	u32 vec;
	u64 vec_ns, vec_count;
} scenarios[] = {
	/* The interrupt that wakes the core has no tracepoint: the first event is the softirq. */
	{.events = "1000 idle 1; 3000 softirq 3 3500; 3600 exit; 3700 task", .end = 4000,
	 .parts = {P(IDLE) = 2000, P(SOFTIRQ_ON_IDLE) = 500, P(TASK) = 300, P(IDLE_LOOP) = 1200},
	 .vec = 3, .vec_ns = 500, .vec_count = 1},
	/* One handler calls another: only entry and exit of the calling handler count. */
	{.events = "1000 task; 2000 irq+; 2100 irq 2200; 2300 irq-", .end = 3000,
	 .parts = {P(HARDIRQ) = 300, P(TASK) = 1700, P(IDLE_LOOP) = 1000}},
	/*
	 * A switch to a kernel thread shows that the handler's exit event was lost. The time of the
	 * handler is dropped.
	 */
	{.events = "1000 task; 1500 irq+; 2000 ksoftirqd; 2500 irq 2600", .end = 3000,
	 .parts = {P(HARDIRQ) = 100, P(TASK) = 1000, P(KSOFTIRQD) = 900, P(IDLE_LOOP) = 1000},
	 .odd_edges = 1},
	{.events = "1000 napi; 1100 backlog; 1300 kworker; 1700 liar", .end = 2500,
	 .parts = {P(KSOFTIRQD) = 300, P(TASK) = 1200, P(IDLE_LOOP) = 1000}},
	/* The first event is the exit of a handler that began before the measurement. */
	{.events = "300 irq-", .end = 1000, .first = &task,
	 .parts = {P(HARDIRQ) = 300, P(TASK) = 700}},
	/* A second exit without an entry shows that the entry event was lost. */
	{.events = "300 irq-; 2000 irq-", .end = 2000, .first = &task,
	 .parts = {P(HARDIRQ) = 300, P(TASK) = 1700}, .odd_edges = 1},
	{.events = "1000 task; 1500 irq-; 2000 irq 2100", .end = 3000,
	 .parts = {P(HARDIRQ) = 100, P(TASK) = 1900, P(IDLE_LOOP) = 1000}, .odd_edges = 1},
	/* A softirq exit event is lost, so softirq time lasts until the next softirq exit. */
	{.events = "1000 task; 2000 softirq+ 3; 3000 softirq 1 3500", .end = 4000,
	 .parts = {P(SOFTIRQ_ON_TASK) = 1500, P(TASK) = 1500, P(IDLE_LOOP) = 1000},
	 .odd_edges = 1, .vec = 1, .vec_ns = 500, .vec_count = 1},
	/* On PREEMPT_RT a softirq runs in a task, and is preempted and resumed with the task. */
	{.events = "1000 task; 1500 softirq+ 3; 2000 other; 2500 irq 2600; 4000 task; 4300 softirq- 3",
	 .end = 5000, .rt = true,
	 .parts = {P(SOFTIRQ_ON_TASK) = 800, P(TASK) = 3100, P(HARDIRQ) = 100, P(IDLE_LOOP) = 1000},
	 .vec = 3, .vec_ns = 800, .vec_count = 1},
	/*
	 * The first event of a core shows the context in which the core was since the start of the
	 * measurement.
	 */
	{.events = "3000 exit", .end = 3000, .parts = {P(IDLE) = 3000}},
	{.events = "3000 irq 3100; 3150 exit", .end = 3150,
	 .parts = {P(IDLE) = 3000, P(HARDIRQ) = 100, P(IDLE_LOOP) = 50}},
	{.events = "3000 irq 3100", .end = 3100, .first = &task,
	 .parts = {P(TASK) = 3000, P(HARDIRQ) = 100}},
	{.events = "3000 irq 3100", .end = 3100, .first = &ksoftirqd,
	 .parts = {P(KSOFTIRQD) = 3000, P(HARDIRQ) = 100}},
	{.events = "3000 irq 3100", .end = 3100, .first = &liar,
	 .parts = {P(TASK) = 3000, P(HARDIRQ) = 100}},
	{.events = "3000 softirq 1 3100", .end = 3200,
	 .parts = {P(IDLE_LOOP) = 3100, P(SOFTIRQ_ON_IDLE) = 100}},
	{.events = "3000 softirq 1 3100", .end = 3200, .first = &task,
	 .parts = {P(TASK) = 3100, P(SOFTIRQ_ON_TASK) = 100}},
	{.events = "3000 swapper", .end = 3000, .first = &task, .parts = {P(TASK) = 3000}},
	{.events = "3000 softirq 3 3100; 4000 task", .end = 4000, .first = &ksoftirqd,
	 .parts = {P(KSOFTIRQD) = 4000}, .vec = 3, .vec_ns = 100, .vec_count = 1},
	/* A softirq interrupted a task before the start of the measurement. */
	{.events = "3000 softirq- 3", .end = 3000, .first = &task,
	 .parts = {P(SOFTIRQ_ON_TASK) = 3000}},
};

static const struct script_word script_words[] = {LOAD_WORDS,
						  {"napi", .task = &napi},
						  {"backlog", .task = &backlog},
						  {"kworker", .task = &kworker},
						  {"liar", .task = &liar},
						  {0}};

TEST(scenario)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		const struct scenario *s = &scenarios[i];
		struct load_sample sample;

		reset(state);
		shim_fields = s->rt ? PREEMPT_RT : "";
		shim_current = s->first ?: &idle;
		play(s->events);
		sample = see(s->end);
		expect_parts(&sample, s->parts, s->events);
		if (slot->odd_edges != s->odd_edges || slot->paused_lost)
			fail_msg("%s: %u odd edges", s->events, slot->odd_edges);
		if (s->vec && (slot->vec_ns[s->vec] != s->vec_ns || slot->vec_count[s->vec] != s->vec_count))
			fail_msg("%s: vector %u", s->events, s->vec);
	}
}

/* The cpuidle driver determines which idle state polls instead of halting. */
TEST_WITH(polling, reset, NULL)
{
	struct load_sample s;

	slot->poll_states = 1 << 2;
	play("1000 idle 2; 1500 idle 1");
	s = see(2000);
	EXPECT_PARTS(s, P(POLL_IDLE) = 500, P(IDLE) = 500, P(IDLE_LOOP) = 1000);
}

/* A switch between two ordinary tasks neither ends the interval nor reads the clock. */
TEST_WITH(task_to_task, reset, NULL)
{
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
	play("6000 ksoftirqd; 6500 task; 7000 other; 8000 swapper");
	s = see(9000);
	EXPECT_PARTS(s, P(TASK) = 5000 + 1500, P(KSOFTIRQD) = 500, P(IDLE_LOOP) = 2000);
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

/* A preempted softirq continues when its task runs again, and then frees its table entry. */
TEST_WITH(preempted_in_turns, reset, NULL)
{
	struct load_sample s;

	shim_fields = PREEMPT_RT;
	for (int round = 0; round < 3; round++) {
		script_start = 10000 * (round + 1);
		play("0 ksoftirqd; 100 softirq+ 3; 200 task; 300 softirq+ 1; 400 other; "
		     "500 ksoftirqd; 600 softirq- 3; 700 task; 800 softirq- 1; 900 swapper");
	}
	script_start = 0;
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

/* Preempted softirqs without a free table entry are lost. The sum of all parts stays right. */
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

/* Before Linux 6.3 interrupts are enabled at the idle exit. No time counts twice. */
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
	 * The softirq occurred while the BPF program stored the new context. Entry and exit of the
	 * softirq count as unexpected, and the softirq's time counts for the stored context.
	 */
	EXPECT_PARTS(s, P(IDLE_LOOP) = 1000 + 1000 - 50, P(TASK) = 1000, P(HARDIRQ) = 50,
			P(IDLE) = 3000);
	assert_int_equal(slot->odd_edges, 2);
}

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

/*
 * Events before the start of the measurement do not count, even if a BPF program stores them after
 * the start.
 */
TEST_WITH(before_the_start, reset, NULL)
{
	static const u64 starts[] = {LOAD_NEVER, START + 9000};

	for (int i = 0; i < 2; i++) {
		slot->start_ns = starts[i];
		play("3000 irq 3100; 3200 exit; 3300 softirq 3 3400; 3500 task; 3600 swapper; "
		     "3700 idle 1");
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
	static uint64_t random = 5;

	return lcg64(&random) % below;
}

/* The parts add up for any order of events, even with lost events. */
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
