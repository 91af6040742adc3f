/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the noise meter with a simulated source: parts, closure error, verdict, missing values. */
#include "measure/noise/noise.h"
#include "present/noise.h"
#include "report_rows.h"

#include <math.h>

#include "measure/load/load.h"
#include "measure/load/sources.h"
#include "report/report.h"
#include "host/procstat.h"
#include "test.h"

#define MSEC 1000000ULL
#define STEP (100 * MSEC)

static struct noise_cpu *counts;
static struct noise_sends *sends;
static uint64_t steps, stolen_ticks;
static uint32_t next_flags;
static uint64_t next_hotplug_steps;
static int opened, closed;

/*
 * Each step has 20 ms of tasks (4 ms of them a kernel thread), 5 ms of hardirqs, 3 ms of softirqs,
 * and idle time.
 */
static void fake_sample(struct load_source *source, struct load_sample *samples)
{
	steps++;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		struct load_sample *s = &samples[cpu];

		*s = (struct load_sample){.stamp_ns = steps * STEP, .wall_ns = steps * STEP,
					  .total = steps * STEP, .flags = next_flags,
					  .hotplug_steps = next_hotplug_steps};
		s->part_ns[LOAD_PART_TASK] = steps * 20 * MSEC;
		s->part_ns[LOAD_PART_HARDIRQ] = steps * 5 * MSEC;
		s->part_ns[LOAD_PART_SOFTIRQ_ON_TASK] = steps * MSEC;
		s->part_ns[LOAD_PART_SOFTIRQ_ON_IDLE] = steps * 2 * MSEC;
		s->part_ns[LOAD_PART_IDLE] = steps * (STEP - 28 * MSEC);
	}
}

static void add(struct noise_cell *cell, uint64_t turn, uint64_t count, uint64_t ns)
{
	cell->sum.key = 1;
	cell->sum.count += count;
	cell->sum.ns += ns;
	cell->sum.longest[turn & 1] = turn << NOISE_WINDOW_SHIFT | ns;
	cell->hist[10] += count;
}

static uint64_t fake_noise(struct load_source *source)
{
	return steps - 1;
}

static void fake_losses(struct load_source *source, struct load_losses *losses)
{
	losses->odd_edges = 0;
}

static void fake_close(struct load_source *source)
{
	closed++;
}

static const struct load_source_ops fake_ops = {
	.name = "bpf",
	.sample = fake_sample,
	.noise = fake_noise,
	.losses = fake_losses,
	.close = fake_close,
};
static struct load_source fake = {
	.ops = &fake_ops, .rate = 1.0, .parts = ((1u << LOAD_NR_PARTS) - 1) & ~(1u << LOAD_PART_STEAL)};

/* Test doubles of functions that read the test machine; see meson.build. */
int __wrap_load_source_open(const char *name, const struct load_source_opts *opts,
			    struct load_source **ret_source, struct err *err)
{
	assert_true(opts->noise);
	assert_true(!name || !strcmp(name, "bpf"));
	opened++;
	fake.nr_cpus = opts->nr_cpus;
	counts = calloc(opts->nr_cpus, sizeof(*counts));
	sends = calloc(opts->nr_cpus, sizeof(*sends));
	fake.noise = counts;
	fake.sends = sends;
	*ret_source = &fake;
	return 0;
}

int __wrap_procstat_read(struct sys_text *stat, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		cpus[cpu] = (struct procstat_cpu){.nr_cols = PROCSTAT_STEAL + 1};
		cpus[cpu].ticks[PROCSTAT_STEAL] = stolen_ticks;
	}
	return 0;
}

static struct meter *begin(const struct noise_opts *opts)
{
	struct meter *meter;

	steps = stolen_ticks = 0;
	next_flags = 0;
	assert_int_equal(noise_open(opts, &meter, NULL), 0);
	assert_int_equal(meter->ops->start(meter, NULL), 0);
	return meter;
}

static void end(struct meter *meter)
{
	meter->ops->close(meter);
	free(counts);
	free(sends);
}

static const struct noise_core *window(struct meter *meter, uint64_t line_ns)
{
	add(&counts[0].lines[3], steps, 10, line_ns);
	add(&counts[0].vecs[3], steps, 5, 3 * MSEC);
	add(&counts[0].threads[7], steps, 2, 4 * MSEC);
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	return &noise_window(meter)->cores[0];
}

TEST(closes)
{
	struct noise_opts opts = {.cpus = {{1}}};
	struct meter *meter = begin(&opts);
	const struct noise_core *core = window(meter, 5 * MSEC);

	assert_int_equal(noise_window(meter)->nr_cores, 1);
	assert_int_equal(core->class_ns[NOISE_HARDIRQ], 5 * MSEC);
	assert_int_equal(core->class_ns[NOISE_SOFTIRQ], 3 * MSEC);
	assert_int_equal(core->class_ns[NOISE_THREAD], 4 * MSEC);
	assert_int_equal(core->task_ns, 16 * MSEC);
	assert_int_equal(core->part_ns[LOAD_PART_IDLE], 72 * MSEC);
	assert_int_equal(core->events, 17);
	assert_int_equal(core->longest_ns, 5 * MSEC);
	assert_true(fabs(noise_share(core) - 0.12) < 1e-9);
	assert_true(fabs(noise_rate(core) - 170.0) < 1e-6);
	assert_true(core->closure_error_ratio < 1e-9);
	assert_false(core->exceeded);
	end(meter);
}

/*
 * The closure error is the difference between the times of `subtick load` and the times of the
 * noise sources.
 */
TEST(does_not_close)
{
	struct noise_opts opts = {.cpus = {{1}}};
	struct meter *meter = begin(&opts);
	const struct noise_core *core = window(meter, 4 * MSEC);

	assert_true(fabs(core->closure_error_ratio - 0.01) < 1e-9);
	core = window(meter, 7 * MSEC);
	assert_true(fabs(core->closure_error_ratio - 0.02) < 1e-9);
	assert_true(fabs(noise_window(meter)->closure_max_ratio - 0.02) < 1e-9);
	/* Kernel threads have more time in the noise counters than all tasks in `subtick load`. */
	add(&counts[0].threads[8], steps, 1, 26 * MSEC);
	core = window(meter, 5 * MSEC);
	assert_int_equal(core->task_ns, 0);
	assert_true(fabs(core->closure_error_ratio - 0.10) < 1e-9);
	end(meter);
}

/* An NMI is counted, and its time is part of the time of the interrupted task or interrupt. */
TEST(nmi)
{
	struct noise_opts opts = {.cpus = {{1}}};
	struct meter *meter = begin(&opts);
	const struct noise_core *core;

	add(&counts[0].nmi, steps, 1, 6 * MSEC);
	core = window(meter, 5 * MSEC);
	assert_int_equal(core->class_ns[NOISE_HARDIRQ], 5 * MSEC);
	assert_int_equal(core->events, 18);
	assert_int_equal(core->longest_ns, 6 * MSEC);
	assert_true(core->closure_error_ratio < 1e-9);
	end(meter);
}

TEST(judged)
{
	struct noise_opts opts = {.cpus = {{1}}, .judged = true, .limits = noise_no_limits};
	struct meter *meter;

	opts.limits.max_ns = 6 * MSEC;
	meter = begin(&opts);
	assert_false(window(meter, 6 * MSEC)->exceeded);
	assert_true(window(meter, 6 * MSEC + 1)->exceeded);
	assert_int_equal(noise_window(meter)->exceeded, 1);
	assert_false(window(meter, 5 * MSEC)->exceeded);
	assert_int_equal(noise_window(meter)->exceeded, 0);
	assert_int_equal(noise_window(meter)->windows_exceeded, 1);
	end(meter);
}

/*
 * A core that is offline at the start or the end of a window has no values. The time of this window
 * is not added to a later window.
 */
TEST(offline)
{
	struct noise_opts opts = {.cpus = {{1}}};
	struct meter *meter = begin(&opts);

	next_flags = LOAD_OFFLINE;
	assert_true(window(meter, 5 * MSEC)->flags & LOAD_OFFLINE);
	assert_int_equal(noise_window(meter)->nr_sources, 0);
	assert_int_equal(noise_window(meter)->cores[0].events, 0);
	next_flags = 0;
	assert_true(window(meter, 5 * MSEC)->flags & LOAD_NO_FIGURE);
	assert_int_equal(noise_window(meter)->nr_sources, 0);
	assert_int_equal(window(meter, 5 * MSEC)->class_ns[NOISE_HARDIRQ], 5 * MSEC);
	end(meter);
}

TEST(hotplugged)
{
	struct noise_opts opts = {.cpus = {{1}}};
	struct meter *meter = begin(&opts);

	next_hotplug_steps = 2;
	assert_true(window(meter, 5 * MSEC)->flags & LOAD_HOTPLUGGED);
	assert_int_equal(noise_window(meter)->nr_sources, 0);
	assert_int_equal(window(meter, 5 * MSEC)->class_ns[NOISE_HARDIRQ], 5 * MSEC);
	next_hotplug_steps = 0;
	end(meter);
}

/* A load meter and a noise meter share one set of BPF programs until both meters are closed. */
TEST(beside_load)
{
	struct load_opts load_opts = {.cpus = {{1}}, .noise = true};
	struct noise_opts opts = {.cpus = {{1}}};
	struct meter *load, *meter;

	opened = closed = 0;
	assert_int_equal(load_open(&load_opts, &load, NULL), 0);
	opts.load = load;
	meter = begin(&opts);
	assert_int_equal(opened, 1);
	assert_int_equal(load->ops->start(load, NULL), 0);
	assert_int_equal(load->ops->read(load, NULL), 0);
	add(&counts[0].lines[3], steps, 10, 15 * MSEC);
	add(&counts[0].vecs[3], steps, 5, 9 * MSEC);
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	/* Samples of the load meter do not end the window of the noise meter. */
	assert_int_equal(noise_window(meter)->cores[0].window_ns, 3 * STEP);
	assert_true(noise_window(meter)->cores[0].closure_error_ratio < 1e-9);
	load->ops->close(load);
	assert_int_equal(closed, 0);
	end(meter);
	assert_int_equal(closed, 1);
	assert_int_equal(fake.more_users, 0);
}

TEST(stolen)
{
	struct noise_opts opts = {.cpus = {{1}}};
	struct meter *meter = begin(&opts);
	const struct noise_core *core = window(meter, 5 * MSEC);

	assert_true(core->steal_ns == UINT64_MAX);
	stolen_ticks = 1;
	core = window(meter, 5 * MSEC);
	assert_int_equal(core->steal_ns, 10 * MSEC);
	assert_int_equal(core->class_ns[NOISE_HARDIRQ], 5 * MSEC);
	assert_int_equal(core->task_ns, 16 * MSEC);
	end(meter);
}

static const struct table *table_of(const struct report *report, const char *key)
{
	for (size_t i = 0; i < report->nr_tables; i++)
		if (!strcmp(report->tables[i]->key, key))
			return report->tables[i];
	return NULL;
}

static struct report *report_of(struct meter *meter)
{
	struct report *report = NULL;

	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_int_equal(noise_report(noise_window(meter), NULL, &report), 0);
	return report;
}

static bool calls_known(const struct report *report)
{
	return table_cell(report->quality, 0, table_find(report->quality, "calls_known"))->flag;
}

static void call(int entry, uint64_t count, const char *name)
{
	struct noise_send *send = &sends[0].of[NOISE_SEND_CALL].sends[entry];

	send->sum = (struct noise_sum){.key = 4096 + entry, .id = 0, .count = count};
	snprintf(send->name, sizeof(send->name), "%s", name);
}

/*
 * The report has a table of functions called by IPI. A function without a symbol is null. A note is
 * added if the kernel lacks tracepoint csd_queue_cpu.
 */
TEST(functions)
{
	struct noise_opts opts = {.cpus = {{1}}, .senders = true};
	struct meter *meter;
	struct report *report;
	const struct table *table;

	fake.noise_calls = true;
	meter = begin(&opts);
	call(0, 5, "ipi_mb");
	report = report_of(meter);
	table = table_of(report, "calls");
	assert_int_equal(table->nr_rows, 1);
	assert_string_equal(table_cell(table, 0, table_find(table, "function"))->str, "ipi_mb");
	assert_int_equal(table_cell(table, 0, table_find(table, "count"))->u64, 5);
	assert_false(notes_say(report, "CONFIG_KALLSYMS"));
	assert_true(calls_known(report));
	report_free(report);
	call(1, 3, "0xffff800080001234");
	report = report_of(meter);
	table = table_of(report, "calls");
	assert_int_equal(table_cell(table, 0, table_find(table, "function"))->kind, VALUE_NULL);
	assert_true(notes_say(report, "CONFIG_KALLSYMS"));
	report_free(report);
	end(meter);

	fake.noise_calls = false;
	meter = begin(&opts);
	report = report_of(meter);
	assert_non_null(table_of(report, "senders"));
	assert_null(table_of(report, "calls"));
	assert_true(notes_say(report, "csd_queue_cpu"));
	assert_false(calls_known(report));
	report_free(report);
	end(meter);
}

TEST_MAIN()
