/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drives the load measurement with every source beside it, and says in words what stands out. */
#include "measure/overview.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load.h"
#include "measure/wake.h"

/* A difference that a person would act on. */
#define WORTH_SAYING_RATIO 0.03

struct overview {
	struct meter meter;
	struct meter *load;
	struct meter *wake; /* passive; NULL where it cannot be had, and then nothing is said of it */
};

static struct overview *to_overview(struct meter *meter)
{
	return (struct overview *)meter;
}

static int overview_start(struct meter *meter, struct err *err)
{
	struct overview *o = to_overview(meter);
	int rc = o->load->ops->start(o->load, err);

	if (!rc && o->wake)
		rc = o->wake->ops->start(o->wake, err);
	return rc;
}

/* False for null. */
static bool ratio_of(const struct table *table, size_t row, const char *key, double *ret_ratio)
{
	int col = table_find(table, key);
	const struct value *cell;

	if (col < 0)
		return false;
	cell = table_cell(table, row, col);
	if (cell->kind != VALUE_F64)
		return false;
	*ret_ratio = cell->f64;
	return true;
}

static void say_difference(struct report *report, const struct table *cpus, size_t row,
			   bool *said)
{
	unsigned long long cpu = table_cell(cpus, row, 0)->u64;
	double busy, columns, softirq;

	if (!ratio_of(cpus, row, "busy_ratio", &busy))
		return;
	if (ratio_of(cpus, row, "compare.procstat_busy_ratio", &columns) &&
	    fabs(busy - columns) >= WORTH_SAYING_RATIO) {
		report_note(report, "CPU %llu was %.1f %% busy; top, mpstat and htop show %.1f %%", cpu,
			    busy * 100.0, columns * 100.0);
		*said = true;
	}
	if (ratio_of(cpus, row, "softirq_on_idle_ratio", &softirq) && softirq >= WORTH_SAYING_RATIO) {
		report_note(report,
			    "CPU %llu spent %.1f %% in softirqs while no task ran: no task's time "
			    "shows that",
			    cpu, softirq * 100.0);
		*said = true;
	}
}

static void say(struct report *report)
{
	bool said = false;

	for (size_t i = 0; i < report->nr_tables; i++) {
		const struct table *cpus = report->tables[i];

		if (strcmp(cpus->key, "cpus"))
			continue;
		for (size_t row = 0; row < cpus->nr_rows; row++)
			say_difference(report, cpus, row, &said);
	}
	if (!said)
		report_note(report, "in this window /proc/stat was within %.0f points of the truth",
			    WORTH_SAYING_RATIO * 100.0);
}

static int overview_read(struct meter *meter, struct report **ret_report, struct err *err)
{
	struct meter *load = to_overview(meter)->load;
	struct report *report;
	char *command;
	int rc;

	rc = load->ops->read(load, &report, err);
	if (rc)
		return rc;
	say(report);
	if (to_overview(meter)->wake)
		wake_say(to_overview(meter)->wake, report);
	command = strdup("overview");
	if (!command || report_check(report)) {
		free(command);
		report_free(report);
		return err_set(err, -ENOMEM, "out of memory");
	}
	free(report->command);
	report->command = command;
	*ret_report = report;
	return 0;
}

static void overview_close(struct meter *meter)
{
	struct overview *o = to_overview(meter);

	o->load->ops->close(o->load);
	if (o->wake)
		o->wake->ops->close(o->wake);
	free(meter);
}

static const struct meter_ops overview_ops = {
	.start = overview_start,
	.read = overview_read,
	.close = overview_close,
};

int overview_open(struct meter **ret_meter, struct err *err)
{
	struct load_opts opts = {.compare = true};
	struct wake_opts wake = {.launchers = 1u << WAKE_PASSIVE, .bare = true};
	struct overview *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->meter.ops = &overview_ops;
	rc = load_open(&opts, &o->load, err);
	if (rc) {
		free(o);
		return rc;
	}
	if (wake_open(&wake, &o->wake, NULL))
		o->wake = NULL;
	*ret_meter = &o->meter;
	return 0;
}
