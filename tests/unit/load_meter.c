/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the window and the report of the load meter with simulated sources. */
#include "measure/load/load.h"
#include "present/load.h"

#include <math.h>
#include <unistd.h>

#include "measure/load/sources.h"
#include "subtick/load.h"
#include "host/procstat.h"
#include "test.h"

#define BURST 40 /* histogram bucket of every busy period of the simulated source */
#define VEC   3
#define MSEC  1000000ULL

/* Test double that opens the simulated sources; see meson.build. */
int __real_load_source_open(const char *name, const struct load_source_opts *opts,
			    struct load_source **ret_source, struct err *err);

/*
 * Counters of the simulated source, which never decrease. In each step a task runs for a quarter of
 * the time, and the core is idle for the rest.
 */
static uint64_t now_ns, step_ns = MSEC, bursts[HIST_NR], vec_ns;
static uint64_t stolen_ticks;
static bool stat_without_cpus, real_procstat;
static unsigned int stat_reads;
static int stat_result;
static uint32_t next_flags;

static void fake_sample(struct load_source *source, struct load_sample *samples)
{
	now_ns += step_ns;
	vec_ns += 10;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		struct load_sample *s = &samples[cpu];

		*s = (struct load_sample){.stamp_ns = now_ns,
					  .wall_ns = now_ns,
					  .total = now_ns,
					  .busy = now_ns / 4,
					  .flags = next_flags};
		s->part_ns[LOAD_PART_TASK] = now_ns / 4;
		s->part_ns[LOAD_PART_IDLE] = now_ns - now_ns / 4;
	}
}

/*
 * A busy period ends just before each read. A meter that reads twice per window would lose a busy
 * period.
 */
static const uint64_t *fake_bursts(struct load_source *source, unsigned int cpu)
{
	if (!cpu)
		bursts[BURST]++;
	return bursts;
}

static void fake_vecs(struct load_source *source, unsigned int cpu, struct load_vecs *ret_vecs)
{
	*ret_vecs = (struct load_vecs){.ns[VEC] = vec_ns, .count[VEC] = vec_ns / 10};
}

static void fake_losses(struct load_source *source, struct load_losses *losses)
{
	losses->torn = 5;
}

static void fake_close(struct load_source *source)
{
}

static const struct load_source_ops fake_ops = {
	.name = "bpf",
	.what = "a source of the test's own",
	.sample = fake_sample,
	.losses = fake_losses,
	.vecs = fake_vecs,
	.bursts = fake_bursts,
	.close = fake_close,
};

/* Simulates /proc/stat as second source, without parts: twice the load of the first source. */
static void stat_sample(struct load_source *source, struct load_sample *samples)
{
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++)
		samples[cpu] = (struct load_sample){
			.stamp_ns = now_ns, .total = now_ns / MSEC * 10, .busy = now_ns / MSEC * 5};
}

static const struct load_source_ops stat_ops = {
	.name = "procstat",
	.what = "another",
	.sample = stat_sample,
	.losses = fake_losses,
	.close = fake_close,
};

static struct load_source fake = {
	.ops = &fake_ops, .rate = 1.0, .parts = 1u << LOAD_PART_TASK | 1u << LOAD_PART_IDLE};
static struct load_source stat = {.ops = &stat_ops, .rate = 1.0};

int __wrap_load_source_open(const char *name, const struct load_source_opts *opts,
			    struct load_source **ret_source, struct err *err)
{
	fake.nr_cpus = stat.nr_cpus = opts->nr_cpus;
	if (name && strcmp(name, "procstat"))
		return -ENOENT;
	if (name && real_procstat)
		return __real_load_source_open(name, opts, ret_source, err);
	*ret_source = name ? &stat : &fake;
	return 0;
}

int __wrap_procstat_read(struct sys_text *file, struct procstat_cpu *cpus, unsigned int nr_cpus)
{
	stat_reads++;
	memset(cpus, 0, nr_cpus * sizeof(*cpus));
	for (unsigned int cpu = 0; cpu < nr_cpus && !stat_without_cpus; cpu++) {
		cpus[cpu].nr_cols = PROCSTAT_NR_COLS;
		cpus[cpu].ticks[PROCSTAT_STEAL] = stolen_ticks;
	}
	return stat_result;
}

static struct meter *open_started(const struct load_opts *opts)
{
	struct meter *meter;

	assert_int_equal(load_open(opts, &meter, NULL), 0);
	assert_int_equal(meter->ops->start(meter, NULL), 0);
	return meter;
}

TEST(test_bursts)
{
	struct meter *meter = open_started(&(struct load_opts){.bursts = true});
	uint64_t first = bursts[BURST], seen = 0;

	for (int i = 0; i < 3; i++) {
		assert_int_equal(meter->ops->read(meter, NULL), 0);
		seen += load_window(meter)->cpu_bursts[0][BURST];
	}
	assert_int_equal(seen, bursts[BURST] - first);
	assert_true(seen >= 3);
	meter->ops->close(meter);
}

TEST(test_window)
{
	struct meter *meter = open_started(&(struct load_opts){.softirq = true});
	const struct load_window *w = load_window(meter);

	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_string_equal(w->source, "bpf");
	assert_null(w->passed_over);
	assert_true(cpuset_count(&w->cpus) >= 1);
	assert_int_equal(w->cpu[0].window_ns, MSEC);
	assert_int_equal(w->cpu[0].busy_ns + w->cpu[0].part_ns[LOAD_PART_STEAL], MSEC / 4);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_IDLE], MSEC - MSEC / 4);
	assert_true(w->closure_max_ratio < 1e-9);
	assert_int_equal(w->parts & ~(1u << LOAD_PART_STEAL), fake.parts);
	assert_int_equal(w->parts >> LOAD_PART_STEAL & 1, w->steal_known);
	assert_int_equal(w->cpu_vecs[0].ns[VEC], 10);
	assert_int_equal(w->cpu_vecs[0].count[VEC], 1);
	assert_null(w->cpu_bursts);
	assert_int_equal(w->losses.torn, 5);
	assert_true(w->losses.odd_edges == LOAD_NO_LOSS);
	assert_null(load_shown(w, "procstat", 0));
	meter->ops->close(meter);
}

/* Stolen time of 5 % does not count as busy time, and is subtracted from the other parts once. */
TEST(test_steal)
{
	struct meter *meter;
	const struct load_window *w;
	uint64_t tick_ns = 1000 * MSEC / sysconf(_SC_CLK_TCK);

	step_ns = 1000 * MSEC;
	stolen_ticks = 0;
	meter = open_started(&(struct load_opts){0});
	w = load_window(meter);
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	/* If the steal column is 0, it is unknown whether the kernel accounts steal. */
	assert_false(w->steal_known);
	assert_int_equal(w->parts >> LOAD_PART_STEAL & 1, 0);
	stolen_ticks = 5;
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_true(w->steal_known);
	assert_int_equal(w->parts >> LOAD_PART_STEAL & 1, 1);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_STEAL], 5 * tick_ns);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_TASK], 237500000);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_IDLE], 712500000);
	assert_int_equal(w->cpu[0].busy_ns, 237500000);
	/*
	 * The steal column of /proc/stat first stays the same and then decreases, as can happen
	 * after CPU hotplug.
	 */
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_STEAL], 0);
	stolen_ticks = 3;
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_STEAL], 0);
	/* /proc/stat had no line for the CPU at the start, so steal is unknown. */
	stat_without_cpus = true;
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	stat_without_cpus = false;
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_STEAL], 0);
	meter->ops->close(meter);
	step_ns = MSEC;
	stolen_ticks = 0;
}

/* procstat reads /proc/stat once per window. After a failed read steal is unknown. */
TEST(test_steal_shared)
{
	struct meter *meter;
	const struct load_window *w;

	step_ns = 1000 * MSEC;
	real_procstat = true;
	meter = open_started(&(struct load_opts){.compare = true});
	w = load_window(meter);
	stat_reads = 0;
	stolen_ticks = 5;
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_int_equal(stat_reads, 1);
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_STEAL],
			 5 * (1000 * MSEC / sysconf(_SC_CLK_TCK)));
	stat_result = -EIO;
	stolen_ticks = 9;
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	stat_result = 0;
	assert_int_equal(w->cpu[0].part_ns[LOAD_PART_STEAL], 0);
	meter->ops->close(meter);
	real_procstat = false;
	step_ns = MSEC;
	stolen_ticks = 0;
}

TEST(test_shown)
{
	struct meter *meter = open_started(&(struct load_opts){.compare = true});
	const struct load_window *w = load_window(meter);

	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_true(fabs(load_shown(w, "procstat", 0)->busy_ratio - 0.5) < 1e-9);
	assert_ptr_equal(load_shown(w, "bpf", 0), &w->cpu[0]);
	assert_null(load_shown(w, "schedstat", 0));
	next_flags = LOAD_TORN;
	assert_int_equal(meter->ops->read(meter, NULL), 0);
	next_flags = 0;
	assert_null(load_shown(w, "bpf", 0));
	assert_non_null(load_shown(w, "procstat", 0));
	meter->ops->close(meter);
}

static const struct value *quality(const struct report *report, const char *key)
{
	int col = table_find(report->quality, key);

	return col < 0 ? NULL : table_cell(report->quality, 0, col);
}

static const struct value *cell(const struct table *table, const char *key)
{
	int col = table_find(table, key);

	assert_true(col >= 0);
	return table_cell(table, 0, col);
}

TEST(test_report)
{
	struct meter *meter =
		open_started(&(struct load_opts){.compare = true, .softirq = true, .bursts = true});
	const struct load_window *w = load_window(meter);
	struct report *report;

	assert_int_equal(meter->ops->read(meter, NULL), 0);
	assert_int_equal(load_report(w, &report), 0);
	assert_int_equal(report->window_ns, w->window_ns);
	assert_string_equal(report->tables[0]->key, "cpus");
	assert_true(cell(report->tables[0], "task_ratio")->f64 ==
		    load_part_ratio(&w->cpu[0], LOAD_PART_TASK));
	/*
	 * Unknown values are null. A kind of loss that the source cannot count has no key, because
	 * 0 would mean no loss.
	 */
	assert_int_equal(cell(report->tables[0], "hardirq_ratio")->kind, VALUE_NULL);
	assert_true(cell(report->tables[0], "compare.procstat_busy_ratio")->f64 == 0.5);
	assert_true(cell(report->fields, "wrong_ratio")->f64 == w->wrong_ratio);
	assert_int_equal(cell(report->tables[0], "compare.bpf_pmu_busy_ratio")->kind, VALUE_NULL);
	assert_int_equal(quality(report, "torn_total")->u64, 5);
	assert_null(quality(report, "odd_edges_total"));
	assert_null(quality(report, "read_error_total"));
	assert_string_equal(report->tables[1]->key, "all");
	assert_true(report->tables[1]->sum);
	assert_string_equal(cell(report->tables[1], "cpu")->str, "all");
	assert_true(cell(report->tables[1], "compare.procstat_busy_ratio")->f64 == 0.5);
	assert_string_equal(report->tables[2]->key, "softirqs");
	assert_string_equal(cell(report->tables[2], "vec")->str, "NET_RX");
	assert_true(cell(report->tables[2], "softirq_ratio")->f64 == 10.0 / MSEC);
	assert_string_equal(report->tables[3]->key, "bursts");
	assert_int_equal(cell(report->tables[3], "count")->u64, w->cpu_bursts[0][BURST]);
	report_free(report);
	meter->ops->close(meter);
}

/* The library returns the same values as `subtick load`, even if the kernel accounts steal. */
TEST(test_steal_of_the_library)
{
	uint64_t tick_ns = 1000 * MSEC / sysconf(_SC_CLK_TCK);
	double stolen = (double)(5 * tick_ns) / (1000 * MSEC), busy, task, steal;
	const struct subtick_window *w;
	struct subtick *load;

	step_ns = 1000 * MSEC;
	stolen_ticks = 0;
	assert_int_equal(subtick_load_open(&load, NULL), 0);
	assert_int_equal(subtick_read(load, &w), 0);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_STEAL_RATIO, &steal), -ENODATA);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_BUSY_RATIO, &busy), 0);
	assert_true(busy == 0.25);
	stolen_ticks = 5;
	assert_int_equal(subtick_read(load, &w), 0);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_STEAL_RATIO, &steal), 0);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_TASK_RATIO, &task), 0);
	assert_int_equal(subtick_double(w, SUBTICK_CPUS, 0, SUBTICK_BUSY_RATIO, &busy), 0);
	assert_true(fabs(steal - stolen) < 1e-6);
	assert_true(fabs(task - 0.25 * (1.0 - stolen)) < 1e-6);
	assert_true(fabs(busy - 0.25 * (1.0 - stolen)) < 1e-6);
	subtick_close(load);
	step_ns = MSEC;
	stolen_ticks = 0;
}

TEST_MAIN()
