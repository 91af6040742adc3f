/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parser of /proc/schedstat over its versions, and what it refuses. */
#include "host/procstat.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpuset.h"
#include "test.h"
#include "tree.h"

static int parse(const char *text, struct schedstat_cpu *cpus, unsigned int nr)
{
	return schedstat_parse(text, strlen(text), cpus, nr);
}

TEST(test_versions)
{
	struct schedstat_cpu cpus[3];
	char text[256];

	for (int version = 15; version <= 17; version++) {
		snprintf(text, sizeof(text),
			 "version %d\ntimestamp 4294\ncpu0 1 2 3 4 5 6 700 800 900\n"
			 "domain0 %s00000003 1 2 3\ncpu2 0 0 0 0 0 0 7 8 9\n",
			 version, version == 17 ? "MC " : "");
		memset(cpus, 0xff, sizeof(cpus));
		assert_int_equal(parse(text, cpus, 3), 0);
		assert_true(cpus[0].present);
		assert_int_equal(cpus[0].run_ns, 700);
		assert_int_equal(cpus[0].wait_ns, 800);
		assert_int_equal(cpus[0].slices, 900);
		assert_false(cpus[1].present);
		assert_int_equal(cpus[2].run_ns, 7);
	}
	assert_int_equal(
		parse("version 14\ntimestamp 1\ncpu0 1 2 3 4 5 6 7 8 9 10 11 12\n", cpus, 3), 0);
	assert_int_equal(cpus[0].run_ns, 10);
	assert_int_equal(cpus[0].wait_ns, 11);
	assert_int_equal(cpus[0].slices, 12);
	/* Nothing is written beyond the caller's room. */
	memset(cpus, 0, sizeof(cpus));
	assert_int_equal(parse("version 15\ncpu0 1 2 3 4 5 6 7 8 9\ncpu1 1 2 3 4 5 6 7 8 9\n"
			       "cpu2 1 2 3 4 5 6 7 8 9\n",
			       cpus, 1),
			 0);
	assert_true(cpus[0].present && !cpus[1].present && !cpus[2].present);
	assert_int_equal(parse("version 13\ncpu0 1 2 3 4 5 6 7 8 9\n", cpus, 3), -EPROTONOSUPPORT);
	assert_int_equal(parse("version 18\ncpu0 1 2 3 4 5 6 7 8 9\n", cpus, 3), -EPROTONOSUPPORT);
}

TEST(test_malformed)
{
	static const char *const bad[] = {
		"",
		"version",
		"version \n",
		"version 15",
		"version x\n",
		"version 15x\ncpu0 1 2 3 4 5 6 7 8 9\n",
		"cpu0 1 2 3 4 5 6 7 8 9\n",
		"version 15\n",
		"version 15\ntimestamp 1\n",
		"version 15\ncpu0 1 2 3 4 5 6 7 8\n",
		"version 15\ncpu0 1 2 3 4 5 6 7 8 9 10\n",
		"version 14\ncpu0 1 2 3 4 5 6 7 8 9\n",
		"version 15\ncpu0 1 2 3 4 5 6 7 8 9",
		"version 15\ncpu0 1 2 3 4 5 6 7 8 -9\n",
		"version 15\ncpu0 1 2 3 4 5 6 7 8 9x\n",
		"version 15\ncpu 1 2 3 4 5 6 7 8 9\n",
		"version 15\ncpu8192 1 2 3 4 5 6 7 8 9\n",
		"version 15\ncpu0 1 2 3 4 5 6 7 8 9\ncpu0 1 2 3 4 5 6 7 8 9\n",
		"version 15\ncpu0 1 2 3 4 5 6 7 8 9\ndomain0 3",
	};
	struct schedstat_cpu cpus[2];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], cpus, 2) != -EINVAL)
			fail_msg("taken: \"%s\"", bad[i]);
	assert_int_equal(parse("version 15\ncpu0 1 2 3 4 5 6 7 8 99999999999999999999\n", cpus, 2),
			 -ERANGE);
}

TEST_WITH(test_read, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct schedstat_cpu *cpus = calloc(1000, sizeof(*cpus));
	char *text = malloc(1000 * 128);
	struct schedstat stat;
	struct err err;
	size_t len;

	assert_int_equal(schedstat_open(&stat, tree->root, &err), -ENOENT);
	assert_true(err.unsupported);
	assert_non_null(strstr(err.fix, "CONFIG_SCHEDSTATS"));
	len = sprintf(text, "version 17\ntimestamp 1\n");
	for (int cpu = 0; cpu < 1000; cpu++)
		len += sprintf(text + len, "cpu%d 0 0 0 0 0 0 %d 2 3\ndomain0 MC ffff 0 0 0 0 0\n",
			       cpu, cpu * 10);
	tree_file(tree, "/proc/schedstat", text);
	assert_int_equal(schedstat_open(&stat, tree->root, &err), 0);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(schedstat_read(&stat, cpus, 1000), 0);
		for (int cpu = 0; cpu < 1000; cpu++)
			assert_int_equal(cpus[cpu].run_ns, cpu * 10);
	}
	schedstat_close(&stat);
	free(text);
	free(cpus);
}

TEST_MAIN()
