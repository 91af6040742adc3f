/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Places for cgroups at --cgroup-limit: by activity, and not in turns. */
#include "serve/runq_limit.h"

#include <stdio.h>

#include "base/clock.h"
#include "serve/contest.h"
#include "test.h"

static struct store store;
static struct config config;

static int setup(void **state)
{
	static const uint64_t le_ns[] = {1000};

	if (config_init(&config) || store_init(&store, le_ns, 1))
		return -1;
	config.cgroup_limit = 2;
	return 0;
}

static int teardown(void **state)
{
	store_free(&store);
	config_free(&config);
	return 0;
}

/* A window in which a cgroup waits so long; whether it has series. */
static bool wait_for(const char *labels, uint64_t wait_ns, bool ended, uint64_t second)
{
	struct runq_candidate candidate = {.labels = labels, .ended = ended, .wait_ns = wait_ns};
	bool has = runq_limit_admit(&store, &config, &candidate, second * NSEC_PER_SEC);

	/* As the exporter does with those that have series, where places are scarce. */
	if (has)
		assert_true(runq_limit_admit(&store, &config, &candidate, second * NSEC_PER_SEC));
	return has;
}

static uint64_t evicted(const char *reason)
{
	size_t at = series_find(&store.series[F_RUNQ_EVICTED], reason);

	return at == SERIES_NONE ? 0 : series_words(&store.series[F_RUNQ_EVICTED], at)[0].u64;
}

/* Who waits much more takes the place of who waits least, after two minutes, and for good. */
TEST_WITH(activity, setup, teardown)
{
	uint64_t second = 0;

	while (++second <= 100) {
		assert_true(wait_for("cgroup=\"/busy\"", 1000, false, second));
		assert_true(wait_for("cgroup=\"/calm\"", 10, false, second));
		/* The others' series are too young to go: scrapers may not have seen them twice. */
		assert_false(wait_for("cgroup=\"/late\"", 25, false, second));
	}
	for (; second <= 400; second++) {
		bool late, calm;

		assert_true(wait_for("cgroup=\"/busy\"", 1000, false, second));
		calm = wait_for("cgroup=\"/calm\"", 10, false, second);
		late = wait_for("cgroup=\"/late\"", 25, false, second);
		if (second > 200)
			assert_true(late && !calm);
	}
	assert_int_equal(evicted("reason=\"activity\""), 1);
	assert_int_equal(store.seen.nr, 2);
}

/* Almost twice as much is not enough: those that are alike do not take turns. One that ended needs none. */
TEST_WITH(alike, setup, teardown)
{
	for (uint64_t second = 1; second <= 1000; second++) {
		assert_true(wait_for("cgroup=\"/a\"", 10, false, second));
		assert_true(wait_for("cgroup=\"/b\"", 10, false, second));
		assert_false(wait_for("cgroup=\"/c\"", 19, false, second));
		assert_false(wait_for("cgroup=\"/d\"", 10000, true, second));
	}
	assert_int_equal(store.series[F_RUNQ_EVICTED].nr, 0);
}

/* Of more contenders than are remembered, the most active is found. */
TEST(contest)
{
	struct contest contest = {0};
	uint64_t active = 0;
	char name[32];

	for (uint64_t second = 1; second <= 300; second++) {
		for (int i = 0; i < 500; i++) {
			snprintf(name, sizeof(name), "cgroup=\"/%d\"", i);
			contest_add(&contest, name, 1 + i % 7, second * NSEC_PER_SEC);
		}
		active = contest_add(&contest, "cgroup=\"/x\"", 1000, second * NSEC_PER_SEC);
	}
	/* 1,000 per second, halved every minute: 60 / ln 2 seconds of it. */
	assert_true(active >= 80000 && active <= 90000);
	assert_int_equal(contest.nr, CONTEST_SIZE);
	contest_leave(&contest, "cgroup=\"/x\"");
	assert_int_equal(contest.nr, CONTEST_SIZE - 1);
	assert_int_equal(contest_add(&contest, "cgroup=\"/x\"", 5, 301 * NSEC_PER_SEC), 5);
	assert_int_equal(contest_decay(1000, 120 * NSEC_PER_SEC), 250);
}

TEST_MAIN()
