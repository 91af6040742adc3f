// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a measurement on all online CPUs at the same time, or on one CPU, and combines the results.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smpboot.h>

#include "tracerbench.h"

struct tb_run {
	const struct tb_config *config;
	bool stop;
	int err; /* first error that occurred on any CPU */

	/*
	 * Gates (barriers) at which the threads of all CPUs wait for each other: prepared, started,
	 * finished. The last thread that reaches a gate opens the gate.
	 */
	atomic_t nr_preparing;
	atomic_t nr_running;
	struct completion prepared;
	struct completion start;
	struct completion finished;

	/* protects the heaps of the highest samples, to which all CPUs write */
	struct mutex heap_lock;
	struct tb_heap heap[TB_NR_OPS];
	/* summaries of each operation, with one element per participating CPU */
	struct tb_summary *summary[TB_NR_OPS];
	u64 *scratch;
	struct tb_cpu_figures *cpus; /* summaries by CPU, for the debugfs file per_cpu */
	unsigned int nr_cpus;
};

static DEFINE_PER_CPU(struct task_struct *, tb_thread);
static DEFINE_PER_CPU(struct tb_run *, tb_assigned);
static DEFINE_PER_CPU(unsigned int, tb_slot);

static void run_fail(struct tb_run *run, int err)
{
	cmpxchg(&run->err, 0, err);
	WRITE_ONCE(run->stop, true);
}

static int run_summarise(struct tb_run *run, struct tb_samples *samples, unsigned int slot)
{
	int op, err;

	for (op = 0; op < TB_NR_OPS; op++) {
		err = tb_summarise(samples->value[op], samples->nr, &run->summary[op][slot]);
		if (err)
			return err;
		mutex_lock(&run->heap_lock);
		tb_heap_feed_sorted(&run->heap[op], samples->value[op], samples->nr);
		mutex_unlock(&run->heap_lock);
		if (READ_ONCE(run->stop))
			return -EINTR;
	}
	return 0;
}

/*
 * The thread passes every gate (barrier) of the run even after an error, because all other threads
 * and the process that wrote the debugfs file wait at the gates.
 */
static void run_on_this_cpu(unsigned int cpu)
{
	struct tb_run *run = per_cpu(tb_assigned, cpu);
	unsigned int slot = per_cpu(tb_slot, cpu);
	struct tb_samples samples;
	int err;

	WRITE_ONCE(per_cpu(tb_assigned, cpu), NULL);

	err = tb_samples_alloc(&samples, run->config->nr_samples);
	if (err)
		run_fail(run, err);
	if (atomic_dec_and_test(&run->nr_preparing))
		complete(&run->prepared);
	wait_for_completion(&run->start);

	if (!err && !READ_ONCE(run->stop)) {
		err = tb_samples_collect(&samples, run->config->do_work, &run->stop);
		if (!err)
			err = run_summarise(run, &samples, slot);
		if (err)
			run_fail(run, err);
	}
	tb_samples_free(&samples);
	if (atomic_dec_and_test(&run->nr_running))
		complete(&run->finished);
}

static int run_assigned(unsigned int cpu)
{
	return !!READ_ONCE(per_cpu(tb_assigned, cpu));
}

/*
 * Self-parking threads are parked except during a run, and CPU hotplug does not unpark them. Before
 * Linux 6.12 kthread_stop() warns if a per-CPU thread is not parked.
 */
static struct smp_hotplug_thread tb_threads = {
	.store = &tb_thread,
	.selfparking = true,
	.thread_should_run = run_assigned,
	.thread_fn = run_on_this_cpu,
	.thread_comm = "tracerbench/%u",
};

/*
 * Waits until a gate (barrier) is opened. A fatal signal stops the run with -EINTR: the threads end
 * their work early, and the last thread opens the gate.
 */
static void run_wait(struct tb_run *run, struct completion *gate)
{
	if (wait_for_completion_killable(gate)) {
		run_fail(run, -EINTR);
		wait_for_completion(gate);
	}
}

/* The caller has disabled CPU hotplug, so the set of online CPUs does not change. */
static void run_all_cpus(struct tb_run *run)
{
	unsigned int cpu, slot = 0;

	run->nr_cpus = num_online_cpus();
	atomic_set(&run->nr_preparing, run->nr_cpus);
	atomic_set(&run->nr_running, run->nr_cpus);
	for_each_online_cpu(cpu) {
		run->cpus[slot].cpu = cpu;
		per_cpu(tb_slot, cpu) = slot++;
		WRITE_ONCE(per_cpu(tb_assigned, cpu), run);
		kthread_unpark(per_cpu(tb_thread, cpu));
	}
	run_wait(run, &run->prepared);
	complete_all(&run->start);
	run_wait(run, &run->finished);
	for_each_online_cpu(cpu)
		kthread_park(per_cpu(tb_thread, cpu));
}

/*
 * Refuses a measurement run that needs more than half of the available memory. A run stores the
 * samples of all CPUs, and for each operation a heap of the @nr_highest highest samples.
 */
static int run_check_memory(const struct tb_config *config, unsigned int nr_cpus, u64 nr_highest)
{
	u64 bytes, all, heaps, available = si_mem_available() > 0 ? si_mem_available() : 0;

	if (check_mul_overflow(config->nr_samples, (u64)(TB_NR_OPS * sizeof(u64)), &bytes) ||
	    check_mul_overflow(bytes, (u64)nr_cpus, &all) ||
	    check_mul_overflow(nr_highest, (u64)(TB_NR_OPS * sizeof(u64)), &heaps) ||
	    check_add_overflow(all, heaps, &all))
		return -ENOMEM;
	return all > available / 2 * PAGE_SIZE ? -ENOMEM : 0;
}

static void run_free(struct tb_run *run)
{
	int op;

	for (op = 0; op < TB_NR_OPS; op++) {
		kvfree(run->heap[op].value);
		kvfree(run->summary[op]);
	}
	kvfree(run->scratch);
	kvfree(run->cpus);
}

static int run_init(struct tb_run *run, const struct tb_config *config)
{
	int op;

	*run = (struct tb_run){.config = config};
	init_completion(&run->prepared);
	init_completion(&run->start);
	init_completion(&run->finished);
	mutex_init(&run->heap_lock);

	run->scratch = kvmalloc_array(nr_cpu_ids, sizeof(*run->scratch), GFP_KERNEL);
	run->cpus = kvmalloc_array(nr_cpu_ids, sizeof(*run->cpus), GFP_KERNEL);
	if (!run->scratch || !run->cpus) {
		run_free(run);
		return -ENOMEM;
	}
	for (op = 0; op < TB_NR_OPS; op++) {
		run->heap[op].room = config->nr_highest;
		run->heap[op].value = kvmalloc_array(config->nr_highest, sizeof(u64), TB_GFP_LARGE);
		run->summary[op] =
			kvmalloc_array(nr_cpu_ids, sizeof(*run->summary[op]), GFP_KERNEL);
		if (!run->heap[op].value || !run->summary[op]) {
			run_free(run);
			return -ENOMEM;
		}
	}
	return 0;
}

static int run_combine(struct tb_run *run, struct tb_figures *figures)
{
	unsigned int i;
	int op, err;

	for (op = 0; op < TB_NR_OPS; op++)
		for (i = 0; i < run->nr_cpus; i++)
			run->cpus[i].op[op] = run->summary[op][i];
	for (op = 0; op < TB_NR_OPS; op++) {
		struct tb_heap *heap = &run->heap[op];
		u64 *value = figures->value[op];
		struct tb_summary all;

		err = tb_combine(run->summary[op], run->nr_cpus, run->scratch, &all);
		if (!err)
			err = tb_mean(heap->value, heap->nr, &value[TB_MAX_AVG]);
		if (err)
			return err;
		value[TB_MEDIAN] = all.median;
		value[TB_AVERAGE] = all.average;
		value[TB_MAX] = all.max;
	}
	figures->cpus = run->cpus;
	figures->nr_cpus = run->nr_cpus;
	run->cpus = NULL;
	return 0;
}

int tb_run_benchmark(const struct tb_config *config, struct tb_figures *figures)
{
	struct tb_run *run;
	int err;

	err = run_check_memory(config, num_online_cpus(), config->nr_highest);
	if (err)
		return err;
	run = kmalloc(sizeof(*run), GFP_KERNEL);
	if (!run)
		return -ENOMEM;
	err = run_init(run, config);
	if (err)
		goto free_run;
	/*
	 * Register the threads before taking the hotplug lock, because
	 * smpboot_register_percpu_thread() takes the same lock.
	 */
	err = smpboot_register_percpu_thread(&tb_threads);
	if (err)
		goto free_buffers;

	cpus_read_lock();
	run_all_cpus(run);
	cpus_read_unlock();

	smpboot_unregister_percpu_thread(&tb_threads);
	err = run->err;
	if (!err)
		err = run_combine(run, figures);
free_buffers:
	run_free(run);
free_run:
	kfree(run);
	return err;
}

struct tb_single {
	const struct tb_config *config;
	unsigned int milli;
	struct tb_figures *figures;
	struct completion done;
	bool stop;
};

static int single_measure(struct tb_single *single)
{
	struct tb_samples samples;
	int op, err;

	err = tb_samples_alloc(&samples, single->config->nr_samples);
	if (err)
		return err;
	err = tb_samples_collect(&samples, single->config->do_work, &single->stop);
	for (op = 0; op < TB_NR_OPS && !err; op++) {
		tb_sort_descending(samples.value[op], samples.nr);
		err = tb_percentile_sorted(samples.value[op], samples.nr, single->milli,
					   100 * TB_PERCENT,
					   &single->figures->value[op][TB_PERCENTILE]);
	}
	tb_samples_free(&samples);
	return err;
}

static int single_thread(void *data)
{
	struct tb_single *single = data;
	int err = single_measure(single);

	complete(&single->done);
	/* Wait for kthread_stop(), so that no thread runs in unloaded code. */
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return err;
}

/*
 * Measures a percentile. A kernel thread takes the samples and is bound to the CPU of the process
 * that wrote the debugfs file. Binding the writing process itself would change the affinity of a
 * user's task. Disabling preemption would change the measured cost.
 */
int tb_run_percentile(const struct tb_config *config, unsigned int milli,
		      struct tb_figures *figures)
{
	struct tb_single single = {.config = config, .milli = milli, .figures = figures};
	struct task_struct *thread;
	unsigned int cpu;
	int err;

	err = run_check_memory(config, 1, 0);
	if (err)
		return err;
	init_completion(&single.done);
	cpus_read_lock();
	cpu = raw_smp_processor_id();
	thread = kthread_create_on_node(single_thread, &single, cpu_to_node(cpu),
					"tracerb_pct/%u", cpu);
	if (IS_ERR(thread)) {
		err = PTR_ERR(thread);
		goto unlock;
	}
	kthread_bind(thread, cpu);
	wake_up_process(thread);
	if (wait_for_completion_killable(&single.done))
		WRITE_ONCE(single.stop, true);
	err = kthread_stop(thread);
unlock:
	cpus_read_unlock();
	return err;
}
