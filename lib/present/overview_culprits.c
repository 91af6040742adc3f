/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about real-time tasks, affinity and tasks of the victim's own cgroup. */
#include "present/overview_rules.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* Difference of nice values that halves the weight: nice 0 has a weight of 1024, nice 3 of 526. */
#define HALF_WEIGHT 3
/*
 * If the tasks of a cgroup delay each other, but also delay another cgroup by more than this share
 * of that time, the finding about the other cgroup ranks first.
 */
#define DELAYS_OTHER 0.05

/*
 * Filter for real-time tasks that use at least a tenth of the real-time CPU time of @crew. The
 * recommended command changes the policy of these tasks only.
 */
static bool is_heavy_realtime(const struct suspect *s, const void *crew)
{
	return is_realtime(s) && 10 * s->ns >= ((const struct crew *)crew)->realtime_ns;
}

static bool is_sched_idle(const struct suspect *s, const void *arg)
{
	(void)arg;
	return s->policy == SCHED_IDLE;
}

/* True if the task has at most half the weight of the task @top, and a different name. */
static bool is_nicer(const struct suspect *s, const void *arg)
{
	const struct suspect *top = arg;

	return s->policy != SCHED_IDLE && s->nice >= top->nice + HALF_WEIGHT &&
	       !has_name(s, top->name);
}

static const char *policy_name(int policy)
{
	return policy == SCHED_FIFO ? "SCHED_FIFO"
	       : policy == SCHED_RR ? "SCHED_RR"
				    : "SCHED_DEADLINE";
}

#define WAITS wait_text(v, report, &f, rate, sizeof(rate))

void say_realtime(const struct victim *v, const struct crew *crew, uint64_t wait_ns,
		  struct report *report)
{
	const struct suspect *task = crew->realtime;
	struct finding f =
		victim_finding(v, RULE(REALTIME), (uint64_t)((double)wait_ns * v->weight), wait_ns);
	char rate[96], priority[32] = "", setting[FINDING_TEXT], *value;

	if (!task)
		return;
	finding_set(f.culprit, "%s (PID %u)", task->name, task->pid);
	/*
	 * Recommend SCHED_IDLE: with SCHED_OTHER a busy task or its cgroup would still take half of
	 * the core.
	 */
	suspects_command(v->o, crew->path, is_heavy_realtime, crew, "chrt -i -p 0", f.command);
	set_yield(v, crew->path, setting);
	value = strchr(setting, '=');
	if (f.command[0] && setting_is_plain(setting)) {
		size_t len = strlen(f.command);

		*value++ = '\0';
		finding_format(f.command + len, sizeof(f.command) - len, "; echo %s > %s", value,
			       setting);
	}
	f.cpu = task->cpu;
	if (task->policy != SCHED_DEADLINE)
		snprintf(priority, sizeof(priority), " priority %d", task->priority);
	findings_add(report, &f, "%s (PID %u in %s, %s%s) makes %s wait: %s", task->name, task->pid,
		     crew->path, policy_name(task->policy), priority, v->who, WAITS);
}

/* Tasks of the victim that may not use a CPU. */
struct excluded {
	uint32_t cpu, tgid; /* tgid is 0 for tasks of any process */
};

static bool may_not_use(const struct suspect *s, const void *arg)
{
	const struct excluded *from = arg;

	return (!from->tgid || s->tgid == from->tgid) && cpuset_count(&s->allowed) &&
	       !cpuset_has(&s->allowed, from->cpu);
}

/* Finds a mostly idle CPU that most tasks of the victim may not use. */
static bool find_excluded(const struct victim *v, struct excluded *ret_from)
{
	struct excluded from = {.tgid = v->process ? v->process->tgid : 0};
	const struct load_window *load = v->o->load;

	cpuset_for_each(from.cpu, &load->cpus) {
		size_t all = 0, nr = 0;

		if (load->cpu[from.cpu].flags & LOAD_NO_FIGURE ||
		    load->cpu[from.cpu].busy_ratio > 1.0 - RULE_IDLE)
			continue;
		for (size_t i = 0; i < v->o->suspects.nr; i++) {
			const struct suspect *s = &v->o->suspects.list[i];

			if (!s->pid || s->kthread || strcmp(s->cgroup, v->path) ||
			    (from.tgid && s->tgid != from.tgid))
				continue;
			all++;
			nr += may_not_use(s, &from);
		}
		*ret_from = from;
		if (all && nr > all / 2)
			return true;
	}
	return false;
}

/* CPUs of the window that are online. */
static void online_cpus(const struct load_window *load, char *buf, size_t size)
{
	struct cpuset online = load->cpus;
	unsigned int cpu;

	cpuset_for_each(cpu, &load->cpus)
		if (load->cpu[cpu].flags & LOAD_OFFLINE)
			cpuset_del(&online, cpu);
	cpuset_format(&online, buf, size);
}

bool say_affinity(const struct victim *v, struct report *report)
{
	struct excluded from;
	const struct suspect *task;
	struct finding f;
	uint64_t wait_ns = 0;
	bool by_cpuset;
	char rate[96], all[128], own[128], each[192];

	if (!find_excluded(v, &from))
		return false;
	/*
	 * On the idle CPU the victim would wait for none of the culprits, so one finding has the
	 * sum of all waits.
	 */
	for (size_t i = 0; i < v->nr_rows; i++)
		if (is_victim(v, &v->rows[i]) && v->rows[i].culprit.kind == RUNQ_PARTY_GROUP) {
			struct crew crew;

			crew_of(v->o, v->rows[i].culprit.group, &crew);
			wait_ns += wait_part(v->rows[i].wait_ns, &crew, crew.ns + crew.exited_ns);
		}
	task = find_task(v->o, v->path, may_not_use, &from);
	by_cpuset = v->settings && v->settings->cpuset_file[0] &&
		    !cpuset_has(&v->settings->cpuset, from.cpu);
	f = victim_finding(v, by_cpuset ? RULE(CPUSET) : RULE(AFFINITY),
			   (uint64_t)((double)wait_ns * v->weight * (v->delayed + v->rested)),
			   wait_ns);
	f.cpu = from.cpu;
	online_cpus(v->o->load, all, sizeof(all));
	cpuset_format(&task->allowed, own, sizeof(own));
	if (by_cpuset) {
		finding_set(f.culprit, "cpuset.cpus %s", own);
		finding_set(f.setting, "%s=%s", v->settings->cpuset_file, all);
	} else {
		finding_set(f.culprit, "affinity of %s (PID %u)", task->name, task->pid);
		snprintf(each, sizeof(each), "taskset -pc %s", all);
		suspects_command(v->o, v->path, may_not_use, &from, each, f.command);
	}
	findings_add(report, &f,
		     "%s waits on CPU%s %s: %s; CPU %u, which its %s excludes, is %.0f %% idle",
		     v->who, cpuset_count(&task->allowed) > 1 ? "s" : "", own, WAITS, from.cpu,
		     by_cpuset ? "cpuset" : "affinity",
		     100.0 - 100.0 * v->o->load->cpu[from.cpu].busy_ratio);
	return true;
}

/*
 * True if tasks that pass @is have at least half of the cgroup's wake-ups, and so probably most of
 * the cgroup's waits.
 */
static bool wake_most(const struct victim *v, suspect_filter is, const void *arg)
{
	const struct suspects *tasks = &v->o->suspects;
	uint64_t all = 0, passed = 0;

	if (v->starved)
		return is(v->starved, arg);
	for (size_t i = 0; i < tasks->nr; i++) {
		const struct suspect *s = &tasks->list[i];

		if (!suspect_in(s, v->group->party.group))
			continue;
		all += s->sleeps;
		passed += s->pid && is(s, arg) ? s->sleeps : 0;
	}
	return (double)passed >= RULE_MOST * (double)all;
}

/*
 * Adds a finding if most waits are of tasks with a lower priority than @top or with SCHED_IDLE. The
 * finding has the wait time of the whole cgroup, because the wait time of single tasks is unknown.
 */
static bool say_priority(const struct victim *v, uint64_t wait_ns, uint64_t lost,
			 struct report *report)
{
	const struct suspect *top = v->crew.top;
	const struct suspect *idle = find_task(v->o, v->path, is_sched_idle, NULL);
	const struct suspect *nicer = find_task(v->o, v->path, top ? is_nicer : has_name, top);
	struct finding f;
	char rate[96], who[2 * FINDING_NAME], victims[FINDING_TEXT], each[32] = "chrt -o -p 0";

	if (!top || top->policy != SCHED_OTHER || (!idle && !nicer) ||
	    !wake_most(v, idle ? is_sched_idle : is_nicer, top))
		return false;
	f = victim_finding(v, idle ? RULE(SCHED_IDLE) : RULE(NICE), lost, wait_ns);
	finding_set(f.culprit, "%s (PID %u)", top->name, top->pid);
	if (!idle)
		snprintf(each, sizeof(each), "renice -n %d -p", top->nice);
	suspects_command(v->o, v->path, idle ? is_sched_idle : is_nicer, top, each, victims);
	suspects_command(v->o, v->path, has_name, top->name, "chrt -i -p 0", f.command);
	if (victims[0] && f.command[0] && strlen(victims) + strlen(f.command) < FINDING_TEXT - 2)
		memcpy(stpcpy(victims + strlen(victims), "; "), f.command, strlen(f.command) + 1);
	finding_set(f.command, "%s", victims);
	if (v->starved)
		snprintf(who, sizeof(who), "%s (PID %u) makes %.200s wait", top->name, top->pid,
			 v->who);
	else
		snprintf(who, sizeof(who), "tasks of %.200s wait for each other", v->name);
	if (idle)
		findings_add(report, &f,
			     "%s: %s; %s (PID %u) has SCHED_IDLE, %s (PID %u) an ordinary policy",
			     who, WAITS, idle->name, idle->pid, top->name, top->pid);
	else
		findings_add(report, &f, "%s: %s; %s (PID %u) has nice %d, %s (PID %u) nice %d",
			     who, WAITS, nicer->name, nicer->pid, nicer->nice, top->name, top->pid,
			     top->nice);
	return true;
}

/*
 * Probability that the cgroup's own tasks keep all its CPUs busy (Erlang C). If the cgroup has
 * little load, its tasks wait for each other only because tasks of other cgroups slow them down.
 */
static double own_load(const struct overview_window *o, const struct crew *crew)
{
	unsigned int cpus = crew->top ? cpuset_count(&crew->top->allowed) : 0;
	double load = (double)crew->ns / (double)o->load->window_ns, blocked = 1.0;

	if (load >= cpus)
		return 1.0;
	for (unsigned int k = 1; k <= cpus; k++)
		blocked = load * blocked / (k + load * blocked);
	return blocked / (1.0 - load / cpus * (1.0 - blocked));
}

void say_same(const struct victim *v, uint64_t wait_ns, uint64_t caused_ns, struct report *report)
{
	uint64_t lost = (uint64_t)((double)wait_ns * v->weight * (v->delayed + v->rested));
	const struct crew *crew = &v->crew;
	struct finding f;
	char rate[96], busy[FINDING_NAME];

	if (is_short_lived(v->o, crew)) {
		say_short_lived(v, crew, v->path, wait_ns, lost, report);
		return;
	}
	if (say_priority(v, wait_ns, lost, report))
		return;
	/*
	 * Tasks with SCHED_IDLE are meant to wait for all other tasks, so their waits give no
	 * finding.
	 */
	if (crew->top && crew->top->policy == SCHED_IDLE)
		return;
	lost = (uint64_t)((double)lost * own_load(v->o, crew));
	f = victim_finding(v, RULE(SAME_GROUP), lost, wait_ns);
	finding_set(f.culprit, "%s", v->path);
	ask_overview(v, &f);
	/* Name the busiest command only if the cgroup has tasks with other names too. */
	if (crew->top && crew->top_ns < crew->ns && crew->top->policy == SCHED_OTHER &&
	    !(v->process && has_name(v->process, crew->top->name)) &&
	    (double)crew->top_ns > RULE_MOST * (double)crew->ns) {
		finding_set(f.culprit, "%s: %s", v->path, crew->top->name);
		suspects_command(v->o, v->path, has_name, crew->top->name, "chrt -i -p 0",
				 f.command);
	}
	crew_text(v->o, crew, busy, sizeof(busy));
	WAITS;
	if ((double)caused_ns > DELAYS_OTHER * (double)lost)
		f.lost_ns = (uint64_t)(DELAYS_OTHER * (double)lost);
	if (!v->process) {
		findings_add(report, &f, "tasks of %s wait for each other: %s%s", v->name, rate,
			     busy);
		return;
	}
	f.next = "run fewer tasks at a time, or move the task that waits into a cgroup with a high "
		 "cpu.weight";
	findings_add(report, &f, "%s waits for other tasks there: %s%s", v->who, rate, busy);
}
