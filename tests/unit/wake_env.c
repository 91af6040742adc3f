/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests how the growth of idle-state counters is divided into windows: without gaps, and with CPU
 * hotplug.
 */
#include "test.h"
#include "tree.h"

#include "measure/wake/env.h"

static void set(const struct tree *tree, int cpu, const char *name, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/%s", cpu, name);
	tree_file(tree, path, value);
}

static void plug(const struct tree *tree, int cpu)
{
	static const char *const zeros[] = {"state0/latency", "state0/disable", "state0/usage",
					    "state0/time",    "state1/disable", "state1/usage",
					    "state1/time"};

	for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++)
		set(tree, cpu, zeros[i], "0\n");
	set(tree, cpu, "state0/name", "POLL\n");
	set(tree, cpu, "state1/name", "C1\n");
	set(tree, cpu, "state1/latency", "2\n");
}

static uint64_t used(const struct wake_env *env, int cpu)
{
	return env->cpus[cpu].after[1].usage - env->cpus[cpu].before[1].usage;
}

TEST_WITH(test_windows, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset measured = {.bits = {1}};
	struct wake_env env;

	plug(tree, 0);
	plug(tree, 1);
	set(tree, 0, "state1/usage", "10\n");
	assert_int_equal(wake_env_open(&env, tree->root, 2, &measured, false, NULL), 0);
	assert_int_equal(env.machine.nr_states, 2);
	set(tree, 0, "state1/usage", "15\n");
	wake_env_end(&env);
	assert_true(env.cpus[0].counted);
	assert_false(env.cpus[1].counted);
	assert_int_equal(used(&env, 0), 5);
	/*
	 * If the usage of C1 grows while a window is shown, the growth counts in the next window.
	 */
	set(tree, 0, "state1/usage", "17\n");
	wake_env_begin(&env);
	set(tree, 0, "state1/usage", "20\n");
	wake_env_end(&env);
	assert_int_equal(used(&env, 0), 5);
	wake_env_close(&env);
}

TEST_WITH(test_offline, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset measured = {.bits = {1}};
	struct wake_env env;
	const struct wake_cpu_env *c;

	plug(tree, 0);
	assert_int_equal(wake_env_open(&env, tree->root, 1, &measured, false, NULL), 0);
	set(tree, 0, "state1/usage", "");
	tree_remove(tree, "/sys/devices/system/cpu/cpu0/cpuidle/state1/usage");
	tree_remove(tree, "/sys/devices/system/cpu/cpu0/cpuidle/state1/time");
	wake_env_end(&env);
	assert_false(env.cpus[0].counted);
	wake_env_begin(&env);
	/* The names and claimed latencies of idle states are kept for an offline CPU. */
	assert_string_equal(wake_env_name(&env, 0, 1), "C1");
	c = &env.cpus[0];
	assert_true(cpuidle_state_latency(c->states, c->nr, 0) == CPUIDLE_UNKNOWN);
	assert_int_equal(cpuidle_state_latency(c->states, c->nr, 1), 2000);
	wake_env_end(&env);
	assert_false(env.cpus[0].counted);
	plug(tree, 0);
	set(tree, 0, "state1/usage", "100\n");
	wake_env_begin(&env);
	set(tree, 0, "state1/usage", "101\n");
	wake_env_end(&env);
	assert_true(env.cpus[0].counted);
	assert_int_equal(used(&env, 0), 1);
	wake_env_close(&env);
}

TEST_MAIN()
