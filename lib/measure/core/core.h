/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BPF object with the programs of load and runq. Each measurement opens a copy of the object,
 * and loads only the programs of the measurement. The programs of runq can use the maps of load.
 */
#ifndef SUBTICK_MEASURE_CORE_H
#define SUBTICK_MEASURE_CORE_H

#include <stdint.h>

#include "abi/core.h"

struct bpf_map;
struct bpf_object_skeleton;
struct core_bpf;

struct core {
	struct core_bpf *skel;
	/* constants of the programs; see CORE_FILL() */
	int32_t filled[CORE_NR_FILLED];
};

#define CORE_FILL(core, operand) ((core)->filled[(operand) - CORE_FILLED_FIRST])

/*
 * Number of struct core_block for @nr_cpus CPUs. The result is a power of two, because the BPF
 * programs limit the CPU number with a bit mask.
 */
unsigned int core_blocks(unsigned int nr_cpus);

/* Opens the BPF object with the constants of @core and with a struct core_block for each CPU. */
int core_open(struct core *core, unsigned int nr_cpus);
/* Excludes the programs and maps of runq. Must be called before the object is loaded. */
int core_for_load(struct core *core);
int core_for_runq(struct core *core);
/*
 * Makes the programs of runq use the maps of @load, which is already loaded. runq's program on
 * sched_switch then measures both CPU time and waits. @core must be opened with the constants of
 * @load and CORE_FILLED_LOAD, but not loaded yet.
 */
int core_join(struct core *core, const struct core *load);
void core_close(struct core *core);
/* Keeps libbpf from mapping the section of @map. Must be called before the object is loaded. */
void core_hide(struct bpf_object_skeleton *skeleton, const struct bpf_map *map);

#endif
