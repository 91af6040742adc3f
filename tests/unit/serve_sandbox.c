/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the collectors read in every window can be read behind the system call filter. */
#include "serve/sandbox.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machines.h"
#include "measure/wake/env.h"
#include "test.h"

#define NO_FILTER 77

/* In a process of its own: a filter stays. */
static void end_window_filtered(struct wake_env *env)
{
	struct err err = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || sandbox_filter(&err))
		_exit(NO_FILTER);
	wake_env_after(env);
	_exit(!env->cpus[0].counted);
}

TEST_WITH(test_idle_counters, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset measured = {.bits = {1}};
	struct probe probe = {0};
	struct wake_env env;
	int status = 0;
	pid_t pid;

	machine_laptop(tree, &probe);
	assert_int_equal(wake_env_open(&env, tree->root, 1, &measured, false, NULL), 0);
	wake_env_after(&env);
	assert_true(env.cpus[0].counted);
	pid = fork();
	if (!pid)
		end_window_filtered(&env);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	wake_env_close(&env);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_FILTER) {
		print_message("# this kernel refuses the filter\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_MAIN()
