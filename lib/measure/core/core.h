/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BPF object of load and runq. The meters of load and runq each open the object for their own
 * programs; runq can share the maps of load.
 */
#ifndef SUBTICK_MEASURE_CORE_H
#define SUBTICK_MEASURE_CORE_H

#include <stdint.h>

#include "abi/core.h"

struct bpf_map;
struct bpf_object_skeleton;
struct core_bpf;

/* An open BPF object and the constants of its programs. */
struct core {
	struct core_bpf *skel;
	int32_t filled[CORE_NR_FILLED]; /* constants by enum core_filled, from CORE_FILLED_FIRST */
};

#define CORE_FILL(core, operand) ((core)->filled[(operand) - CORE_FILLED_FIRST])

/*
 * Number of struct core_block for @nr_cpus: a power of two, because programs mask the CPU number.
 */
unsigned int core_blocks(unsigned int nr_cpus);

/* Opens the object with the constants of @core and a struct core_block for each CPU. */
int core_open(struct core *core, unsigned int nr_cpus);
/* Between open and load: excludes the programs and maps of runq. */
int core_for_load(struct core *core);
int core_for_runq(struct core *core);
/*
 * Between open and load: makes the programs of runq use the maps of @load, which is loaded. The
 * program of runq on sched_switch then counts for both meters. @core was opened with the constants
 * of @load and CORE_FILLED_LOAD.
 */
int core_join(struct core *core, const struct core *load);
void core_close(struct core *core);
/* Between open and load: keeps libbpf from mapping the section of @map. */
void core_hide(struct bpf_object_skeleton *skeleton, const struct bpf_map *map);

#endif
