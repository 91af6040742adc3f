/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources perf-tsc and perf-calibrated: unhalted cycles of each core, read through perf. */
#include "measure/load/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "measure/load/hotplug.h"
#include "sys/cycles.h"
#include "sys/perf.h"

struct perf_source {
	struct load_source source;
	struct perf_event event;
	struct hotplug hotplug;
	bool tsc;
	int *fds; /* -1: not open */
	uint64_t *enabled_ns; /* per CPU, at the last sample */
	uint64_t read_errors;
};

static struct perf_source *to_perf(struct load_source *source)
{
	return (struct perf_source *)source;
}

static void perf_close(struct load_source *source)
{
	struct perf_source *p = to_perf(source);

	for (unsigned int cpu = 0; p->fds && cpu < source->nr_cpus; cpu++)
		if (p->fds[cpu] >= 0)
			close(p->fds[cpu]);
	hotplug_close(&p->hotplug);
	free(p->enabled_ns);
	free(p->fds);
	free(p);
}

static int open_cpus(struct perf_source *p, struct err *err)
{
	unsigned int cpu, opened = 0;
	int last = -ENODEV;

	p->fds = malloc(p->source.nr_cpus * sizeof(*p->fds));
	p->enabled_ns = calloc(p->source.nr_cpus, sizeof(*p->enabled_ns));
	if (!p->fds || !p->enabled_ns) {
		free(p->fds);
		p->fds = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (cpu = 0; cpu < p->source.nr_cpus; cpu++) {
		p->fds[cpu] = -1;
		if (!cpuset_has(&p->hotplug.online, cpu))
			continue;
		p->fds[cpu] = perf_open_cpu(&p->event, cpu);
		if (p->fds[cpu] < 0) {
			last = p->fds[cpu];
			p->fds[cpu] = -1;
		} else {
			opened++;
		}
	}
	return opened ? 0 : perf_fail(err, last, &p->event, 0);
}

static int open_mode(const struct load_source_ops *ops, const struct load_source_opts *opts,
		     bool tsc, struct load_source **ret_source, struct err *err)
{
	struct perf_source *p;
	int rc;

	if (!arch_has_cycles())
		return err_unsupported(err, -EOPNOTSUPP, "use --source bpf",
				       "no cycle clock is known for this architecture");
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->source = (struct load_source){.ops = ops, .nr_cpus = opts->nr_cpus, .rate = 1.0};
	p->tsc = tsc;
	rc = hotplug_open(&p->hotplug, err);
	if (rc) {
		free(p);
		return rc;
	}
	rc = perf_event_find(NULL, opts->event, &p->event, err);
	if (rc)
		goto fail;
	rc = open_cpus(p, err);
	if (rc)
		goto fail;
	/* load = Δcycles / (Δenabled_ns × base_hz / 1e9) */
	if (!tsc)
		p->source.rate = 1e9 / (double)cycles_hz();
	*ret_source = &p->source;
	return 0;
fail:
	perf_close(&p->source);
	return rc;
}

static int open_tsc(const struct load_source_opts *opts, struct load_source **ret_source,
		    struct err *err)
{
	return open_mode(&load_source_perf_tsc, opts, true, ret_source, err);
}

static int open_calibrated(const struct load_source_opts *opts, struct load_source **ret_source,
			   struct err *err)
{
	return open_mode(&load_source_perf_calibrated, opts, false, ret_source, err);
}

/* Hotplug detaches a CPU's events for good: a CPU that came back needs a new one. */
static void reopen(struct perf_source *p, unsigned int cpu)
{
	if (p->fds[cpu] >= 0)
		close(p->fds[cpu]);
	p->fds[cpu] = perf_open_cpu(&p->event, cpu);
	if (p->fds[cpu] < 0)
		p->fds[cpu] = -1;
	p->enabled_ns[cpu] = 0;
}

static void sample_cpu(struct perf_source *p, unsigned int cpu, struct load_sample *s)
{
	struct perf_count count;
	uint64_t before, after;

	if (cpuset_has(&p->hotplug.returned, cpu)) {
		reopen(p, cpu);
		s->flags |= LOAD_HOTPLUGGED;
	}
	/* A stamp on either side of this very read: its error is half the read, on any CPU count. */
	before = arch_cycles();
	if (p->fds[cpu] < 0 || perf_read(p->fds[cpu], &count)) {
		s->flags |= LOAD_READ_FAILED;
		p->read_errors++;
		return;
	}
	after = arch_cycles();
	s->stamp_ns = clock_mono_ns();
	if (p->enabled_ns[cpu] && count.enabled_ns == p->enabled_ns[cpu]) {
		/* The event's clock stands still: the CPU left and came back unseen. */
		reopen(p, cpu);
		s->flags |= LOAD_READ_FAILED | LOAD_HOTPLUGGED;
		return;
	}
	p->enabled_ns[cpu] = count.enabled_ns;
	s->busy = count.value;
	s->enabled_ns = count.enabled_ns;
	s->running_ns = count.running_ns;
	s->total = p->tsc ? before + (after - before) / 2 : count.enabled_ns;
	if (!p->event.constant)
		s->flags |= LOAD_NOT_CONSTANT;
}

static void perf_sample(struct load_source *source, struct load_sample *samples)
{
	struct perf_source *p = to_perf(source);

	hotplug_refresh(&p->hotplug);
	for (unsigned int cpu = 0; cpu < source->nr_cpus; cpu++) {
		samples[cpu] = (struct load_sample){.stamp_ns = clock_mono_ns()};
		if (cpuset_has(&p->hotplug.online, cpu))
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
	.what = "unhalted cycles over the cycle clock (perf); sends an IPI to each core per sample",
	.open = open_tsc,
	.sample = perf_sample,
	.losses = perf_losses,
	.close = perf_close,
};

const struct load_source_ops load_source_perf_calibrated = {
	.name = "perf-calibrated",
	.what = "unhalted cycles over enabled time at a measured rate (perf); sends an IPI to each "
		"core per sample",
	.open = open_calibrated,
	.sample = perf_sample,
	.losses = perf_losses,
	.close = perf_close,
};
