/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thousands of containers without known names: few series, and none called unknown. */
#include "serve/export/collector.h"

#include "measure/runq/runq.h"

#include "measure/runq/window.h"
#include "serve_store.h"

#define NR    3000
#define LIMIT 100

static struct runq_group groups[NR];
static struct runq_group_window rows[NR];
static struct runq_blame blame[NR];
static char paths[NR][64];

/* One window with a wait of each container; half of the culprits ended before they had a name. */
static void absorb(uint64_t second)
{
	static const uint64_t le_count[RUNQ_NR_LE];
	struct runq_window w = {
		.time_mono_ns = second * 1000000000,
		.sample_ratio = 1.0,
		.le_ns = config.le_ns,
		.nr_le = config.nr_le,
		.groups = rows,
		.nr_groups = NR,
		.blame = blame,
		.nr_blame = NR,
	};

	for (unsigned int i = 0; i < NR; i++) {
		snprintf(paths[i], sizeof(paths[i]), "/kubepods/pod%llu-%u/%u",
			 (unsigned long long)second, i / 3, i);
		groups[i] = (struct runq_group){
			.path = paths[i], .pod_uid = "0a1b", .container_id = "c0ffee"};
		rows[i] = (struct runq_group_window){
			.party = {.group = &groups[i]}, .count = 1, .sum_ns = 7, .le_count = le_count};
		blame[i] = (struct runq_blame){.victim = {.group = &groups[i]},
					       .culprit = {.group = &groups[(i + 1) % NR]},
					       .wait_ns = 7,
					       .count = 1};
		if (i % 2)
			blame[i].culprit = (struct runq_party){.kind = RUNQ_PARTY_GONE};
	}
	runq_absorb(&store, &w);
}

TEST_WITH(test_unknown, setup, teardown)
{
	config.cgroup_limit = config.blame_limit = LIMIT;
	/* Each second has other containers, like jobs that live for less than a second. */
	for (uint64_t second = 1; second <= 5; second++)
		absorb(second);
	/* There is one more series: (other). */
	assert_true(count(F_RUNQ) <= LIMIT + 1);
	assert_true(count(F_RUNQ_BLAME) <= LIMIT + 1);
	assert_int_equal(sum_of(F_RUNQ, config.nr_le), 5 * NR);
	assert_int_equal(sum_of(F_RUNQ_BLAME, 0), 5 * 7 * NR);
	for (int id = 0; id < FAMILY_NR; id++)
		for (size_t i = 0; i < store.tables[id].nr; i++) {
			const struct series_row *row = store.tables[id].rows[i];

			assert_true(!row->labels || !strstr(row->labels->data, "unknown\""));
			/* An unknown name has no label, instead of an empty one. */
			assert_null(row->names);
		}
}

TEST_MAIN()
