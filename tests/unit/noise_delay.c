/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests delays of softirqs and work functions with known times. */
#include "noise_core.h"

#include <pthread.h>
#include <stdatomic.h>

static struct worker worker, other_worker, bh_worker;
static struct kthread kthread = {.data = &worker}, other_kthread = {.data = &other_worker};
static struct task_struct kworker = {.pid = 31, .flags = PF_KTHREAD | PF_WQ_WORKER,
				     .comm = "kworker/0:1", .worker_private = &kthread};
static struct task_struct kworker_2 = {.pid = 32, .flags = PF_KTHREAD | PF_WQ_WORKER,
				       .comm = "kworker/u8:2"};
static struct css_set no_group;
/* Simulated work functions. The BPF programs identify a work function by its address. */
static char write_back[16], free_pages[16];
static struct work_struct writeback = {.func = write_back}, pages = {.func = free_pages};

static const char *symbol(u64 address)
{
	return address == (unsigned long)write_back ? "wb_workfn" :
	       address == (unsigned long)free_pages ? "delayed_vfree_work" :
						      "0xffff800080001234";
}

static int begin(void **state)
{
	static struct kernfs_node node = {.id = 1};
	static struct cgroup group = {.kn = &node};

	no_group.dfl_cgrp = &group;
	task.cgroups = other.cgroups = idle.cgroups = ksoftirqd.cgroups = &no_group;
	kworker.cgroups = kworker_2.cgroups = &no_group;
	worker.current_func = other_worker.current_func = NULL;
	kworker_2.worker_private = &other_kthread;
	shim_symbol = symbol;
	if (noise_begin(state))
		return -1;
	shim_fields = " worker_private BPF_FUNC_snprintf ";
	return 0;
}

static struct noise_losses losses(void)
{
	struct noise_losses ret;

	noise_cells_losses(&cells, &ret);
	return ret;
}

static void script_raise(u64 ns, const u64 *arg)
{
	at(ns);
	load_softirq_raise_noise(NULL, arg[0]);
}

/*
 * The kernel sets current_func before the start event of a work item, and clears it after the end
 * event.
 */
static void execute(u64 from, struct worker *by, struct work_struct *work)
{
	u64 args[] = {(unsigned long)work};

	at(from);
	by->current_func = work->func;
	load_work_start_noise(args);
}

static void executed(u64 to, struct worker *by)
{
	at(to);
	load_work_end_noise(NULL);
	by->current_func = NULL;
}

static void queue(u64 ns, struct work_struct *work)
{
	u64 args[] = {0, 0, (unsigned long)work};

	at(ns);
	load_work_queue_noise(args);
}

/* Scripts refer to workers and work items by their index in these arrays. */
static struct worker *const workers[] = {&worker, &other_worker, &bh_worker};
static struct work_struct *const works[] = {&writeback, &pages};

static void script_queue(u64 ns, const u64 *arg)
{
	queue(ns, works[arg[0]]);
}

static void script_start_work(u64 ns, const u64 *arg)
{
	execute(ns, workers[arg[0]], works[arg[1]]);
}

static void script_end_work(u64 ns, const u64 *arg)
{
	executed(ns, workers[arg[0]]);
}

/*
 * Words of scripts: NOISE_WORDS, "raise VECTOR", "queue WORK", "start WORKER WORK" and "end
 * WORKER".
 */
static const struct script_word script_words[] = {
	NOISE_WORDS, {"raise", .run = script_raise}, {"queue", .run = script_queue},
	{"start", .run = script_start_work}, {"end", .run = script_end_work},
	{"kworker", .task = &kworker}, {"kworker_2", .task = &kworker_2}, {0}};

static const struct noise_function *function(const char *name)
{
	for (size_t i = 0; i < lists.nr_functions; i++)
		if (!strcmp(lists.functions[i].name, name))
			return &lists.functions[i];
	return NULL;
}

static void expect_delay(const char *name, u64 count, u64 ns)
{
	assert_int_equal(function(name)->delay.count, count);
	assert_int_equal(function(name)->delay.ns, ns);
}

static void expect(const char *name, u64 executions, u64 ns, u64 longest)
{
	const struct noise_function *f = function(name);

	assert_non_null(f);
	assert_int_equal(f->executions, executions);
	assert_int_equal(f->ns, ns);
	assert_int_equal(f->longest_ns, longest);
}

/*
 * The delay of a softirq begins when the softirq is first raised. If the softirq raises its own
 * vector, a new delay begins.
 */
TEST_WITH(softirq_delays, begin, end)
{
	play("1000 task; 2000 raise 3; 2100 raise 3; 2200 raise 1; 2500 softirq+ 3; 2600 raise 3; "
	     "2700 softirq- 3; 2700 softirq 1 2800; 5000 ksoftirqd; 6600 softirq 3 6700");
	window(8000);
	assert_int_equal(lists.nr_delays, 2);
	assert_int_equal(lists.delays[0].vec, 1);
	assert_int_equal(lists.delays[0].times.count, 1);
	assert_int_equal(lists.delays[0].times.ns, 500);
	assert_int_equal(lists.delays[1].vec, 3);
	assert_int_equal(lists.delays[1].times.count, 2);
	assert_int_equal(lists.delays[1].times.ns, 500 + 4000);
	assert_int_equal(lists.delays[1].times.longest_ns, 4000);
	assert_int_equal(lists.delays[1].times.p99_ns, 4000);
	assert_int_equal(losses().raises, 0);
	window(9000);
	assert_int_equal(lists.nr_delays, 0);
}

/* A softirq that was raised before the measurement is counted as a softirq with unknown delay. */
TEST_WITH(raise_unseen, begin, end)
{
	play("1000 task; 2000 softirq 3 2100");
	window(3000);
	assert_int_equal(lists.nr_delays, 0);
	assert_int_equal(losses().raises, 1);
}

/* The time of a work function excludes interrupts, softirqs, and sleep of the worker. */
TEST_WITH(work_time, begin, end)
{
	play("500 queue 0; 1000 kworker; 2000 start 0 0; 2100 nvme 2200; 2200 softirq 1 2500; "
	     /* While worker 0 sleeps, worker 1 executes work item 1. */
	     "3000 kworker_2; 3050 queue 1; 3100 start 1 1; 3200 end 1; "
	     "3300 kworker; 4000 end 0; 5000 swapper");
	window(6000);
	assert_int_equal(lists.nr_functions, 2);
	expect("wb_workfn", 1, 600 + 700, 700);
	expect_delay("wb_workfn", 1, 1500);
	expect("delayed_vfree_work", 1, 100, 100);
	assert_int_equal(function("delayed_vfree_work")->delay.longest_ns, 50);
	assert_int_equal(losses().queueings, 0);
	window(7000);
	assert_int_equal(lists.nr_functions, 0);
}

/* Before Linux 5.17, set_child_tid of a worker's task_struct is the pointer to struct kthread. */
TEST_WITH(work_time_before_5_17, begin, end)
{
	shim_fields = " BPF_FUNC_snprintf ";
	kworker_2.set_child_tid = &other_kthread;
	kworker_2.worker_private = NULL;
	play("1000 kworker_2; 1100 start 1 1; 1300 task; 2000 kworker_2; 2500 end 1");
	window(3000);
	expect("delayed_vfree_work", 1, 200 + 500, 500);
}

/*
 * The time of a work function that runs during several windows is divided among these windows. The
 * execution counts once.
 */
TEST_WITH(open_work, begin, end)
{
	play("1000 kworker; 1500 start 0 0");
	window(3000);
	expect("wb_workfn", 1, 1500, 1500);
	window(6000);
	expect("wb_workfn", 0, 3000, 4500);
	play("6500 end 0; 7000 task");
	window(8000);
	expect("wb_workfn", 0, 500, 5000);
	window(9000);
	assert_int_equal(lists.nr_functions, 0);
}

/* A softirq that executes work of a WQ_BH queue (since Linux 6.9) interrupts another work item. */
TEST_WITH(work_in_softirq, begin, end)
{
	play("1000 kworker; 1500 start 0 0; 2000 softirq+ 6; 2100 start 2 1; 2200 nvme 2300; "
	     "2600 end 2; 2700 softirq- 6; 3000 end 0");
	window(4000);
	expect("delayed_vfree_work", 1, 400, 400);
	expect("wb_workfn", 1, 500 + 300, 800);
}

/*
 * The delay of a work item is unknown if its queueing event is missing or its table entry was
 * overwritten.
 */
TEST_WITH(queued_lost, begin, end)
{
	play("1000 kworker; 2000 start 0 0; 2100 end 0");
	window(3000);
	expect("wb_workfn", 1, 100, 100);
	expect_delay("wb_workfn", 0, 0);
	assert_int_equal(function("wb_workfn")->delay.p99_ns, UINT64_MAX);
	assert_int_equal(losses().queueings, 0);
	play("3100 queue 0");
	for (size_t i = 0; i < NOISE_NR_QUEUED; i++)
		queued_words[i] = 1;
	play("3200 start 0 0; 3300 end 0");
	window(3400);
	expect_delay("wb_workfn", 0, 0);
	for (size_t i = 0; i < NOISE_NR_QUEUED; i++)
		queued_words[i] = 1;
	play("3500 queue 0");
	assert_int_equal(losses().queueings, 1);
	play("3600 start 0 0; 3700 end 0");
	window(3800);
	expect_delay("wb_workfn", 1, 100);
}

/* Each queueing event is used for the delay of only one execution. */
TEST_WITH(queued_once, begin, end)
{
	/* The work item queues itself again while it runs. */
	play("1000 kworker; 1100 queue 0; 1500 start 0 0; 1600 queue 0; 1700 end 0; "
	     "1800 start 0 0; 1900 end 0; 2000 start 0 0; 2100 end 0");
	window(3000);
	expect("wb_workfn", 3, 400, 200);
	expect_delay("wb_workfn", 2, 400 + 200);
	assert_int_equal(losses().queueings, 0);
}

/* The executing core's clock is 3 ns behind the clock of the queueing core. */
TEST_WITH(clock_steps_back, begin, end)
{
	play("1000 kworker; 2003 queue 0; 2000 start 0 0; 2100 end 0");
	window(3000);
	expect_delay("wb_workfn", 1, 0);
}

/*
 * If the table of work functions is full, executions of further functions are counted as lost. A
 * function without a symbol has no name.
 */
TEST_WITH(functions_lost, begin, end)
{
	static char functions[2 * NOISE_NR_WORKS][16];
	struct work_struct work;
	u64 seen = 0;

	play("1000 kworker");
	for (u64 i = 0; i < 2 * NOISE_NR_WORKS; i++) {
		work.func = functions[i];
		execute(2000 + i, &worker, &work);
		executed(2001 + i, &worker);
	}
	window(3000);
	for (size_t i = 0; i < lists.nr_functions; i++) {
		assert_string_equal(lists.functions[i].name, "");
		seen += lists.functions[i].executions;
	}
	assert_true(losses().functions > 0);
	assert_int_equal(seen + losses().functions, 2 * NOISE_NR_WORKS);
}

TEST_WITH(not_wanted, begin, end)
{
	want_noise = false;
	play("1000 task; 2000 softirq 3 2100");
	assert_int_equal(losses().raises, 0);
}

static atomic_bool stop;

static void *count_delays(void *arg)
{
	struct noise_cell *cell = arg;

	for (u64 count = 1; !atomic_load_explicit(&stop, memory_order_relaxed); count++) {
		__atomic_store_n(&cell->hist[NOISE_NR_BUCKETS - 1], count, __ATOMIC_RELEASE);
		__atomic_store_n(&cell->sum.count, count, __ATOMIC_RELEASE);
	}
	return NULL;
}

/*
 * If a counter changes during every attempt to copy the counter, its events are counted in the next
 * window. A reported copy is consistent: histogram and count differ by at most one event.
 */
TEST_WITH(changed_during_read, begin, end)
{
	struct noise_cell *cell = &noise_counts.delays[3];
	u64 seen = 0;
	pthread_t thread;

	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, count_delays, cell), 0);
	for (int i = 0; i < 20000; i++) {
		u64 hist = 0;

		if (i == 19999) {
			stop = true;
			pthread_join(thread, NULL);
		}
		window(1000 + i);
		for (int bucket = 0; lists.nr_delays && bucket < NOISE_NR_BUCKETS; bucket++)
			hist += lists.delay_hist[3][bucket];
		if (lists.nr_delays) {
			assert_true(hist - lists.delays[0].times.count + 1 <= 2);
			seen += lists.delays[0].times.count;
		}
	}
	assert_int_equal(seen, cell->sum.count);
}

TEST_MAIN()
