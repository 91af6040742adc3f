/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hands counters to the cores and reads what these stored. */
#include "measure/load/bpf_pmu.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "measure/load/slot.h"
#include "sys/cycles.h"

/* (Re)opens the counter of one CPU and hands it to the programs there. */
static int open_cpu(struct load_bpf_pmu *pmu, uint32_t cpu)
{
	int fd = perf_open_cpu(&pmu->event, cpu);
	struct perf_count count;

	if (fd < 0)
		return fd;
	if (bpf_map_update_elem(pmu->map, &cpu, &fd, BPF_ANY)) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	if (pmu->fds[cpu] >= 0)
		close(pmu->fds[cpu]);
	pmu->fds[cpu] = fd;
	if (perf_read(fd, &count))
		count.value = 0;
	pmu->seeds[cpu] = (struct load_bpf_pmu_seed){count.value, clock_mono_ns()};
	return 0;
}

int load_bpf_pmu_open(struct load_bpf_pmu *pmu, int map, unsigned int nr_cpus,
		      const struct cpuset *online, const char *event, struct err *err)
{
	unsigned int cpu, opened = 0;
	int rc, last = -ENODEV;

	rc = perf_event_find(NULL, event, &pmu->event, err);
	if (rc)
		return rc;
	pmu->map = map;
	pmu->nr_cpus = nr_cpus;
	pmu->seeds = calloc(nr_cpus, sizeof(*pmu->seeds));
	pmu->fds = pmu->seeds ? malloc(nr_cpus * sizeof(*pmu->fds)) : NULL;
	if (!pmu->fds)
		return err_set(err, -ENOMEM, "out of memory");
	for (cpu = 0; cpu < nr_cpus; cpu++)
		pmu->fds[cpu] = -1;
	cpuset_for_each(cpu, online) {
		if (cpu >= nr_cpus)
			break;
		rc = open_cpu(pmu, cpu);
		if (rc)
			last = rc;
		else
			opened++;
	}
	return opened ? 0 : perf_fail(err, last, &pmu->event, 0);
}

double load_bpf_pmu_rate(void)
{
	return 1e9 / (double)cycles_hz();
}

void load_bpf_pmu_refresh(struct load_bpf_pmu *pmu, unsigned int cpu, bool came_back)
{
	if (came_back || pmu->fds[cpu] < 0)
		open_cpu(pmu, cpu);
}

/* No edge has stored a value yet: a core that slept all along still has the one it began with. */
static void fill_silent(const struct load_bpf_pmu *pmu, unsigned int cpu,
			const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
			struct load_sample *s)
{
	const struct load_bpf_pmu_seed *seed = &pmu->seeds[cpu];

	if (pmu->fds[cpu] < 0 || __atomic_load_n(&slot->pmu_check, __ATOMIC_RELAXED)) {
		s->flags |= LOAD_READ_FAILED;
		return;
	}
	s->busy = seed->cycles;
	s->total = seed->mono_ns > pmu->start_ns ? seed->mono_ns - pmu->start_ns : 0;
	if (seed_ctx == LOAD_HALT)
		s->total = now_ns;
}

void load_bpf_pmu_fill(const struct load_bpf_pmu *pmu, unsigned int cpu,
		       const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		       struct load_sample *s)
{
	if (!load_slot_pmu(slot, now_ns, &s->busy, &s->total))
		fill_silent(pmu, cpu, slot, now_ns, seed_ctx, s);
	if (!pmu->event.constant)
		s->flags |= LOAD_NOT_CONSTANT;
}

void load_bpf_pmu_close(struct load_bpf_pmu *pmu)
{
	for (unsigned int cpu = 0; pmu->fds && cpu < pmu->nr_cpus; cpu++)
		if (pmu->fds[cpu] >= 0)
			close(pmu->fds[cpu]);
	free(pmu->fds);
	free(pmu->seeds);
}
