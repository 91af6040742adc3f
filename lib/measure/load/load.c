/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of `subtick load`: samples its sources at the end of each window. */
#include "measure/load/load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/losses.h"
#include "measure/load/cores.h"
#include "measure/load/pairs.h"
#include "measure/load/sources.h"
#include "measure/load/steal.h"
#include "host/cpu.h"

struct load_meter {
	struct meter meter;
	unsigned int nr_cpus;
	/* the report shows the first source, and compares all other sources with the first */
	struct source_set set;
	struct load_ends ends[SOURCE_SET_MAX];
	/* for each source: an array with the result of the last window for each CPU */
	struct load_cpu_window *windows[SOURCE_SET_MAX];
	uint64_t start_ns;
	struct load_window window;

	struct blocks memory;
	struct steal steal;
	struct load_cores cores; /* physical cores; nr is 0 without --cores */
	struct load_pairs *pairs; /* times of pairs of cgroups; NULL if not requested */

	/*
	 * Counters of softirq time and of busy bursts at the last reading, and the growth of these
	 * counters in the window. A pointer is NULL if its counters were not requested.
	 */
	struct load_vecs *vecs_read, *vecs;
	uint64_t (*bursts_read)[HIST_NR], (*bursts)[HIST_NR];
};

static struct load_meter *to_load(struct meter *meter)
{
	return (struct load_meter *)meter;
}

const struct load_window *load_window(const struct meter *meter)
{
	return &((const struct load_meter *)meter)->window;
}

struct load_source *load_noise_source(struct meter *meter)
{
	struct load_source *source = to_load(meter)->set.source[0];

	return source->noise ? load_source_share(source) : NULL;
}

struct load_source *load_core_source(struct meter *meter)
{
	struct load_source *source = to_load(meter)->set.source[0];

	return source->core ? load_source_share(source) : NULL;
}

struct load_source *load_wake_source(struct meter *meter, struct err *err)
{
	struct load_source *source = to_load(meter)->set.source[0];

	if (source->wake.hists)
		return load_source_share(source);
	*err = source->wake_err;
	return NULL;
}

/*
 * Allocates all arrays. Omits the array for --bursts or --softirq if the source has no counters for
 * the option.
 */
static int open_arrays(struct load_meter *m, const struct load_opts *opts, struct err *err)
{
	struct load_source *source = m->set.source[0];

	for (unsigned int i = 0; i < m->set.nr; i++) {
		m->windows[i] = blocks_calloc(&m->memory, m->nr_cpus, sizeof(*m->windows[i]));
		load_ends_open(&m->ends[i], &m->memory, m->nr_cpus);
	}
	if (source->parts)
		steal_open(&m->steal, &m->memory, m->nr_cpus);
	if (opts->bursts && source->ops->bursts && source->ops->bursts(source, 0)) {
		m->bursts_read = blocks_calloc(&m->memory, m->nr_cpus, sizeof(*m->bursts_read));
		m->bursts = blocks_calloc(&m->memory, m->nr_cpus, sizeof(*m->bursts));
	}
	if (opts->softirq && source->ops->vecs) {
		m->vecs_read = blocks_calloc(&m->memory, m->nr_cpus, sizeof(*m->vecs_read));
		m->vecs = blocks_calloc(&m->memory, m->nr_cpus, sizeof(*m->vecs));
	}
	return m->memory.failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

static void load_close(struct meter *meter)
{
	struct load_meter *m = to_load(meter);

	source_set_close(&m->set);
	steal_close(&m->steal);
	load_pairs_close(m->pairs);
	blocks_free(&m->memory);
	free(m);
}

/*
 * Computes the growth of @nr @counters since the last reading @read, and updates @read. Each
 * counter is read once per window, so that no event between two windows is missed.
 */
static void subtract(const volatile uint64_t *counters, size_t nr, uint64_t *read,
		     uint64_t *ret_grown)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t now = counters[i];

		ret_grown[i] = now - read[i];
		read[i] = now;
	}
}

static void sample_cpu(struct load_meter *m, unsigned int cpu)
{
	struct load_source *source = m->set.source[0];
	struct load_vecs now;

	if (m->vecs) {
		source->ops->vecs(source, cpu, &now);
		subtract(now.ns, LOAD_NR_VECS, m->vecs_read[cpu].ns, m->vecs[cpu].ns);
		subtract(now.count, LOAD_NR_VECS, m->vecs_read[cpu].count, m->vecs[cpu].count);
	}
	if (m->bursts)
		subtract(source->ops->bursts(source, cpu), HIST_NR, m->bursts_read[cpu],
			 m->bursts[cpu]);
}

/*
 * Reads the optional lists, such as the interrupts of --irq. A failed read sets the list to NULL.
 */
static void sample_extras(struct load_meter *m)
{
	struct load_source *source = m->set.source[0];
	struct load_window *w = &m->window;

	if (w->irq && source->ops->lines && source->ops->lines(source, &w->lines, &w->nr_lines))
		w->lines = NULL;
	if (w->top && source->ops->tasks && source->ops->tasks(source, &w->tasks, &w->nr_tasks))
		w->tasks = NULL;
	if (m->pairs && load_pairs_read(m->pairs, &w->cpus, &w->pairs, &w->nr_pairs))
		w->pairs = NULL;
}

static void sample_all(struct load_meter *m)
{
	const struct procstat_cpu *ticks = NULL;

	for (unsigned int i = 0; i < m->set.nr; i++) {
		struct load_source *source = m->set.source[i];

		load_ends_sample(&m->ends[i], source);
		/*
		 * sample the cores directly after the CPUs, because load_core_subtract() compares
		 * the times of cores and CPUs
		 */
		if (!i)
			load_cores_sample(&m->cores, source);
		if (source->ops == &load_source_procstat)
			ticks = load_procstat_read(source);
	}
	for (unsigned int cpu = 0; cpu < m->nr_cpus; cpu++)
		sample_cpu(m, cpu);
	sample_extras(m);
	steal_sample(&m->steal, ticks);
}

static int load_start(struct meter *meter, struct err *err)
{
	struct load_meter *m = to_load(meter);

	sample_all(m);
	m->start_ns = clock_mono_ns();
	return 0;
}

static void end_window(struct load_meter *m, uint64_t end_ns)
{
	struct load_source *first = m->set.source[0];
	struct load_window *w = &m->window;

	w->time_unix_ns = clock_unix_ns();
	w->window_ns = end_ns - m->start_ns;
	m->start_ns = end_ns;
	for (unsigned int i = 0; i < m->set.nr; i++) {
		const struct load_source *source = m->set.source[i];

		for (unsigned int cpu = 0; cpu < m->nr_cpus; cpu++)
			load_subtract(&m->ends[i].prev[cpu], &m->ends[i].cur[cpu], source->rate,
				      source->parts, &m->windows[i][cpu]);
	}
	w->parts = first->parts;
	w->steal_known = m->steal.known;
	if (first->parts && w->steal_known)
		w->parts |= 1u << LOAD_PART_STEAL;
	for (unsigned int cpu = 0; first->parts && cpu < m->nr_cpus; cpu++)
		load_move_steal(&m->windows[0][cpu], m->steal.ns[cpu]);
	load_cores_window(&m->cores, w->cpu);
	if (m->cores.grown)
		w->pairs = NULL;
	w->closure_max_ratio = first->parts ? 0.0 : NAN;
	cpuset_for_each(cpu, &w->cpus)
		if (w->cpu[cpu].closure_error_ratio > w->closure_max_ratio)
			w->closure_max_ratio = w->cpu[cpu].closure_error_ratio;
	load_source_losses(first, &w->losses);
}

static int load_read(struct meter *meter, struct err *err)
{
	struct load_meter *m = to_load(meter);

	sample_all(m);
	end_window(m, clock_mono_ns());
	return 0;
}

static const struct meter_ops load_meter_ops = {
	.start = load_start,
	.read = load_read,
	.close = load_close,
};

/* Sets the members of struct load_window that are the same in all windows. */
static void window_init(struct load_meter *m, const struct load_opts *opts,
			const struct cpuset *possible)
{
	const struct load_source_ops *first = m->set.source[0]->ops;
	struct load_window *w = &m->window;

	*w = (struct load_window){
		.cpus = *possible,
		.source = first->name,
		.what = first->what,
		.cpu = m->windows[0],
		.passed_over = m->set.passed_over.code ? &m->set.passed_over : NULL,
		.compare = opts->compare,
		.wrong_ratio = opts->compare ? LOAD_WRONG_RATIO : NAN,
		.nr_shown = m->set.nr,
		.softirq = opts->softirq,
		.bursts = opts->bursts,
		.irq = opts->irq,
		.top = opts->top,
		.smt = opts->cores,
		.cgroups = opts->cgroups,
		.by = opts->by,
		.topology = m->cores.topology,
		.nr_cpus = m->nr_cpus,
		.cores = m->cores.nr ? m->cores.list : NULL,
		.nr_cores = m->cores.nr,
		.cpu_vecs = m->vecs,
		.cpu_bursts = (const uint64_t(*)[HIST_NR])m->bursts,
	};
	/* limit the requested CPUs to possible CPUs: the arrays have no elements for other CPUs */
	if (cpuset_count(&opts->cpus))
		cpuset_and(&w->cpus, &opts->cpus);
	w->end_cpu = cpuset_end(&w->cpus);
	for (unsigned int i = 0; i < m->set.nr; i++) {
		w->shown[i].source = m->set.source[i]->ops->name;
		w->shown[i].cpu = m->windows[i];
	}
}

static int open_cores(struct load_meter *m, const struct load_opts *opts,
		      struct load_source_opts *source_opts, struct err *err)
{
	load_cores_open(&m->cores, &m->memory, NULL, m->nr_cpus);
	if (m->memory.failed)
		return err_set(err, -ENOMEM, "out of memory");
	if (!opts->cores)
		return 0;
	source_opts->siblings = m->cores.siblings;
	return load_cores_find(&m->cores, err);
}

int load_open(const struct load_opts *opts, struct meter **ret_meter, struct err *err)
{
	struct load_meter *m = calloc(1, sizeof(*m));
	struct load_source_opts source_opts = {
		.event = opts->event,
		.bursts = opts->bursts,
		.lines = opts->irq,
		.tasks = opts->top > 0,
		.noise = opts->noise,
		.senders = opts->senders,
		.wake = opts->wake,
	};
	struct load_source_opts others = {.event = opts->event};
	struct cpuset possible;
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->meter.ops = &load_meter_ops;
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		goto fail;
	m->nr_cpus = source_opts.nr_cpus = others.nr_cpus = cpuset_end(&possible);
	if (opts->cores || opts->by)
		rc = open_cores(m, opts, &source_opts, err);
	rc = rc ?: source_set_open(&m->set, opts->source, &source_opts, err);
	if (rc)
		goto fail;
	if (!m->set.source[0]->ops->smt)
		m->cores.nr = 0;
	else if (opts->cgroups || opts->cgroup_ids)
		rc = load_pairs_open(m->cores.siblings, m->nr_cpus, opts->cgroups, &m->pairs, err);
	if (!rc && opts->compare)
		source_set_add(&m->set, opts->compare_with, &others);
	else
		rc = rc ?: source_set_check_event(&m->set, opts->event, err);
	rc = rc ?: open_arrays(m, opts, err);
	if (rc)
		goto fail;
	window_init(m, opts, &possible);
	*ret_meter = &m->meter;
	return 0;
fail:
	load_close(&m->meter);
	return rc;
}
