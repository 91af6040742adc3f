/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of noise become counters by source, in a bounded number of series. */
#include "serve/export/collector.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/noise/noise.h"
#include "serve_store.h"
#include "stats/hist.h"

#define THREAD(of, ran, max)                                                                       \
	{.cpu = 3, .kind = NOISE_KIND_THREAD, .name = of, .count = 1, .ns = ran, .longest_ns = max}

static void absorb(uint64_t second, const struct noise_source *sources, size_t nr)
{
	const struct noise_window w = {
		.time_mono_ns = second * NSEC_PER_SEC,
		.sources = sources,
		.nr_sources = nr,
		.nr_cores = 1,
		.noise_losses = {.sources = 5, .victims = 6},
		.losses = {.odd_edges = 7, .recursion_misses = 8},
	};

	noise_absorb(&store, &w);
}

static uint64_t word(enum family_id id, const char *labels)
{
	return words(id, labels)[0].u64;
}

TEST_WITH(test_counters, setup, teardown)
{
	static const struct noise_source sources[] = {
		{.cpu = 3, .kind = NOISE_KIND_IRQ, .irq = 9, .name = "nvme0q1", .count = 7, .ns = 70,
		 .longest_ns = 20},
		{.cpu = 4, .kind = NOISE_KIND_SOFTIRQ, .name = "NET_RX", .count = 2, .ns = 30,
		 .longest_ns = 16},
		{.cpu = 4, .kind = NOISE_KIND_NMI, .name = "NMI", .count = 1, .ns = 5},
	};

	absorb(1, sources, 3);
	absorb(2, sources, 3);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"irq\",source=\"nvme0q1\""), 140);
	assert_int_equal(word(F_NOISE_EVENTS, "cpu=\"3\",kind=\"irq\",source=\"nvme0q1\""), 14);
	assert_int_equal(word(F_NOISE_LONGEST, "cpu=\"3\",kind=\"irq\",source=\"nvme0q1\""), 20);
	assert_int_equal(word(F_NOISE, "cpu=\"4\",kind=\"softirq\",source=\"NET_RX\""), 60);
	assert_int_equal(word(F_NOISE, "cpu=\"4\",kind=\"nmi\",source=\"NMI\""), 10);
	assert_int_equal(count(F_NOISE), 3);
	/* Losses are totals. */
	assert_int_equal(word(F_LOSS, "collector=\"noise\",kind=\"source_lost\""), 5);
	assert_int_equal(word(F_LOSS, "collector=\"noise\",kind=\"victim_lost\""), 6);
	assert_int_equal(word(F_LOSS, "collector=\"noise\",kind=\"odd_edges\""), 7);
	assert_int_equal(word(F_LOSS, "collector=\"noise\",kind=\"recursion_misses\""), 8);
}

/* The workers of a pool are one series; other threads with a number are not. */
TEST_WITH(test_pools, setup, teardown)
{
	static const struct noise_source sources[] = {
		THREAD("kworker/3:0", 1, 1),   THREAD("kworker/3:12", 2, 2),
		THREAD("kworker/3:1H", 4, 4),  THREAD("kworker/u8:7", 8, 8),
		THREAD("kworker/u8:9", 16, 9), THREAD("kworker/R-mm", 32, 9),
		THREAD("jbd2/a:1", 64, 9),
	};

	absorb(1, sources, 7);
	assert_int_equal(count(F_NOISE), 5);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/3\""), 3);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/3H\""), 4);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/u8\""), 24);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"kworker/R-mm\""), 32);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"jbd2/a:1\""), 64);
	assert_int_equal(word(F_NOISE_LONGEST, "cpu=\"3\",kind=\"kthread\",source=\"kworker/u8\""), 9);
}

/* Beyond the limit new names share one series, and existing series continue. */
TEST_WITH(test_limit, setup, teardown)
{
	struct noise_source source = THREAD("", 1, 1);

	for (int i = 0; i < 2 * NOISE_SERIES_PER_CPU; i++) {
		snprintf(source.name, sizeof(source.name), "vhost-%d", i);
		absorb(1, &source, 1);
	}
	assert_int_equal(count(F_NOISE), NOISE_SERIES_PER_CPU + 1);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"(other)\""),
			 NOISE_SERIES_PER_CPU);
	snprintf(source.name, sizeof(source.name), "vhost-0");
	absorb(1, &source, 1);
	assert_int_equal(word(F_NOISE, "cpu=\"3\",kind=\"kthread\",source=\"vhost-0\""), 2);
}

/* The maximum of a minute is shown until the end of the next minute. */
TEST_WITH(test_longest, setup, teardown)
{
	static const char labels[] = "cpu=\"3\",kind=\"kthread\",source=\"kswapd0\"";
	static const struct noise_source big = THREAD("kswapd0", 900, 900);
	static const struct noise_source small = THREAD("kswapd0", 10, 10);

	absorb(60, &big, 1);
	absorb(61, &small, 1);
	assert_int_equal(word(F_NOISE_LONGEST, labels), 900);
	absorb(179, &small, 1);
	assert_int_equal(word(F_NOISE_LONGEST, labels), 900);
	absorb(180, NULL, 0);
	assert_int_equal(word(F_NOISE_LONGEST, labels), 10);
	absorb(240, NULL, 0);
	assert_int_equal(word(F_NOISE_LONGEST, labels), 0);
	/* After two minutes without a window no maximum is left. */
	absorb(241, &big, 1);
	absorb(500, &small, 1);
	assert_int_equal(word(F_NOISE_LONGEST, labels), 10);
}

/* The delays of all cores are one histogram per vector; the longest is kept by core. */
TEST_WITH(test_delays, setup, teardown)
{
	static uint64_t hist[LOAD_NR_VECS][NOISE_NR_BUCKETS];
	const struct noise_delay delays[] = {
		{.cpu = 0, .vec = 1, .times = {2, 1030 + 900, 1030, 1030}},
		{.cpu = 1, .vec = 1, .times = {1, 5000, 5000, 5000}},
		{.cpu = 1, .vec = 3, .times = {1, 7, 7, 7}},
	};
	const struct noise_window w = {
		.time_mono_ns = NSEC_PER_SEC, .delays = delays, .nr_delays = 3, .delay_hist = hist};
	const union word *timer, *net;

	memset(hist, 0, sizeof(hist));
	hist[1][hist_index(900) >> NOISE_BUCKET_SHIFT]++;
	hist[1][hist_index(1030) >> NOISE_BUCKET_SHIFT]++;
	hist[1][hist_index(5000) >> NOISE_BUCKET_SHIFT]++;
	hist[3][hist_index(7) >> NOISE_BUCKET_SHIFT]++;
	noise_absorb(&store, &w);
	noise_absorb(&store, &w);
	timer = words(F_SOFTIRQ_DELAY, "vec=\"TIMER\"");
	assert_int_equal(timer[0].u64, 2);
	assert_int_equal(timer[1].u64, 4);
	assert_int_equal(timer[2].u64, 4);
	assert_int_equal(timer[3].u64, 6);
	assert_int_equal(timer[WAKE_NR_LE].u64, 6);
	assert_int_equal(timer[WAKE_NR_LE + 1].u64, 2 * 6930);
	net = words(F_SOFTIRQ_DELAY, "vec=\"NET_RX\"");
	assert_int_equal(net[0].u64, 2);
	assert_int_equal(count(F_SOFTIRQ_DELAY), 2);
	assert_int_equal(word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"0\",vec=\"TIMER\""), 1030);
	assert_int_equal(word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"1\",vec=\"TIMER\""), 5000);
	absorb(120, NULL, 0);
	assert_int_equal(word(F_SOFTIRQ_DELAY_LONGEST, "cpu=\"1\",vec=\"TIMER\""), 0);
	assert_int_equal(count(F_SOFTIRQ_DELAY_LONGEST), 3);
}

TEST_MAIN()
