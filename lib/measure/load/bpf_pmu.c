/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of source bpf-pmu: handed to the cores, read by them, used from their notes. */
#include "measure/load/bpf_source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "load.skel.h"
#include "measure/load/slot.h"
#include "sys/cycles.h"

/* (Re)opens the counter of one CPU and hands it to the programs there. */
static int pmu_open_cpu(struct bpf_source *b, uint32_t cpu)
{
	int map = bpf_map__fd(b->skel->maps.counters);
	int fd = perf_open_cpu(&b->event, cpu);
	struct perf_count count;

	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(map, &cpu, &fd, BPF_ANY)) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	if (b->fds[cpu] >= 0)
		close(b->fds[cpu]);
	b->fds[cpu] = fd;
	if (perf_read(fd, &count))
		count.value = 0;
	b->seeds[cpu] = (struct pmu_seed){count.value, clock_mono_ns()};
	return 0;
}

int load_bpf_pmu_open(struct bpf_source *b, const char *event, struct err *err)
{
	unsigned int cpu, opened = 0;
	int rc, last = -ENODEV;

	rc = perf_event_find(NULL, event, &b->event, err);
	if (rc)
		return rc;
	b->seeds = calloc(b->source.nr_cpus, sizeof(*b->seeds));
	b->fds = b->seeds ? malloc(b->source.nr_cpus * sizeof(*b->fds)) : NULL;
	if (!b->fds)
		return err_set(err, -ENOMEM, "out of memory");
	for (cpu = 0; cpu < b->source.nr_cpus; cpu++)
		b->fds[cpu] = -1;
	cpuset_for_each(cpu, &b->hotplug.online) {
		if (cpu >= b->source.nr_cpus)
			break;
		rc = pmu_open_cpu(b, cpu);
		if (rc)
			last = rc;
		else
			opened++;
	}
	if (!opened)
		return perf_fail(err, last, &b->event, 0);
	b->source.rate = 1e9 / (double)cycles_hz();
	return 0;
}

/* No edge has stored a value yet: a core that slept all along still has the one it began with. */
static void pmu_fill_silent(struct bpf_source *b, unsigned int cpu, uint64_t now,
			    struct load_sample *s)
{
	const struct pmu_seed *pmu_seed = &b->seeds[cpu];
	uint64_t start = b->skel->bss->start_ns;

	if (b->fds[cpu] < 0 || __atomic_load_n(&b->slots[cpu].pmu_check, __ATOMIC_RELAXED)) {
		s->flags |= LOAD_READ_FAILED;
		return;
	}
	s->busy = pmu_seed->cycles;
	s->total = pmu_seed->mono_ns > start ? pmu_seed->mono_ns - start : 0;
	if (load_bpf_seed_ctx(b, cpu) == LOAD_HALT)
		s->total = now;
}

void load_bpf_pmu_fill(struct bpf_source *b, unsigned int cpu, uint64_t now, struct load_sample *s)
{
	if (cpuset_has(&b->hotplug.returned, cpu) || b->fds[cpu] < 0)
		pmu_open_cpu(b, cpu);
	if (!load_slot_pmu(&b->slots[cpu], now, &s->busy, &s->total))
		pmu_fill_silent(b, cpu, now, s);
	if (!b->event.constant)
		s->flags |= LOAD_NOT_CONSTANT;
}

void load_bpf_pmu_close(struct bpf_source *b)
{
	for (unsigned int cpu = 0; b->fds && cpu < b->source.nr_cpus; cpu++)
		if (b->fds[cpu] >= 0)
			close(b->fds[cpu]);
	free(b->fds);
	free(b->seeds);
}
