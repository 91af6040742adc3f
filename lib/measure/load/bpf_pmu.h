/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of source bpf-pmu: opened here, read by the cores themselves at their edges. */
#ifndef SUBTICK_MEASURE_LOAD_BPF_PMU_H
#define SUBTICK_MEASURE_LOAD_BPF_PMU_H

#include "abi/load.h"
#include "base/cpuset.h"
#include "base/err.h"
#include "stats/load.h"
#include "host/counters.h"

/* The counter when it was opened, read from here: one interrupt to the core, at the start only. */
struct load_bpf_pmu_seed {
	uint64_t cycles;
	uint64_t mono_ns;
	uint32_t generation; /* of the counter that was handed over, or refused */
	bool valid;	     /* the programs have it */
	bool restarted;	     /* since the last sample: not the counter of the sample before */
};

struct load_bpf_pmu {
	struct perf_event event;
	int map;  /* where the programs find the counters */
	struct counters *counters; /* NULL: load_bpf_pmu_open() was not called */
	struct load_bpf_pmu_seed *seeds; /* per CPU, until its first edge */
	uint64_t start_ns;		 /* of the programs' clock; set once they are attached */
};

/* Opens a counter on each online CPU and hands it to the programs through @map. */
int load_bpf_pmu_open(struct load_bpf_pmu *pmu, int map, unsigned int nr_cpus,
		      const struct cpuset *online, const char *event, struct err *err);
/* Hands over the counter of a CPU again if it is a new one: the CPU came back, or had none. */
void load_bpf_pmu_refresh(struct load_bpf_pmu *pmu, unsigned int cpu, bool came_back);
/*
 * Fills busy and total from what the core stored last. @now_ns is on the programs' clock; @seed_ctx
 * is what a core without any edge is doing.
 */
void load_bpf_pmu_fill(const struct load_bpf_pmu *pmu, unsigned int cpu,
		       const struct load_slot *slot, uint64_t now_ns, uint32_t seed_ctx,
		       struct load_sample *sample);
void load_bpf_pmu_close(struct load_bpf_pmu *pmu);

#endif
