/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds findings about real-time tasks, affinity, and tasks of the victim's own cgroup. */
#include "present/overview_rules.h"

#include <stdio.h>
#include <string.h>

/* Difference of nice values that halves the weight: nice 0 has a weight of 1024, nice 3 of 526. */
#define HALF_WEIGHT 3
/*
 * If the victim's cgroup makes another cgroup wait longer than this share of the lost time, the
 * lost time of the finding about the victim's own tasks is reduced to this share. The finding about
 * the other cgroup then ranks higher.
 */
#define DELAYS_OTHER 0.05
/* Minimum share of a cgroup's CPU time that tasks must use to be named as the busiest tasks. */
#define BUSY_SHARE 0.25

/*
 * Filter: true for real-time tasks that use at least a tenth of the real-time CPU time of @sums.
 * The command that the finding recommends changes the scheduling policy only of tasks that pass
 * is_heavy_realtime().
 */
static bool is_heavy_realtime(const struct suspect *s, const void *sums)
{
	return is_realtime(s) && 10 * s->ns >= ((const struct task_sums *)sums)->realtime_ns;
}

static bool is_sched_idle(const struct suspect *s, const void *arg)
{
	(void)arg;
	return s->policy == SCHED_IDLE;
}

/*
 * True if the task has at most half the weight of the task @top, and a different name. A nice value
 * takes effect only among the tasks of one autogroup.
 */
static bool is_nicer(const struct suspect *s, const void *arg)
{
	const struct suspect *top = arg;

	return s->policy != SCHED_IDLE && s->nice >= top->nice + HALF_WEIGHT &&
	       s->autogroup == top->autogroup && !has_name(s, top->name);
}

static const char *policy_name(int policy)
{
	return policy == SCHED_FIFO ? "SCHED_FIFO"
	       : policy == SCHED_RR ? "SCHED_RR"
				    : "SCHED_DEADLINE";
}

#define WAITS wait_text(v, report, &f, rate, sizeof(rate))

void add_realtime_finding(const struct victim *v, const struct task_sums *sums, uint64_t wait_ns,
			  struct report *report)
{
	const struct suspect *task = sums->realtime;
	struct finding f =
		victim_finding(v, RULE(REALTIME), (uint64_t)((double)wait_ns * v->weight), wait_ns);
	char rate[96], priority[32] = "", setting[FINDING_TEXT];

	/*
	 * A task never waits for itself, and a real-time task never waits for a task of lower
	 * priority.
	 */
	if (!task || v->process == task ||
	    (v->process && v->process->priority > task->priority && task->policy != SCHED_DEADLINE))
		return;
	finding_set(f.culprit, "%s (PID %u)", task->name, task->pid);
	/*
	 * Recommend SCHED_IDLE for the real-time tasks, because with SCHED_OTHER a busy task or its
	 * cgroup would still get half of the core.
	 */
	yield_command(v, sums->path, is_heavy_realtime, sums, f.command);
	set_yield(v, sums->path, setting);
	if (f.command[0])
		finding_add_setting(f.command, setting);
	f.cpu = task->cpu;
	if (task->policy != SCHED_DEADLINE)
		snprintf(priority, sizeof(priority), " priority %d", task->priority);
	WAITS;
	if (!v->starved)
		f.lost_ns = (uint64_t)(bound_factor(v) * (double)f.lost_ns);
	findings_add(report, &f, "%s (PID %u in %s, %s%s) makes %s wait: %s", task->name, task->pid,
		     sums->path, policy_name(task->policy), priority, v->who, rate);
}

/* Selects the tasks of process @tgid (0: of all processes) that may not use CPU @cpu. */
struct excluded {
	uint32_t cpu, tgid;
};

static bool may_not_use(const struct suspect *s, const void *arg)
{
	const struct excluded *from = arg;

	return (!from->tgid || s->tgid == from->tgid) && cpuset_count(&s->allowed) &&
	       !cpuset_has(&s->allowed, from->cpu);
}

/*
 * Finds a mostly idle CPU that the victim's starved task may not use or, without a starved task,
 * that tasks with more than half of the victim's wake-ups may not use.
 */
static bool find_excluded(const struct victim *v, struct excluded *ret_from)
{
	struct excluded from = {.tgid = v->process ? v->process->tgid : 0};
	const struct load_window *load = v->o->load;

	cpuset_for_each(cpu, &load->cpus) {
		uint64_t all = 0, nr = 0;

		from.cpu = cpu;
		if (load->cpu[from.cpu].flags & LOAD_NO_FIGURE ||
		    load->cpu[from.cpu].busy_ratio > 1.0 - RULE_IDLE)
			continue;
		for_each_task(s, v->o, v->path)
		{
			/*
			 * The weight of a task is its number of sleeps plus 1, because a task may
			 * wait although it never slept in the window.
			 */
			uint64_t weight = v->starved ? s == v->starved : s->sleeps + 1;

			all += !from.tgid || s->tgid == from.tgid ? weight : 0;
			nr += may_not_use(s, &from) ? weight : 0;
		}
		*ret_from = from;
		if (all && nr > all / 2)
			return true;
	}
	return false;
}

static struct cpuset online_cpus(const struct load_window *load)
{
	struct cpuset online = load->cpus;

	cpuset_for_each(cpu, &load->cpus)
		if (load->cpu[cpu].flags & LOAD_OFFLINE)
			cpuset_del(&online, cpu);
	return online;
}

/*
 * Sets the advice of @f to widen each cpuset that excludes CPU @cpu to the CPUs @most. Returns the
 * number of cpusets that exclude the CPU. The advice changes the cpuset of a parent first, because
 * a v1 cgroup may use only CPUs of its parent.
 */
static unsigned int widen_cpusets(const struct settings *settings, uint32_t cpu, struct cpuset most,
				  struct finding *f)
{
	unsigned int nr = 0;
	char text[128];

	for (unsigned int i = settings ? settings->nr_cpusets : 0; i-- > 0;) {
		const struct settings_cpuset *set = &settings->cpusets[i];

		if (cpuset_has(&set->cpus, cpu)) {
			cpuset_and(&most, &set->cpus);
			continue;
		}
		nr++;
		cpuset_format(&most, text, sizeof(text));
		finding_set(f->setting, "%.*s/cpuset.cpus=%s", (int)set->len, settings->cpuset_dir,
			    text);
		finding_add_setting(f->command, f->setting);
	}
	if (nr > 1)
		f->setting[0] = '\0';
	else
		f->command[0] = '\0';
	return nr;
}

const struct suspect *allow_idle_cpu(const struct victim *v, struct finding *f, char *text,
				     size_t size)
{
	struct cpuset online = online_cpus(v->o->load);
	struct excluded from;
	char all[128], each[192];
	bool by_cpuset;

	if (!find_excluded(v, &from))
		return NULL;
	by_cpuset = widen_cpusets(v->settings, from.cpu, online, f);
	if (!by_cpuset) {
		cpuset_format(&online, all, sizeof(all));
		snprintf(each, sizeof(each), "taskset -pc %s", all);
		suspects_command(v->o, v->path, may_not_use, &from, each, f->command);
	}
	snprintf(text, size, "; CPU %u, which its %s excludes, is %.0f %% idle", from.cpu,
		 by_cpuset ? "cpuset" : "affinity",
		 100.0 - 100.0 * v->o->load->cpu[from.cpu].busy_ratio);
	if (f->cpu == UINT32_MAX)
		f->cpu = from.cpu;
	if (by_cpuset && f->rule == RULE(AFFINITY))
		f->rule = RULE(CPUSET);
	return find_task(v->o, v->path, may_not_use, &from);
}

bool add_affinity_finding(const struct victim *v, uint64_t wait_ns, struct report *report)
{
	struct finding f = victim_finding(v, RULE(AFFINITY), 0, wait_ns);
	char rate[96], own[128], idle[96];
	const struct suspect *task = allow_idle_cpu(v, &f, idle, sizeof(idle));

	if (!task)
		return false;
	f.lost_ns = (uint64_t)((double)wait_ns * v->weight * (v->delayed + v->rested));
	cpuset_format(&task->allowed, own, sizeof(own));
	if (f.rule == RULE(CPUSET)) {
		finding_set(f.culprit, "cpuset.cpus %s", own);
	} else {
		finding_set(f.culprit, "affinity of %s (PID %u)", task->name, task->pid);
	}
	findings_add(report, &f, "%s waits on CPU%s %s: %s%s", v->who,
		     cpuset_count(&task->allowed) > 1 ? "s" : "", own, WAITS, idle);
	return true;
}

/*
 * Returns the victim's task with the most CPU time that passes the filter @is, or NULL if the tasks
 * that pass have less than half of the cgroup's wake-ups. If the victim has a starved task or a
 * process, only this task or process can pass.
 */
static const struct suspect *lower_task(const struct victim *v, suspect_filter is, const void *arg)
{
	const struct suspect *one = v->starved ?: v->process;
	uint64_t all = 0, passed = 0;

	if (one)
		return is(one, arg) ? one : NULL;
	for_each_suspect(s, &v->o->suspects) {
		if (!suspect_in(s, v->group->party.group))
			continue;
		all += s->sleeps;
		passed += s->pid && is(s, arg) ? s->sleeps : 0;
	}
	return (double)passed >= RULE_MOST * (double)all ? find_task(v->o, v->path, is, arg) : NULL;
}

bool waits_by_policy(const struct victim *v)
{
	return lower_task(v, is_sched_idle, NULL);
}

/*
 * Adds a finding if most of the waiting tasks have a lower priority than @top, or SCHED_IDLE. The
 * finding about the priority shows the wait time of the whole cgroup, because the wait time of
 * single tasks is unknown.
 */
static bool add_priority_finding(const struct victim *v, uint64_t wait_ns, uint64_t lost,
				 struct report *report)
{
	const struct suspect *top = v->sums.top, *lower;
	struct finding f;
	char rate[96], who[2 * FINDING_NAME], victims[FINDING_TEXT], each[32] = "chrt -o -p 0";
	bool idle;

	if (!top || top->policy == SCHED_IDLE)
		return false;
	lower = lower_task(v, is_sched_idle, top);
	idle = lower;
	if (!lower)
		lower = lower_task(v, is_nicer, top);
	if (!lower)
		return false;
	f = victim_finding(v, idle ? RULE(SCHED_IDLE) : RULE(NICE), lost, wait_ns);
	finding_set(f.culprit, "%s (PID %u)", top->name, top->pid);
	if (!idle)
		snprintf(each, sizeof(each), "renice -n %d -p", top->nice);
	if (v->process)
		finding_set(victims, "%s %u", each, lower->pid);
	else
		suspects_command(v->o, v->path,
				 v->starved ? has_name
				 : idle	    ? is_sched_idle
					    : is_nicer,
				 v->starved ? (const void *)lower->name : top, each, victims);
	suspects_command(v->o, v->path, has_name, top->name, "chrt -i -p 0", f.command);
	if (victims[0] && f.command[0] && strlen(victims) + strlen(f.command) < FINDING_TEXT - 2)
		memcpy(stpcpy(victims + strlen(victims), "; "), f.command, strlen(f.command) + 1);
	finding_set(f.command, "%s", victims);
	if (v->starved || v->process)
		snprintf(who, sizeof(who), "%s (PID %u) makes %.200s wait", top->name, top->pid,
			 v->who);
	else
		snprintf(who, sizeof(who), "tasks of %.200s wait for each other", v->name);
	WAITS;
	f.meant = f.meant || idle;
	if (idle)
		findings_add(report, &f,
			     "%s: %s; %s (PID %u) has SCHED_IDLE, %s (PID %u) an ordinary policy",
			     who, rate, lower->name, lower->pid, top->name, top->pid);
	else
		findings_add(report, &f, "%s: %s; %s (PID %u) has nice %d, %s (PID %u) nice %d",
			     who, rate, lower->name, lower->pid, lower->nice, top->name, top->pid,
			     top->nice);
	return true;
}

/*
 * Probability that the tasks of a cgroup keep all CPUs of the cgroup busy (Erlang C). If the
 * probability is low, the tasks wait for each other because tasks of other cgroups slow them down.
 * The formula excludes SCHED_IDLE tasks, which are meant to wait. The probability is 0 if
 * SCHED_IDLE tasks ran and each busy task of another policy can have its own CPU.
 */
static double own_load(const struct overview_window *o, const struct task_sums *sums)
{
	unsigned int cpus = sums->top ? cpuset_count(&sums->top->allowed) : 0, nr = 0;
	uint64_t idle_ns = 0;
	double load, blocked = 1.0;

	for_each_task(s, o, sums->path)
	{
		idle_ns += s->policy == SCHED_IDLE ? s->ns : 0;
		nr += s->policy != SCHED_IDLE &&
		      (double)s->ns >= RULE_WAITS * (double)o->load->window_ns;
	}
	if (idle_ns && nr <= cpus)
		return 0.0;
	load = (double)(sums->ns - idle_ns) / (double)o->load->window_ns;
	if (load >= cpus)
		return 1.0;
	for (unsigned int k = 1; k <= cpus; k++)
		blocked = load * blocked / (k + load * blocked);
	return blocked / (1.0 - load / cpus * (1.0 - blocked));
}

/* Names the first offline CPU, and sets the advice to bring this CPU online. */
static void add_offline_finding(const struct overview_window *o, struct finding *f, char *text,
				size_t size)
{
	size_t len = strlen(text);

	cpuset_for_each(cpu, &o->offline) {
		f->cpu = cpu;
		finding_set(f->setting, "/sys/devices/system/cpu/cpu%u/online=1", cpu);
		snprintf(text + len, size - len, "; CPU %u is offline", cpu);
		return;
	}
}

/*
 * Returns the lost time that ranks a finding: @lost, or DELAYS_OTHER * @lost if @caused_ns is
 * longer than this product.
 */
static uint64_t ranked_ns(uint64_t lost, uint64_t caused_ns)
{
	double least = DELAYS_OTHER * (double)lost;

	return (double)caused_ns > least ? (uint64_t)least : lost;
}

void add_same_finding(const struct victim *v, uint64_t wait_ns, uint64_t caused_ns, bool hog,
		      struct report *report)
{
	uint64_t lost = (uint64_t)((double)wait_ns * v->weight * (v->delayed + v->rested));
	const struct task_sums *sums = &v->sums;
	const struct suspect *one = v->starved ?: v->process;
	struct finding f;
	const struct suspect *busiest = NULL;
	char rate[96], busy[FINDING_NAME];
	double load;
	size_t len;
	bool own;

	if (is_short_lived(v->o, sums)) {
		add_short_lived_finding(v, sums, v->path, wait_ns, lost, ranked_ns(lost, caused_ns),
					report);
		return;
	}
	if (add_priority_finding(v, wait_ns, lost, report))
		return;
	load = own_load(v->o, sums);
	lost = (uint64_t)((double)lost * load);
	if (hog && load < RULE_MOST)
		caused_ns = UINT64_MAX;
	f = victim_finding(v, RULE(SAME_GROUP), lost, wait_ns);
	finding_set(f.culprit, "%s", v->path);
	ask_overview(v, &f);
	task_sums_text(v->o, sums, busy, sizeof(busy));
	own = one && sums->top && has_name(one, sums->top->name) &&
	      (double)sums->top_ns > RULE_MOST * (double)sums->ns;
	if (!own && sums->top)
		busiest = yield_busy(v, sums, v->process ? RULE_MOST : BUSY_SHARE, f.command);
	if (busiest)
		finding_set(f.culprit, "%s: %s", v->path, busiest->name);
	len = strlen(busy);
	if (busiest && (sums->top_ns == sums->ns || !has_name(busiest, sums->top->name)))
		snprintf(busy + len, sizeof(busy) - len, "; %s (PID %u) never sleeps",
			 busiest->name, busiest->pid);
	WAITS;
	if (!f.command[0])
		add_offline_finding(v->o, &f, busy, sizeof(busy));
	f.lost_ns = ranked_ns(lost, caused_ns);
	if (!one) {
		findings_add(report, &f, "tasks of %s wait for each other: %s%s", v->name, rate,
			     busy);
		return;
	}
	if (own)
		f.next = "run fewer tasks at a time";
	else if (!f.command[0] && !strcmp(v->path, "/"))
		move_command(v, one->tgid, true, NULL, f.command);
	findings_add(report, &f, "%s waits for other tasks of its cgroup: %s%s", v->who, rate,
		     busy);
}
