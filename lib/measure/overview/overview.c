/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drives the meters of load, runq and wake as one. */
#include "measure/overview/overview.h"

#include <errno.h>
#include <stdlib.h>

#include "measure/load/load.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"

enum {
	LOAD, /* required */
	WAKE,
	RUNQ,
	NR_PARTS,
};

struct overview {
	struct meter meter;
	struct meter *parts[NR_PARTS]; /* NULL: unavailable */
	struct err runq_err;
	struct overview_window window;
};

static struct overview *to_overview(struct meter *meter)
{
	return (struct overview *)meter;
}

static int overview_start(struct meter *meter, struct err *err)
{
	struct overview *o = to_overview(meter);
	int rc = 0;

	for (int i = 0; i < NR_PARTS && !rc; i++)
		if (o->parts[i])
			rc = o->parts[i]->ops->start(o->parts[i], err);
	return rc;
}

static int overview_read(struct meter *meter, struct err *err)
{
	struct overview *o = to_overview(meter);
	int rc = 0;

	for (int i = 0; i < NR_PARTS && !rc; i++)
		if (o->parts[i])
			rc = o->parts[i]->ops->read(o->parts[i], err);
	return rc;
}

/* Passes runq's events on: new cgroups may need slots before the window ends. */
static int overview_event_fd(const struct meter *meter)
{
	const struct meter *runq = ((const struct overview *)meter)->parts[RUNQ];

	return runq ? runq->ops->event_fd(runq) : -1;
}

static int overview_event(struct meter *meter, struct err *err)
{
	struct meter *runq = to_overview(meter)->parts[RUNQ];

	return runq->ops->event(runq, err);
}

static void overview_close(struct meter *meter)
{
	struct overview *o = to_overview(meter);

	for (int i = 0; i < NR_PARTS; i++)
		if (o->parts[i])
			o->parts[i]->ops->close(o->parts[i]);
	free(o);
}

static const struct meter_ops overview_ops = {
	.start = overview_start,
	.read = overview_read,
	.event_fd = overview_event_fd,
	.event = overview_event,
	.close = overview_close,
};

const struct overview_window *overview_window(const struct meter *meter)
{
	return &((const struct overview *)meter)->window;
}

int overview_open(struct meter **ret_meter, struct err *err)
{
	struct load_opts load = {.compare = true};
	struct wake_opts wake = {.sources = 1u << WAKE_PASSIVE, .bare = true};
	struct runq_opts runq = {
		.per = RUNQ_PER_CGROUP, .percentiles = {99}, .nr_percentiles = 1, .blame = true};
	struct overview *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->meter.ops = &overview_ops;
	o->window.runq_err = &o->runq_err;
	rc = load_open(&load, &o->parts[LOAD], err);
	if (rc) {
		overview_close(&o->meter);
		return rc;
	}
	o->window.load = load_window(o->parts[LOAD]);
	runq.load = o->parts[LOAD];
	if (!wake_open(&wake, &o->parts[WAKE], NULL))
		o->window.wake = wake_window(o->parts[WAKE]);
	if (!runq_open(&runq, &o->parts[RUNQ], &o->runq_err))
		o->window.runq = runq_window(o->parts[RUNQ]);
	*ret_meter = &o->meter;
	return 0;
}
