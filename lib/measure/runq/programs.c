/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Chooses, configures and loads the BPF programs of runq. */
#include "measure/runq/programs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "measure/runq/chunks.h"
#include "runq.skel.h"
#include "stats/runq.h"
#include "sys/bpf.h"
#include "sys/kbtf.h"

static void set_rodata(struct runq_bpf *skel, const struct runq_opts *opts, unsigned int cpus,
		       unsigned int stripes)
{
	struct runq_bpf__rodata *ro = skel->rodata;
	unsigned int bad;

	ro->layout = (struct runq_layout){
		.cpus = cpus,
		.stripes = stripes,
		.colds_at = RUNQ_COLDS(cpus),
		.hists_at = RUNQ_HISTS(cpus),
		.shared = stripes < cpus,
	};
	ro->per = opts->per;
	if (opts->sample_ratio > 0.0 && opts->sample_ratio < 1.0)
		ro->sample_below = (uint32_t)(opts->sample_ratio * 4294967296.0);
	ro->threshold_ns = opts->threshold_ns;
	ro->by_wakeup = opts->source == RUNQ_SOURCE_WAKEUP;
	ro->cgroup_v2 = opts->hierarchy == RUNQ_HIERARCHY_V2;
	ro->want_causes = opts->causes || opts->threshold_ns;
	ro->want_blame = opts->blame;
	memcpy((void *)ro->le_ns, opts->le_ns, sizeof(ro->le_ns));
	runq_le_place(opts->le_ns, opts->nr_le, (uint8_t *)ro->le_in, &bad);
}

/* The common cases have programs of their own, which take fewer instructions. */
static void choose_switch(struct runq_bpf *skel, const struct runq_opts *opts)
{
	const struct runq_bpf__rodata *ro = skel->rodata;
	bool common = opts->per == RUNQ_PER_CGROUP && opts->source != RUNQ_SOURCE_WAKEUP &&
		      !opts->threshold_ns && !ro->sample_below && !ro->switch_state_first;
	struct {
		struct bpf_program *program;
		bool causes, blame, cgroup_v2;
	} special[] = {
		{skel->progs.runq_switch_v1, false, false, false},
		{skel->progs.runq_switch_v2, false, false, true},
		{skel->progs.runq_causes_v1, true, false, false},
		{skel->progs.runq_causes_v2, true, false, true},
		{skel->progs.runq_blame_v1, true, true, false},
		{skel->progs.runq_blame_v2, true, true, true},
	};

	bpf_program__set_autoload(skel->progs.runq_switch, !common);
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		bpf_program__set_autoload(special[i].program,
					  common && special[i].causes == opts->causes &&
						  special[i].blame == opts->blame &&
						  special[i].cgroup_v2 == ro->cgroup_v2);
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

static int size_maps(struct runq_bpf *skel, const struct runq_opts *opts, unsigned int cpus,
		     unsigned int stripes)
{
	bpf_map__set_max_entries(skel->maps.cpus, cpus);
	if (opts->blame)
		bpf_map__set_max_entries(skel->maps.blame, RUNQ_NR_BLAME);
	if (opts->source == RUNQ_SOURCE_WAKEUP)
		bpf_map__set_max_entries(skel->maps.stamps, RUNQ_NR_TASKS);
	return bpf_map__set_value_size(skel->maps.first, RUNQ_SLOT_SIZE(stripes, cpus));
}

/* Of the array of chunks the kernel wants to know what its maps will look like. */
static int load_with_chunk(struct runq_bpf *skel, unsigned int cpus, unsigned int stripes,
			   struct err *err)
{
	int fd = runq_chunk_create(stripes, cpus, err), rc;

	if (fd < 0)
		return fd;
	rc = bpf_map__set_inner_map_fd(skel->maps.chunks, fd);
	if (!rc)
		rc = runq_bpf__load(skel);
	close(fd);
	return rc ? sys_bpf_fail(err, rc, "cannot load the runq programs") : 0;
}

int runq_programs_load(const struct runq_opts *opts, unsigned int cpus, unsigned int stripes,
		       struct runq_bpf **ret_skel, struct err *err)
{
	struct runq_bpf *skel = NULL;
	struct btf *btf;
	int rc;

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
	set_rodata(skel, opts, cpus, stripes);
	skel->rodata->switch_state_first = kbtf_switch_state_first(btf);
	choose_switch(skel, opts);
	choose_others(skel, opts, btf);
	rc = size_maps(skel, opts, cpus, stripes);
	if (rc)
		sys_bpf_fail(err, rc, "cannot size the runq maps");
	else
		rc = load_with_chunk(skel, cpus, stripes, err);
out:
	kbtf_close(btf);
	if (rc)
		runq_bpf__destroy(skel);
	else
		*ret_skel = skel;
	return rc;
}
