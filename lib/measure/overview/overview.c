/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the measurements of load, noise, wake and runq as one measurement. */
#include "measure/overview/overview.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"
#include "host/cgroup.h"
#include "host/cpu.h"
#include "host/file.h"

struct overview {
	struct meter meter;
	struct overview_opts opts;
	/* the measurements of load, noise, wake and runq; NULL if a measurement is unavailable */
	struct meter *parts[OVERVIEW_NR_PARTS];
	struct overview_window window;
	struct runnable runnable; /* runnable tasks at the beginning of the window */
};

static struct overview *to_overview(struct meter *meter)
{
	return (struct overview *)meter;
}

static void set_windows(struct overview *o)
{
	struct meter **parts = o->parts;

	o->window.runq = parts[OVERVIEW_RUNQ] ? runq_window(parts[OVERVIEW_RUNQ]) : NULL;
	o->window.wake = parts[OVERVIEW_WAKE] ? wake_window(parts[OVERVIEW_WAKE]) : NULL;
	o->window.noise = parts[OVERVIEW_NOISE] ? noise_window(parts[OVERVIEW_NOISE]) : NULL;
}

/*
 * Starts or reads all measurements, and closes a measurement that fails. If the load measurement
 * fails, the whole overview fails.
 */
static int each_part(struct overview *o, bool start, struct err *err)
{
	for (int i = 0; i < OVERVIEW_NR_PARTS; i++) {
		struct meter *part = o->parts[i];
		struct err *why = i == OVERVIEW_LOAD ? err : &o->window.errs[i];
		int rc = !part	 ? 0
			 : start ? part->ops->start(part, why)
				 : part->ops->read(part, why);

		if (rc && i == OVERVIEW_LOAD)
			return rc;
		if (!rc)
			continue;
		part->ops->close(part);
		o->parts[i] = NULL;
	}
	set_windows(o);
	return 0;
}

static int overview_start(struct meter *meter, struct err *err)
{
	struct overview *o = to_overview(meter);
	int rc = each_part(o, true, err);

	if (!rc)
		runnable_read(NULL, &o->runnable);
	return rc;
}

/* Reads the settings of a cgroup, unless they were read before or the array is full. */
static void add_settings(struct overview_window *w, const char *path)
{
	const char *cpuset = w->mounts.v1 ? "" : path;

	if (w->nr_settings == OVERVIEW_CGROUPS)
		return;
	for (size_t i = 0; i < w->nr_settings; i++)
		if (!strcmp(w->settings[i].path, path))
			return;
	for_each_suspect(s, &w->suspects)
		if (w->mounts.v1 && !strcmp(s->cgroup, path))
			cpuset = s->cpuset;
	settings_read(NULL, &w->mounts, path, cpuset, &w->settings[w->nr_settings++]);
}

static void add_party(struct overview_window *w, const struct runq_party *party, uint64_t wait_ns)
{
	if (party->kind == RUNQ_PARTY_GROUP &&
	    (double)wait_ns >= OVERVIEW_LEAST * (double)w->load->window_ns)
		add_settings(w, party->group->path);
}

/*
 * The rows of runq are sorted by wait time, longest first. If the array of settings is too small
 * for all culprits, it contains the settings of the culprits that cause the longest waits.
 */
void overview_read_settings(struct overview_window *w)
{
	uint64_t victim_ns = 0;

	w->nr_settings = 0;
	for_each_suspect(s, &w->suspects) {
		const struct suspect *top = suspects_busiest(&w->suspects, s->cpu);

		if (s->starved && top) {
			add_settings(w, s->cgroup);
			add_settings(w, top->cgroup);
		}
	}
	for (size_t i = 0; i < w->runq->nr_groups; i++)
		add_party(w, &w->runq->groups[i].party, w->runq->groups[i].sum_ns);
	for (size_t i = 0; i < w->runq->nr_blame; i++) {
		const struct runq_blame *row = &w->runq->blame[i];

		if (!i || row->victim.group != row[-1].victim.group)
			victim_ns = 0;
		victim_ns += row->wait_ns;
		add_party(w, &row->culprit, victim_ns);
	}
}

static void read_offline(struct cpuset *ret_offline)
{
	struct cpuset online;
	char control[16];

	if (cpu_set(NULL, CPU_PRESENT, ret_offline, NULL) ||
	    cpu_set(NULL, CPU_ONLINE, &online, NULL) ||
	    (sys_read_file(NULL, "/sys/devices/system/cpu/smt/control", control, sizeof(control)) >
		     0 &&
	     strstr(control, "off")))
		online = *ret_offline;
	cpuset_for_each(cpu, &online)
		cpuset_del(ret_offline, cpu);
}

static int overview_read(struct meter *meter, struct err *err)
{
	struct overview *o = to_overview(meter);
	struct overview_window *w = &o->window;
	struct runnable now;
	int rc = each_part(o, false, err);

	if (rc)
		return rc;
	rc = suspects_read(NULL, w->load->tasks, w->load->nr_tasks, w->mounts.v1, &w->suspects);
	if (rc)
		return err_set(err, rc, "out of memory");
	runnable_read(NULL, &now);
	suspects_add_starved(NULL, &o->runnable, &now, w->load->tasks, w->load->nr_tasks,
			     w->load->window_ns, cpuset_count(&w->load->cpus), w->mounts.v1,
			     &w->suspects);
	o->runnable = now;
	read_offline(&w->offline);
	if (w->runq)
		overview_read_settings(w);
	return 0;
}

/* Returns the descriptor that becomes readable when runq must add slots for new cgroups. */
static int overview_event_fd(const struct meter *meter)
{
	const struct meter *runq = ((const struct overview *)meter)->parts[OVERVIEW_RUNQ];

	return runq ? runq->ops->event_fd(runq) : -1;
}

static int overview_event(struct meter *meter, struct err *err)
{
	struct meter *runq = to_overview(meter)->parts[OVERVIEW_RUNQ];

	return runq->ops->event(runq, err);
}

static void overview_close(struct meter *meter)
{
	struct overview *o = to_overview(meter);

	for (int i = 0; i < OVERVIEW_NR_PARTS; i++)
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
 * Opens the load measurement and the noise measurement, which share a source. The second attempt
 * omits the senders of IPIs, because the kernel may lack tracepoints for IPIs. The third attempt
 * omits the noise measurement.
 */
static int open_load(struct overview *o, struct err *err)
{
	struct load_opts load = {.compare = true,
				 .softirq = o->opts.top,
				 .top = o->opts.top ?: 1,
				 .noise = true,
				 .senders = true,
				 .cores = o->opts.cores,
				 .cgroups = o->opts.cores};
	struct meter **meter = &o->parts[OVERVIEW_LOAD];
	int rc;

	for (;;) {
		struct noise_opts noise = {.senders = load.senders};
		struct err why = {0};

		rc = load_open(&load, meter, &why);
		if (rc && !load.noise) {
			*err = why;
			return rc;
		}
		noise.load = *meter;
		if (!rc && (!load.noise || !noise_open(&noise, &o->parts[OVERVIEW_NOISE],
						       &o->window.errs[OVERVIEW_NOISE])))
			break;
		if (!rc)
			(*meter)->ops->close(*meter);
		*meter = NULL;
		load.noise = load.senders;
		load.senders = false;
	}
	if (load.noise)
		o->window.errs[OVERVIEW_NOISE] = (struct err){0};
	o->window.load = load_window(*meter);
	return 0;
}

void overview_find_mounts(struct overview_window *w)
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

int overview_open(const struct overview_opts *opts, struct meter **ret_meter, struct err *err)
{
	struct wake_opts wake = {.sources = 1u << WAKE_PASSIVE, .bare = true};
	struct runq_opts runq = {.per = RUNQ_PER_CGROUP,
				 .percentiles = {99},
				 .nr_percentiles = !opts->top,
				 .blame = true,
				 /*
				  * up to 256 blame rows per victim, so that even a culprit of a few
				  * waits has a row
				  */
				 .blame_rows = opts->top ? 0 : 256,
				 .pressure = opts->pressure};
	struct overview *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return err_set(err, -ENOMEM, "out of memory");
	o->meter.ops = &overview_ops;
	o->opts = *opts;
	o->window.suspects.list = calloc(SUSPECTS_MAX, sizeof(struct suspect));
	o->window.settings = calloc(OVERVIEW_CGROUPS, sizeof(struct settings));
	rc = o->window.suspects.list && o->window.settings ? open_load(o, err)
							   : err_set(err, -ENOMEM, "out of memory");
	if (rc) {
		overview_close(&o->meter);
		return rc;
	}
	runq.load = o->parts[OVERVIEW_LOAD];
	wake_open(&wake, &o->parts[OVERVIEW_WAKE], &o->window.errs[OVERVIEW_WAKE]);
	runq_open(&runq, &o->parts[OVERVIEW_RUNQ], &o->window.errs[OVERVIEW_RUNQ]);
	set_windows(o);
	overview_find_mounts(&o->window);
	*ret_meter = &o->meter;
	return 0;
}
