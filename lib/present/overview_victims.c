/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes for each waiting group which part of its waits is a delay, and names its process. */
#include "present/overview_rules.h"

#include <math.h>
#include <string.h>

#include "present/runq.h"

/* Lower bound of victim.forked. */
#define FORKED 0.1
/* Minimum exits per second of short-lived processes whose lost time is reduced. */
#define FORKED_HZ 5.0
/*
 * Minimum number of wake-ups per second of a process in the root cgroup for a finding. If the
 * process has fewer wake-ups per second, its share in the waits of the root cgroup is too
 * uncertain.
 */
#define PROCESS_HZ 5.0

/*
 * Number of wake-ups of all tasks in a cgroup, except CPU-bound tasks. Returns INFINITY without
 * @o->noise, because the cgroups of the tasks are then unknown.
 */
static double wakeups_of(const struct overview_window *o, uint64_t cgroup_id)
{
	double wakeups = 0.0;

	array_for_each(task, o->load->tasks, o->load->nr_tasks)
		if (task->cgroup_id == cgroup_id && !is_cpu_bound(task->ns, task->sleeps))
			wakeups += (double)task->sleeps;
	return o->noise ? wakeups : INFINITY;
}

/*
 * Splits the victim's wait time into waits after wake-ups and waits after preemptions of tasks that
 * are not CPU-bound. runq also counts waits that continue after a migration as waits after
 * wake-ups. split_waits() corrects this error: the number of wake-ups is an upper bound for the
 * number of waits after wake-ups.
 */
static void split_waits(struct victim *v)
{
	const struct suspects *tasks = &v->o->suspects;
	double woken = (double)runq_woken_ns(v->group), wakeups = 0.0, all = 0.0, sleepers = 0.0,
	       bound;

	for_each_suspect(s, tasks) {
		if (!suspect_in(s, v->group->party.group))
			continue;
		all += (double)s->ns;
		if (is_cpu_bound(s->ns, s->sleeps))
			continue;
		wakeups += (double)s->sleeps;
		/* Kernel threads and exited processes (PID 0) serve no requests. */
		sleepers += s->pid && !s->kthread ? (double)s->ns : 0.0;
	}
	if (!(all > 0.0))
		return;
	v->rested = sleepers / all * (1.0 - v->delayed);
	/* A full list (SUSPECTS_LIVE) may lack tasks of the cgroup. */
	if (tasks->nr >= SUSPECTS_LIVE)
		wakeups = wakeups_of(v->o, v->group->party.group->cgroup_id);
	bound = wakeups * runq_p99(v->o->runq, v->group, v->group->sum_ns);
	if (bound < woken)
		v->delayed *= bound / woken;
}

static bool starts_processes(const struct suspects *tasks, const struct suspect *s)
{
	for_each_suspect(job, tasks)
		if (!job->pid && job->started_by == s->tgid && job->count >= SHORT_LIVED)
			return true;
	return false;
}

/*
 * Finds the process in the root cgroup with the most wake-ups, and the share of this process in the
 * root's waits.
 */
static void name_process(struct victim *v)
{
	const struct suspects *tasks = &v->o->suspects;
	const struct runq_group *group = v->group->party.group;
	uint64_t all = 0, most = 0, users = 0;

	for_each_suspect(s, tasks) {
		uint64_t sleeps = 0, own = suspect_in(s, group) ? s->sleeps : 0;

		all += own;
		users += s->pid && !s->kthread ? own : 0;
		/* Skip tasks of the root cgroup that do not serve requests. */
		if (!s->pid || s->kthread || !suspect_in(s, group) || starts_processes(tasks, s))
			continue;
		for_each_suspect(t, tasks)
			sleeps += t >= s && t->tgid == s->tgid ? t->sleeps : 0;
		if (sleeps <= most)
			continue;
		most = sleeps;
		v->process = s;
	}
	/*
	 * Waits after preemptions have no wake-up, so the number of waits can exceed the number of
	 * wake-ups.
	 */
	if (all < v->group->count)
		all = v->group->count;
	if (tasks->nr && all)
		v->users_share = (double)users / (double)all;
	if (!v->process)
		return;
	v->process_share = (double)most / (double)all;
	if ((double)most * 1e9 < PROCESS_HZ * (double)v->o->runq->window_ns)
		v->process_share = 0.0;
	finding_set(v->who, "%s (PID %u in %s)", v->process->name, v->process->tgid, v->path);
}

void victim_init(struct victim *v, const struct overview_window *o,
		 const struct runq_group_window *group)
{
	double lived;

	*v = (struct victim){.o = o,
			     .group = group,
			     .rows = o->runq->blame,
			     .nr_rows = o->runq->nr_blame,
			     .weight = 1.0,
			     .forked = 1.0};
	v->name = runq_party_name(o->runq->per, &group->party, v->buf);
	v->path = runq_party_path(&group->party);
	v->settings = settings_of(o, v->path);
	v->delayed = runq_delayed(group);
	v->process_share = v->users_share = 1.0;
	finding_set(v->who, "%s", v->name);
	if (group->party.kind != RUNQ_PARTY_GROUP)
		return;
	split_waits(v);
	if (!strcmp(v->path, "/"))
		name_process(v);
	sum_tasks(o, group->party.group, &v->sums);
	v->meant = waits_by_policy(v);
	for (unsigned int i = 0; v->settings && i < v->settings->nr; i++)
		v->meant = v->meant || v->settings->levels[i].idle == 1;
	if (!is_short_lived(o, &v->sums) || exited_hz(o, &v->sums) < FORKED_HZ)
		return;
	lived = (double)(v->sums.ns - v->sums.siblings_ns - forking_ns(&v->sums)) /
		(double)(v->sums.ns + v->sums.exited_ns);
	v->forked = fmax(FORKED, lived);
	v->delayed *= v->forked;
	v->rested *= v->forked;
}

uint64_t overview_woken_ns(const struct overview_window *o, const struct runq_group_window *group)
{
	uint64_t woken_ns = runq_woken_ns(group), wait_ns = woken_ns + group->cause_ns[RUNQ_PREEMPTED];
	struct victim v;

	/* Most cgroups of a large machine did not wait. */
	if (!wait_ns || !o->suspects.nr)
		return woken_ns;
	victim_init(&v, o, group);
	return (uint64_t)(v.delayed * v.users_share * (double)wait_ns);
}
