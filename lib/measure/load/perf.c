/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources perf-tsc and perf-calibrated: unhalted cycles of each core, read through perf. */
#include "measure/load/sources.h"

#include <errno.h>
#include <stdlib.h>

#include "host/arch.h"
#include "base/clock.h"
#include "host/counters.h"
#include "host/cpu.h"

struct perf_source {
	struct load_source source;
	struct perf_event event;
	struct cpu_online online;
	struct counters *counters;
	struct last *last;
	uint64_t read_errors;
};

/* The last valid sample of a CPU. */
struct last {
	uint64_t enabled_ns;
	uint32_t generation;
};

static struct perf_source *to_perf(struct load_source *source)
{
	return (struct perf_source *)source;
}

static void perf_close(struct load_source *source)
{
	struct perf_source *p = to_perf(source);

	counters_close(p->counters);
	cpu_online_close(&p->online);
	free(p->last);
	free(p);
}

static int perf_open(struct load_source *source, const struct load_source_opts *opts,
		     struct err *err)
{
	struct perf_source *p = to_perf(source);
	int rc;

	if (!ARCH_HAS_CYCLES)
		return err_unsupported(err, -EOPNOTSUPP, "use --source bpf",
				       "no cycle clock is known for this architecture");
	rc = cpu_online_open(&p->online, NULL, err)
		     ?: perf_event_find(NULL, opts->event, &p->event, err);
	if (rc)
		return rc;
	p->last = calloc(opts->nr_cpus, sizeof(*p->last));
	if (!p->last)
		return err_set(err, -ENOMEM, "out of memory");
	/* load = unhalted cycles / (enabled time of the counter in s × base_hz) */
	if (source->ops == &load_source_perf_calibrated) {
		source->base_hz = cycles_hz();
		source->rate = 1e9 / (double)source->base_hz;
	}
	return counters_open(&p->event, opts->nr_cpus, &p->online.set, &p->counters, err);
}

static void sample_cpu(struct perf_source *p, unsigned int cpu, struct load_sample *s)
{
	struct last *last = &p->last[cpu];
	struct counter counter;
	uint64_t before, after;

	if (cpuset_has(&p->online.returned, cpu)) {
		counters_renew(p->counters, cpu, last->generation);
		s->flags |= LOAD_HOTPLUGGED;
	}
	/*
	 * Read the clock before and after the counter. The error of the timestamp is at most half
	 * the time between the two clock reads.
	 */
	before = arch_cycles();
	if (counters_read(p->counters, cpu, &counter)) {
		s->flags |= LOAD_READ_FAILED;
		p->read_errors++;
		return;
	}
	after = arch_cycles();
	s->stamp_ns = clock_mono_ns();
	if (last->generation == counter.generation &&
	    counter.count.enabled_ns == last->enabled_ns) {
		/* time_enabled does not grow if the CPU went offline between two samples */
		counters_renew(p->counters, cpu, counter.generation);
		s->flags |= LOAD_READ_FAILED | LOAD_HOTPLUGGED;
		return;
	}
	/* a window needs two samples of the same counter */
	if (last->generation && last->generation != counter.generation) {
		p->read_errors += !(s->flags & LOAD_HOTPLUGGED);
		s->flags |= LOAD_RESTARTED;
	}
	*last = (struct last){counter.count.enabled_ns, counter.generation};
	s->busy = counter.count.value;
	s->enabled_ns = counter.count.enabled_ns;
	s->running_ns = counter.count.running_ns;
	s->total = p->source.ops == &load_source_perf_tsc ? before + (after - before) / 2
							  : counter.count.enabled_ns;
	if (!p->event.constant || !arch_cycles_constant())
		s->flags |= LOAD_NOT_CONSTANT;
}

static void perf_sample(struct load_source *source, struct load_sample *samples)
{
	struct perf_source *p = to_perf(source);

	cpu_online_read(&p->online);
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		samples[cpu] = (struct load_sample){.stamp_ns = clock_mono_ns()};
		if (cpuset_has(&p->online.set, cpu))
			sample_cpu(p, cpu, &samples[cpu]);
		else
			samples[cpu].flags = LOAD_OFFLINE;
	}
}

static void perf_losses(struct load_source *source, struct load_losses *losses)
{
	losses->read_errors = to_perf(source)->read_errors;
}

const struct load_source_ops load_source_perf_tsc = {
	.name = "perf-tsc",
	.counts = true,
	.what = "unhalted cycles over the cycle clock (perf); sends an IPI to each core per sample",
	.size = sizeof(struct perf_source),
	.open = perf_open,
	.sample = perf_sample,
	.losses = perf_losses,
	.close = perf_close,
};

const struct load_source_ops load_source_perf_calibrated = {
	.name = "perf-calibrated",
	.counts = true,
	.what = "unhalted cycles over enabled time at a measured rate (perf); sends an IPI to each "
		"core per sample",
	.size = sizeof(struct perf_source),
	.open = perf_open,
	.sample = perf_sample,
	.losses = perf_losses,
	.close = perf_close,
};
