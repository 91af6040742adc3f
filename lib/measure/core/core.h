/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BPF object of load and runq: each opens it for its own programs, and runq can join load's. */
#ifndef SUBTICK_MEASURE_CORE_H
#define SUBTICK_MEASURE_CORE_H

#include <stdint.h>

#include "abi/core.h"

struct bpf_map;
struct bpf_object_skeleton;
struct core_bpf;

/* An open object with the operands of its programs. */
struct core {
	struct core_bpf *skel;
	int32_t filled[CORE_NR_FILLED]; /* by enum core_filled, from CORE_FILLED_FIRST */
};

#define CORE_FILL(core, operand) ((core)->filled[(operand) - CORE_FILLED_FIRST])

/* Blocks of memory for @nr_cpus: a power of two, because the programs mask the CPU number. */
unsigned int core_blocks(unsigned int nr_cpus);

/* Opens the object with the operands of @core filled in, and with blocks for @nr_cpus. */
int core_open(struct core *core, unsigned int nr_cpus);
/* Between open and load: leaves out the programs and maps of the other half. */
int core_for_load(struct core *core);
int core_for_runq(struct core *core);
/*
 * Between open and load: the programs of runq write the memory of @load, whose programs are loaded, and
 * their switch program serves both. @core was opened with the operands of @load and CORE_FILLED_LOAD.
 */
int core_join(struct core *core, const struct core *load);
void core_close(struct core *core);
/* Between open and load: keeps libbpf from mapping the section of @map. */
void core_hide(struct bpf_object_skeleton *skeleton, const struct bpf_map *map);

#endif
