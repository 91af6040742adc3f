/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Physical cores: topology, and the time in which one or both hyperthreads were busy. */
#ifndef SUBTICK_MEASURE_LOAD_CORES_H
#define SUBTICK_MEASURE_LOAD_CORES_H

#include <stddef.h>

#include "base/array.h"
#include "measure/load/source.h"
#include "host/topology.h"

struct load_core_state {
	struct load_smt_sample prev, cur; /* samples at the start and the end of the window */
	bool changed; /* a CPU of the core came online after the start */
};

struct load_cores {
	const char *root; /* root directory of /sys, or NULL */
	unsigned int nr_cpus;
	struct topology_cpu *topology; /* topology at the start */
	/* by CPU: number of the hyperthread sibling, or the CPU's own number without a sibling */
	uint32_t *siblings;
	struct load_core *list;		/* physical cores, sorted by their first CPU */
	struct load_core_state *states; /* measurement state of each core, in the order of `list` */
	bool grown; /* a CPU of any core came online after the start */
	size_t nr;
};

/* Allocates the arrays. The caller checks @memory->failed. */
void load_cores_open(struct load_cores *cores, struct blocks *memory, const char *root,
		     unsigned int nr_cpus);
/*
 * Fills list and siblings. Fails with err->unsupported if no physical core has two online CPUs, or
 * if a physical core has more than two online CPUs.
 */
int load_cores_find(struct load_cores *cores, struct err *err);
void load_cores_sample(struct load_cores *cores, struct load_source *source);
/* Computes the times of all cores between the last two samples from the windows of all CPUs. */
void load_cores_window(struct load_cores *cores, const struct load_cpu_window *cpus);

#endif
