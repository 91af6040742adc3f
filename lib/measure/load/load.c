/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens the sources, takes a sample at each end of a window and reports what lies between. */
#include "measure/load/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/load/report.h"
#include "measure/load/source_set.h"
#include "sys/cpu.h"
#include "sys/procstat.h"

/* The samples of one source at both ends of its current window, and what lies between. */
struct ends {
	struct load_sample *prev;
	struct load_sample *cur;
	struct load_cpu_window *windows;
};

struct load_meter {
	struct meter meter;
	struct load_opts opts;
	unsigned int nr_cpus;
	struct source_set set; /* the first is the one reported in full */
	struct ends ends[SOURCE_SET_MAX];
	uint64_t start_ns;

	struct procstat stat; /* for the steal column only */
	struct procstat_cpu *steal_prev, *steal_cur;
	bool steal_open;
	uint64_t tick_ns;

	uint64_t *bursts_prev, *bursts_cur; /* nr_cpus × HIST_NR at both ends of the window */
	struct load_vecs *vecs_prev, *vecs_cur;
};

static struct load_meter *to_load(struct meter *meter)
{
	return (struct load_meter *)meter;
}

static int alloc_ends(struct load_meter *m)
{
	for (unsigned int i = 0; i < m->set.nr; i++) {
		struct ends *ends = &m->ends[i];

		ends->prev = calloc(m->nr_cpus, sizeof(*ends->prev));
		ends->cur = calloc(m->nr_cpus, sizeof(*ends->cur));
		ends->windows = calloc(m->nr_cpus, sizeof(*ends->windows));
		if (!ends->prev || !ends->cur || !ends->windows)
			return -ENOMEM;
	}
	return 0;
}

/* Stolen time has no edge to trace; the kernel's own column is the only word on it. */
static int open_steal(struct load_meter *m, struct err *err)
{
	m->tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	m->steal_prev = calloc(m->nr_cpus, sizeof(*m->steal_prev));
	m->steal_cur = calloc(m->nr_cpus, sizeof(*m->steal_cur));
	if (!m->steal_prev || !m->steal_cur)
		return err_set(err, -ENOMEM, "out of memory");
	m->steal_open = !procstat_open(&m->stat, NULL, NULL);
	return 0;
}

static void load_close(struct meter *meter)
{
	struct load_meter *m = to_load(meter);

	for (unsigned int i = 0; i < m->set.nr; i++) {
		free(m->ends[i].prev);
		free(m->ends[i].cur);
		free(m->ends[i].windows);
	}
	source_set_close(&m->set);
	if (m->steal_open)
		procstat_close(&m->stat);
	free(m->steal_prev);
	free(m->steal_cur);
	free(m->bursts_prev);
	free(m->bursts_cur);
	free(m->vecs_prev);
	free(m->vecs_cur);
	free(m);
}

/* Read once per window: its end is the next one's beginning, so no burst falls in between. */
static void sample_bursts(struct load_meter *m)
{
	struct load_source *source = m->set.source[0];
	uint64_t *was = m->bursts_prev;

	m->bursts_prev = m->bursts_cur;
	m->bursts_cur = was;
	for (unsigned int cpu = 0; cpu < m->nr_cpus; cpu++) {
		const volatile uint64_t *now = source->ops->bursts(source, cpu);

		for (unsigned int i = 0; i < HIST_NR; i++)
			m->bursts_cur[cpu * HIST_NR + i] = now[i];
	}
}

static void sample_all(struct load_meter *m)
{
	for (unsigned int i = 0; i < m->set.nr; i++) {
		struct load_source *source = m->set.source[i];
		struct load_sample *was = m->ends[i].prev;

		m->ends[i].prev = m->ends[i].cur;
		m->ends[i].cur = was;
		source->ops->sample(source, m->ends[i].cur);
	}
	if (m->vecs_cur) {
		struct load_vecs *was = m->vecs_prev;

		m->vecs_prev = m->vecs_cur;
		m->vecs_cur = was;
		for (unsigned int cpu = 0; cpu < m->nr_cpus; cpu++)
			m->set.source[0]->ops->vecs(m->set.source[0], cpu, &m->vecs_cur[cpu]);
	}
	if (m->bursts_cur)
		sample_bursts(m);
	if (m->steal_open) {
		struct procstat_cpu *was = m->steal_prev;

		m->steal_prev = m->steal_cur;
		m->steal_cur = was;
		if (procstat_read(&m->stat, m->steal_cur, m->nr_cpus))
			memset(m->steal_cur, 0, m->nr_cpus * sizeof(*m->steal_cur));
	}
}

static int load_start(struct meter *meter, struct err *err)
{
	struct load_meter *m = to_load(meter);

	(void)err;
	sample_all(m);
	m->start_ns = clock_mono_ns();
	return 0;
}

/*
 * A kernel that does not account stolen time shows 0 for ever, so 0 is only believed where the
 * column has ever moved.
 */
static bool steal_known(const struct load_meter *m)
{
	for (unsigned int cpu = 0; m->steal_open && cpu < m->nr_cpus; cpu++)
		if (m->steal_cur[cpu].ticks[PROCSTAT_STEAL])
			return true;
	return false;
}

static void make_windows(struct load_meter *m, bool steal)
{
	for (unsigned int i = 0; i < m->set.nr; i++) {
		const struct load_source *source = m->set.source[i];
		struct ends *ends = &m->ends[i];

		for (unsigned int cpu = 0; cpu < m->nr_cpus; cpu++)
			load_subtract(&ends->prev[cpu], &ends->cur[cpu], source->rate,
				      source->parts, &ends->windows[cpu]);
	}
	for (unsigned int cpu = 0; steal && m->set.source[0]->parts && cpu < m->nr_cpus; cpu++) {
		uint64_t was = m->steal_prev[cpu].ticks[PROCSTAT_STEAL];
		uint64_t is = m->steal_cur[cpu].ticks[PROCSTAT_STEAL];

		if (m->steal_prev[cpu].nr_cols && is > was)
			load_move_steal(&m->ends[0].windows[cpu], (is - was) * m->tick_ns);
	}
}

static int load_read(struct meter *meter, struct report **ret_report, struct err *err)
{
	struct load_meter *m = to_load(meter);
	struct load_result result = {
		.opts = &m->opts, .nr_cpus = m->nr_cpus, .nr_lanes = m->set.nr};
	uint64_t end_ns;
	int rc;

	sample_all(m);
	end_ns = clock_mono_ns();
	result.steal_known = steal_known(m);
	make_windows(m, result.steal_known);
	for (unsigned int i = 0; i < m->set.nr; i++) {
		result.source[i] = m->set.source[i];
		result.windows[i] = m->ends[i].windows;
	}
	result.window_ns = end_ns - m->start_ns;
	result.vecs_prev = m->vecs_prev;
	result.vecs_cur = m->vecs_cur;
	result.bursts_prev = m->bursts_prev;
	result.bursts_cur = m->bursts_cur;
	result.passed_over = m->set.passed_over.code ? &m->set.passed_over : NULL;
	rc = load_report(&result, ret_report);
	if (rc)
		return err_set(err, rc, "cannot make the report: %s", strerror(-rc));
	m->start_ns = end_ns;
	return 0;
}

static const struct meter_ops load_meter_ops = {
	.start = load_start,
	.read = load_read,
	.close = load_close,
};

/* Room for what only some sources see and only some users ask for. */
static int alloc_extras(struct load_meter *m, struct load_source *source, struct err *err)
{
	if (m->opts.bursts && source->ops->bursts && source->ops->bursts(source, 0)) {
		m->bursts_prev = calloc((size_t)m->nr_cpus * HIST_NR, sizeof(*m->bursts_prev));
		m->bursts_cur = calloc((size_t)m->nr_cpus * HIST_NR, sizeof(*m->bursts_cur));
		if (!m->bursts_prev || !m->bursts_cur)
			return err_set(err, -ENOMEM, "out of memory");
	}
	if (m->opts.softirq && source->ops->vecs) {
		m->vecs_prev = calloc(m->nr_cpus, sizeof(*m->vecs_prev));
		m->vecs_cur = calloc(m->nr_cpus, sizeof(*m->vecs_cur));
		if (!m->vecs_prev || !m->vecs_cur)
			return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

int load_open(const struct load_opts *opts, struct meter **ret_meter, struct err *err)
{
	struct load_meter *m = calloc(1, sizeof(*m));
	struct load_source_opts source_opts = {.event = opts->event, .bursts = opts->bursts};
	struct cpuset possible;
	int rc;

	if (!m)
		return err_set(err, -ENOMEM, "out of memory");
	m->meter.ops = &load_meter_ops;
	m->opts = *opts;
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		goto fail;
	if (!cpuset_count(&m->opts.cpus))
		m->opts.cpus = possible;
	m->nr_cpus = source_opts.nr_cpus = cpuset_end(&possible);
	rc = source_set_open(&m->set, opts->source, &source_opts, err);
	if (rc)
		goto fail;
	if (opts->compare)
		source_set_add(&m->set, opts->compare_with, &source_opts);
	rc = alloc_ends(m) ? err_set(err, -ENOMEM, "out of memory") : 0;
	if (!rc && m->set.source[0]->parts)
		rc = open_steal(m, err);
	if (!rc)
		rc = alloc_extras(m, m->set.source[0], err);
	if (rc)
		goto fail;
	*ret_meter = &m->meter;
	return 0;
fail:
	load_close(&m->meter);
	return rc;
}
