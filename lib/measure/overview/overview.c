/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Drives the meters of load, noise, wake and runq as one. */
#include "measure/overview/overview.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"
#include "sys/cgroup.h"

enum {
	LOAD, /* required */
	NOISE,
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

/* Reads the settings of a cgroup, unless they are read already or there are too many. */
static void add_settings(struct overview_window *w, const struct runq_party *party)
{
	const char *cpuset = w->mounts.v1 ? "" : party->group ? party->group->path : "";

	if (party->kind != RUNQ_PARTY_GROUP || w->nr_settings == OVERVIEW_CGROUPS)
		return;
	for (size_t i = 0; i < w->nr_settings; i++)
		if (!strcmp(w->settings[i].path, party->group->path))
			return;
	for (size_t i = 0; w->mounts.v1 && i < w->suspects.nr; i++)
		if (!strcmp(w->suspects.list[i].cgroup, party->group->path))
			cpuset = w->suspects.list[i].cpuset;
	settings_read(NULL, &w->mounts, party->group->path, cpuset, &w->settings[w->nr_settings++]);
}

/* Rows are sorted by their waits. */
static void read_settings(struct overview_window *w)
{
	double least = OVERVIEW_LEAST * (double)w->load->window_ns;

	w->nr_settings = 0;
	for (size_t i = 0; w->runq && i < w->runq->nr_groups; i++)
		if ((double)w->runq->groups[i].sum_ns >= least)
			add_settings(w, &w->runq->groups[i].party);
	for (size_t i = 0; w->runq && i < w->runq->nr_blame; i++)
		if ((double)w->runq->blame[i].wait_ns >= least)
			add_settings(w, &w->runq->blame[i].culprit);
}

static int overview_read(struct meter *meter, struct err *err)
{
	struct overview *o = to_overview(meter);
	struct overview_window *w = &o->window;
	int rc = 0;

	for (int i = 0; i < NR_PARTS && !rc; i++)
		if (o->parts[i])
			rc = o->parts[i]->ops->read(o->parts[i], err);
	if (rc)
		return rc;
	rc = suspects_read(NULL, w->load->tasks, w->load->nr_tasks, w->mounts.v1, &w->suspects);
	if (rc)
		return err_set(err, rc, "out of memory");
	read_settings(w);
	return 0;
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
	free(o->window.suspects.list);
	free(o->window.settings);
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

/*
 * Noise shares the source of load. Sources are chosen by what they can count: a kernel without
 * events of IPIs has no senders.
 */
static int open_load(struct overview *o, struct err *err)
{
	struct load_opts opts[] = {
		{.compare = true, .top = 1, .noise = true, .senders = true},
		{.compare = true, .top = 1, .noise = true},
		{.compare = true, .top = 1},
	};
	struct noise_opts noise = {.senders = true};
	int rc;

	for (int i = 0; i < 3; i++) {
		rc = load_open(&opts[i], &o->parts[LOAD], err);
		if (rc && i < 2)
			continue;
		if (rc)
			return rc;
		o->window.load = load_window(o->parts[LOAD]);
		noise.load = o->parts[LOAD];
		noise.senders = opts[i].senders;
		if (i == 2)
			break;
		if (!strcmp(o->window.load->source, "bpf") &&
		    !noise_open(&noise, &o->parts[NOISE], NULL)) {
			o->window.noise = noise_window(o->parts[NOISE]);
			break;
		}
		o->parts[LOAD]->ops->close(o->parts[LOAD]);
		o->parts[LOAD] = NULL;
	}
	return 0;
}

static void find_mounts(struct overview_window *w)
{
	struct cgroup_layout layout;

	if (cgroup_layout(NULL, &layout))
		return;
	w->mounts.v1 =
		w->runq ? w->runq->hierarchy == RUNQ_HIERARCHY_V1 : cgroup_cpu_is_v1(&layout);
	snprintf(w->mounts.cpu, SETTINGS_PATH, "%.*s", SETTINGS_PATH - 1,
		 w->mounts.v1 ? layout.v1_cpu : layout.v2);
	snprintf(w->mounts.cpuset, SETTINGS_PATH, "%.*s", SETTINGS_PATH - 1,
		 w->mounts.v1 ? layout.v1_cpuset : layout.v2);
}

int overview_open(struct meter **ret_meter, struct err *err)
{
	struct wake_opts wake = {.sources = 1u << WAKE_PASSIVE, .bare = true};
	struct runq_opts runq = {
		.per = RUNQ_PER_CGROUP, .percentiles = {99}, .nr_percentiles = 1, .blame = true};
	struct overview *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->meter.ops = &overview_ops;
	o->window.runq_err = &o->runq_err;
	o->window.suspects.list = calloc(SUSPECTS_MAX, sizeof(struct suspect));
	o->window.settings = calloc(OVERVIEW_CGROUPS, sizeof(struct settings));
	rc = o->window.suspects.list && o->window.settings ?
		     open_load(o, err) :
		     err_set(err, -ENOMEM, "out of memory");
	if (rc) {
		overview_close(&o->meter);
		return rc;
	}
	runq.load = o->parts[LOAD];
	if (!wake_open(&wake, &o->parts[WAKE], NULL))
		o->window.wake = wake_window(o->parts[WAKE]);
	if (!runq_open(&runq, &o->parts[RUNQ], &o->runq_err))
		o->window.runq = runq_window(o->parts[RUNQ]);
	find_mounts(&o->window);
	*ret_meter = &o->meter;
	return 0;
}
