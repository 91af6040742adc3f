/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the BPF programs that count avoidable waits, and reads their counters. */
#include "measure/runq/avoidable.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/runq_avoidable.h"
#include "base/array.h"
#include "runq_avoidable.skel.h"
#include "host/bpf.h"
#include "host/cpu.h"
#include "host/kbtf.h"

struct runq_avoidable {
	struct runq_avoidable_bpf *skel;
	unsigned int nr_cpus;
	uint64_t lost; /* number of lost waits before the first window */
	/* number of waits that were not counted because the table of avoidable waits was full */
	uint64_t full;
};

static int check_kernel(const struct btf *btf, struct err *err)
{
	if (!kbtf_has_member(btf, "sched_entity", "cfs_rq"))
		return err_unsupported(
			err, -EOPNOTSUPP,
			"use a kernel with CONFIG_FAIR_GROUP_SCHED, or leave out --avoidable",
			"BPF programs cannot find the run queue of a task in this kernel");
	if (!kbtf_has_member(btf, "rq", "online"))
		return err_unsupported(err, -EOPNOTSUPP, "leave out --avoidable",
				       "a kernel for one core has no avoidable waits");
	return 0;
}

static int load(struct runq_avoidable *a, const struct runq_opts *opts,
		const struct cpuset *possible, struct err *err)
{
	static const char *const needed[] = {"sched_switch", "sched_wakeup", "sched_wakeup_new",
					     "sched_migrate_task"};
	struct runq_avoidable_bpf *skel;
	struct btf *btf;
	int rc = kbtf_open_with(needed, ARRAY_SIZE(needed), &btf, err);

	if (rc)
		return rc;
	rc = check_kernel(btf, err);
	if (rc)
		goto out;
	sys_bpf_log_begin();
	skel = a->skel = runq_avoidable_bpf__open();
	if (!skel) {
		rc = sys_bpf_fail(err, -errno, "cannot open the programs for avoidable waits");
		goto out;
	}
	skel->rodata->cgroup_v2 = opts->hierarchy == RUNQ_HIERARCHY_V2;
	skel->rodata->switch_state_first = kbtf_switch_state_first(btf);
	skel->rodata->nr_possible = cpuset_count(possible);
	skel->rodata->mask_words = (a->nr_cpus + 63) / 64;
	for (unsigned int cpu = 0; cpu < a->nr_cpus; cpu++) {
		skel->bss->cpus[cpu].flags = 1ULL << RUNQ_AVOIDABLE_MEMBER;
		skel->bss->cpus[cpu].unwanted =
			cpuset_count(&opts->cpus) && !cpuset_has(&opts->cpus, cpu);
	}
	rc = runq_avoidable_bpf__load(skel);
	if (rc == -EACCES)
		rc = err_unsupported(err, rc, "use Linux 6.1 or later, or leave out --avoidable",
				     "the verifier of this kernel refuses the programs for avoidable waits");
	else if (rc)
		rc = sys_bpf_fail(err, rc, "cannot load the programs for avoidable waits");
out:
	kbtf_close(btf);
	return rc;
}

/* Attaches the BPF programs, then finds the CPUs that were already idle at that time. */
static int attach(struct runq_avoidable *a, struct err *err)
{
	sys_bpf_log_begin();
	return sys_bpf_check(err, runq_avoidable_bpf__attach(a->skel),
			     "cannot attach the programs for avoidable waits")
		       ?: sys_bpf_check(err, sys_bpf_iterate(a->skel->links.avoidable_start),
					"cannot walk the tasks for avoidable waits");
}

int runq_avoidable_open(const struct runq_opts *opts, struct runq_avoidable **ret_avoidable,
			struct err *err)
{
	struct runq_avoidable *a;
	struct cpuset possible;
	int rc = sys_bpf_need_atomics("--avoidable", err)
			 ?: cpu_set(NULL, CPU_POSSIBLE, &possible, err);

	if (rc)
		return rc;
	if (cpuset_end(&possible) > RUNQ_AVOIDABLE_CPUS)
		return err_unsupported(err, -EOPNOTSUPP, "leave out --avoidable",
				       "avoidable waits support at most %d CPUs",
				       RUNQ_AVOIDABLE_CPUS);
	a = calloc(1, sizeof(*a));
	if (!a)
		return err_set(err, -ENOMEM, "out of memory");
	a->nr_cpus = cpuset_end(&possible);
	rc = load(a, opts, &possible, err) ?: attach(a, err);
	if (rc)
		runq_avoidable_close(a);
	else
		*ret_avoidable = a;
	return rc;
}

static uint64_t lost(const struct runq_avoidable *a, uint64_t *ret_full)
{
	uint64_t sum = 0;

	*ret_full = 0;
	array_for_each(core, (volatile struct runq_avoidable_cpu *)a->skel->bss->cpus, a->nr_cpus) {
		sum += core->lost;
		*ret_full += core->full;
	}
	return sum;
}

/*
 * Deletes the entries of all groups that are not in @keep from the table of avoidable waits. @keep
 * may be NULL.
 */
static int delete_others(struct runq_avoidable *a, const struct runq_waits_list *keep,
			 struct err *err)
{
	int fd = bpf_map__fd(a->skel->maps.avoidable_waits), rc;
	uint64_t key, next;

	rc = bpf_map_get_next_key(fd, NULL, &next);
	while (!rc) {
		bool kept = false;

		key = next;
		rc = bpf_map_get_next_key(fd, &key, &next);
		for (size_t i = 0; keep && !kept && i < keep->nr; i++)
			kept = keep->rows[i].party.group && keep->rows[i].party.group->key == key;
		if (!kept)
			bpf_map_delete_elem(fd, &key);
	}
	return rc == -ENOENT ? 0 : sys_bpf_fail(err, rc, "cannot read the table of avoidable waits");
}

int runq_avoidable_start(struct runq_avoidable *a, struct err *err)
{
	a->lost = lost(a, &a->full);
	return delete_others(a, NULL, err);
}

static int fill_row(int fd, struct runq_group_window *row, struct err *err)
{
	struct runq_group *group = (struct runq_group *)row->party.group;
	struct runq_avoidable_waits now = {0};
	int rc;

	if (!group) {
		row->avoidable_ns = row->avoidable_most_ns = row->excluded_ns = UINT64_MAX;
		return 0;
	}
	rc = bpf_map_lookup_elem(fd, &group->key, &now);
	if (rc && rc != -ENOENT)
		return sys_bpf_fail(err, rc, "cannot read the table of avoidable waits");
	/* the counters of a group restart at 0 if its table entry was deleted and added again */
	if (now.most_ns < group->avoidable.most_ns || now.excluded_ns < group->avoidable.excluded_ns)
		group->avoidable = (struct runq_avoidable_waits){0};
	row->avoidable_ns = now.least_ns - group->avoidable.least_ns;
	row->avoidable_most_ns = now.most_ns - group->avoidable.most_ns;
	row->excluded_ns = now.excluded_ns - group->avoidable.excluded_ns;
	row->idle_cpu = now.cpu - 1;
	row->excluded_cpu = now.excluded_cpu - 1;
	group->avoidable = now;
	if (row->ended) {
		bpf_map_delete_elem(fd, &group->key);
		group->avoidable = (struct runq_avoidable_waits){0};
	}
	return 0;
}

int runq_avoidable_window(struct runq_avoidable *a, struct runq_waits_list *list, struct err *err)
{
	int fd = bpf_map__fd(a->skel->maps.avoidable_waits), rc = 0;
	uint64_t full;

	for (size_t i = 0; !rc && i < list->nr; i++)
		rc = fill_row(fd, &list->rows[i], err);
	lost(a, &full);
	/*
	 * If the table is full, delete the entries of ended groups. fill_row() does not delete the
	 * entries of removed cgroups that the filter excludes.
	 */
	if (!rc && full != a->full)
		rc = delete_others(a, list, err);
	a->full = full;
	return rc;
}

uint64_t runq_avoidable_lost(const struct runq_avoidable *a)
{
	uint64_t full;

	return lost(a, &full) - a->lost;
}

void runq_avoidable_close(struct runq_avoidable *a)
{
	if (a)
		runq_avoidable_bpf__destroy(a->skel);
	free(a);
}
