/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of `subtick noise`: reads a load source and the noise counters of this source. */
#include "measure/noise/noise.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/option.h"
#include "measure/load/load.h"
#include "measure/load/sources.h"
#include "measure/load/steal.h"
#include "measure/noise/cells.h"
#include "measure/noise/names.h"
#include "host/cgroup.h"
#include "host/cpu.h"
#include "host/kbtf.h"

struct noise_meter {
	struct meter meter;
	struct cpuset cpus;
	struct load_source *source;
	struct load_ends ends;
	struct steal steal;
	struct noise_cells cells;
	struct noise_senders senders;
	struct noise_names names;
	struct blocks memory;
	uint64_t start_ns;
	struct noise_window window;
};

const struct noise_limits noise_no_limits = {UINT64_MAX, NAN, NAN};
const struct noise_limits noise_isolated_limits = {50 * NSEC_PER_USEC, 10.0, 0.001};

bool noise_limit_parse(const char *word, struct noise_limits *limits)
{
	double percent;

	if (!strncmp(word, "max=", 4))
		return duration_parse(word + 4, 0, 60 * NSEC_PER_SEC, &limits->max_ns);
	if (!strncmp(word, "rate=", 5))
		return opt_decimal(word + 5, "/s", 0.0, 1e9, &limits->rate_hz);
	if (strncmp(word, "share=", 6) || !opt_decimal(word + 6, "%", 0.0, 100.0, &percent))
		return false;
	limits->share_ratio = percent / 100.0;
	return true;
}

/* A limit of NaN is never exceeded, because a comparison with NaN is false. */
bool noise_exceeds(const struct noise_core *core, const struct noise_limits *limits)
{
	if (core->flags & LOAD_NO_FIGURE)
		return false;
	return core->longest_ns > limits->max_ns || noise_rate(core) > limits->rate_hz ||
	       noise_share(core) > limits->share_ratio;
}

static struct noise_meter *to_noise(struct meter *meter)
{
	return (struct noise_meter *)meter;
}

const struct noise_window *noise_window(const struct meter *meter)
{
	return &((const struct noise_meter *)meter)->window;
}

static uint64_t task_ns(const uint64_t part_ns[LOAD_NR_PARTS])
{
	return part_ns[LOAD_PART_TASK] + part_ns[LOAD_PART_KSOFTIRQD];
}

static bool has_figure(const struct load_sample *prev, const struct load_sample *cur)
{
	return !(prev->flags & LOAD_VOID) && !(cur->flags & LOAD_NO_FIGURE) &&
	       prev->hotplug_steps == cur->hotplug_steps;
}

static void sample(struct noise_meter *m)
{
	uint64_t window_seq;

	m->source->keep_tasks_window = true;
	load_ends_sample(&m->ends, m->source);
	m->source->keep_tasks_window = false;
	window_seq = m->source->ops->noise(m->source);
	noise_cells_begin(&m->cells);
	for (unsigned int cpu = 0; cpu < m->source->nr_cpus; cpu++)
		noise_cells_read(&m->cells, cpu, window_seq, task_ns(m->ends.cur[cpu].part_ns),
				 cpuset_has(&m->cpus, cpu) &&
					 has_figure(&m->ends.prev[cpu], &m->ends.cur[cpu]));
	noise_cells_end(&m->cells);
	noise_senders_read(&m->senders, &m->cpus, window_seq);
	steal_sample(&m->steal, NULL);
}

static int noise_start(struct meter *meter, struct err *err)
{
	struct noise_meter *m = to_noise(meter);

	sample(m);
	m->start_ns = clock_mono_ns();
	return 0;
}

static const enum noise_class class_of[NOISE_KINDS] = {
	[NOISE_KIND_IRQ] = NOISE_HARDIRQ,
	[NOISE_KIND_VECTOR] = NOISE_HARDIRQ,
	[NOISE_KIND_SOFTIRQ] = NOISE_SOFTIRQ,
	[NOISE_KIND_THREAD] = NOISE_THREAD,
};

/*
 * Sums the times of the noise sources of a CPU. The times of NMIs are not added, because the times
 * of the interrupted sources include them.
 */
static void sum_sources(const struct noise_meter *m, struct noise_core *core)
{
	array_for_each(source, m->window.sources, m->window.nr_sources) {
		if (source->cpu != core->cpu)
			continue;
		core->events += source->count;
		if (source->longest_ns > core->longest_ns)
			core->longest_ns = source->longest_ns;
		if (source->kind != NOISE_KIND_NMI)
			core->class_ns[class_of[source->kind]] += source->ns;
	}
}

/*
 * Closure error of the load parts, plus the differences between noise measurement and load parts in
 * the times of hardirqs, softirqs and tasks, as a share of the window.
 */
static double closure_error(const struct noise_core *core, const struct load_cpu_window *w)
{
	uint64_t softirq_ns =
		w->part_ns[LOAD_PART_SOFTIRQ_ON_IDLE] + w->part_ns[LOAD_PART_SOFTIRQ_ON_TASK];
	uint64_t ns = abs_diff(core->class_ns[NOISE_HARDIRQ], w->part_ns[LOAD_PART_HARDIRQ]) +
		      abs_diff(core->class_ns[NOISE_SOFTIRQ], softirq_ns) +
		      abs_diff(core->class_ns[NOISE_THREAD] + core->task_ns, task_ns(w->part_ns));

	return w->closure_error_ratio + (double)ns / (double)w->window_ns;
}

static void fill_core(struct noise_meter *m, unsigned int cpu, struct noise_core *core)
{
	struct load_cpu_window w;
	uint64_t tasks_ns;

	load_subtract(&m->ends.prev[cpu], &m->ends.cur[cpu], m->source->rate, m->source->parts, &w);
	*core = (struct noise_core){
		.cpu = cpu, .flags = w.flags, .window_ns = w.window_ns, .steal_ns = UINT64_MAX};
	if (w.flags & LOAD_NO_FIGURE)
		return;
	sum_sources(m, core);
	tasks_ns = task_ns(w.part_ns);
	if (tasks_ns > core->class_ns[NOISE_THREAD])
		core->task_ns = tasks_ns - core->class_ns[NOISE_THREAD];
	memcpy(core->part_ns, w.part_ns, sizeof(core->part_ns));
	core->closure_error_ratio = closure_error(core, &w);
	if (m->steal.known)
		core->steal_ns = m->steal.ns[cpu];
}

static void end_window(struct noise_meter *m, uint64_t end_ns)
{
	struct noise_window *w = &m->window;

	w->time_unix_ns = clock_unix_ns();
	w->window_ns = end_ns - m->start_ns;
	m->start_ns = w->time_mono_ns = end_ns;
	w->nr_cores = w->exceeded = 0;
	w->closure_max_ratio = 0.0;
	cpuset_for_each(cpu, &m->cpus) {
		struct noise_core *core = &w->cores[w->nr_cores++];

		fill_core(m, cpu, core);
		core->exceeded = w->judged && noise_exceeds(core, &w->limits);
		w->exceeded += core->exceeded;
		if (core->closure_error_ratio > w->closure_max_ratio)
			w->closure_max_ratio = core->closure_error_ratio;
	}
	w->windows_exceeded += w->exceeded > 0;
	noise_names_fill(&m->names, w->hits, w->nr_hits);
	w->steal_known = m->steal.known;
	load_source_losses(m->source, &w->losses);
	noise_cells_losses(&m->cells, &w->noise_losses);
	w->noise_losses.sends = w->senders.lost;
	w->noise_losses.calls = w->calls.lost;
}

static int noise_read(struct meter *meter, struct err *err)
{
	struct noise_meter *m = to_noise(meter);

	sample(m);
	end_window(m, clock_mono_ns());
	return 0;
}

static void noise_close(struct meter *meter)
{
	struct noise_meter *m = to_noise(meter);

	noise_names_close(&m->names);
	steal_close(&m->steal);
	load_source_close(m->source);
	blocks_free(&m->memory);
	free(m);
}

static const struct meter_ops noise_meter_ops = {
	.start = noise_start,
	.read = noise_read,
	.close = noise_close,
};

static int open_arrays(struct noise_meter *m, unsigned int nr_cpus, struct err *err)
{
	struct noise_window *w = &m->window;

	w->cores = blocks_calloc(&m->memory, nr_cpus, sizeof(*w->cores));
	load_ends_open(&m->ends, &m->memory, nr_cpus);
	steal_open(&m->steal, &m->memory, nr_cpus);
	noise_cells_open(&m->cells, w, &m->memory, m->source->noise, nr_cpus);
	if (w->has_senders)
		noise_senders_open(&m->senders, w, &m->memory, m->source->sends, nr_cpus);
	return m->memory.failed ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int noise_open(const struct noise_opts *opts, struct meter **ret_meter, struct err *err)
{
	struct noise_meter *m = calloc(1, sizeof(*m));
	struct load_source_opts source_opts = {.noise = true, .senders = opts->senders};
	static const char *const nmi_event[] = {"nmi_handler"};
	struct cgroup_layout layout;
	bool state_first;
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->meter.ops = &noise_meter_ops;
	m->names.paths.fd = -1;
	m->window.has_senders = opts->senders;
	rc = cpu_set(NULL, CPU_POSSIBLE, &m->cpus, err);
	if (rc)
		goto fail;
	source_opts.nr_cpus = cpuset_end(&m->cpus);
	if (cpuset_count(&opts->cpus))
		cpuset_and(&m->cpus, &opts->cpus);
	m->source = opts->load ? load_noise_source(opts->load) : NULL;
	if (!m->source)
		rc = load_source_open("bpf", &source_opts, &m->source, err);
	rc = rc ?: open_arrays(m, source_opts.nr_cpus, err);
	if (rc)
		goto fail;
	if (!cgroup_layout(NULL, &layout))
		noise_names_open(&m->names, m->source->noise_v1 ? layout.v1_cpu : layout.v2);
	m->window.hierarchy = m->source->noise_v1 ? "v1" : "v2";
	m->window.calls_known = m->source->noise_calls;
	m->window.top = opts->top;
	m->window.judged = opts->judged;
	m->window.limits = opts->judged ? opts->limits : noise_no_limits;
	m->window.nmi_known = !kbtf_need(nmi_event, 1, &state_first, NULL);
	*ret_meter = &m->meter;
	return 0;
fail:
	noise_close(&m->meter);
	return rc;
}
