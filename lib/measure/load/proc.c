/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources procstat, procidle and schedstat, which read /proc/stat and /proc/schedstat. */
#include "measure/load/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/procstat.h"

struct proc_source {
	struct load_source source;
	struct sys_text stat;
	struct procstat_cpu *stat_cpus;
	struct sys_text sched;
	/* buffer for source schedstat; NULL if the source reads /proc/stat */
	struct schedstat_cpu *sched_cpus;
	uint64_t tick_ns; /* unit of /proc/stat, 1/USER_HZ */
	uint64_t read_errors;
	bool failed; /* the last read of /proc/stat or /proc/schedstat failed */
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
	p->stat_cpus = calloc(opts->nr_cpus, sizeof(*p->stat_cpus));
	return p->stat_cpus ? procstat_open(&p->stat, NULL, err)
			    : err_set(err, -ENOMEM, "out of memory");
}

static int sched_open(struct load_source *source, const struct load_source_opts *opts,
		      struct err *err)
{
	struct proc_source *p = to_proc(source);

	p->sched_cpus = calloc(opts->nr_cpus, sizeof(*p->sched_cpus));
	return p->sched_cpus ? schedstat_open(&p->sched, NULL, err)
			     : err_set(err, -ENOMEM, "out of memory");
}

static void proc_losses(struct load_source *source, struct load_losses *losses)
{
	losses->read_errors = to_proc(source)->read_errors;
}

const struct procstat_cpu *load_procstat_read(struct load_source *procstat)
{
	return to_proc(procstat)->failed ? NULL : to_proc(procstat)->stat_cpus;
}

static void fill_sched(const struct proc_source *p, unsigned int cpu, struct load_sample *s)
{
	s->flags = p->sched_cpus[cpu].present ? 0 : LOAD_OFFLINE;
	s->busy = p->sched_cpus[cpu].run_ns;
}

static void fill_stat(const struct proc_source *p, unsigned int cpu, struct load_sample *s)
{
	const struct procstat_cpu *c = &p->stat_cpus[cpu];
	uint64_t idle = c->ticks[PROCSTAT_IDLE] + c->ticks[PROCSTAT_IOWAIT];

	s->flags = c->nr_cols ? 0 : LOAD_OFFLINE;
	if (p->source.ops == &load_source_procidle) {
		/*
		 * Compute busy time from idle time, because under NO_HZ the idle column of
		 * /proc/stat is exact and the busy columns are not. The unsigned busy time may wrap
		 * around, but the difference of two samples is right.
		 */
		s->busy = s->stamp_ns - idle * p->tick_ns;
		return;
	}
	/*
	 * The load is the sum of the busy columns ÷ the sum of all columns, as in mpstat and htop.
	 * The column user includes guest time.
	 */
	s->total = 0;
	for (int col = PROCSTAT_USER; col <= PROCSTAT_STEAL; col++)
		s->total += c->ticks[col];
	s->busy = s->total - idle;
}

static void proc_sample(struct load_source *source, struct load_sample *samples)
{
	struct proc_source *p = to_proc(source);
	uint64_t stamp = clock_mono_ns();
	int rc = p->sched_cpus ? schedstat_read(&p->sched, p->sched_cpus, source->nr_cpus)
			       : procstat_read(&p->stat, p->stat_cpus, source->nr_cpus);

	stamp += (clock_mono_ns() - stamp) / 2;
	p->failed = rc;
	p->read_errors += p->failed;
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		samples[cpu] = (struct load_sample){
			.stamp_ns = stamp, .total = stamp, .flags = rc ? LOAD_READ_FAILED : 0};
		if (!rc)
			(p->sched_cpus ? fill_sched : fill_stat)(p, cpu, &samples[cpu]);
	}
}

static void proc_close(struct load_source *source)
{
	struct proc_source *p = to_proc(source);

	if (p->sched_cpus)
		sys_text_close(&p->sched);
	else
		sys_text_close(&p->stat);
	free(p->sched_cpus);
	free(p->stat_cpus);
	free(p);
}

const struct load_source_ops load_source_procstat = {
	.name = "procstat",
	.what = "busy columns of /proc/stat over all columns, as mpstat and htop",
	.size = sizeof(struct proc_source),
	.open = stat_open,
	.sample = proc_sample,
	.losses = proc_losses,
	.close = proc_close,
};

const struct load_source_ops load_source_procidle = {
	.name = "procidle",
	.what = "one minus the idle columns of /proc/stat over wall time",
	.size = sizeof(struct proc_source),
	.open = stat_open,
	.sample = proc_sample,
	.losses = proc_losses,
	.close = proc_close,
};

const struct load_source_ops load_source_schedstat = {
	.name = "schedstat",
	.what = "time tasks ran by /proc/schedstat over wall time; does not see softirqs on idle",
	.size = sizeof(struct proc_source),
	.open = sched_open,
	.sample = proc_sample,
	.losses = proc_losses,
	.close = proc_close,
};
