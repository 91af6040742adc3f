/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The classic sources, for comparison: /proc/stat by columns and by idle, /proc/schedstat. */
#include "measure/load/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/procstat.h"
#include "sys/schedstat.h"

struct stat_source {
	struct load_source source;
	struct procstat file;
	struct procstat_cpu *cpus;
	uint64_t tick_ns; /* 1/USER_HZ */
	uint64_t read_errors;
};

static struct stat_source *to_stat(struct load_source *source)
{
	return (struct stat_source *)source;
}

static int stat_open(const struct load_source_ops *ops, const struct load_source_opts *opts,
		     struct load_source **ret_source, struct err *err)
{
	struct stat_source *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->source = (struct load_source){.ops = ops, .nr_cpus = opts->nr_cpus, .rate = 1.0};
	p->tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	p->cpus = calloc(opts->nr_cpus, sizeof(*p->cpus));
	rc = p->cpus ? procstat_open(&p->file, NULL, err) : err_set(err, -ENOMEM, "out of memory");
	if (rc) {
		free(p->cpus);
		free(p);
		return rc;
	}
	*ret_source = &p->source;
	return 0;
}

static void stat_close(struct load_source *source)
{
	struct stat_source *p = to_stat(source);

	procstat_close(&p->file);
	free(p->cpus);
	free(p);
}

static int procstat_source_open(const struct load_source_opts *opts,
				struct load_source **ret_source, struct err *err)
{
	return stat_open(&load_source_procstat, opts, ret_source, err);
}

static int procidle_source_open(const struct load_source_opts *opts,
				struct load_source **ret_source, struct err *err)
{
	return stat_open(&load_source_procidle, opts, ret_source, err);
}

/* Reads the file once; flags what has no line. False if the CPU has nothing to add up. */
static bool stat_begin(struct stat_source *p, struct load_sample *samples)
{
	uint64_t before = clock_mono_ns();
	int rc = procstat_read(&p->file, p->cpus, p->source.nr_cpus);
	uint64_t stamp = before + (clock_mono_ns() - before) / 2;

	if (rc)
		p->read_errors++;
	for (unsigned int cpu = 0; cpu < p->source.nr_cpus; cpu++) {
		samples[cpu] = (struct load_sample){.stamp_ns = stamp};
		if (rc)
			samples[cpu].flags = LOAD_READ_FAILED;
		else if (!p->cpus[cpu].nr_cols)
			samples[cpu].flags = LOAD_OFFLINE;
	}
	return !rc;
}

static uint64_t idle_ticks(const struct procstat_cpu *cpu)
{
	return cpu->ticks[PROCSTAT_IDLE] + cpu->ticks[PROCSTAT_IOWAIT];
}

/* As mpstat and htop do: busy columns over the sum of columns; guest is part of user. */
static void procstat_sample(struct load_source *source, struct load_sample *samples)
{
	struct stat_source *p = to_stat(source);

	if (!stat_begin(p, samples))
		return;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		for (int col = PROCSTAT_USER; col <= PROCSTAT_STEAL; col++)
			samples[cpu].total += p->cpus[cpu].ticks[col];
		samples[cpu].busy = samples[cpu].total - idle_ticks(&p->cpus[cpu]);
	}
}

/* One minus idle over wall time: idle is exact under NO_HZ where the busy columns are not. */
static void procidle_sample(struct load_source *source, struct load_sample *samples)
{
	struct stat_source *p = to_stat(source);

	if (!stat_begin(p, samples))
		return;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		samples[cpu].total = samples[cpu].stamp_ns;
		/* wraps below zero since boot; differences are right all the same */
		samples[cpu].busy = samples[cpu].stamp_ns - idle_ticks(&p->cpus[cpu]) * p->tick_ns;
	}
}

static void stat_losses(struct load_source *source, struct load_losses *losses)
{
	losses->read_errors = to_stat(source)->read_errors;
}

struct sched_source {
	struct load_source source;
	struct schedstat file;
	struct schedstat_cpu *cpus;
	uint64_t read_errors;
};

static struct sched_source *to_sched(struct load_source *source)
{
	return (struct sched_source *)source;
}

static int schedstat_source_open(const struct load_source_opts *opts,
				 struct load_source **ret_source, struct err *err)
{
	struct sched_source *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->source = (struct load_source){
		.ops = &load_source_schedstat, .nr_cpus = opts->nr_cpus, .rate = 1.0};
	p->cpus = calloc(opts->nr_cpus, sizeof(*p->cpus));
	rc = p->cpus ? schedstat_open(&p->file, NULL, err) : err_set(err, -ENOMEM, "out of memory");
	if (rc) {
		free(p->cpus);
		free(p);
		return rc;
	}
	*ret_source = &p->source;
	return 0;
}

static void schedstat_source_close(struct load_source *source)
{
	struct sched_source *p = to_sched(source);

	schedstat_close(&p->file);
	free(p->cpus);
	free(p);
}

static void schedstat_sample(struct load_source *source, struct load_sample *samples)
{
	struct sched_source *p = to_sched(source);
	uint64_t before = clock_mono_ns();
	int rc = schedstat_read(&p->file, p->cpus, source->nr_cpus);
	uint64_t stamp = before + (clock_mono_ns() - before) / 2;

	if (rc)
		p->read_errors++;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		samples[cpu] = (struct load_sample){.stamp_ns = stamp, .total = stamp};
		if (rc)
			samples[cpu].flags = LOAD_READ_FAILED;
		else if (!p->cpus[cpu].present)
			samples[cpu].flags = LOAD_OFFLINE;
		else
			samples[cpu].busy = p->cpus[cpu].run_ns;
	}
}

static void schedstat_losses(struct load_source *source, struct load_losses *losses)
{
	losses->read_errors = to_sched(source)->read_errors;
}

const struct load_source_ops load_source_procstat = {
	.name = "procstat",
	.what = "busy columns of /proc/stat over all columns, as mpstat and htop",
	.open = procstat_source_open,
	.sample = procstat_sample,
	.losses = stat_losses,
	.close = stat_close,
};

const struct load_source_ops load_source_procidle = {
	.name = "procidle",
	.what = "one minus the idle columns of /proc/stat over wall time",
	.open = procidle_source_open,
	.sample = procidle_sample,
	.losses = stat_losses,
	.close = stat_close,
};

const struct load_source_ops load_source_schedstat = {
	.name = "schedstat",
	.what = "time tasks ran by /proc/schedstat over wall time; does not see softirqs on idle",
	.open = schedstat_source_open,
	.sample = schedstat_sample,
	.losses = schedstat_losses,
	.close = schedstat_source_close,
};
