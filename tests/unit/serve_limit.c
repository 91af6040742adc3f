/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests which cgroups have series when --cgroup-limit is reached: the most active. Cgroups of
 * similar activity do not alternate.
 */
#include "serve/export/cgroups.h"

#include "base/clock.h"
#include "serve_store.h"

static int setup_limit(void **state)
{
	if (setup(state))
		return -1;
	config.cgroup_limit = 2;
	return 0;
}

static bool wait_for(const char *path, uint64_t wait_ns, bool ended, uint64_t second)
{
	struct runq_group who = {.path = path};
	struct runq_group_window group = {
		.party = {.group = &who}, .ended = ended, .count = 1, .sum_ns = wait_ns};
	struct cgroup_series *cgroup = cgroups_admit(&store, &group, second * NSEC_PER_SEC);

	/*
	 * The exporter calls cgroups_admit() twice per window for a cgroup with series. The first
	 * call updates the activity of the cgroup.
	 */
	if (cgroup)
		assert_ptr_equal(cgroups_admit(&store, &group, second * NSEC_PER_SEC), cgroup);
	return cgroup;
}

TEST_WITH(activity, setup_limit, teardown)
{
	uint64_t second = 0;

	while (++second <= 100) {
		assert_true(wait_for("/busy", 1000, false, second));
		assert_true(wait_for("/calm", 10, false, second));
		/*
		 * No series is replaced in the first 100 s, because a scraper may not have read it
		 * twice.
		 */
		assert_false(wait_for("/late", 25, false, second));
	}
	for (; second <= 400; second++) {
		bool late, calm;

		assert_true(wait_for("/busy", 1000, false, second));
		calm = wait_for("/calm", 10, false, second);
		late = wait_for("/late", 25, false, second);
		if (second > 200)
			assert_true(late && !calm);
	}
	assert_int_equal(words(F_RUNQ_EVICTED, "reason=\"activity\"")->u64, 1);
	assert_int_equal(store.nr_cgroups, 2);
}

/*
 * A cgroup replaces another cgroup only with at least twice the activity. An ended cgroup replaces
 * no other cgroup.
 */
TEST_WITH(alike, setup_limit, teardown)
{
	for (uint64_t second = 1; second <= 1000; second++) {
		assert_true(wait_for("/a", 10, false, second));
		assert_true(wait_for("/b", 10, false, second));
		assert_false(wait_for("/c", 19, false, second));
		assert_false(wait_for("/d", 10000, true, second));
	}
	assert_int_equal(count(F_RUNQ_EVICTED), 0);
}

/* The most active cgroup is found even if there are more cgroups than the list can store. */
TEST(topk)
{
	struct topk topk = {0};
	uint64_t active = 0;

	for (uint64_t second = 1; second <= 300; second++) {
		for (int i = 0; i < 500; i++)
			topk_add(&topk, i, 1 + i % 7, second * NSEC_PER_SEC);
		active = topk_add(&topk, 1000, 1000, second * NSEC_PER_SEC);
	}
	/*
	 * The activity grows by 1,000 per second and is halved every minute, so it converges to
	 * 1,000 × 60 / ln 2.
	 */
	assert_true(active >= 80000 && active <= 90000);
	assert_int_equal(topk.nr, TOPK_SIZE);
	topk_remove(&topk, 1000);
	assert_int_equal(topk.nr, TOPK_SIZE - 1);
	assert_int_equal(topk_add(&topk, 1000, 5, 301 * NSEC_PER_SEC), 5);
	assert_int_equal(active_now(&(struct active){1000, 0}, 120 * NSEC_PER_SEC), 250);
}

TEST_MAIN()
