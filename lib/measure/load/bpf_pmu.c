/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes perf counters to BPF programs and reads the stored counter values. */
#include "measure/load/bpf_pmu.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "host/arch.h"
#include "base/clock.h"
#include "measure/load/slot.h"

/*
 * Passes the perf counter of one CPU to the BPF programs. The perf counter is pinned, because BPF
 * programs cannot scale the value of a multiplexed counter.
 */
static int hand_over(struct load_bpf_pmu *pmu, uint32_t cpu)
{
	struct load_bpf_pmu_seed *seed = &pmu->seeds[cpu];
	struct counter counter;
	int rc = counters_read(pmu->counters, cpu, &counter), fd;

	*seed = (struct load_bpf_pmu_seed){.cycles = rc ? 0 : counter.count.value,
					   .mono_ns = clock_mono_ns(),
					   .generation = counter.generation,
					   .restarted = true};
	if (rc)
		return rc;
	fd = counters_fd(pmu->counters, cpu, &counter);
	if (!counter.pinned)
		return -EBUSY;
	if (bpf_map_update_elem(pmu->map, &cpu, &fd, BPF_ANY))
		return -errno;
	seed->valid = true;
	return 0;
}

int load_bpf_pmu_open(struct load_bpf_pmu *pmu, int map, unsigned int nr_cpus,
		      const struct cpuset *online, const char *event, struct err *err)
{
	unsigned int opened = 0, failed_cpu = 0;
	int rc, last = -ENODEV;

	rc = perf_event_find(NULL, event, &pmu->event, err);
	if (rc)
		return rc;
	pmu->map = map;
	pmu->seeds = calloc(nr_cpus, sizeof(*pmu->seeds));
	if (!pmu->seeds)
		return err_set(err, -ENOMEM, "out of memory");
	rc = counters_open(&pmu->event, nr_cpus, online, &pmu->counters, err);
	if (rc)
		return rc;
	cpuset_for_each(cpu, online) {
		if (cpu >= nr_cpus)
			break;
		rc = hand_over(pmu, cpu);
		if (rc) {
			last = rc;
			failed_cpu = cpu;
		} else {
			opened++;
		}
	}
	return opened ? 0 : perf_fail(err, last, &pmu->event, failed_cpu);
}

void load_bpf_pmu_refresh(struct load_bpf_pmu *pmu, unsigned int cpu, bool came_back)
{
	struct load_bpf_pmu_seed *seed = &pmu->seeds[cpu];
	struct counter counter;

	if (came_back || counters_fd(pmu->counters, cpu, &counter) < 0)
		counters_renew(pmu->counters, cpu, seed->generation);
	counters_fd(pmu->counters, cpu, &counter);
	if (counter.generation != seed->generation)
		hand_over(pmu, cpu);
}

/*
 * Fills the sample of a CPU for which the BPF programs have not stored a counter value yet. If the
 * CPU has been halted since the start, its perf counter still has the initial value.
 */
static void fill_silent(const struct load_bpf_pmu *pmu, unsigned int cpu, uint64_t now_ns,
			uint32_t seed_ctx, struct load_sample *s)
{
	const struct load_bpf_pmu_seed *seed = &pmu->seeds[cpu];

	if (!seed->valid) {
		s->flags |= LOAD_READ_FAILED;
		return;
	}
	s->busy = seed->cycles;
	s->total = seed->mono_ns > pmu->start_ns ? seed->mono_ns - pmu->start_ns : 0;
	if (seed_ctx == LOAD_HALT)
		s->total = now_ns;
}

static void fill_stored(const struct load_bpf_pmu *pmu, unsigned int cpu,
			const struct load_stored *stored, struct load_sample *s)
{
	const struct load_bpf_pmu_seed *seed = &pmu->seeds[cpu];

	s->busy = stored->cycles;
	s->total = stored->holds_ns;
	if (!seed->valid || stored->stored_ns + pmu->start_ns < seed->mono_ns)
		/* the BPF programs stored this value from a perf counter that has been replaced */
		s->flags |= LOAD_READ_FAILED;
}

void load_bpf_pmu_fill(const struct load_bpf_pmu *pmu, unsigned int cpu,
		       const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		       struct load_sample *s)
{
	struct load_bpf_pmu_seed *seed = &pmu->seeds[cpu];
	struct load_stored stored;

	/* read pmu_check once, because BPF programs can store the first value between two reads */
	if (!__atomic_load_n(&slot->pmu_check, __ATOMIC_RELAXED))
		fill_silent(pmu, cpu, now_ns, seed_ctx, s);
	else if (!load_slot_pmu(slot, now_ns, &stored))
		s->flags |= LOAD_TORN;
	else
		fill_stored(pmu, cpu, &stored, s);
	if (seed->restarted)
		s->flags |= LOAD_RESTARTED;
	seed->restarted = false;
	if (!pmu->event.constant || !arch_cycles_constant())
		s->flags |= LOAD_NOT_CONSTANT;
}

void load_bpf_pmu_close(struct load_bpf_pmu *pmu)
{
	counters_close(pmu->counters);
	free(pmu->seeds);
}
