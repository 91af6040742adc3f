/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests parsing /proc/stat and /proc/schedstat: accepted and refused texts, changing files. */
#include "test.h"

#include "host/procstat.h"
#include "base/cpuset.h"
#include "tree.h"

static int parse(const char *text, struct procstat_cpu *cpus, unsigned int nr)
{
	return procstat_parse(text, strlen(text), cpus, nr);
}

TEST(test_all_columns)
{
	struct procstat_cpu cpus[2];

	assert_int_equal(parse("cpu  3 5 7 9 11 13 15 17 19 21\n"
			       "cpu0 1 2 3 4 5 6 7 8 9 10\n"
			       "cpu1 2 3 4 5 6 7 8 9 10 18446744073709551615\n"
			       "intr 12345 0 0\nctxt 99\n",
			       cpus, 2),
			 0);
	/* The columns are in the same order as in the kernel's /proc/stat. */
	assert_int_equal(cpus[0].ticks[PROCSTAT_USER], 1);
	assert_int_equal(cpus[0].ticks[PROCSTAT_NICE], 2);
	assert_int_equal(cpus[0].ticks[PROCSTAT_SYSTEM], 3);
	assert_int_equal(cpus[0].ticks[PROCSTAT_IDLE], 4);
	assert_int_equal(cpus[0].ticks[PROCSTAT_IOWAIT], 5);
	assert_int_equal(cpus[0].ticks[PROCSTAT_IRQ], 6);
	assert_int_equal(cpus[0].ticks[PROCSTAT_SOFTIRQ], 7);
	assert_int_equal(cpus[0].ticks[PROCSTAT_STEAL], 8);
	assert_int_equal(cpus[0].ticks[PROCSTAT_GUEST], 9);
	assert_int_equal(cpus[0].ticks[PROCSTAT_GUEST_NICE], 10);
	assert_int_equal(cpus[0].nr_cols, 10);
	assert_int_equal(cpus[1].ticks[PROCSTAT_USER], 2);
	assert_true(cpus[1].ticks[PROCSTAT_GUEST_NICE] == UINT64_MAX);
}

TEST(test_offline_gap)
{
	struct procstat_cpu cpus[6];

	memset(cpus, 0xff, sizeof(cpus));
	assert_int_equal(parse("cpu 1 1 1 1\ncpu0 1 2 3 4\ncpu5 6 7 8 9\nintr 0\n", cpus, 6), 0);
	assert_int_equal(cpus[0].nr_cols, 4);
	for (int cpu = 1; cpu < 5; cpu++)
		assert_int_equal(cpus[cpu].nr_cols, 0);
	assert_int_equal(cpus[5].ticks[PROCSTAT_IDLE], 9);
	/* CPUs that do not fit into the caller's array are omitted. */
	memset(cpus, 0xff, sizeof(cpus));
	assert_int_equal(parse("cpu0 1 2 3 4\ncpu1 6 7 8 9\ncpu2 6 7 8 9\n", cpus, 1), 0);
	assert_int_equal(cpus[0].nr_cols, 4);
	assert_int_equal(cpus[1].nr_cols, 0xff);
	assert_int_equal(cpus[2].nr_cols, 0xff);
	assert_int_equal(parse("cpu0 1 2 3 4\ncpu5 6 7 8 9\n", cpus, 1), 0);
	assert_int_equal(parse("cpu0 1 2 3 4\ncpu5 6 7 8 x\n", cpus, 1), -EINVAL);
}

TEST(test_few_and_many_columns)
{
	struct procstat_cpu cpus[1];

	assert_int_equal(parse("cpu0 1 2 3\n", cpus, 1), -EINVAL);
	assert_int_equal(parse("cpu0 1 2 3 4 5 6 7\n", cpus, 1), 0);
	assert_int_equal(cpus[0].nr_cols, 7);
	assert_int_equal(cpus[0].ticks[PROCSTAT_STEAL], 0);
	assert_int_equal(parse("cpu0 1 2 3 4 5 6 7 8 9 10 11 12\n", cpus, 1), 0);
	assert_int_equal(cpus[0].nr_cols, 10);
	assert_int_equal(cpus[0].ticks[PROCSTAT_GUEST_NICE], 10);
	assert_int_equal(parse("cpu0 1 2 3 4 5 6 7 8 9 10 x\n", cpus, 1), -EINVAL);
	assert_int_equal(parse("cpu0  1   2 3 4 \n", cpus, 1), 0);
}

TEST(test_malformed)
{
	static const char *const bad[] = {
		"",
		"\n",
		"garbage",
		"cpu 1 2 3 4\n",
		"cpu 1 2 3 4",
		"cpu0 1 2 3 4",
		"cpu0\n",
		"cpu0 \n",
		"cpu0 a b c d\n",
		"cpu0 1 2 3 -4\n",
		"cpu0 1 2 3 +4\n",
		"cpu0 1 2 3 4x\n",
		"cpu0 0x1 2 3 4\n",
		"cpu0 1\t2 3 4\n",
		"cpu0x 1 2 3 4\n",
		"cpux 1 2 3 4\n",
		"cpu-1 1 2 3 4\n",
		"cpu8192 1 2 3 4\n",
		"cpu0 1 2 3 4\ncpu0 1 2 3 4\n",
		"intr 1 2\ncpu0 1 2 3 4\n",
		"\ncpu0 1 2 3 4\n",
		"cpu0 1 2 3 4\ncpu1 1 2 3",
	};
	struct procstat_cpu cpus[2];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], cpus, 2) != -EINVAL)
			fail_msg("taken: \"%s\"", bad[i]);
	assert_int_equal(parse("cpu0 1 2 3 18446744073709551616\n", cpus, 2), -ERANGE);
	assert_int_equal(parse("cpu99999999999999999999 1 2 3 4\n", cpus, 2), -ERANGE);
	assert_int_equal(procstat_parse("cpu0 1 2\0003 4 5\n", 17, cpus, 2), -EINVAL);
}

TEST(test_truncated)
{
	static const char text[] = "cpu  30 0 0 0\ncpu0 10 20 30 40\ncpu1 50 60 70 80\nintr 7\n";
	size_t line0 = strstr(text, "cpu1") - text, line1 = strstr(text, "intr") - text;
	struct procstat_cpu cpus[2];

	for (size_t len = 0; len < sizeof(text); len++) {
		int rc = procstat_parse(text, len, cpus, 2);

		if (len < line0 || (len > line0 + 2 && len < line1)) {
			assert_int_equal(rc, -EINVAL);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(cpus[0].ticks[PROCSTAT_IDLE], 40);
		assert_int_equal(cpus[1].ticks[PROCSTAT_IDLE], len < line1 ? 0 : 80);
	}
}

TREE_TEST(test_reread_and_growth)
{
	struct procstat_cpu *cpus = calloc(CPUSET_MAX, sizeof(*cpus));
	char *text = malloc(CPUSET_MAX * 48 + 64);
	struct sys_text stat;
	struct err err;
	size_t len = 0;

	tree_file(tree, "/proc/stat", "cpu 0 0 0 0\ncpu0 1 2 3 4\nintr 0\n");
	assert_int_equal(procstat_open(&stat, tree->root, &err), 0);
	assert_int_equal(procstat_read(&stat, cpus, CPUSET_MAX), 0);
	assert_int_equal(cpus[0].ticks[PROCSTAT_IDLE], 4);
	assert_int_equal(cpus[1].nr_cols, 0);
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		len += sprintf(text + len, "cpu%u %u 1 1 1 1 1 1 1 1 1\n", cpu, cpu);
	sprintf(text + len, "intr 0\n");
	tree_file(tree, "/proc/stat", text);
	assert_int_equal(procstat_read(&stat, cpus, CPUSET_MAX), 0);
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		assert_int_equal(cpus[cpu].ticks[PROCSTAT_USER], cpu);
	sys_text_close(&stat);
	free(text);
	free(cpus);
}

TREE_TEST(test_absent)
{
	struct sys_text stat;
	struct err err;

	assert_int_equal(procstat_open(&stat, tree->root, &err), -ENOENT);
	assert_true(err.unsupported);
	assert_string_not_equal(err.fix, "");
}

static int parse_schedstat(const char *text, struct schedstat_cpu *cpus, unsigned int nr)
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
		assert_int_equal(parse_schedstat(text, cpus, 3), 0);
		assert_true(cpus[0].present);
		assert_int_equal(cpus[0].run_ns, 700);
		assert_false(cpus[1].present);
		assert_int_equal(cpus[2].run_ns, 7);
	}
	assert_int_equal(
		parse_schedstat("version 14\ntimestamp 1\ncpu0 1 2 3 4 5 6 7 8 9 10 11 12\n", cpus, 3), 0);
	assert_int_equal(cpus[0].run_ns, 10);
	memset(cpus, 0, sizeof(cpus));
	assert_int_equal(parse_schedstat("version 15\ncpu0 1 2 3 4 5 6 7 8 9\ncpu1 1 2 3 4 5 6 7 8 9\n"
			       "cpu2 1 2 3 4 5 6 7 8 9\n",
			       cpus, 1),
			 0);
	assert_true(cpus[0].present && !cpus[1].present && !cpus[2].present);
	assert_int_equal(parse_schedstat("version 13\ncpu0 1 2 3 4 5 6 7 8 9\n", cpus, 3), -EPROTONOSUPPORT);
	assert_int_equal(parse_schedstat("version 18\ncpu0 1 2 3 4 5 6 7 8 9\n", cpus, 3), -EPROTONOSUPPORT);
}

TEST(test_schedstat_malformed)
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
		if (parse_schedstat(bad[i], cpus, 2) != -EINVAL)
			fail_msg("taken: \"%s\"", bad[i]);
	assert_int_equal(parse_schedstat("version 15\ncpu0 1 2 3 4 5 6 7 8 99999999999999999999\n", cpus, 2),
			 -ERANGE);
}

TREE_TEST(test_read)
{
	struct schedstat_cpu *cpus = calloc(1000, sizeof(*cpus));
	char *text = malloc(1000 * 128);
	struct sys_text stat;
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
	sys_text_close(&stat);
	free(text);
	free(cpus);
}

TEST_MAIN()
