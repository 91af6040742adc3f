/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Perf counters of source bpf-pmu, which BPF programs read at context changes. */
#ifndef SUBTICK_MEASURE_LOAD_BPF_PMU_H
#define SUBTICK_MEASURE_LOAD_BPF_PMU_H

#include "abi/load.h"
#include "base/cpuset.h"
#include "base/err.h"
#include "stats/load.h"
#include "host/counters.h"

/* Initial value of a perf counter. Reading the value sends one IPI to the CPU of the counter. */
struct load_bpf_pmu_seed {
	uint64_t cycles;
	uint64_t mono_ns;
	/* generation of the perf counter, even if `valid` is false */
	uint32_t generation;
	bool valid;	/* true if the perf counter was passed to the BPF programs */
	bool restarted; /* true if the perf counter was replaced after the last sample */
};

struct load_bpf_pmu {
	struct perf_event event;
	int map;		   /* descriptor of the BPF map that contains the perf counters */
	struct counters *counters; /* perf counters of all CPUs; NULL before load_bpf_pmu_open() */
	/* initial value of each perf counter, used until the programs store a value */
	struct load_bpf_pmu_seed *seeds;
	uint64_t start_ns;		 /* CLOCK_MONOTONIC at the start of the measurement */
};

/* Opens a perf counter on each online CPU and passes the counter to the programs through @map. */
int load_bpf_pmu_open(struct load_bpf_pmu *pmu, int map, unsigned int nr_cpus,
		      const struct cpuset *online, const char *event, struct err *err);
/* Passes a new counter to the BPF programs if the CPU came back online or had no counter. */
void load_bpf_pmu_refresh(struct load_bpf_pmu *pmu, unsigned int cpu, bool came_back);
/*
 * Fills busy and total of the sample from the last counter value that the BPF programs stored.
 * @now_ns is the time since the start of the measurement. @seed_ctx is the context (enum load_ctx)
 * of a CPU without events since the start.
 */
void load_bpf_pmu_fill(const struct load_bpf_pmu *pmu, unsigned int cpu,
		       const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		       struct load_sample *sample);
void load_bpf_pmu_close(struct load_bpf_pmu *pmu);

#endif
