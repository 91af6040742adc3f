/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks that JSON and text output have the finding `quota` for a busy cgroup with a CPU quota, and
 * do not have the finding for a cgroup without a quota.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "live.h"

static const char *app;
static pid_t burner;

static void start_burner(void)
{
	burner = fork();
	if (burner < 0)
		live_fail_all("fork failed");
	if (!burner) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	if (!cgroups_enter(app, burner))
		live_fail_all("cannot move a task into %s", app);
}

static void stop_burner(void)
{
	kill(burner, SIGKILL);
	waitpid(burner, NULL, 0);
}

/* Returns the row of @table in which @key begins with the path of the cgroup, or NULL. */
static json_t *row_of(json_t *root, const char *table, const char *key, const char *rule)
{
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(root, table), i, row) {
		const char *text = json_string_value(json_object_get(row, key)) ?: "";
		const char *of = json_string_value(json_object_get(row, "rule")) ?: "";

		if (!strncmp(text, app, strlen(app)) && strchr(" ", text[strlen(app)]) &&
		    (!rule || !strcmp(of, rule)))
			return row;
	}
	return NULL;
}

static bool is_ordered(json_t *findings)
{
	double before = 1e300;
	size_t i;
	json_t *row;

	json_array_foreach (findings, i, row) {
		if (live_number(row, "lost_ns") > before)
			return false;
		before = live_number(row, "lost_ns");
	}
	return true;
}

static void with_quota(void)
{
	json_t *root = live_json(ARGS("runq", "--causes", "--json", "2", "1"));
	json_t *group = row_of(root, "groups", "cgroup", NULL);
	json_t *finding = row_of(root, "findings", "finding", "quota");
	double held = live_number(group, "causes.throttled_ns");
	const char *text = json_string_value(json_object_get(finding, "finding")) ?: "none";

	if (!live_ok(group != NULL, "the group has waits"))
		return;
	if (!(held == held)) {
		live_skip("the finding of a quota", "this kernel does not tell waits for a quota");
		json_decref(root);
		return;
	}
	live_ok(held >= 0.01 * live_number(root, "window_ns"),
		"a loop that has a quota waits for it: %.0f ms", held / 1e6);
	live_ok(finding != NULL && strstr(text, "for its CPU quota"), "that is a finding: %s", text);
	live_ok(live_number(finding, "lost_ns") == held, "of as much time");
	live_ok(json_string_value(json_object_get(finding, "next")) != NULL, "with what to do next");
	live_ok(is_ordered(json_object_get(root, "findings")), "most time lost comes first");
	json_decref(root);
}

static void in_text(void)
{
	struct live_run run;
	char want[256];

	snprintf(want, sizeof(want), "finding: %s waits", app);
	live_run(ARGS("runq", "--causes", "--color=never", "2", "1"), &run);
	live_ok(!run.exit_code && strstr(run.out, want) && strstr(run.out, "for its CPU quota"),
		"text has the finding");
	live_run_free(&run);
}

static void without_quota(void)
{
	json_t *root = live_json(ARGS("runq", "--causes", "--json", "1", "1"));

	live_ok(root && !row_of(root, "findings", "finding", "quota"),
		"without a quota there is no such finding");
	json_decref(root);
}

int main(void)
{
	cgroups_open();
	live_needs(ARGS("runq", "--causes", "0.05", "1"));
	app = cgroups_make("app");
	start_burner();
	without_quota();
	/*
	 * The CPU quota of the cgroup is so small that the busy loop in the cgroup exhausts the
	 * quota even if other tasks use the CPU.
	 */
	if (!cgroups_quota(app, live_quota_us(2000, 50000), 50000)) {
		live_skip("quota", "no CPU quota here");
	} else {
		with_quota();
		in_text();
	}
	stop_burner();
	return live_done();
}
