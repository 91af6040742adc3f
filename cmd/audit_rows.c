/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints and saves rows of `subtick audit delays`, and reads and checks rows of an earlier run. */
#include "audit_rows.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "output.h"
#include "report/report.h"

static int write_row(struct audit_rows *rows, const struct audit_delays *delays)
{
	struct report *report;
	struct err *err = &rows->failed;
	int width = rows->view->width, rc;

	/* JSON output is one object per experiment and is written when the experiment has ended. */
	if (rows->view->format == VIEW_JSON)
		return 0;
	rc = rows->view->format == VIEW_CSV
		     ? audit_delays_report(rows->opts, rows->findings, delays, true, &report, err)
		     : audit_delays_line_report(delays, &report, err);
	if (rc)
		return rc;
	/* Width 0 is unlimited, because a folded row would repeat the headings. */
	rows->view->width = 0;
	rc = output_report(rows->view, report, err);
	rows->view->width = width;
	rows->gone = rc != 0;
	return rc;
}

static int save(struct audit_rows *rows, const struct audit_delays *delays)
{
	struct report *report = NULL;
	int rc = audit_delays_report(rows->opts, rows->findings, delays, false, &report,
				     &rows->failed)
			 ?: output_view(rows->save, VIEW_JSON, report, &rows->failed);

	report_free(report);
	return rc;
}

bool audit_rows_done(void *arg, const struct audit_delays *delays)
{
	struct audit_rows *rows = arg;
	int rc;

	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	rc = write_row(rows, delays);
	return !(rows->save && save(rows, delays)) && !rc;
}

void audit_rows_free(struct audit_rows *rows)
{
	free(rows->earlier);
	*rows = (struct audit_rows){0};
}

/* limit of exact integers in a double, 2^53; 2^53 ns are 104 days */
#define EXACT 9007199254740992.0

/* Measured columns of a result row. */
static const struct {
	const char *key;
	size_t offset;
	bool optional;
} readings[] = {
#define READING(name, member) {name, offsetof(struct audit_delay, member), false}
	READING("delay_ns", delay_ns),
	READING("slack_ns", slack_ns),
	READING("iterations_total", iterations),
	READING("real_ns", real_ns),
	READING("rusage_user_ns", rusage_user_ns),
	READING("rusage_system_ns", rusage_system_ns),
	READING("pidstat_user_ns", pidstat_user_ns),
	READING("pidstat_system_ns", pidstat_system_ns),
	READING("procstat_user_ns", procstat_user_ns),
	READING("procstat_system_ns", procstat_system_ns),
	READING("procstat_busy_ns", procstat_busy_ns),
	READING("thread_clock_ns", thread_ns),
#undef READING
	{"bpf_task_ns", offsetof(struct audit_delay, bpf_task_ns), true},
	{"bpf_busy_ns", offsetof(struct audit_delay, bpf_busy_ns), true},
	{"bpf_loop_ns", offsetof(struct audit_delay, bpf_loop_ns), true},
};

/* Reads a number from 0 to EXACT, or null as UINT64_MAX. Returns false for all other values. */
static bool read_count(const struct table *table, size_t row, const char *key, uint64_t *ret_count)
{
	double number = table_number(table, row, key);

	*ret_count = UINT64_MAX;
	if (table_get(table, row, key)->kind == VALUE_NULL)
		return true;
	if (!(number >= 0.0 && number < EXACT))
		return false;
	*ret_count = (uint64_t)number;
	return true;
}

static int read_row(const struct table *table, size_t at, struct audit_delay *row, struct err *err)
{
	const struct value *complete = table_get(table, at, "complete");

	*row = (struct audit_delay){.complete = complete->kind == VALUE_BOOL && complete->flag};
	array_for_each(reading, readings, ARRAY_SIZE(readings)) {
		uint64_t *to = (uint64_t *)((char *)row + reading->offset);

		if (!read_count(table, at, reading->key, to) ||
		    (*to == UINT64_MAX && !reading->optional))
			return err_set(err, -EINVAL, "row %zu has no valid %s", at + 1,
				       reading->key);
	}
	return 0;
}

/* Reads the load level of a delay for each mode. A missing level is stored as unknown. */
static int read_levels(const struct report *report, struct audit_delay *row, struct err *err)
{
	const struct table *table = report_find(report, "modes");

	for (int mode = 0; mode < AUDIT_NR_MODES; mode++)
		row->levels[mode] = (struct audit_level){0, UINT64_MAX, NAN, NAN, NAN};
	for (size_t i = 0; table && i < table->nr_rows; i++) {
		const char *name = table_str(table, i, "mode");
		int mode = 0;

		if (!name || table_number(table, i, "delay_ns") != (double)row->delay_ns ||
		    table_number(table, i, "slack_ns") != (double)row->slack_ns)
			continue;
		while (mode < AUDIT_NR_MODES && strcmp(audit_mode_name(mode), name))
			mode++;
		if (mode == AUDIT_NR_MODES ||
		    !read_count(table, i, "shown_ns", &row->levels[mode].shown_ns) ||
		    !read_count(table, i, "true_ns", &row->levels[mode].true_ns) ||
		    row->levels[mode].shown_ns == UINT64_MAX)
			return err_set(err, -EINVAL, "row %zu of modes is not valid", i + 1);
	}
	return 0;
}

static int read_rows(struct audit_rows *rows, const struct report *report, size_t *ret_nr,
		     struct err *err)
{
	const struct table *table = report_find(report, "delays");
	int rc = 0;

	if (!table)
		return err_set(err, -EINVAL, "no rows");
	rows->earlier = calloc(table->nr_rows + 1, sizeof(*rows->earlier));
	if (!rows->earlier)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < table->nr_rows && !rc; i++) {
		rc = read_row(table, i, &rows->earlier[i], err)
			     ?: read_levels(report, &rows->earlier[i], err);
	}
	*ret_nr = table->nr_rows;
	return rc;
}

static int check_count(const struct report *report, const char *key, uint64_t want,
		       const char *what, struct err *err)
{
	uint64_t was;

	if (read_count(report->fields, 0, key, &was) && was == want)
		return 0;
	if (was == UINT64_MAX || want == UINT64_MAX)
		return err_set(err, -EINVAL,
			       "the saved rows were measured with%s %s, but this run is with%s",
			       was == UINT64_MAX ? "out" : "", what,
			       want == UINT64_MAX ? "out" : "");
	return err_set(err, -EINVAL,
		       "the saved rows were measured with %s %llu, but this run has %llu", what,
		       (unsigned long long)was, (unsigned long long)want);
}

static int check_settings(const struct report *report, const struct audit_opts *opts,
			  struct err *err)
{
	const char *machine = table_str(report->fields, 0, "machine");
	struct audit_delays plan;

	audit_delays_plan(opts, &plan);
	if (!machine)
		return err_set(err, -EINVAL,
			       "saved by an older subtick, without its machine: measure again");
	if (strcmp(machine, plan.machine))
		return err_set(err, -EINVAL, "saved on another machine or kernel: %.80s", machine);
	return check_count(report, "cpu", opts->cpu, "--cpu", err)
		?: check_count(report, "requested_iterations_total", plan.asked_iterations, "--iterations",
			       err)
		?: check_count(report, "requested_each_ns", plan.requested_each_ns,
			       "a time per delay (--budget ÷ number of delays) in ns of", err);
}

/* Finds the first report of audit delays. On failure sets @err and returns NULL. */
static struct report *find_report(const char *text, size_t size, struct err *err)
{
	struct report *report;
	size_t used;
	int rc;

	for (;; text += used, size -= used) {
		const char *experiment;

		rc = report_read_json(text, size, &report, &used, err);
		if (rc == -ENODATA)
			err_set(err, -EINVAL, "not the output of subtick audit delays --json");
		if (rc)
			return NULL;
		experiment = table_str(report->fields, 0, "experiment");
		if (!strcmp(report->command, "audit") && experiment &&
		    !strcmp(experiment, "delays"))
			return report;
		report_free(report);
	}
}

int audit_rows_resume(struct audit_rows *rows, struct audit_opts *opts, struct err *err)
{
	struct report *report;
	size_t size, nr = 0;
	char *text;
	int rc;

	text = input_read(rows->resume, &size, err);
	if (!text)
		return err_prefix(err, "--resume");
	report = find_report(text, size, err);
	free(text);
	if (!report)
		return err_prefix(err, "--resume %s", rows->resume);
	rc = check_settings(report, opts, err) ?: read_rows(rows, report, &nr, err);
	report_free(report);
	if (rc)
		return err_prefix(err, "--resume %s", rows->resume);
	opts->earlier = rows->earlier;
	opts->nr_earlier = nr;
	return 0;
}
