/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests collectors of the exporter: losses, reports, limits, and maxima that expire. */

#include "base/clock.h"
#include "serve/export/collector.h"
#include "serve_store.h"
#include "measure/noise/noise.h"

static bool meter_fails;

/* Simulates a meter with 5 losses of kind torn and 7 of kind table_full since its start. */
static int lossy_read(struct meter *meter, struct err *err)
{
	return meter_fails ? err_set(err, -EIO, "broken on purpose") : 0;
}

static uint64_t presented; /* number of reports that were built */

int __wrap_overview_part_report(const struct overview_window *window, enum overview_part part,
				bool all_in_load, struct report **ret_report)
{
	struct report *report = report_new("lossy");

	report->time_unix_ns = presented++;
	*ret_report = report;
	return 0;
}

static void lossy_absorb(struct store *to, const struct meter *meter)
{
	store_window(to, "lossy", "made up", 77);
	store_loss(to, "lossy", "torn", 5);
	store_loss(to, "lossy", "table_full", 7);
}

/* A meter reports its losses since its start, so each loss counter is set to the reported total. */
TEST_WITH(test_losses, setup, teardown)
{
	static const struct meter_ops ops = {.read = lossy_read};
	static const struct collector_ops lossy = {.name = "lossy", .absorb = lossy_absorb};
	struct meter meter = {.ops = &ops};
	struct collector collector = {.ops = &lossy, .meter = &meter};
	struct err err = {0};

	for (int i = 0; i < 3; i++)
		assert_int_equal(collector_update(&collector, &store, &err), 0);
	assert_int_equal(count(F_LOSS), 2);
	assert_int_equal(word(F_LOSS, "collector=\"lossy\",kind=\"torn\"", 0), 5);
	assert_int_equal(word(F_LOSS, "collector=\"lossy\",kind=\"table_full\"", 0), 7);
	assert_int_equal(word(F_UPDATES, "collector=\"lossy\"", 0), 3);
	assert_int_equal(word(F_UP, "collector=\"lossy\"", 0), 1);
	assert_int_equal(word(F_UPDATE_TIME, "collector=\"lossy\"", 0), 77);
	meter_fails = true;
	assert_int_equal(collector_update(&collector, &store, &err), -EIO);
	meter_fails = false;
	assert_int_equal(word(F_UP, "collector=\"lossy\"", 0), 0);
	assert_int_equal(word(F_UPDATES, "collector=\"lossy\"", 0), 3);
	assert_int_equal(word(F_LOSS, "collector=\"lossy\",kind=\"torn\"", 0), 5);
	assert_int_equal(word(F_SOURCE, "collector=\"lossy\",source=\"made up\"", 0), 1);
}

/* A report is built at the first request after the end of a window. */
TEST_WITH(test_report, setup, teardown)
{
	static const struct meter_ops ops = {.read = lossy_read};
	static const struct collector_ops lossy = {
		.name = "lossy", .absorb = lossy_absorb};
	struct meter meter = {.ops = &ops};
	struct collectors all = {.list = {{.ops = &lossy, .meter = &meter}}};
	struct collector *collector = &all.list[0];
	struct err err = {0};

	presented = 0;
	assert_null(collector_report(&all, 0));
	for (int i = 0; i < 3; i++)
		assert_int_equal(collector_update(collector, &store, &err), 0);
	assert_int_equal(presented, 0);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 0);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 0);
	assert_int_equal(collector_update(collector, &store, &err), 0);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 1);
	/* After a failed read of the counters, requests get the report of the last good window. */
	meter_fails = true;
	assert_int_equal(collector_update(collector, &store, &err), -EIO);
	assert_int_equal(collector_report(&all, 0)->time_unix_ns, 1);
	collector_forget_report(collector);
	assert_null(collector_report(&all, 0));
	meter_fails = false;
	assert_int_equal(presented, 2);
}

#define THREAD(of, ran, max)                                                                       \
	{.cpu = 3, .kind = NOISE_KIND_THREAD, .name = of, .count = 1, .ns = ran, .longest_ns = max}

static void absorb(uint64_t second, struct noise_source *sources, size_t nr)
{
	static uint64_t hist[LOAD_NR_VECS][NOISE_NR_BUCKETS];
	static struct noise_delay delay = {.cpu = 3, .vec = 1, .times = {1, 5000, 5000, 5000}};
	const struct noise_window w = {
		.time_mono_ns = second * NSEC_PER_SEC,
		.sources = sources,
		.nr_sources = nr,
		.nr_cores = 1,
		.delays = &delay,
		.nr_delays = nr,
		.delay_hist = hist,
	};

	noise_absorb(&store, &w);
}

/*
 * When the number of series reaches its limit, new names share one series. Existing series
 * continue.
 */
TEST_WITH(test_limit, setup, teardown)
{
	struct noise_source source = THREAD("", 1, 1);

	for (int i = 0; i < 2 * NOISE_SERIES_PER_CPU; i++) {
		snprintf(source.name, sizeof(source.name), "vhost-%d", i);
		absorb(1, &source, 1);
	}
	assert_int_equal(count(F_NOISE), NOISE_SERIES_PER_CPU + 1);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"(other)\"", 0),
			 NOISE_SERIES_PER_CPU);
	snprintf(source.name, sizeof(source.name), "vhost-0");
	absorb(1, &source, 1);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"vhost-0\"", 0), 2);
}

/* The maximum of a minute is shown until the end of the following minute. */
TEST_WITH(test_longest, setup, teardown)
{
	static const char labels[] = "cpu=\"3\",kind=\"kthread\",source=\"kswapd0\"";
	struct noise_source big = THREAD("kswapd0", 900, 900);
	struct noise_source small = THREAD("kswapd0", 10, 10);

	absorb(60, &big, 1);
	absorb(61, &small, 1);
	assert_int_equal(word(F_NOISE_LONGEST, labels, 0), 900);
	absorb(179, &small, 1);
	assert_int_equal(word(F_NOISE_LONGEST, labels, 0), 900);
	absorb(180, NULL, 0);
	assert_int_equal(word(F_NOISE_LONGEST, labels, 0), 10);
	assert_int_equal(word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"3\",vec=\"TIMER\"", 0), 5000);
	absorb(240, NULL, 0);
	assert_int_equal(word(F_NOISE_LONGEST, labels, 0), 0);
	assert_int_equal(word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"3\",vec=\"TIMER\"", 0), 0);
	/* After two minutes without a window of noise, the exporter shows a maximum of 0. */
	absorb(241, &big, 1);
	absorb(500, NULL, 0);
	assert_int_equal(word(F_NOISE_LONGEST, labels, 0), 0);
	absorb(501, &small, 1);
	assert_int_equal(word(F_NOISE_LONGEST, labels, 0), 10);
}

TEST_MAIN()
