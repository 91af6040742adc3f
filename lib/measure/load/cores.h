/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Physical cores: the topology, and how many siblings of each core were busy at the same time. */
#ifndef SUBTICK_MEASURE_LOAD_CORES_H
#define SUBTICK_MEASURE_LOAD_CORES_H

#include <stddef.h>

#include "measure/load/source.h"
#include "host/topology.h"

struct load_core_state {
	struct load_smt_sample prev, cur; /* at the ends of the window */
	bool changed; /* a CPU of the core came online after the start */
};

struct load_cores {
	const char *root; /* NULL: the root of this machine */
	unsigned int nr_cpus;
	struct topology_cpu *topology; /* as of the start */
	uint32_t *siblings;	       /* by CPU; the own number without a sibling */
	struct load_core *list;	       /* in the order of their first CPU */
	struct load_core_state *states; /* by core */
	bool grown; /* some CPU came online after the start, on any core */
	size_t nr;
};

/* 0 or -ENOMEM. A zeroed struct can be closed; close also after a failed open. */
int load_cores_open(struct load_cores *cores, const char *root, unsigned int nr_cpus);
void load_cores_close(struct load_cores *cores);
/* Fills list and siblings. Fails with err->unsupported if no core has a sibling, or one has several. */
int load_cores_find(struct load_cores *cores, struct err *err);
void load_cores_sample(struct load_cores *cores, struct load_source *source);
/* The window between the last two samples. @cpus: the same window, by CPU. */
void load_cores_window(struct load_cores *cores, const struct load_cpu_window *cpus);

#endif
