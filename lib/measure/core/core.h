/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The BPF object that contains the programs of the commands load and runq. The load measurement and
 * the runq measurement each open this object and load only their own programs. The programs of runq
 * can use the maps of the load measurement.
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
	/* constants, indexed by enum core_filled minus CORE_FILLED_FIRST */
	int32_t filled[CORE_NR_FILLED];
};

#define CORE_FILL(core, operand) ((core)->filled[(operand) - CORE_FILLED_FIRST])

/*
 * Number of struct core_block that @nr_cpus CPUs need. The number of blocks is a power of two,
 * because the BPF programs use a bit mask to limit the CPU number.
 */
unsigned int core_blocks(unsigned int nr_cpus);

/* Opens the BPF object with the constants of @core and with a struct core_block for each CPU. */
int core_open(struct core *core, unsigned int nr_cpus);
/*
 * Excludes the programs and maps of runq from loading. Call core_for_load() after opening and
 * before loading the object.
 */
int core_for_load(struct core *core);
int core_for_runq(struct core *core);
/*
 * Makes the programs of runq use the maps of @load, which is already loaded. After core_join()
 * runq's program on sched_switch measures both CPU time (load) and waits (runq). The BPF object
 * @core must be opened with the constants of @load and CORE_FILLED_LOAD, but not loaded yet.
 */
int core_join(struct core *core, const struct core *load);
void core_close(struct core *core);
/*
 * Keeps libbpf from mapping the section of @map. Call core_hide() after opening and before loading
 * the BPF object.
 */
void core_hide(struct bpf_object_skeleton *skeleton, const struct bpf_map *map);

#endif
