/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the calculations of `subtick audit` on a simulated kernel that rounds like Linux. */
#include "test.h"
#include "tests/random.h"

#include <math.h>

#include "stats/audit.h"
#include "stats/quantile.h"
#include "host/procstat.h"

#define MS 1000000ULL

/* Simulates tick accounting: a whole tick is charged to one column, in units of 1/100 s. */
struct tick_accounting {
	uint64_t tick_ns, offset_ns;
	uint64_t col_ns[2];
	uint64_t ticks;
};

/* Initializes @edges and reads the columns every 20 µs. Each tick is charged to one of two columns. */
static void watch(struct counter_edges *edges, struct tick_accounting *a, unsigned int hz,
		  uint64_t length_ns, double share, uint64_t jitter_ns)
{
	uint64_t random = 42, shown[2], next;

	counter_edges_init(edges, 3);
	a->tick_ns = tick_fit_tick_ns(hz);
	next = a->offset_ns;
	for (uint64_t now = 0; now < length_ns; now += 20000) {
		while (next <= now) {
			a->col_ns[lcg64(&random) % 1000 >= share * 1000] += a->tick_ns;
			next += a->tick_ns;
		}
		for (int i = 0; i < 2; i++)
			shown[i] = a->col_ns[i] / (10 * MS);
		counter_edges_feed(edges, shown, 2,
			  1000000000000000ULL + now +
				  (jitter_ns ? lcg64(&random) % jitter_ns : 0),
			  false);
	}
}

TEST(increments)
{
	uint64_t cols[4] = {1, 2, 3, 4};
	struct counter_edges edges;

	counter_edges_init(&edges, 0x5); /* bit mask of the watched columns 0 and 2 */
	assert_false(counter_edges_feed(&edges, cols, 4, 10, false));
	assert_false(counter_edges_feed(&edges, cols, 4, 20, false));
	cols[1]++;
	assert_false(counter_edges_feed(&edges, cols, 4, 30, false));
	cols[2]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 40, false));
	/* A column such as iowait may decrease, and must not hide an increase of another column. */
	cols[0]--;
	cols[2]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 70, false));
	assert_int_equal(edges.nr, 2);
	assert_int_equal(edges.nr_intervals, 1);
	assert_int_equal(edges.intervals[0], 30);
	/*
	 * After a delayed read two values are unknown: the time of the change, and the length of
	 * the interval that begins with it.
	 */
	cols[0]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 100, true));
	cols[0]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 110, false));
	assert_int_equal(edges.nr_intervals, 1);
	assert_int_equal(edges.blurred, 1);
	cols[0]++;
	assert_true(counter_edges_feed(&edges, cols, 4, 115, false));
	assert_int_equal(edges.intervals[1], 5);
	assert_false(counter_edges_feed(&edges, cols, 4, 300, true));
	assert_int_equal(edges.blurred, 1);
	counter_edges_free(&edges);
}

static size_t peaks_of(const struct counter_edges *edges, struct bins_peak *peaks, size_t max)
{
	struct bins bins;
	size_t nr;

	assert_int_equal(bins_init(&bins, 100000, 400), 0);
	bins_add_intervals(&bins, edges);
	assert_int_equal(bins.total, edges->nr_intervals);
	nr = bins_peaks(&bins, 0.01, peaks, max);
	bins_free(&bins);
	return nr;
}

/*
 * At HZ=1000 a column that gets every tick changes every 10 ms, so the histogram of the intervals
 * has one peak.
 */
TEST(peak_of_rescaling)
{
	struct tick_accounting a = {.offset_ns = 300000};
	struct bins_peak peaks[8];
	struct counter_edges edges;

	watch(&edges, &a, 1000, 3000 * MS, 1.0, 0);
	assert_int_equal(peaks_of(&edges, peaks, 8), 1);
	assert_true(fabs(peaks[0].at_ns - 10e6) < 50000.0);
	assert_true(peaks[0].share > 0.99);
	counter_edges_free(&edges);
}

/* With HZ=1000 and two columns, intervals are multiples of 1 ms. The period is 1 ms, not 10 ms. */
TEST(peaks_of_two_modes)
{
	struct tick_accounting a = {.offset_ns = 300000};
	struct bins_peak peaks[32];
	struct tick_fit period;
	struct counter_edges edges;
	size_t nr;

	watch(&edges, &a, 1000, 5000 * MS, 0.6, 0);
	nr = peaks_of(&edges, peaks, 32);
	assert_true(nr >= 5);
	for (size_t i = 0; i < nr; i++)
		assert_true(fabs(peaks[i].at_ns / 1e6 - round(peaks[i].at_ns / 1e6)) < 0.05);
	assert_true(tick_fit_find(&edges, &period));
	assert_true(period.hz == 1000.0);
	assert_true(period.coherence > 0.98);
	counter_edges_free(&edges);
}

/* At HZ=250 a column shown in units of 10 ms changes every 8 or 12 ms. */
TEST(peaks_of_250)
{
	struct tick_accounting a = {.offset_ns = 1300000};
	struct bins_peak peaks[8];
	struct counter_edges edges;

	watch(&edges, &a, 250, 4000 * MS, 1.0, 0);
	assert_int_equal(peaks_of(&edges, peaks, 8), 2);
	assert_true(fabs(peaks[0].at_ns - 8e6) < 50000.0 && fabs(peaks[1].at_ns - 12e6) < 50000.0);
	counter_edges_free(&edges);
}

TEST(rates)
{
	static const unsigned int hz[] = {100, 128, 200, 250, 256, 300, 500, 1000, 1024};

	for (size_t i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
		struct tick_accounting a = {.offset_ns = 700000};
		struct tick_fit period;
		struct counter_edges edges;

		watch(&edges, &a, hz[i], 3000 * MS, 0.45, 60000);
		assert_true(tick_fit_find(&edges, &period));
		assert_int_equal(lround(period.hz), hz[i]);
		counter_edges_free(&edges);
	}
}

TEST(phase_of_the_tick)
{
	struct tick_accounting a = {.offset_ns = 1300000};
	struct tick_fit period;
	struct counter_edges edges;

	watch(&edges, &a, 250, 2000 * MS, 0.5, 0);
	assert_true(tick_fit_find(&edges, &period));
	/* Time starts at 10^15 ns, a multiple of 4 ms, so the tick's phase is offset_ns. */
	assert_true(fabs(period.phase_ns - 1.3e6) < 30000.0);
	counter_edges_free(&edges);
}

/* The search finds no tick period if a column grows at random times, or only a few times. */
TEST(no_period)
{
	uint64_t random = 7, col = 0, now = 1000;
	struct tick_fit period;
	struct counter_edges edges;

	counter_edges_init(&edges, 1);
	for (size_t i = 0; i < 2000; i++, col++) {
		now += 1000000 + lcg64(&random) % 9000000;
		counter_edges_feed(&edges, &col, 1, now, false);
	}
	assert_false(tick_fit_find(&edges, &period));
	assert_true(tick_fit_coherence(edges.stamps, edges.nr, 4e6, NULL) < 0.1);
	counter_edges_free(&edges);
	for (size_t i = 0; i < 32; i++, col++)
		counter_edges_feed(&edges, &col, 1, now += 4000000, false);
	assert_int_equal(edges.nr, 31);
	assert_false(tick_fit_find(&edges, &period));
	counter_edges_feed(&edges, &col, 1, now += 4000000, false);
	assert_true(tick_fit_find(&edges, &period));
	assert_int_equal(lround(period.hz), 250);
	counter_edges_free(&edges);
	assert_true(tick_fit_coherence(NULL, 0, 4e6, NULL) == 0.0);
}

/* The period is found even if the reader sees one change in six up to one tick late. */
TEST(noisy_reader)
{
	static const unsigned int hz[] = {100, 250, 300, 1000};

	for (size_t i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
		uint64_t tick = tick_fit_tick_ns(hz[i]), random = 11, col = 0, at = 0;
		struct tick_fit period;
		struct counter_edges edges;

		counter_edges_init(&edges, 1);
		for (size_t n = 0; n < 200; n++, col++) {
			at += tick * (1 + lcg64(&random) % 5);
			counter_edges_feed(&edges, &col, 1,
				  at + lcg64(&random) % (n % 6 ? 30000 : tick), false);
		}
		assert_true(tick_fit_find(&edges, &period));
		assert_int_equal(lround(period.hz), hz[i]);
		counter_edges_free(&edges);
	}
}

/*
 * Sets the load that /proc/stat shows for a task that runs for @burn_ns in each tick. The task
 * starts at the phase of @probe.
 */
static void simulate(const struct tick_accounting *a, uint64_t burn_ns, struct phase_probe *probe)
{
	uint64_t into = (a->offset_ns + a->tick_ns - probe->phase_ns) % a->tick_ns;

	probe->true_ratio = (double)burn_ns / (double)a->tick_ns;
	/* A tick charges a whole tick period to the task that runs when the tick fires. */
	probe->shown_ratio = into < burn_ns ? 1.0 : 0.0;
	probe->valid = true;
}

TEST(search)
{
	for (uint64_t offset = 0; offset < 4 * MS; offset += 333333) {
		struct tick_accounting a = {.tick_ns = 4 * MS, .offset_ns = offset};
		struct phase_probe probes[16], check;

		for (uint64_t burn = 400000; burn < 3600000; burn += 400000) {
			phase_plan(probes, 16, a.tick_ns);
			for (size_t i = 0; i < 16; i++)
				simulate(&a, burn, &probes[i]);
			assert_true(phase_hidden(probes, 16, a.tick_ns, 0.1, &check.phase_ns));
			simulate(&a, burn, &check);
			assert_true(check.shown_ratio == 0.0);
			/*
			 * The task runs in the middle between two ticks at the phase that was
			 * found. The error is at most one step of the search.
			 */
			check.phase_ns += (a.tick_ns - burn) / 2 - a.tick_ns / 16;
			if ((a.tick_ns - burn) / 2 > a.tick_ns / 16) {
				simulate(&a, burn, &check);
				assert_true(check.shown_ratio == 0.0);
			}
			if (burn >= a.tick_ns / 16) {
				assert_true(phase_exposed(probes, 16, a.tick_ns, &check.phase_ns));
				simulate(&a, burn, &check);
				assert_true(check.shown_ratio == 1.0);
			}
		}
	}
}

/* With exact CPU accounting no phase hides the task, so the search fails. */
TEST(search_in_vain)
{
	struct phase_probe probes[8];
	uint64_t phase;

	phase_plan(probes, 8, 4 * MS);
	assert_false(phase_hidden(probes, 8, 4 * MS, 0.1, &phase));
	for (size_t i = 0; i < 8; i++) {
		probes[i].true_ratio = 0.3;
		probes[i].shown_ratio = 0.29 + 0.005 * (double)(i % 3);
		probes[i].valid = true;
	}
	assert_false(phase_hidden(probes, 8, 4 * MS, 0.1, &phase));
	assert_false(phase_exposed(probes, 8, 4 * MS, &phase));
	/* If /proc/stat hides the task at all phases of the tick, the search may find any phase. */
	for (size_t i = 0; i < 8; i++)
		probes[i].shown_ratio = 0.0;
	assert_true(phase_hidden(probes, 8, 4 * MS, 0.1, &phase));
	assert_true(phase < 4 * MS);
}

/*
 * A task that always sleeps at the tick has no time in /proc/stat. If /proc/stat shows 2 of 16
 * units for it, another task ran, and audit repeats the measurement.
 */
TEST(doubtful_phases)
{
	static const struct {
		double shown_ratio;
		bool doubtful;
	} rows[] = {{0.125, true}, {0.22, true}, {0.0, false}, {0.075, false},
		    /*
		     * A shown load equal to or above the true load is reliable, because the kernel
		     * charges whole ticks.
		     */
		    {0.26, false}, {0.59, false}};
	struct phase_probe probe = {.true_ratio = 0.3, .valid = true};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		probe.shown_ratio = rows[i].shown_ratio;
		assert_int_equal(phase_doubtful(&probe, 0.25), rows[i].doubtful);
	}
	probe.valid = false;
	assert_true(phase_doubtful(&probe, 0.25));
}

TEST(quantiles)
{
	double values[] = {5.0, 1.0, 4.0, 2.0, 3.0};

	assert_true(isnan(quantile_of(values, 0, 0.5)));
	quantile_sort(values, 5);
	assert_true(quantile_of(values, 5, 0.5) == 3.0);
	assert_true(quantile_of(values, 5, 0.0) == 1.0);
	assert_true(quantile_of(values, 5, 1.0) == 5.0);
	assert_true(fabs(quantile_of(values, 5, 0.9) - 4.6) < 1e-9);
}

TEST(pid_times)
{
	struct pidstat stat;

	assert_int_equal(pidstat_parse("12 (a b) S 1 2 3 4 5 6 7 8 9 10 11 12 20 0", &stat), 0);
	assert_int_equal(stat.user_ticks, 11);
	assert_int_equal(stat.system_ticks, 12);
	assert_int_equal(
		pidstat_parse("12 (x) R 99 (y) S 1 2 3 4 -1 6 7 8 9 10 123 456 20 0", &stat), 0);
	assert_int_equal(stat.user_ticks, 123);
	assert_int_equal(stat.cpu, -1);
	/* Each numeric field of the parsed line has a different number. */
	assert_int_equal(
		pidstat_parse("1 (x) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 "
			      "26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41",
			      &stat),
		0);
	assert_int_equal(stat.parent, 4);
	assert_int_equal(stat.flags, 9);
	assert_int_equal(stat.cpu, 39);
	assert_int_equal(pidstat_parse("12 (x) S 1 2 3", &stat), -EINVAL);
	assert_int_equal(pidstat_parse("", &stat), -EINVAL);
}

TEST_MAIN()
