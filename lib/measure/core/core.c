/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens the BPF object of load and runq without the programs that a command does not need. */
#include "measure/core/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "core.skel.h"
#include "host/bpf.h"

unsigned int core_blocks(unsigned int nr_cpus)
{
	return roundup_pow_of_two(nr_cpus);
}

int core_open(struct core *core, unsigned int nr_cpus)
{
	unsigned int blocks = core_blocks(nr_cpus);

	core->skel = calloc(1, sizeof(*core->skel));
	if (!core->skel)
		return -ENOMEM;
	CORE_FILL(core, CORE_FILLED_CPU_MASK) = (int32_t)blocks - 1;
	return core_bpf__create_skeleton(core->skel) ?:
	       sys_bpf_open_filled(core->skel->skeleton, CORE_FILLED_FIRST, core->filled,
				   CORE_NR_FILLED) ?:
	       sys_bpf_shrink(core->skel->maps.bss, blocks * sizeof(struct core_block));
}

void core_hide(struct bpf_object_skeleton *skeleton, const struct bpf_map *map)
{
	for (int i = 0; i < skeleton->map_cnt; i++) {
		struct bpf_map_skeleton *entry =
			(void *)((char *)skeleton->maps + (size_t)i * skeleton->map_skel_sz);

		if (*entry->map == map)
			entry->mmaped = NULL;
	}
}

static int leave_all_out(struct core *core, struct bpf_map *const *maps, size_t nr, const char *prefix)
{
	struct bpf_program *program;
	int rc = 0;

	bpf_object__for_each_program (program, core->skel->obj)
		if (!strncmp(bpf_program__name(program), prefix, strlen(prefix)))
			bpf_program__set_autoload(program, false);
	for (size_t i = 0; !rc && i < nr; i++) {
		core_hide(core->skel->skeleton, maps[i]);
		rc = bpf_map__set_autocreate(maps[i], false);
	}
	return rc;
}

int core_for_load(struct core *core)
{
	const struct core_bpf *skel = core->skel;
	struct bpf_map *const maps[] = {
		skel->maps.chunks,     skel->maps.free_slots, skel->maps.slot_of,
		skel->maps.stamps,     skel->maps.exits,      skel->maps.row_of,
		skel->maps.free_rows,  skel->maps.new_rows,   skel->maps.events,
		skel->maps.data_tasks, skel->maps.data_pairs, skel->maps.data_rows,
		skel->maps.data_first,
	};

	return leave_all_out(core, maps, ARRAY_SIZE(maps), "runq_");
}

int core_for_runq(struct core *core)
{
	const struct core_bpf *skel = core->skel;
	struct bpf_map *const maps[] = {
		skel->maps.bursts,    skel->maps.notes,	    skel->maps.counters,
		skel->maps.lines,     skel->maps.sends,
		skel->maps.tasks_odd, skel->maps.tasks_even, skel->maps.tasks_now,
		skel->maps.noise,     skel->maps.queued,     skel->maps.hists,
	};

	return leave_all_out(core, maps, ARRAY_SIZE(maps), "load_");
}

int core_join(struct core *core, const struct core *load)
{
	struct bpf_map *map, *other;
	int rc = leave_all_out(core, NULL, 0, "load_");

	bpf_object__for_each_map (map, core->skel->obj) {
		other = bpf_object__find_map_by_name(load->skel->obj, bpf_map__name(map));
		/* share maps that exist in both BPF objects, except the map of constants */
		if (!rc && map != core->skel->maps.rodata && other && bpf_map__fd(other) >= 0)
			rc = bpf_map__reuse_fd(map, bpf_map__fd(other));
	}
	*core->skel->rodata = *load->skel->rodata;
	return rc;
}

void core_close(struct core *core)
{
	core_bpf__destroy(core->skel);
	core->skel = NULL;
}
