/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses, configures and loads the BPF programs of runq. */
#include "measure/runq/programs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "measure/core/core.h"
#include "core.skel.h"
#include "measure/runq/chunks.h"
#include "stats/runq.h"
#include "host/bpf.h"
#include "host/kbtf.h"

static bool samples(double ratio)
{
	return ratio > 0.0 && ratio < 1.0;
}

static void set_rodata(struct core_bpf *skel, const struct runq_opts *opts,
		       const struct runq_shape *shape)
{
	struct core_bpf__rodata *ro = skel->rodata;
	unsigned int bad;

	ro->layout = (struct runq_layout){
		.cpus = shape->cpus,
		.stripes = shape->stripes,
		.cells_at = runq_cells_at(shape),
		.kind = (shape->stripes < shape->cpus ? RUNQ_SHARED : 0) |
			(shape->steps ? RUNQ_STEPS : 0),
		.slot_size = runq_slot_size(shape),
		.first_slots = runq_first_slots(shape),
	};
	ro->per = opts->per;
	ro->want_sample = samples(opts->sample_ratio);
	ro->threshold_ns = opts->threshold_ns;
	ro->by_wakeup = opts->source == RUNQ_SOURCE_WAKEUP;
	ro->cgroup_v2 = opts->hierarchy == RUNQ_HIERARCHY_V2;
	ro->want_causes = opts->causes || opts->threshold_ns;
	ro->want_blame = opts->blame;
	ro->want_filter = runq_opts_filter(opts);
	memcpy((void *)ro->le_ns, opts->le_ns, sizeof(ro->le_ns));
	runq_le_assign(opts->le_ns, opts->nr_le, (uint8_t *)ro->le_in, &bad);
	runq_le_before((const uint8_t *)ro->le_in, (uint8_t *)ro->le_before);
}

/* True if the kernel has the struct fields that mode.modern requires; see runq_quick.bpf.h. */
static bool modern(const struct btf *btf)
{
	return kbtf_has_member(btf, "task_struct", "__state") &&
	       !kbtf_has_member(btf, "task_struct", "cpu") &&
	       kbtf_has_member(btf, "cfs_rq", "throttled_clock_self_time");
}

/* True if the kernel subtracts interrupt or steal time from the task clock; see quick_clock(). */
static bool subtracts(const struct btf *btf)
{
	return kbtf_has_member(btf, "rq", "prev_irq_time") ||
	       kbtf_has_member(btf, "rq", "prev_steal_time_rq");
}

/*
 * Chooses the BPF program to attach to sched_switch. Frequent combinations of options have special
 * programs with fewer instructions.
 */
static const struct bpf_program *choose_switch(const struct core_bpf *skel,
					       const struct runq_opts *opts)
{
	const struct core_bpf__rodata *ro = skel->rodata;

	if (opts->source == RUNQ_SOURCE_WAKEUP || opts->threshold_ns || ro->switch_state_first ||
	    opts->per != RUNQ_PER_CGROUP || cpuset_count(&opts->cpus))
		return skel->progs.runq_general;
	if (!ro->want_causes && (ro->want_filter || ro->want_sample))
		return skel->progs.runq_some;
	return ro->want_causes ? skel->progs.runq_causes : skel->progs.runq_plain;
}

static void load_switch(const struct core_bpf *skel, const struct bpf_program *chosen)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skel->obj)
		if (program != chosen &&
		    !strcmp(bpf_program__section_name(program), "tp_btf/sched_switch"))
			bpf_program__set_autoload(program, false);
}

/*
 * Bit mask that selects the context switches at which the BPF programs compare the run queue's
 * clock with CLOCK_MONOTONIC; see RUNQ_LEARN. For a small sample ratio the mask selects a larger
 * share of the sampled context switches.
 */
static int32_t learn_bits(double ratio)
{
	if (!samples(ratio))
		return RUNQ_LEARN;
	return ratio >= 0.05 ? RUNQ_LEARN : ratio >= 0.01 ? 0x7000 : 0;
}

bool runq_programs_fit(double from, double to)
{
	return samples(from) == samples(to) && learn_bits(from) == learn_bits(to);
}

static int open_filled(struct core *core, const struct runq_opts *opts,
		       const struct runq_shape *shape, const struct btf *btf)
{
	CORE_FILL(core, RUNQ_FILLED_OLD) = !modern(btf);
	CORE_FILL(core, RUNQ_FILLED_V2) = opts->hierarchy == RUNQ_HIERARCHY_V2;
	CORE_FILL(core, RUNQ_FILLED_RQ_CLOCK) = subtracts(btf);
	CORE_FILL(core, RUNQ_FILLED_SHARED) = shape->stripes < shape->cpus;
	CORE_FILL(core, RUNQ_FILLED_STEPS) = shape->steps;
	CORE_FILL(core, RUNQ_FILLED_BLAME) = opts->blame;
	CORE_FILL(core, RUNQ_FILLED_SOME) = runq_opts_filter(opts) ? RUNQ_SOME_FILTER :
					    samples(opts->sample_ratio)	   ? RUNQ_SOME_SAMPLE :
								     RUNQ_SOME_ALL;
	CORE_FILL(core, RUNQ_FILLED_GATE) =
		(samples(opts->sample_ratio) ? RUNQ_GATE_SAMPLE : RUNQ_GATE_FILTER) +
		(modern(btf) ? 0 : RUNQ_GATE_SAMPLE_OLD) +
		(CORE_FILL(core, CORE_FILLED_LOAD) ? RUNQ_GATE_LOAD : 0);
	CORE_FILL(core, RUNQ_FILLED_LEARN) = learn_bits(opts->sample_ratio);
	return core_open(core, shape->cpus);
}

static void choose_others(struct core_bpf *skel, const struct runq_opts *opts,
			  const struct btf *btf)
{
	if (opts->source != RUNQ_SOURCE_WAKEUP)
		bpf_program__set_autoload(skel->progs.runq_wakeup, false);
	if (!kbtf_has_member(btf, "sched_info", "run_delay")) {
		bpf_program__set_autoload(skel->progs.runq_delays, false);
		bpf_program__set_autoload(skel->progs.runq_exit, false);
		bpf_program__set_autoload(skel->progs.runq_free, opts->per == RUNQ_PER_TASK);
	}
	if (opts->per != RUNQ_PER_CGROUP)
		bpf_program__set_autoload(skel->progs.runq_rmdir, false);
}

/* A section of the BPF object, with a size that depends on options. */
struct section {
	struct bpf_map *map;
	const char *name;
	size_t bytes;
};

static int area_open(struct runq_area *area, const struct section *section, struct err *err)
{
	size_t page = getpagesize();
	int rc;

	area->none = runq_map_create("runq_none", bpf_map__value_size(section->map), 1);
	area->fd = area->none < 0 ? area->none : runq_map_create(section->name, section->bytes, 1);
	if (area->fd < 0)
		return sys_bpf_fail(err, area->fd, "cannot make a map for the runq programs");
	/* libbpf before version 1.3 cannot resize a map that libbpf has created */
	rc = bpf_map__reuse_fd(section->map, area->fd);
	if (rc)
		return sys_bpf_fail(err, rc, "cannot use a map for the runq programs");
	area->len = (section->bytes + page - 1) / page * page;
	area->pages = mmap(NULL, area->len, PROT_READ | PROT_WRITE, MAP_SHARED, area->fd, 0);
	if (area->pages != MAP_FAILED)
		return 0;
	area->pages = NULL;
	return sys_bpf_fail(err, -errno, "cannot map memory of the runq programs");
}

/*
 * Must be called after the object is loaded. Replaces the map by area->none, which has the declared
 * size, because libbpf later unmaps as many bytes as the map has. Closes area->fd before
 * bpf_map__reuse_fd() opens another descriptor.
 */
static int area_release(struct runq_area *area, struct bpf_map *map, struct err *err)
{
	int rc = 0;

	if (area->fd > 0)
		close(area->fd);
	if (area->none > 0) {
		rc = bpf_map__reuse_fd(map, area->none);
		close(area->none);
	}
	area->fd = area->none = 0;
	return rc ? sys_bpf_fail(err, rc, "cannot release a map") : 0;
}

void runq_areas_close(struct runq_area areas[RUNQ_NR_AREAS])
{
	array_for_each(area, areas, RUNQ_NR_AREAS) {
		if (area->pages)
			munmap(area->pages, area->len);
		*area = (struct runq_area){0};
	}
}

static void size_maps(struct core_bpf *skel, const struct runq_opts *opts,
		      const struct runq_shape *shape, size_t nr_groups)
{
	size_t groups = runq_slots_for(shape, nr_groups, true);

	if (opts->reserve) {
		bpf_map__set_max_entries(skel->maps.slot_of, groups);
		bpf_map__set_max_entries(skel->maps.free_slots, groups);
	}
	if (opts->blame) {
		bpf_map__set_max_entries(skel->maps.row_of, RUNQ_NR_BLAME);
		bpf_map__set_max_entries(skel->maps.free_rows, RUNQ_NR_BLAME);
		bpf_map__set_max_entries(skel->maps.new_rows, shape->cpus);
	}
	if (skel->rodata->want_causes && opts->per != RUNQ_PER_CGROUP)
		bpf_map__set_max_entries(skel->maps.throttles, RUNQ_NR_THROTTLES);
	if (opts->source == RUNQ_SOURCE_WAKEUP)
		bpf_map__set_max_entries(skel->maps.stamps, RUNQ_NR_TASKS);
}

/* the kernel needs an inner map as a template to create an array of maps */
static int load_with_chunk(struct core_bpf *skel, const struct runq_shape *shape, struct err *err)
{
	int fd = runq_chunk_create(shape, err), rc;

	if (fd < 0)
		return fd;
	rc = bpf_map__set_inner_map_fd(skel->maps.chunks, fd) ?: core_bpf__load(skel);
	close(fd);
	return sys_bpf_check(err, rc, "cannot load the runq programs");
}

static int load_with_areas(struct core_bpf *skel, const struct runq_opts *opts,
			   const struct runq_shape *shape, struct runq_area areas[RUNQ_NR_AREAS],
			   struct err *err)
{
	const struct section sections[RUNQ_NR_AREAS] = {
		[RUNQ_AREA_TASKS] = {skel->maps.data_tasks, "runq_tasks",
				     RUNQ_NR_TASKS * sizeof(struct runq_task)},
		[RUNQ_AREA_FIRST] = {skel->maps.data_first, "runq_first", RUNQ_FIRST_BYTES},
		[RUNQ_AREA_PAIRS] = {skel->maps.data_pairs, "runq_pairs",
				     opts->blame ? core_blocks(shape->cpus) * RUNQ_PAIRS_BYTES
						 : sizeof(uint64_t)},
		[RUNQ_AREA_ROWS] = {skel->maps.data_rows, "runq_rows",
				    opts->blame ? RUNQ_NR_BLAME * sizeof(struct runq_row)
						: sizeof(uint64_t)},
	};
	int rc = 0, released = 0;

	/* keep libbpf from mapping the sections, because libbpf would map the declared sizes */
	array_for_each(section, sections, RUNQ_NR_AREAS)
		core_hide(skel->skeleton, section->map);
	for (int i = 0; !rc && i < RUNQ_NR_AREAS; i++)
		rc = area_open(&areas[i], &sections[i], err);
	if (!rc) {
		runq_quick_table((const uint8_t *)skel->rodata->le_in, shape->steps,
				 areas[RUNQ_AREA_FIRST].pages);
		rc = load_with_chunk(skel, shape, err);
	}
	/*
	 * call area_release() even after a failed load, because libbpf would otherwise unmap more
	 * than it has mapped
	 */
	for (int i = 0; i < RUNQ_NR_AREAS; i++)
		released = area_release(&areas[i], sections[i].map, rc ? NULL : err) ?: released;
	return rc ? rc : released;
}

int runq_programs_load(const struct runq_opts *opts, const struct runq_shape *shape,
		       size_t nr_groups, const struct core *load,
		       struct runq_area areas[RUNQ_NR_AREAS], struct core *core, struct err *err)
{
	static const char *const needed[] = {"sched_switch"};
	struct btf *btf;
	int rc = kbtf_open_with(needed, 1, &btf, err);

	if (rc)
		return rc;
	sys_bpf_log_begin();
	if (load)
		memcpy(core->filled, load->filled, sizeof(core->filled));
	CORE_FILL(core, CORE_FILLED_LOAD) = load != NULL;
	rc = open_filled(core, opts, shape, btf)
		     ?: (load ? core_join(core, load) : core_for_runq(core));
	if (rc) {
		sys_bpf_fail(err, rc, "cannot open the runq programs");
		goto out;
	}
	sys_bpf_autoload_present(core->skel->obj, btf);
	set_rodata(core->skel, opts, shape);
	core->skel->rodata->switch_state_first = kbtf_switch_state_first(btf);
	load_switch(core->skel, choose_switch(core->skel, opts));
	choose_others(core->skel, opts, btf);
	size_maps(core->skel, opts, shape, nr_groups);
	rc = load_with_areas(core->skel, opts, shape, areas, err);
out:
	kbtf_close(btf);
	if (rc)
		core_close(core);
	return rc;
}
