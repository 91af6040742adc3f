/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests native histograms of the exporter. Every wait is in a bucket, even with sampling, at the
 * limit of cgroups, and in copies of the series.
 */
#include "serve/export/collector.h"

#include "measure/wake/wake.h"
#include "measure/runq/runq.h"

#include "dense.h"
#include "measure/runq/window.h"
#include "serve_store.h"
#include "stats/hist.h"

static const struct runq_group names[] = {{.path = "/a"}, {.path = "/b"}};

enum ended {
	NONE,
	FIRST,
	BOTH
};

/* Adds @waits to each of 300 buckets of each cgroup. Waits are sampled with @ratio. */
static void absorb(uint64_t second, uint64_t waits, double ratio, enum ended ended)
{
	uint64_t buckets[HIST_NR] = {0};
	struct runq_group_window groups[2];
	uint64_t le_count[RUNQ_NR_LE] = {0}, count;
	struct hist hist;
	struct runq_window w = {
		.time_mono_ns = second * 1000000000,
		.sample_ratio = ratio,
		.le_ns = config.le_ns,
		.nr_le = config.nr_le,
		.groups = groups,
		.nr_groups = 2,
	};

	for (unsigned int i = 200; i < 500; i++)
		buckets[i] = waits;
	hist = hist_of(buckets, HIST_NR);
	count = (uint64_t)((double)(300 * waits) / ratio + 0.5);
	for (unsigned int i = 0; i < 2; i++)
		groups[i] = (struct runq_group_window){.party = {.group = &names[i]},
						       .ended = ended > i,
						       .count = count,
						       .sum_ns = count,
						       .le_count = le_count,
						       .hist = hist};
	runq_absorb(&store, &w);
	free(hist.entries);
}

/* Checks that the native buckets of a row add up to its count, and returns the count. */
static uint64_t count_in(const struct series *s, const union word *of)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i <= s->native.nr; i++)
		sum += of[s->native.at + i].u64;
	assert_int_equal(sum, of[s->nr_le].u64);
	return sum;
}

static uint64_t count_of(enum family_id id, const char *labels)
{
	return count_in(&store.series[id], words(id, labels));
}

static void restart(bool fine)
{
	store_free(&store);
	config.native_histograms = true;
	config.fine = fine;
	store_init(&store, &config);
}

TEST_WITH(test_fine, setup, teardown)
{
	struct series_table copy = {0};
	const struct series *s = &store.series[F_RUNQ];
	const struct series_row *row;
	unsigned int part;

	restart(true);
	absorb(1, 3, 1.0, NONE);
	assert_int_equal(count_of(F_RUNQ, "cgroup=\"/a\""), 900);
	absorb(2, 1, 0.3, NONE);
	assert_int_equal(count_of(F_RUNQ, "cgroup=\"/b\""), 900 + 1000);
	assert_int_equal(series_copy(&copy, &store.tables[F_RUNQ]), 0);
	absorb(3, 1, 1.0, NONE);
	row = row_of(F_RUNQ, "cgroup=\"/b\"", &part);
	assert_int_equal(count_in(s, &copy.rows[row->index]->words[s->at]), 1900);
	assert_int_equal(count_of(F_RUNQ, "cgroup=\"/b\""), 2200);
	series_copy_free(&copy);
}

TEST_WITH(test_limit, setup, teardown)
{
	restart(true);
	config.cgroup_limit = 1;
	absorb(1, 2, 1.0, BOTH);
	assert_int_equal(count_of(F_RUNQ, "cgroup=\"/a\""), 600);
	assert_int_equal(count_of(F_RUNQ, "cgroup=\"(other)\""), 600);
	/* Cgroup /b has not ended in the second window, and replaces the ended cgroup /a. */
	absorb(2, 1, 1.0, FIRST);
	assert_int_equal(count_of(F_RUNQ, "cgroup=\"/b\""), 300);
	assert_int_equal(count_of(F_RUNQ, "cgroup=\"(other)\""), 600 + 900);
	assert_int_equal(words(F_RUNQ_FOLDED, "kind=\"waits\"")->u64, 1500);
}

/*
 * Without fine histograms the boundaries are the limits of native buckets, and a row needs no
 * additional memory.
 */
TEST_WITH(test_coarse, setup, teardown)
{
	struct err err = {0};
	const struct series *s = &store.series[F_RUNQ];

	assert_int_equal(config_set(&config, "native-histograms", "yes", &err), 0);
	assert_int_equal(config_complete(&config, &err), 0);
	assert_int_equal(config.nr_le, NATIVE_NR_LE);
	assert_int_equal(config.le_ns[0], 953);
	assert_int_equal(config.le_ns[NATIVE_NR_LE - 1], 64000000000);
	restart(config.fine);
	assert_int_equal(s->words, s->nr_le + 2);
	assert_int_equal(s->native.nr, s->nr_le);
	/*
	 * With native histograms, the setting `le` requires the setting `fine`, which may follow
	 * later.
	 */
	assert_int_equal(config_set(&config, "le", "1ms,2ms", &err), 0);
	assert_int_equal(config_complete(&config, &err), -EINVAL);
	assert_non_null(strstr(err.what, "leave out le, or add fine"));
	assert_int_equal(config_set(&config, "fine", "yes", &err), 0);
	assert_int_equal(config_complete(&config, &err), 0);
	assert_int_equal(config.nr_le, 2);
}

/*
 * Wake latency always has a fine histogram. Each window adds the growth of the BPF programs'
 * histogram to the series.
 */
TEST_WITH(test_wake, setup, teardown)
{
	static const bool fine[] = {true, false};
	static struct wake_hist now, was;
	struct wake_state one = {.cpu = 3, .name = "C6", .hist = &now, .hist_was = &was};
	struct wake_window w = {.states = &one, .nr_states = 1};
	const struct series *s = &store.series[F_WAKE];

	for (size_t f = 0; f < 2; f++) {
		memset(&now, 0, sizeof(now));
		restart(fine[f]);
		for (uint64_t second = 1; second <= 3; second++) {
			was = now;
			for (unsigned int i = 200; i < 500; i++)
				now.count[i] += second;
			one.summary.count = 300 * second;
			wake_absorb(&store, &w);
			assert_int_equal(count_of(F_WAKE, "cpu=\"3\",state=\"C6\""),
					 150 * second * (second + 1));
		}
		assert_int_equal(s->native.schema, 3);
	}
}

TEST_MAIN()
