/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the delays of softirqs and workqueue functions. The BPF programs and the reader use a
 * simulated core with known times.
 */
#include "load_core.h"

#include <pthread.h>
#include <stdatomic.h>

#include "measure/noise/cells.h"

static struct irqaction disk = {.name = "nvme0q1"};
static struct worker worker, other_worker;
static struct kthread kthread = {.data = &worker}, other_kthread = {.data = &other_worker};
static struct task_struct kworker = {.pid = 31, .flags = PF_KTHREAD | PF_WQ_WORKER,
				     .comm = "kworker/0:1", .worker_private = &kthread};
static struct task_struct kworker_2 = {.pid = 32, .flags = PF_KTHREAD | PF_WQ_WORKER,
				       .comm = "kworker/u8:2"};
static struct css_set no_group;
/* Simulated work functions. The BPF programs identify a work function by its address. */
static char write_back[16], free_pages[16];
static struct work_struct writeback = {.func = write_back}, pages = {.func = free_pages};

static struct noise_window lists;
static struct blocks memory;
static struct noise_cells cells;
static u64 turn;

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

	reset(state);
	idle.flags = PF_KTHREAD;
	no_group.dfl_cgrp = &group;
	task.cgroups = other.cgroups = idle.cgroups = ksoftirqd.cgroups = &no_group;
	kworker.cgroups = kworker_2.cgroups = &no_group;
	worker.current_func = other_worker.current_func = NULL;
	kworker_2.worker_private = &other_kthread;
	want_noise = true;
	shim_symbol = symbol;
	shim_fields = " worker_private BPF_FUNC_snprintf ";
	turn = 0;
	noise_cells_open(&cells, &lists, &memory, &noise_counts, 1);
	return memory.failed;
}

static int end(void **state)
{
	idle.flags = 0;
	blocks_free(&memory);
	return 0;
}

static void run(u64 ns, struct task_struct *next)
{
	u64 args[3] = {0, (unsigned long)shim_current, (unsigned long)next};

	shim_current->state = 1;
	at(ns);
	load_switch(args);
	shim_current = next;
}

static void window(u64 ns)
{
	struct load_sample s = see(ns);

	noise_window_seq += 1ULL << NOISE_WINDOW_SHIFT;
	noise_cells_begin(&cells);
	noise_cells_read(&cells, 0, turn++,
			 s.part_ns[LOAD_PART_TASK] + s.part_ns[LOAD_PART_KSOFTIRQD], true);
	noise_cells_end(&cells);
}

static struct noise_losses losses(void)
{
	struct noise_losses ret;

	noise_cells_losses(&cells, &ret);
	return ret;
}

static void raise(u64 ns, u32 vec)
{
	at(ns);
	load_softirq_raise_noise(NULL, vec);
}

/*
 * The kernel sets current_func of the worker before the start event of the work item, and clears it
 * after the end event.
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

static const struct noise_function *function(const char *name)
{
	for (size_t i = 0; i < lists.nr_functions; i++)
		if (!strcmp(lists.functions[i].name, name))
			return &lists.functions[i];
	return NULL;
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
 * If a softirq is raised several times before running, its delay begins at the first raise. If a
 * softirq raises its own vector, a new delay begins.
 */
TEST_WITH(softirq_delays, begin, end)
{
	run(1000, &task);
	raise(2000, 3);
	raise(2100, 3);
	raise(2200, 1);
	at(2500);
	load_softirq_entry(NULL, 3);
	raise(2600, 3);
	at(2700);
	load_softirq_exit(NULL, 3);
	softirq(2700, 2800, 1);
	/* ksoftirqd runs the softirqs that are still pending. */
	run(5000, &ksoftirqd);
	softirq(6600, 6700, 3);
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
	run(1000, &task);
	softirq(2000, 2100, 3);
	window(3000);
	assert_int_equal(lists.nr_delays, 0);
	assert_int_equal(losses().raises, 1);
}

/*
 * The CPU time of a work function excludes interrupts, softirqs and the time during which the
 * worker sleeps.
 */
TEST_WITH(work_time, begin, end)
{
	queue(500, &writeback);
	run(1000, &kworker);
	execute(2000, &worker, &writeback);
	at(2100);
	load_irq_enter_line(NULL, 40, &disk);
	at(2200);
	load_irq_leave_line(NULL);
	softirq(2200, 2500, 1);
	/* While the first worker sleeps, another worker executes another work item. */
	run(3000, &kworker_2);
	queue(3050, &pages);
	execute(3100, &other_worker, &pages);
	executed(3200, &other_worker);
	run(3300, &kworker);
	executed(4000, &worker);
	run(5000, &idle);
	window(6000);
	assert_int_equal(lists.nr_functions, 2);
	expect("wb_workfn", 1, 600 + 700, 700);
	assert_int_equal(function("wb_workfn")->delay.ns, 1500);
	assert_int_equal(function("wb_workfn")->delay.count, 1);
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
	run(1000, &kworker_2);
	execute(1100, &other_worker, &pages);
	run(1300, &task);
	run(2000, &kworker_2);
	executed(2500, &other_worker);
	window(3000);
	expect("delayed_vfree_work", 1, 200 + 500, 500);
}

/*
 * If a work function runs during several windows, its time is divided among the windows, and the
 * execution counts once.
 */
TEST_WITH(open_work, begin, end)
{
	run(1000, &kworker);
	execute(1500, &worker, &writeback);
	window(3000);
	expect("wb_workfn", 1, 1500, 1500);
	window(6000);
	expect("wb_workfn", 0, 3000, 4500);
	executed(6500, &worker);
	run(7000, &task);
	window(8000);
	expect("wb_workfn", 0, 500, 5000);
	window(9000);
	assert_int_equal(lists.nr_functions, 0);
}

/*
 * Since Linux 6.9 the work of a WQ_BH queue runs inside a softirq. The simulated softirq runs while
 * a worker executes another work item.
 */
TEST_WITH(work_in_softirq, begin, end)
{
	static struct worker bh;

	run(1000, &kworker);
	execute(1500, &worker, &writeback);
	at(2000);
	load_softirq_entry(NULL, 6);
	execute(2100, &bh, &pages);
	at(2200);
	load_irq_enter_line(NULL, 40, &disk);
	at(2300);
	load_irq_leave_line(NULL);
	executed(2600, &bh);
	at(2700);
	load_softirq_exit(NULL, 6);
	executed(3000, &worker);
	window(4000);
	expect("delayed_vfree_work", 1, 400, 400);
	expect("wb_workfn", 1, 500 + 300, 800);
}

/*
 * The delay of a work item is unknown without a queueing event, or after its table entry was
 * overwritten.
 */
TEST_WITH(queued_lost, begin, end)
{
	run(1000, &kworker);
	execute(2000, &worker, &writeback);
	executed(2100, &worker);
	window(3000);
	expect("wb_workfn", 1, 100, 100);
	assert_int_equal(function("wb_workfn")->delay.count, 0);
	assert_int_equal(function("wb_workfn")->delay.p99_ns, UINT64_MAX);
	assert_int_equal(losses().queueings, 0);
	queue(3100, &writeback);
	for (size_t i = 0; i < NOISE_NR_QUEUED; i++)
		queued_words[i] = 1;
	execute(3200, &worker, &writeback);
	executed(3300, &worker);
	window(3400);
	assert_int_equal(function("wb_workfn")->delay.count, 0);
	for (size_t i = 0; i < NOISE_NR_QUEUED; i++)
		queued_words[i] = 1;
	queue(3500, &writeback);
	assert_int_equal(losses().queueings, 1);
	execute(3600, &worker, &writeback);
	executed(3700, &worker);
	window(3800);
	assert_int_equal(function("wb_workfn")->delay.ns, 100);
}

/* Each queueing event is used for the delay of only one execution. */
TEST_WITH(queued_once, begin, end)
{
	run(1000, &kworker);
	queue(1100, &writeback);
	execute(1500, &worker, &writeback);
	/* The work item queues itself again while it runs. */
	queue(1600, &writeback);
	executed(1700, &worker);
	execute(1800, &worker, &writeback);
	executed(1900, &worker);
	execute(2000, &worker, &writeback);
	executed(2100, &worker);
	window(3000);
	expect("wb_workfn", 3, 400, 200);
	assert_int_equal(function("wb_workfn")->delay.count, 2);
	assert_int_equal(function("wb_workfn")->delay.ns, 400 + 200);
	assert_int_equal(losses().queueings, 0);
}

/*
 * The core that executes the work has a clock that is 3 ns behind the clock of the core that queued
 * the work.
 */
TEST_WITH(clock_steps_back, begin, end)
{
	run(1000, &kworker);
	queue(2003, &writeback);
	execute(2000, &worker, &writeback);
	executed(2100, &worker);
	window(3000);
	assert_int_equal(function("wb_workfn")->delay.count, 1);
	assert_int_equal(function("wb_workfn")->delay.ns, 0);
}

/*
 * If the table of work functions is full, executions of further work functions are counted as lost.
 * A work function without a symbol has no name.
 */
TEST_WITH(functions_lost, begin, end)
{
	static char functions[2 * NOISE_NR_WORKS][16];
	struct work_struct work;
	u64 seen = 0;

	run(1000, &kworker);
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

/* If noise is not requested, the BPF programs count nothing. */
TEST_WITH(not_wanted, begin, end)
{
	want_noise = false;
	run(1000, &task);
	softirq(2000, 2100, 3);
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
 * If a counter changes during all attempts to copy it, the next window counts its events. A copy
 * that is reported is consistent: its histogram has at most one event more or less than its count.
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
