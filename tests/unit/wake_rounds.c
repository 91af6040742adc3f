/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests rounds with energy preferences or biases. The last round restores the original settings. */
#include "test.h"
#include "tree.h"

#include "measure/wake/force.h"
#include "host/file.h"

static struct blocks memory;

#define CPU	   "/sys/devices/system/cpu/cpu"
#define PREFERENCE "/cpufreq/energy_performance_preference"
#define AVAILABLE  "/cpufreq/energy_performance_available_preferences"
#define BIAS	   "/power/energy_perf_bias"

static const struct wake_force each = {.preferences = true};

static int setup(void **state)
{
	int rc = tree_setup(state);

	if (!rc)
		tree_file(*state, "/run/file", "");
	return rc;
}

static struct cpuset two(void)
{
	return (struct cpuset){.bits = {3}};
}

static void assert_file(const struct tree *tree, const char *path, const char *text)
{
	char found[64];

	assert_true(sys_read_file(tree->root, path, found, sizeof(found)) >= 0);
	assert_string_equal(found, text);
}

TEST_WITH(test_preferences, setup, tree_teardown)
{
	static const char *const wanted[] = {"performance", "balance_power", "power"};
	const struct tree *tree = *state;
	struct cpuset cpus = two();
	struct wake_rounds rounds;
	struct journal journal;
	struct err err = {0};

	for (int i = 0; i < 2; i++) {
		tree_file(tree, i ? CPU "1" AVAILABLE : CPU "0" AVAILABLE,
			  "default performance balance_power power \n");
		/* The preference file takes precedence over the bias file. */
		tree_file(tree, i ? CPU "1" BIAS : CPU "0" BIAS, "6\n");
	}
	tree_file(tree, CPU "0" PREFERENCE, "balance_performance\n");
	tree_file(tree, CPU "1" PREFERENCE, "128\n");
	assert_int_equal(wake_rounds_nr(tree->root, &each, &cpus), 4);
	assert_int_equal(journal_open(&journal, tree->root, &err), 0);
	assert_int_equal(wake_rounds_open(&rounds, &memory, &journal, tree->root, &each, &cpus, &err), 0);
	assert_int_equal(rounds.nr, 3);
	for (int round = 0; round < 3; round++) {
		assert_string_equal(rounds.values[round], wanted[round]);
		assert_int_equal(wake_rounds_begin(&rounds, round, &err), 0);
		assert_file(tree, CPU "0" PREFERENCE, wanted[round]);
		assert_file(tree, CPU "1" PREFERENCE, wanted[round]);
	}
	assert_int_equal(wake_rounds_begin(&rounds, 3, &err), 0);
	assert_file(tree, CPU "0" PREFERENCE, "balance_performance");
	assert_file(tree, CPU "1" PREFERENCE, "128");
	assert_int_equal(wake_rounds_begin(&rounds, 0, &err), 0);
	blocks_free(&memory);
	journal_close(&journal);
	assert_int_equal(journal.failed, 0);
	assert_file(tree, CPU "0" PREFERENCE, "balance_performance");
	assert_file(tree, CPU "1" PREFERENCE, "128");
	assert_file(tree, CPU "1" BIAS, "6");
}

TEST_WITH(test_bias, setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset cpus = two();
	struct wake_rounds rounds;
	struct journal journal;
	struct err err = {0};

	tree_file(tree, CPU "0" BIAS, "6\n");
	assert_int_equal(journal_open(&journal, tree->root, &err), 0);
	assert_int_equal(wake_rounds_open(&rounds, &memory, &journal, tree->root, &each, &cpus, &err),
			 -EOPNOTSUPP);
	assert_true(err.unsupported && strstr(err.what, "CPU 1"));
	blocks_free(&memory);
	tree_file(tree, CPU "1" BIAS, "0\n");
	assert_int_equal(wake_rounds_open(&rounds, &memory, &journal, tree->root, &each, &cpus, &err), 0);
	assert_int_equal(rounds.nr, 5);
	assert_int_equal(wake_rounds_begin(&rounds, 4, &err), 0);
	assert_file(tree, CPU "0" BIAS, "15");
	assert_file(tree, CPU "1" BIAS, "15");
	blocks_free(&memory);
	journal_close(&journal);
	assert_file(tree, CPU "0" BIAS, "6");
	assert_file(tree, CPU "1" BIAS, "0");
}

TEST_MAIN()
