/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the BPF programs that measure pressure, and reads their counters. */
#include "measure/runq/pressure.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "runq_pressure.skel.h"
#include "host/bpf.h"
#include "host/kbtf.h"

/* State that user space keeps for a group. */
struct kept {
	struct runq_pressure_times base;
	bool ends; /* true if the key was deleted; the next window frees the group number */
};

struct runq_pressure {
	struct runq_pressure_bpf *skel;
	uint64_t read_ns; /* end of the last window, CLOCK_MONOTONIC */
	struct kept kept[RUNQ_PRESSURE_NR];
	struct runq_pressure_row rows[RUNQ_PRESSURE_NR];
};

/* Maximum time from the timestamp of a BPF program until the program updates the group's times. */
#define SLACK_NS NSEC_PER_MSEC
#define TRIES	 1000

static bool grown(const uint64_t *now, const uint64_t *base, uint64_t elapsed_ns,
		  uint64_t *ret_grown)
{
	for (int i = 0; i < RUNQ_PRESSURE_NR_CAUSES; i++) {
		int64_t more = (int64_t)(now[i] - base[i]);

		if (more < -(int64_t)SLACK_NS || more > (int64_t)(elapsed_ns + SLACK_NS))
			return false;
		/* limit the growth to the length of the window; the next window counts the rest */
		more = more < 0 ? 0 : more;
		ret_grown[i] = (uint64_t)more > elapsed_ns ? elapsed_ns : (uint64_t)more;
	}
	return true;
}

void runq_pressure_add(struct runq_pressure_times *to, const struct runq_pressure_times *more)
{
	for (int i = 0; i < RUNQ_PRESSURE_NR_CAUSES; i++) {
		to->waiting_ns[i] += more->waiting_ns[i];
		to->stalled_ns[i] += more->stalled_ns[i];
	}
}

bool runq_pressure_since(const volatile struct runq_pressure_group *group, uint64_t now_ns,
			 uint64_t elapsed_ns, struct runq_pressure_times *base,
			 struct runq_pressure_times *ret_grown)
{
	struct runq_pressure_times now, more;
	uint64_t state = __atomic_load_n(&group->state, __ATOMIC_ACQUIRE);
	uint64_t stamp = now_ns + RUNQ_PRESSURE_STAMP;
	uint32_t cause = runq_pressure_cause(state);

	for (int i = 0; i < RUNQ_PRESSURE_NR_CAUSES; i++) {
		now.waiting_ns[i] = group->waiting[i];
		now.stalled_ns[i] = group->stalled[i];
	}
	if (cause < RUNQ_PRESSURE_NR_CAUSES) {
		now.waiting_ns[cause] += stamp;
		if (!(state >> RUNQ_PRESSURE_AT_RUNS))
			now.stalled_ns[cause] += stamp;
	}
	if (!grown(now.waiting_ns, base->waiting_ns, elapsed_ns, more.waiting_ns) ||
	    !grown(now.stalled_ns, base->stalled_ns, elapsed_ns, more.stalled_ns))
		return false;
	runq_pressure_add(base, &more);
	*ret_grown = more;
	return true;
}

uint64_t runq_pressure_sum(const uint64_t *by_cause)
{
	uint64_t sum = 0;

	array_for_each(ns, by_cause, RUNQ_PRESSURE_NR_CAUSES)
		sum += *ns;
	return sum;
}

static int load(struct runq_pressure *p, const struct runq_opts *opts, struct err *err)
{
	static const char *const needed[] = {"sched_switch", "sched_wakeup", "sched_wakeup_new",
					     "cgroup_rmdir"};
	static const char failed[] = "cannot load the programs for pressure";
	bool state_first;
	int rc = kbtf_need(needed, ARRAY_SIZE(needed), &state_first, err);

	if (rc)
		return rc;
	sys_bpf_log_begin();
	p->skel = runq_pressure_bpf__open();
	if (!p->skel)
		return sys_bpf_fail(err, -errno, failed);
	p->skel->rodata->cgroup_v2 = opts->hierarchy == RUNQ_HIERARCHY_V2;
	p->skel->rodata->switch_state_first = state_first;
	return sys_bpf_check(err, runq_pressure_bpf__load(p->skel), failed);
}

/* Attaches the programs, then counts the tasks that were already running or waiting. */
static int start(struct runq_pressure *p, struct err *err)
{
	sys_bpf_log_begin();
	return sys_bpf_check(err, runq_pressure_bpf__attach(p->skel),
			     "cannot attach the programs for pressure")
		       ?: sys_bpf_check(err, sys_bpf_iterate(p->skel->links.runq_pressure_tasks),
					"cannot walk the tasks for pressure");
}

int runq_pressure_open(const struct runq_opts *opts, struct runq_pressure **ret_pressure,
		       struct err *err)
{
	struct runq_pressure *p;
	int rc = sys_bpf_need_atomics("--pressure", err);

	if (rc)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_set(err, -ENOMEM, "out of memory");
	p->read_ns = clock_mono_ns();
	rc = load(p, opts, err) ?: start(p, err);
	if (rc)
		runq_pressure_close(p);
	else
		*ret_pressure = p;
	return rc;
}

/*
 * Frees the group number of a removed cgroup in two steps. The first call deletes the key of the
 * cgroup from the map group_of, so that no CPU starts to use the number. The second call, in the
 * next window, frees the number.
 */
static int group_ends(struct runq_pressure *p, uint32_t number, struct err *err)
{
	volatile struct runq_pressure_group *group = &p->skel->bss->groups[number];
	struct kept *kept = &p->kept[number];
	uint64_t key = group->key;
	int rc;

	if (group->own || group->state)
		return 0;
	if (kept->ends) {
		rc = bpf_map_update_elem(bpf_map__fd(p->skel->maps.free_groups), NULL, &number, 0);
		kept->ends = rc;
		return sys_bpf_check(err, rc, "cannot free the number of a cgroup");
	}
	if (!key || !group->gone)
		return 0;
	rc = bpf_map_delete_elem(bpf_map__fd(p->skel->maps.group_of), &key);
	if (rc && rc != -ENOENT)
		return sys_bpf_fail(err, rc, "cannot forget a cgroup");
	group->key = 0;
	kept->ends = true;
	return 0;
}

/* Highest group number in use, plus 1. */
static size_t nr_groups(const struct runq_pressure *p)
{
	uint64_t last = *(volatile uint64_t *)&p->skel->bss->last_group;

	return last < RUNQ_PRESSURE_NR ? last + 1 : RUNQ_PRESSURE_NR;
}

static void read_group(struct runq_pressure *p, uint32_t number, struct runq_pressure_row *row)
{
	const volatile struct runq_pressure_group *group = &p->skel->bss->groups[number];

	*row = (struct runq_pressure_row){.key = group->key, .up = group->up, .unstable = true};
	for (int i = 0; i < TRIES && row->unstable; i++) {
		uint64_t now = clock_mono_ns();

		row->unstable = !runq_pressure_since(group, now, now - p->read_ns,
						     &p->kept[number].base, &row->times);
	}
}

int runq_pressure_window(struct runq_pressure *p, const struct runq_pressure_row **ret_rows,
			 size_t *ret_nr, struct err *err)
{
	uint64_t now = clock_mono_ns();
	size_t nr = nr_groups(p);
	int rc = 0;

	for (uint32_t i = 1; i < nr; i++)
		read_group(p, i, &p->rows[i]);
	for (uint32_t i = 1; i < nr && !rc; i++)
		rc = group_ends(p, i, err);
	if (rc)
		return rc;
	p->read_ns = now;
	*ret_rows = p->rows;
	*ret_nr = nr;
	return 0;
}

void runq_pressure_losses(const struct runq_pressure *p, struct runq_pressure_losses *ret_losses)
{
	const volatile struct runq_pressure_bpf__bss *bss = p->skel->bss;

	ret_losses->full = bss->full;
	ret_losses->shared = bss->shared;
	ret_losses->crowded = bss->crowded;
}

void runq_pressure_close(struct runq_pressure *p)
{
	if (p)
		runq_pressure_bpf__destroy(p->skel);
	free(p);
}
