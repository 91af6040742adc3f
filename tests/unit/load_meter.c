/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The load meter on a source of the test's own: what happens in between is in exactly one window. */
#include "measure/load/load.h"

#include "measure/load/sources.h"
#include "test.h"

#include "abi/hist.h"

#define BURST 40 /* the bucket that every burst of the fake falls into */

/* Linked instead of the one that looks at this machine; see meson.build. */
int __wrap_load_source_open(const char *name, const struct load_source_opts *opts,
			    struct load_source **ret_source, struct err *err);

static struct load_source fake;
static uint64_t counts[HIST_NR];

static int fake_open(const struct load_source_opts *opts, struct load_source **ret_source,
		     struct err *err);

static void fake_sample(struct load_source *source, struct load_sample *samples)
{
	static uint64_t ns;

	ns += 1000000;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++)
		samples[cpu] = (struct load_sample){.stamp_ns = ns, .wall_ns = ns, .total = ns};
}

/* A burst ends just before each look: whoever looks twice per window loses one. */
static const uint64_t *fake_bursts(struct load_source *source, unsigned int cpu)
{
	(void)source;
	if (!cpu)
		counts[BURST]++;
	return counts;
}

static void fake_losses(struct load_source *source, struct load_losses *losses)
{
	(void)source;
	losses->torn = 5;
}

static void fake_close(struct load_source *source)
{
	(void)source;
}

static const struct load_source_ops fake_ops = {
	.name = "fake",
	.what = "a source of the test's own",
	.open = fake_open,
	.sample = fake_sample,
	.losses = fake_losses,
	.bursts = fake_bursts,
	.close = fake_close,
};

static int fake_open(const struct load_source_opts *opts, struct load_source **ret_source,
		     struct err *err)
{
	(void)err;
	fake = (struct load_source){.ops = &fake_ops, .nr_cpus = opts->nr_cpus, .rate = 1.0};
	*ret_source = &fake;
	return 0;
}

int __wrap_load_source_open(const char *name, const struct load_source_opts *opts,
			    struct load_source **ret_source, struct err *err)
{
	(void)name;
	return fake_open(opts, ret_source, err);
}

/* The count of CPU 0. */
static uint64_t bursts_of(const struct report *report)
{
	for (size_t i = 0; i < report->nr_tables; i++)
		if (!strcmp(report->tables[i]->key, "bursts"))
			return table_cell(report->tables[i], 0, 1)->u64;
	fail_msg("no bursts in the report");
	return 0;
}

static void test_bursts(void **state)
{
	struct load_opts opts = {.bursts = true};
	struct meter *meter;
	uint64_t first, seen = 0;

	(void)state;
	assert_int_equal(load_open(&opts, &meter, NULL), 0);
	assert_int_equal(meter->ops->start(meter, NULL), 0);
	first = counts[BURST];
	for (int i = 0; i < 3; i++) {
		struct report *report;

		assert_int_equal(meter->ops->read(meter, &report, NULL), 0);
		seen += bursts_of(report);
		report_free(report);
	}
	/* Each burst since the start is in one window. */
	assert_int_equal(seen, counts[BURST] - first);
	assert_true(seen >= 3);
	meter->ops->close(meter);
}

/* What the source cannot lose is no key at all: a zero would be a promise. */
static void test_losses(void **state)
{
	struct load_opts opts = {0};
	struct report *report;
	struct meter *meter;

	(void)state;
	assert_int_equal(load_open(&opts, &meter, NULL), 0);
	assert_int_equal(meter->ops->start(meter, NULL), 0);
	assert_int_equal(meter->ops->read(meter, &report, NULL), 0);
	assert_int_equal(
		table_cell(report->quality, 0, table_find(report->quality, "torn_total"))->u64, 5);
	assert_int_equal(table_find(report->quality, "odd_edges_total"), -1);
	assert_int_equal(table_find(report->quality, "read_error_total"), -1);
	report_free(report);
	meter->ops->close(meter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
