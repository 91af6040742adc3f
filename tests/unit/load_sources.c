/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests sources of `subtick load`: hotplug, half-written counters, columns, losses. */
#include "test.h"

#include "measure/load/bpf.c"
#include "measure/load/taskclock.c"

#include "measure/load/sources.h"
#include "host/procstat.h"

#define CPUS  3
#define START 5000000ULL

static uint64_t now_ns;
static struct cpuset online;
static int mask_reads, read_rc;
static struct procstat_cpu stat_lines[CPUS];
static struct schedstat_cpu sched_lines[CPUS];

/* Test doubles of functions that read the test machine; see meson.build. */
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	*ts = clock_timespec(now_ns);
	return 0;
}

int __wrap_cpu_online_read(struct cpu_online *file)
{
	mask_reads++;
	file->set = online;
	return 0;
}

uint64_t __wrap_sys_bpf_recursion_misses(const struct bpf_object *obj)
{
	return 77;
}

int __wrap_procstat_open(struct sys_text *stat, const char *root, struct err *err)
{
	return 0;
}

int __wrap_procstat_read(struct sys_text *stat, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	memcpy(cpus, stat_lines, nr_cpus * sizeof(*cpus));
	return read_rc;
}

int __wrap_schedstat_open(struct sys_text *stat, const char *root, struct err *err)
{
	return 0;
}

int __wrap_schedstat_read(struct sys_text *stat, struct schedstat_cpu *cpus, unsigned int nr_cpus)
{
	memcpy(cpus, sched_lines, nr_cpus * sizeof(*cpus));
	return read_rc;
}

/* Simulates the state of source bpf after all programs are attached. */
static struct core_bpf__data data;
static struct core_bpf__rodata rodata;
static struct core_bpf skel = {.data = &data, .rodata = &rodata};
static struct core_block cores[CPUS + 1];
static struct load_cpu_note notes[CPUS];
static struct bpf_source source;
static struct load_sample samples[CPUS];

static int setup(void **state)
{
	memset(cores, 0, sizeof(cores));
	memset(notes, 0, sizeof(notes));
	data = (struct core_bpf__data){0};
	rodata.first_idle = LOAD_HALT;
	online = (struct cpuset){0};
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		cpuset_add(&online, cpu);
	source = (struct bpf_source){
		.source = {.ops = &load_source_bpf, .nr_cpus = CPUS, .rate = 1.0},
		.core.skel = &skel,
		.online = {.set = online},
		.hotplug_traced = true,
		.start_ns = START,
		.cores = cores,
		.notes = notes,
	};
	mask_reads = read_rc = 0;
	return 0;
}

static void sample_at(uint64_t ns)
{
	now_ns = START + ns;
	/* Fill the samples with garbage, to test that a source sets every field. */
	memset(samples, 0xff, sizeof(samples));
	load_source_bpf.sample(&source.source, samples);
}

/* A core without events runs the task that the iterator found, or is idle. */
TEST_WITH(test_silent_cores, setup, NULL)
{
	notes[1].seed_ctx = LOAD_TASK + 1;
	notes[2].seed_ctx = LOAD_HALT + 1;
	sample_at(1000);
	assert_int_equal(samples[0].part_ns[LOAD_PART_IDLE], 1000);
	assert_int_equal(samples[1].part_ns[LOAD_PART_TASK], 1000);
	assert_int_equal(samples[2].part_ns[LOAD_PART_IDLE], 1000);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(samples[cpu].stamp_ns, START + 1000);
		assert_int_equal(samples[cpu].flags, 0);
		assert_int_equal(samples[cpu].total, 1000);
	}
	rodata.first_idle = LOAD_POLL;
	sample_at(2000);
	assert_int_equal(samples[0].part_ns[LOAD_PART_POLL_IDLE], 2000);
}

TEST_WITH(test_hotplug, setup, NULL)
{
	sample_at(1000);
	sample_at(2000);
	assert_int_equal(mask_reads, 0);
	cpuset_del(&online, 1);
	data.hotplug_steps++;
	notes[1].hotplug_steps++;
	sample_at(3000);
	assert_int_equal(mask_reads, 1);
	assert_int_equal(samples[1].flags, LOAD_OFFLINE);
	assert_int_equal(samples[1].stamp_ns, START + 3000);
	assert_int_equal(samples[1].hotplug_steps, 1);
	assert_int_equal(samples[0].flags, 0);
	sample_at(4000);
	assert_int_equal(samples[1].flags, LOAD_OFFLINE);
	/*
	 * CPU 1 comes online, which changes hotplug_steps in this window, but not in the next
	 * window.
	 */
	cpuset_add(&online, 1);
	data.hotplug_steps++;
	notes[1].hotplug_steps++;
	sample_at(5000);
	assert_int_equal(samples[1].flags, 0);
	assert_int_equal(samples[1].hotplug_steps, 2);
	assert_int_equal(samples[2].hotplug_steps, 0);
	sample_at(6000);
	assert_int_equal(samples[1].hotplug_steps, 2);
	data.hotplug_steps += 2;
	notes[2].hotplug_steps += 2;
	sample_at(7000);
	assert_int_equal(samples[2].hotplug_steps, 2);
	assert_int_equal(samples[1].hotplug_steps, 2);
	/* On a kernel without hotplug events, each sample reads the mask of online CPUs. */
	source.hotplug_traced = false;
	mask_reads = 0;
	sample_at(8000);
	sample_at(9000);
	assert_int_equal(mask_reads, 2);
}

/* If the counters are half-written at every read, the sample is LOAD_TORN. */
TEST_WITH(test_torn_and_losses, setup, NULL)
{
	struct load_losses losses = {.read_errors = LOAD_NO_LOSS};

	/* The counters are half-written: the sums lack the time until the last context change. */
	cores[1].load.base = 500 << 8 | LOAD_TASK;
	cores[0].load.odd_edges = 2;
	cores[2].load.odd_edges = 3;
	cores[2].load.paused_lost = 4;
	cores[2].load.pmu_errors = 5;
	sample_at(1000);
	assert_int_equal(samples[1].flags, LOAD_TORN);
	assert_int_equal(samples[0].flags | samples[2].flags, 0);
	sample_at(2000);
	load_source_bpf.losses(&source.source, &losses);
	assert_int_equal(losses.torn, 2);
	assert_int_equal(losses.odd_edges, 5);
	assert_int_equal(losses.paused_lost, 4);
	assert_int_equal(losses.recursion_misses, 77);
	assert_true(losses.read_errors == LOAD_NO_LOSS);
	source.has_pmu = true;
	load_source_bpf.losses(&source.source, &losses);
	assert_int_equal(losses.read_errors, 5);
	source.has_pmu = false;
}

TEST_WITH(test_taskclock, setup, NULL)
{
	struct taskclock_bpf__bss own_bss = {.start_ns = START};
	struct taskclock_bpf own = {.bss = &own_bss};
	struct taskclock_slot clocks[CPUS] = {
		/* The core was idle for 100 ns, and has run a task since then. */
		{.state = 100 << 1 | 1, .idle_ns = 100},
		/* The core ran a task for 300 ns, and has been idle since then. */
		{.state = 300 << 1, .task_ns = 300},
		/* The counters are half-written: the time stamp is newer than the sums. */
		{.state = 700 << 1 | 1, .task_ns = 300},
	};
	struct taskclock_source t = {.source = {.ops = &load_source_taskclock, .nr_cpus = CPUS},
				     .skel = &own,
				     .slots = clocks};
	struct load_losses losses = {0};

	now_ns = START + 1000;
	memset(samples, 0xff, sizeof(samples));
	load_source_taskclock.sample(&t.source, samples);
	assert_int_equal(samples[0].busy, 900);
	assert_int_equal(samples[1].busy, 300);
	assert_int_equal(samples[1].total, 1000);
	assert_int_equal(samples[1].stamp_ns, START + 1000);
	assert_int_equal(samples[0].flags | samples[1].flags, 0);
	assert_int_equal(samples[2].flags, LOAD_TORN);
	clocks[1] = (struct taskclock_slot){.state = 1500 << 1 | 1, .task_ns = 1500};
	cpuset_del(&online, 0);
	load_source_taskclock.sample(&t.source, samples);
	assert_int_equal(samples[1].busy, 1500);
	assert_int_equal(samples[1].total, 1500);
	assert_int_equal(samples[0].flags, LOAD_OFFLINE);
	load_source_taskclock.losses(&t.source, &losses);
	assert_int_equal(losses.torn, 2);
	assert_int_equal(losses.recursion_misses, 77);
}

static struct load_source *open_source(const struct load_source_ops *ops)
{
	struct load_source *opened;

	assert_int_equal(load_source_open(ops->name, &(struct load_source_opts){.nr_cpus = CPUS}, &opened,
					  NULL),
			 0);
	return opened;
}

/* Guest time is already part of user time. iowait counts as idle time, steal does not. */
TEST_WITH(test_columns, setup, NULL)
{
	const struct load_source_ops *const both[] = {&load_source_procstat, &load_source_procidle};
	struct load_losses losses = {0};

	for (int cpu = 0; cpu < 2; cpu++)
		stat_lines[cpu] = (struct procstat_cpu){
			.ticks = {1000, 200, 300, 4000, 500, 60, 70, 8, 900, 100}, .nr_cols = 10};
	stat_lines[2] = (struct procstat_cpu){0};
	now_ns = START;
	for (int i = 0; i < 2; i++) {
		struct load_source *opened = open_source(both[i]);
		uint64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);

		memset(samples, 0xff, sizeof(samples));
		opened->ops->sample(opened, samples);
		assert_int_equal(samples[1].flags, 0);
		assert_int_equal(samples[1].stamp_ns, START);
		if (i) {
			assert_int_equal(samples[1].total, START);
			assert_true(samples[1].busy == START - 4500 * tick_ns);
		} else {
			assert_int_equal(samples[1].busy, 1000 + 200 + 300 + 60 + 70 + 8);
			assert_int_equal(samples[1].total, 4000 + 500 + 1638);
		}
		assert_int_equal(samples[2].flags, LOAD_OFFLINE);
		read_rc = -EINVAL;
		opened->ops->sample(opened, samples);
		read_rc = 0;
		assert_int_equal(samples[0].flags, LOAD_READ_FAILED);
		opened->ops->losses(opened, &losses);
		assert_int_equal(losses.read_errors, 1);
		load_source_close(opened);
	}
}

TEST_WITH(test_schedstat, setup, NULL)
{
	struct load_source *opened = open_source(&load_source_schedstat);
	struct load_losses losses = {0};

	sched_lines[0] = (struct schedstat_cpu){.run_ns = 111, .present = true};
	sched_lines[1] = (struct schedstat_cpu){0};
	now_ns = START;
	opened->ops->sample(opened, samples);
	assert_int_equal(samples[0].busy, 111);
	assert_int_equal(samples[0].total, START);
	assert_int_equal(samples[0].flags, 0);
	assert_int_equal(samples[1].flags, LOAD_OFFLINE);
	read_rc = -EINVAL;
	opened->ops->sample(opened, samples);
	assert_int_equal(samples[0].flags, LOAD_READ_FAILED);
	opened->ops->losses(opened, &losses);
	assert_int_equal(losses.read_errors, 1);
	load_source_close(opened);
}

TEST_MAIN()
