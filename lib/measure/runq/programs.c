/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses, configures and loads the BPF programs of runq. */
#include "measure/runq/programs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "measure/runq/chunks.h"
#include "runq.skel.h"
#include "stats/runq.h"
#include "sys/bpf.h"
#include "sys/kbtf.h"

static void set_rodata(struct runq_bpf *skel, const struct runq_opts *opts,
		       const struct runq_shape *shape)
{
	struct runq_bpf__rodata *ro = skel->rodata;
	unsigned int bad;

	ro->layout = (struct runq_layout){
		.cpus = shape->cpus,
		.stripes = shape->stripes,
		.cells_at = runq_cells_at(shape),
		.kind = (shape->stripes < shape->cpus ? RUNQ_SHARED : 0) |
			(shape->steps ? RUNQ_STEPS : 0),
		.slot_size = runq_slot_size(shape),
		.near = runq_near_slots(shape),
	};
	ro->per = opts->per;
	if (opts->sample_ratio > 0.0 && opts->sample_ratio < 1.0)
		ro->want_sample = true;
	ro->threshold_ns = opts->threshold_ns;
	ro->by_wakeup = opts->source == RUNQ_SOURCE_WAKEUP;
	ro->cgroup_v2 = opts->hierarchy == RUNQ_HIERARCHY_V2;
	ro->want_causes = opts->causes || opts->threshold_ns;
	ro->want_blame = opts->blame;
	ro->want_filter = runq_opts_filter(opts);
	memcpy((void *)ro->le_ns, opts->le_ns, sizeof(ro->le_ns));
	runq_le_place(opts->le_ns, opts->nr_le, (uint8_t *)ro->le_in, &bad);
	runq_le_before((const uint8_t *)ro->le_in, (uint8_t *)ro->le_before);
}

static void set_table(const struct runq_bpf__rodata *ro, uint8_t *table)
{
	if (ro->layout.kind & RUNQ_STEPS)
		runq_quick_steps((const uint8_t *)ro->le_in, table);
	else
		runq_quick_buckets((const uint8_t *)ro->le_in, table);
}

/* Whether the kernel has what the programs for modern ones do not ask for; see runq_quick.bpf.h. */
static bool modern(const struct btf *btf)
{
	return kbtf_has_member(btf, "task_struct", "__state") &&
	       !kbtf_has_member(btf, "task_struct", "cpu") &&
	       kbtf_has_member(btf, "cfs_rq", "throttled_clock_self_time");
}

/* Whether it subtracts interrupts or steal from the clock of tasks; see quick_clock(). */
static bool subtracts(const struct btf *btf)
{
	return kbtf_has_member(btf, "rq", "prev_irq_time") ||
	       kbtf_has_member(btf, "rq", "prev_steal_time_rq");
}

/* The name of the program for a common case; see RUNQ_SWITCHES of runq.bpf.c. */
static void switch_name(const struct runq_opts *opts, const struct runq_bpf__rodata *ro,
			const struct btf *btf, char ret_name[64])
{
	static const char *const names[2][3] = {{"switch", "causes", "blame"},
						{"steps", "steps_causes", "steps_blame"}};
	const char *what = ro->want_filter ? "filter"
					   : names[opts->steps_only][opts->blame ? 2 : opts->causes];
	const char *clock = !modern(btf) ? "_old" : subtracts(btf) ? "_clock" : "";
	const char *kind = modern(btf) && ro->layout.kind & RUNQ_SHARED ? "_shared" : "";

	snprintf(ret_name, 64, "runq_%s%s%s_v%d", what, clock, kind, ro->cgroup_v2 ? 2 : 1);
}

/* The common cases have programs of their own, which take fewer instructions. */
static void choose_switch(struct runq_bpf *skel, const struct runq_opts *opts,
			  const struct btf *btf)
{
	const struct runq_bpf__rodata *ro = skel->rodata;
	bool quick = opts->source != RUNQ_SOURCE_WAKEUP && !opts->threshold_ns &&
		     !ro->switch_state_first;
	char name[64] = "runq_switch";
	struct bpf_program *program;

	if (quick && ro->want_sample && !ro->want_causes)
		strcpy(name, "runq_sample");
	else if (quick && opts->per == RUNQ_PER_TASK && !ro->want_sample && !ro->want_causes)
		strcpy(name, "runq_per_task");
	/*
	 * Linux 5.10 does not accept the quick path with blame, and takes minutes to verify that with
	 * causes but without the fine histogram.
	 */
	else if (quick && !ro->want_sample && opts->per == RUNQ_PER_CGROUP &&
		 !cpuset_count(&opts->cpus) &&
		 (modern(btf) || !(opts->blame || (opts->causes && opts->steps_only))))
		switch_name(opts, ro, btf, name);
	bpf_object__for_each_program(program, skel->obj)
	{
		const char *section = bpf_program__section_name(program);

		if (!strcmp(section, "tp_btf/sched_switch"))
			bpf_program__set_autoload(program,
						  !strcmp(bpf_program__name(program), name));
	}
}

static void choose_others(struct runq_bpf *skel, const struct runq_opts *opts,
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

void runq_areas_close(struct runq_areas *areas)
{
	runq_area_close(&areas->cpus);
	runq_area_close(&areas->tasks);
	runq_area_close(&areas->near);
	runq_area_close(&areas->pairs);
	runq_area_close(&areas->rows);
}

static int open_areas(struct runq_bpf *skel, unsigned int cpus, bool blame,
		      struct runq_areas *areas, struct err *err)
{
	int rc;

	runq_area_hide(skel->skeleton, skel->maps.data_cpus);
	runq_area_hide(skel->skeleton, skel->maps.data_tasks);
	runq_area_hide(skel->skeleton, skel->maps.data_near);
	runq_area_hide(skel->skeleton, skel->maps.data_pairs);
	runq_area_hide(skel->skeleton, skel->maps.data_rows);
	rc = runq_area_open(&areas->cpus, skel->maps.data_cpus, "runq_cpus",
			    cpus * sizeof(struct runq_cpu), err);
	if (!rc)
		rc = runq_area_open(&areas->tasks, skel->maps.data_tasks, "runq_tasks",
				    RUNQ_NR_TASKS * sizeof(struct runq_task), err);
	if (!rc)
		rc = runq_area_open(&areas->near, skel->maps.data_near, "runq_near",
				    RUNQ_NEAR_BYTES, err);
	if (!rc)
		rc = runq_area_open(&areas->pairs, skel->maps.data_pairs, "runq_pairs",
				    blame ? cpus * RUNQ_PAIRS_BYTES : sizeof(uint64_t), err);
	if (!rc)
		rc = runq_area_open(&areas->rows, skel->maps.data_rows, "runq_rows",
				    blame ? RUNQ_NR_BLAME * sizeof(struct runq_row)
					  : sizeof(uint64_t),
				    err);
	return rc;
}

static int release_areas(struct runq_bpf *skel, const struct runq_areas *areas, struct err *err)
{
	int rc = runq_area_release(&areas->cpus, skel->maps.data_cpus, err);

	if (!rc)
		rc = runq_area_release(&areas->tasks, skel->maps.data_tasks, err);
	if (!rc)
		rc = runq_area_release(&areas->near, skel->maps.data_near, err);
	if (!rc)
		rc = runq_area_release(&areas->pairs, skel->maps.data_pairs, err);
	return rc ? rc : runq_area_release(&areas->rows, skel->maps.data_rows, err);
}

static void size_maps(struct runq_bpf *skel, const struct runq_opts *opts,
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
	if (opts->source == RUNQ_SOURCE_WAKEUP)
		bpf_map__set_max_entries(skel->maps.stamps, RUNQ_NR_TASKS);
}

/* Of the array of chunks the kernel wants to know what its maps will look like. */
static int load_with_chunk(struct runq_bpf *skel, const struct runq_shape *shape, struct err *err)
{
	int fd = runq_chunk_create(shape, err), rc;

	if (fd < 0)
		return fd;
	rc = bpf_map__set_inner_map_fd(skel->maps.chunks, fd);
	if (!rc)
		rc = runq_bpf__load(skel);
	close(fd);
	return rc ? sys_bpf_fail(err, rc, "cannot load the runq programs") : 0;
}

int runq_programs_load(const struct runq_opts *opts, const struct runq_shape *shape,
		       size_t nr_groups, struct runq_areas *areas, struct runq_bpf **ret_skel, struct err *err)
{
	struct runq_bpf *skel = NULL;
	struct btf *btf;
	int rc, released;

	rc = kbtf_open(NULL, &btf, err);
	if (rc)
		return rc;
	sys_bpf_log_begin();
	skel = runq_bpf__open();
	if (!skel) {
		rc = sys_bpf_fail(err, -errno, "cannot open the runq programs");
		goto out;
	}
	sys_bpf_autoload_present(skel->obj, btf);
	if (!bpf_program__autoload(skel->progs.runq_switch)) {
		rc = err_unsupported(err, -EOPNOTSUPP, "use a kernel with CONFIG_TRACEPOINTS",
				     "the kernel has no tracepoint sched_switch");
		goto out;
	}
	set_rodata(skel, opts, shape);
	skel->rodata->switch_state_first = kbtf_switch_state_first(btf);
	choose_switch(skel, opts, btf);
	choose_others(skel, opts, btf);
	size_maps(skel, opts, shape, nr_groups);
	rc = open_areas(skel, shape->cpus, opts->blame, areas, err);
	if (!rc) {
		set_table(skel->rodata, areas->near.pages);
		rc = load_with_chunk(skel, shape, err);
	}
	/* If it failed, libbpf must not unmap more than it mapped either. */
	released = release_areas(skel, areas, rc ? NULL : err);
	rc = rc ? rc : released;
out:
	kbtf_close(btf);
	if (rc)
		runq_bpf__destroy(skel);
	else
		*ret_skel = skel;
	return rc;
}
