/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks that this kernel's throttled time gives the finding `quota`. tests/unit/findings.c judges
 * the rules, and the suite incidents judges the advice.
 */
#include <math.h>
#include <string.h>

#include "cgroups.h"
#include "live.h"
#include "runq_window.h"

static const char *app;

/* Returns the row of @table in which @key begins with the path of the cgroup, or NULL. */
static json_t *row_of(json_t *root, const char *table, const char *key)
{
	size_t i;
	json_t *row;

	json_array_foreach (json_object_get(root, table), i, row) {
		const char *text = json_string_value(json_object_get(row, key)) ?: "";

		if (!strncmp(text, app, strlen(app)) && strchr(" ", text[strlen(app)]))
			return row;
	}
	return NULL;
}

static void with_quota(void)
{
	json_t *root = live_json(ARGS("runq", "--causes", "--json", "2", "1"));
	json_t *finding = row_of(root, "findings", "finding");
	double held = live_number(row_of(root, "groups", "cgroup"), "causes.throttled_ns");
	const char *text = json_string_value(json_object_get(finding, "finding")) ?: "none";

	live_ok(row_of(root, "groups", "cgroup") != NULL, "the group has waits");
	if (isnan(held)) {
		live_skip("the finding of a quota", "this kernel does not tell waits for a quota");
	} else {
		live_ok(held >= 0.01 * live_number(root, "window_ns"),
			"a loop that has a quota waits for it: %.0f ms", held / 1e6);
		live_ok(strstr(text, "for its CPU quota") &&
				live_number(finding, "lost_ns") == held,
			"that is a finding, of as much time: %s", text);
	}
	json_decref(root);
}

int main(void)
{
	pid_t burner;

	cgroups_open();
	live_needs(ARGS("runq", "--causes", "0.05", "1"));
	app = cgroups_make("app");
	burner = load_burner(app, 0);
	/*
	 * The CPU quota of the cgroup is so small that the busy loop in the cgroup exhausts the
	 * quota even if other tasks use the CPU.
	 */
	if (!cgroups_quota(app, live_quota_us(2000, 50000), 50000))
		live_skip("quota", "no CPU quota here");
	else
		with_quota();
	load_kill(burner);
	return live_done();
}
