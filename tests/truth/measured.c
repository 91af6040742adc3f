/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs subtick while tasks of a test run, and reads values from the JSON output of subtick. */
#include "measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "live.h"

#define OUTPUT_MAX (1 << 20)

void measured_start(struct measured *m, const char *const args[])
{
	live_pin(0);
	m->pid = live_start(args, &m->fd);
}

/*
 * Converts the time in the output from the time of day to CLOCK_MONOTONIC. The time of day is not
 * set during the test.
 */
uint64_t measured_window(json_t *line, uint64_t *ret_length_ns)
{
	*ret_length_ns = (uint64_t)json_integer_value(json_object_get(line, "window_ns"));
	return (uint64_t)json_integer_value(json_object_get(line, "time_unix_ns")) -
	       (clock_unix_ns() - clock_mono_ns());
}

json_t *measured_lines(struct measured *m)
{
	char *text = malloc(OUTPUT_MAX), *rest = text, *line;
	json_t *lines = json_array(), *root;
	json_error_t error;
	int code;

	if (!text || !lines)
		abort();
	code = live_stop(m->pid, 0, m->fd, text, OUTPUT_MAX);
	if (code)
		live_fail_all("subtick exits with %d", code);
	while ((line = strsep(&rest, "\n")) && *line) {
		root = json_loads(line, 0, &error);
		if (!root)
			live_fail_all("no JSON: %s", error.text);
		json_array_append_new(lines, root);
	}
	if (!json_array_size(lines))
		live_fail_all("subtick says nothing");
	free(text);
	return lines;
}

json_t *measured_end(struct measured *m, uint64_t from_ns, uint64_t to_ns)
{
	json_t *lines = measured_lines(m), *root = json_incref(json_array_get(lines, 0));
	uint64_t length_ns, end_ns = measured_window(root, &length_ns);

	live_note("window [%.3f, %.3f], load [%.3f, %.3f] s", (double)(end_ns - length_ns) / 1e9,
		  (double)end_ns / 1e9, (double)from_ns / 1e9, (double)to_ns / 1e9);
	if (!length_ns || end_ns - length_ns >= from_ns || to_ns >= end_ns)
		live_fail_all("the window does not hold the load");
	json_decref(lines);
	return root;
}

json_t *measured_group(json_t *root, const char *cgroup)
{
	return live_row(root, "groups", "cgroup", cgroup);
}

double measured_figure(json_t *root, const char *cgroup, const char *key)
{
	json_t *group = measured_group(root, cgroup);

	return group ? live_number(group, key) : NAN;
}

double measured_causes(json_t *group)
{
	json_t *causes = json_object_get(group, "causes"), *value;
	const char *key;
	double sum = 0.0;

	json_object_foreach(causes, key, value)
	{
		sum += json_number_value(value);
	}
	return sum;
}

double measured_blame(json_t *root, const char *victim, const char *culprit)
{
	double sum = 0.0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "blame"), i, row)
	{
		const char *who = json_string_value(json_object_get(row, "victim"));
		const char *by = json_string_value(json_object_get(row, "culprit"));

		if (!strcmp(who, victim) && (!culprit || !strcmp(by, culprit)))
			sum += live_number(row, "wait_ns");
	}
	return sum;
}

void measured_note_blame(json_t *root)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "blame"), i, row)
		live_note("%s behind %s: %.0f ns, %.0f times",
			  json_string_value(json_object_get(row, "victim")),
			  json_string_value(json_object_get(row, "culprit")),
			  live_number(row, "wait_ns"), live_number(row, "count"));
}
