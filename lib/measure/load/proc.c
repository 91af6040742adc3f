/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The classic sources, for comparison: /proc/stat by columns and by idle, /proc/schedstat. */
#include "measure/load/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "sys/procstat.h"
#include "sys/schedstat.h"

struct proc_source {
	struct load_source source;
	union {
		struct procstat stat;
		struct schedstat sched;
	} file;
	union {
		struct procstat_cpu *stat;
		struct schedstat_cpu *sched;
	} cpus;
	uint64_t tick_ns; /* 1/USER_HZ */
	uint64_t read_errors;
	bool failed; /* the last read */
};

static struct proc_source *to_proc(struct load_source *source)
{
	return (struct proc_source *)source;
}

static int stat_open(struct load_source *source, const struct load_source_opts *opts,
		     struct err *err)
{
	struct proc_source *p = to_proc(source);

	p->tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	p->cpus.stat = calloc(opts->nr_cpus, sizeof(*p->cpus.stat));
	return p->cpus.stat ? procstat_open(&p->file.stat, NULL, err)
			    : err_set(err, -ENOMEM, "out of memory");
}

static void stat_close(struct load_source *source)
{
	procstat_close(&to_proc(source)->file.stat);
	free(to_proc(source)->cpus.stat);
	free(source);
}

static void proc_losses(struct load_source *source, struct load_losses *losses)
{
	losses->read_errors = to_proc(source)->read_errors;
}

/* After a read that began at @before and returned @rc. False if it failed. */
static bool begin(struct proc_source *p, uint64_t before, int rc, struct load_sample *samples)
{
	uint64_t stamp = before + (clock_mono_ns() - before) / 2;

	p->failed = rc;
	p->read_errors += p->failed;
	for (unsigned int cpu = 0; cpu < p->source.nr_cpus; cpu++)
		samples[cpu] = (struct load_sample){
			.stamp_ns = stamp, .total = stamp, .flags = rc ? LOAD_READ_FAILED : 0};
	return !rc;
}

static bool stat_begin(struct proc_source *p, struct load_sample *samples)
{
	uint64_t before = clock_mono_ns();

	return begin(p, before, procstat_read(&p->file.stat, p->cpus.stat, p->source.nr_cpus),
		     samples);
}

const struct procstat_cpu *load_procstat_read(struct load_source *procstat)
{
	return to_proc(procstat)->failed ? NULL : to_proc(procstat)->cpus.stat;
}

static uint64_t idle_ticks(const struct procstat_cpu *cpu)
{
	return cpu->ticks[PROCSTAT_IDLE] + cpu->ticks[PROCSTAT_IOWAIT];
}

/* Busy columns over the sum of columns, as mpstat and htop show it. User includes guest. */
static void procstat_sample(struct load_source *source, struct load_sample *samples)
{
	struct proc_source *p = to_proc(source);

	if (!stat_begin(p, samples))
		return;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		const struct procstat_cpu *c = &p->cpus.stat[cpu];

		samples[cpu].flags = c->nr_cols ? 0 : LOAD_OFFLINE;
		samples[cpu].total = 0;
		for (int col = PROCSTAT_USER; col <= PROCSTAT_STEAL; col++)
			samples[cpu].total += c->ticks[col];
		samples[cpu].busy = samples[cpu].total - idle_ticks(c);
	}
}

/* One minus idle over wall time: idle is exact under NO_HZ where the busy columns are not. */
static void procidle_sample(struct load_source *source, struct load_sample *samples)
{
	struct proc_source *p = to_proc(source);

	if (!stat_begin(p, samples))
		return;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		const struct procstat_cpu *c = &p->cpus.stat[cpu];

		samples[cpu].flags = c->nr_cols ? 0 : LOAD_OFFLINE;
		/* wraps below zero since boot; differences are right all the same */
		samples[cpu].busy = samples[cpu].stamp_ns - idle_ticks(c) * p->tick_ns;
	}
}

static int schedstat_source_open(struct load_source *source, const struct load_source_opts *opts,
				 struct err *err)
{
	struct proc_source *p = to_proc(source);

	p->cpus.sched = calloc(opts->nr_cpus, sizeof(*p->cpus.sched));
	return p->cpus.sched ? schedstat_open(&p->file.sched, NULL, err)
			     : err_set(err, -ENOMEM, "out of memory");
}

static void schedstat_source_close(struct load_source *source)
{
	schedstat_close(&to_proc(source)->file.sched);
	free(to_proc(source)->cpus.sched);
	free(source);
}

static void schedstat_sample(struct load_source *source, struct load_sample *samples)
{
	struct proc_source *p = to_proc(source);
	uint64_t before = clock_mono_ns();

	if (!begin(p, before, schedstat_read(&p->file.sched, p->cpus.sched, source->nr_cpus),
		   samples))
		return;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		samples[cpu].flags = p->cpus.sched[cpu].present ? 0 : LOAD_OFFLINE;
		samples[cpu].busy = p->cpus.sched[cpu].run_ns;
	}
}

const struct load_source_ops load_source_procstat = {
	.name = "procstat",
	.what = "busy columns of /proc/stat over all columns, as mpstat and htop",
	.size = sizeof(struct proc_source),
	.open = stat_open,
	.sample = procstat_sample,
	.losses = proc_losses,
	.close = stat_close,
};

const struct load_source_ops load_source_procidle = {
	.name = "procidle",
	.what = "one minus the idle columns of /proc/stat over wall time",
	.size = sizeof(struct proc_source),
	.open = stat_open,
	.sample = procidle_sample,
	.losses = proc_losses,
	.close = stat_close,
};

const struct load_source_ops load_source_schedstat = {
	.name = "schedstat",
	.what = "time tasks ran by /proc/schedstat over wall time; does not see softirqs on idle",
	.size = sizeof(struct proc_source),
	.open = schedstat_source_open,
	.sample = schedstat_sample,
	.losses = proc_losses,
	.close = schedstat_source_close,
};
