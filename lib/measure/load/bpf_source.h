/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What sources bpf and bpf-pmu keep; shared by their two files only. */
#ifndef SUBTICK_MEASURE_LOAD_BPF_SOURCE_H
#define SUBTICK_MEASURE_LOAD_BPF_SOURCE_H

#include "abi/hist.h"
#include "measure/load/hotplug.h"
#include "measure/load/source.h"
#include "sys/bpf.h"
#include "sys/perf.h"

struct load_bpf;

/* The counter when it was opened, read from here: one interrupt to the core, at the start only. */
struct pmu_seed {
	uint64_t cycles;
	uint64_t mono_ns;
};

struct bpf_source {
	struct load_source source;
	struct load_bpf *skel;
	struct hotplug hotplug;
	bool hotplug_traced;
	uint64_t hotplug_seen;

	const struct load_slot *slots;
	const struct load_cpu_note *notes;
	const uint64_t (*bursts)[HIST_NR];
	struct sys_bpf_view views[3]; /* of these three, in this order */
	uint64_t *steps_seen;	  /* per CPU, hotplug steps at the last sample */
	uint64_t torn;

	/* bpf-pmu only */
	struct perf_event event;
	int *fds;
	struct pmu_seed *seeds; /* per CPU, for as long as it has shown no edge */
};

/* What a CPU without events does: what the task walk saw, else idle. */
uint32_t load_bpf_seed_ctx(const struct bpf_source *b, unsigned int cpu);

int load_bpf_pmu_open(struct bpf_source *b, const char *event, struct err *err);
void load_bpf_pmu_fill(struct bpf_source *b, unsigned int cpu, uint64_t now,
		       struct load_sample *sample);
void load_bpf_pmu_close(struct bpf_source *b);

#endif
