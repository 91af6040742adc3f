/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists all rules, finds the tasks and settings of a cgroup, and formats commands for tasks. */
#include "present/overview_rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "present/runq.h"

/* Minimum number of exits per second if processes are called short-lived. */
#define SHORT_LIVED_HZ 1.0
#define COMMAND_TASKS  100
/* Maximum number of root tasks for which SCHED_IDLE is recommended instead of a new cgroup. */
#define CHRT_TASKS     8
#define NAMES	       3 /* maximum number of names in a sentence */
/* A task counts as CPU-bound if its mean run time between two sleeps exceeds this time. */
#define CPU_BOUND_NS 2e8

/* All rules of the overview. docs/methods/findings.md explains which figures each rule compares. */
const struct finding_rule overview_rules[] = {
	[RULE_QUOTA] = {"quota", "quota", RULE_WAITS,
			"raise the CPU quota of the cgroup, or run fewer threads"},
	[RULE_REALTIME] = {"realtime", "task", RULE_WAITS,
			   "give the tasks another policy with chrt, or other CPUs with taskset"},
	[RULE_AFFINITY] = {"affinity", "affinity", RULE_WAITS,
			   "allow the tasks more CPUs: taskset -cp LIST PID"},
	[RULE_CPUSET] = {"cpuset", "affinity", RULE_WAITS, NULL},
	[RULE_SHORT_LIVED] = {"short_lived", "task", RULE_WAITS,
			      "find the program that starts these processes with subtick trace"},
	[RULE_NEIGHBOUR] =
		{"neighbour", "cgroup", RULE_WAITS,
		 "find the tasks that cause the waits with subtick runq --blame --per task"},
	[RULE_VICTIM_IDLE] = {"idle_cgroup", "cgroup", RULE_WAITS, NULL},
	[RULE_SCHED_IDLE] = {"sched_idle", "task", RULE_WAITS,
			     "chrt -o -p 0 PID for each task with SCHED_IDLE"},
	[RULE_NICE] = {"nice", "task", RULE_WAITS,
		       "lower the nice value of the waiting tasks, or raise the nice value of the "
		       "tasks that run meanwhile, with renice"},
	[RULE_SAME_GROUP] = {"same_group", "cgroup", RULE_WAITS,
			     "run fewer threads, or allow the cgroup more CPUs"},
	[RULE_KERNEL_THREADS] = {"kernel_threads", "kernel_thread", RULE_WAITS, "subtick noise"},
	[RULE_KSOFTIRQD] = {"ksoftirqd", "softirq", RULE_WAITS, "subtick noise"},
	[RULE_STOP_MACHINE] = {"stop_machine", "kernel_thread", RULE_WAITS,
			       "find the operation that stops all cores: module loading, CPU "
			       "hotplug or code patching"},
	[RULE_IDLE_EXIT] = {"idle_exit", "idle", RULE_WAITS, "subtick runq --idle-states"},
	[RULE_HARDIRQ] = {"hardirq", "hardirq", RULE_NOISE, "subtick noise"},
	[RULE_TIMER] = {"timer", "timer", RULE_NOISE, "subtick noise"},
	[RULE_SOFTIRQ] = {"softirq", "softirq", RULE_NOISE, "subtick noise"},
	[RULE_IPI] = {"ipi", "ipi", RULE_NOISE, "subtick noise --senders"},
};

const struct settings *settings_of(const struct overview_window *o, const char *path)
{
	for (size_t i = 0; i < o->nr_settings; i++)
		if (!strcmp(o->settings[i].path, path))
			return &o->settings[i];
	return NULL;
}

const struct settings_level *level_of(const struct overview_window *o, const char *path, size_t len)
{
	for (size_t i = 0; i < o->nr_settings; i++)
		for (unsigned int j = 0; j < o->settings[i].nr; j++)
			if (o->settings[i].levels[j].len == len &&
			    !strncmp(o->settings[i].path, path, len))
				return &o->settings[i].levels[j];
	return NULL;
}

void ask_overview(const struct victim *v, struct finding *f)
{
	if (!v->o->suspects.list && !f->setting[0] && !f->command[0])
		finding_set(f->command, "subtick --once");
}

bool is_victim(const struct victim *v, const struct runq_blame *row)
{
	return row->victim.kind == v->group->party.kind &&
	       row->victim.group == v->group->party.group;
}

struct finding victim_finding(const struct victim *v, const struct finding_rule *rule,
			      uint64_t lost_ns, uint64_t wait_ns)
{
	const struct sched_ext *ext = &v->o->runq->scheduler;
	struct finding f = finding_of(rule, lost_ns);

	finding_set(f.victim, "%s", v->path);
	f.share = fmin(1.0, (double)wait_ns / (double)v->group->sum_ns);
	f.p99_ns = runq_p99(v->o->runq, v->group, wait_ns);
	f.meant = v->meant;
	/*
	 * sched_ext schedulers must respect the affinity of a task, but may ignore all other
	 * settings.
	 */
	if (ext->name[0] && !ext->partial && strcmp(rule->cause, "affinity"))
		finding_set(f.only_if,
			    "the sched_ext scheduler %s decides: weights, quotas and policies have "
			    "effect only if it uses them",
			    ext->name);
	return f;
}

bool has_name(const struct suspect *s, const void *name)
{
	return !strcmp(s->name, name);
}

bool is_realtime(const struct suspect *s)
{
	return s->policy == SCHED_FIFO || s->policy == SCHED_RR || s->policy == SCHED_DEADLINE;
}

bool is_cpu_bound(uint64_t ns, uint64_t sleeps)
{
	return (double)ns > CPU_BOUND_NS * (double)sleeps;
}

bool suspect_in(const struct suspect *s, const struct runq_group *group)
{
	return s->pid ? !strcmp(s->cgroup, group->path) : s->cgroup_id == group->cgroup_id;
}

const struct suspect *next_task(const struct overview_window *o, const char *path,
				const struct suspect *s)
{
	for (size_t i = s ? (size_t)(s - o->suspects.list) + 1 : 0; i < o->suspects.nr; i++) {
		s = &o->suspects.list[i];
		if (s->pid && !s->kthread && !strcmp(s->cgroup, path))
			return s;
	}
	return NULL;
}

const struct suspect *find_task(const struct overview_window *o, const char *path,
				suspect_filter is, const void *arg)
{
	for_each_task(s, o, path)
	{
		if (is(s, arg))
			return s;
	}
	return NULL;
}

/*
 * Returns the first known task of process @tgid, or NULL if the filter @is rejects any known task
 * of the process.
 */
static const struct suspect *whole_process(const struct overview_window *o, const char *path,
					   uint32_t tgid, suspect_filter is, const void *arg)
{
	const struct suspect *first = NULL;

	for_each_task(s, o, path)
	{
		if (s->tgid == tgid && !is(s, arg))
			return NULL;
		if (s->tgid == tgid)
			first = first ?: s;
	}
	return first;
}

/*
 * Formats the PIDs of the tasks that pass the filter @is or, if @whole is true, the PIDs of their
 * processes. Returns the number of formatted PIDs, or 0 if there are more than COMMAND_TASKS PIDs.
 * If @whole is true, returns 0 if any of the processes has a task that does not pass the filter,
 * because a command for the process would change this task, too.
 */
static size_t list_pids(const struct overview_window *o, const char *path, suspect_filter is,
			const void *arg, bool whole, char pids[COMMAND_TASKS * 11 + 1])
{
	size_t len = 0, nr = 0;

	for_each_task(s, o, path)
	{
		const struct suspect *first = s;

		if (!is(s, arg))
			continue;
		if (whole)
			first = whole_process(o, path, s->tgid, is, arg);
		if (!first || (first == s && nr++ == COMMAND_TASKS))
			return 0;
		if (first == s)
			len += (size_t)sprintf(pids + len, "%s%u", nr > 1 ? " " : "",
					       whole ? s->tgid : s->pid);
	}
	return nr;
}

void suspects_command(const struct overview_window *o, const char *path, suspect_filter is,
		      const void *arg, const char *each, char command[FINDING_TEXT])
{
	char pids[COMMAND_TASKS * 11 + 1];
	size_t nr = list_pids(o, path, is, arg, false, pids), word = strcspn(each, " ");
	bool named = strstr(each, "$p"), whole = !nr && strncmp(each, "renice", word);

	if (whole)
		nr = list_pids(o, path, is, arg, true, pids);
	command[0] = '\0';
	if (nr == 1 && !named && !whole)
		finding_format(command, FINDING_TEXT, "%s %s", each, pids);
	else if (nr)
		finding_format(command, FINDING_TEXT, "for p in %s; do %.*s%s%s%s; done", pids,
			       (int)word, each, whole && strncmp(each, "echo", word) ? " -a" : "",
			       each + word, named ? "" : " $p");
}

void yield_command(const struct victim *v, const char *path, suspect_filter is, const void *arg,
		   char command[FINDING_TEXT])
{
	const struct suspect *s = find_task(v->o, path, is, arg);
	uint32_t own = v->process ? v->process->autogroup : 0;

	suspects_command(v->o, path, is, arg,
			 s && s->autogroup && s->autogroup != own
				 ? "chrt -i -p 0 $p; echo 19 > /proc/$p/autogroup"
				 : "chrt -i -p 0",
			 command);
}

/* Selects the tasks that keep the CPUs of a cgroup busy. */
struct busy {
	const struct task_sums *sums;
	const char *name; /* name of the tasks; NULL selects only CPU-bound tasks */
};

/*
 * Filter: true for tasks with the name of struct busy, and for CPU-bound tasks that use at least a
 * tenth of the cgroup's CPU time or half of the CPU time of the busiest task. A starved task does
 * not sleep because it never runs, so it does not count as CPU-bound.
 */
static bool is_busy(const struct suspect *s, const void *arg)
{
	const struct busy *busy = arg;

	return (busy->name && has_name(s, busy->name)) ||
	       (!s->starved && !is_realtime(s) && s->policy != SCHED_IDLE &&
		is_cpu_bound(s->ns, s->sleeps) &&
		(10 * s->ns >= busy->sums->ns || 2 * s->ns >= busy->sums->top->ns));
}

const struct suspect *yield_busy(const struct victim *v, const struct task_sums *sums, double least,
				 char command[FINDING_TEXT])
{
	struct busy busy = {.sums = sums, .name = sums->top ? sums->top->name : NULL};
	uint64_t busy_ns = 0, sleeps = 0, nr = 0;
	const struct suspect *busiest;
	char enter[FINDING_TEXT];

	for_each_task(s, v->o, sums->path)
	{
		sleeps += busy.name && has_name(s, busy.name) ? s->sleeps : 0;
	}
	/*
	 * Tasks of one name that have almost all wake-ups or all CPU time of the victim's cgroup are
	 * victims, not culprits. Tasks with SCHED_IDLE already have the lowest priority.
	 */
	if ((sums->top && sums->top->policy == SCHED_IDLE) ||
	    (!strcmp(sums->path, v->path) &&
	     (sums->top_ns == sums->ns || (10 * sleeps >= 9 * sums->sleeps && sums->sleeps))))
		busy.name = NULL;
	for_each_task(s, v->o, sums->path)
	{
		busy_ns += is_busy(s, &busy) ? s->ns : 0;
		nr += is_busy(s, &busy);
	}
	command[0] = '\0';
	if ((double)busy_ns < least * (double)(sums->ns + sums->exited_ns))
		return NULL;
	busiest = find_task(v->o, sums->path, is_busy, &busy);
	/*
	 * With SCHED_IDLE, each task still has a small weight, so many root tasks together have a
	 * large weight. A cgroup has one weight for all its tasks.
	 */
	if (nr > CHRT_TASKS && !strcmp(sums->path, "/") && strcmp(v->path, "/") != 0) {
		suspects_command(v->o, sums->path, is_busy, &busy, "echo $p > $d/cgroup.procs",
				 enter);
		if (enter[0])
			move_command(v, busiest->pid, false, enter, command);
	} else {
		yield_command(v, sums->path, is_busy, &busy, command);
	}
	return busiest;
}

const char *weight_setting(const struct overview_window *o, bool first, bool has_idle)
{
	if (first)
		return o->mounts.v1 ? "cpu.shares=102400" : "cpu.weight=10000";
	return has_idle ? "cpu.idle=1" : o->mounts.v1 ? "cpu.shares=2" : "cpu.weight=1";
}

void move_command(const struct victim *v, uint32_t pid, bool first, const char *enter,
		  char command[FINDING_TEXT])
{
	const struct settings_mounts *mounts = &v->o->mounts;
	bool has_idle = v->settings && v->settings->nr && v->settings->levels[0].idle >= 0;
	const char *file = weight_setting(v->o, first, has_idle), *value = strchr(file, '=');
	char enable[SETTINGS_PATH + 64] = "", one[64];

	snprintf(one, sizeof(one), "echo %u > $d/cgroup.procs", pid);
	if (!mounts->v1)
		snprintf(enable, sizeof(enable), "echo +cpu > %s/cgroup.subtree_control; ",
			 mounts->cpu);
	if (mounts->cpu[0])
		finding_format(command, FINDING_TEXT,
			       "%sd=%s/%s-%u; mkdir -p $d && echo %s > $d/%.*s && %s", enable,
			       mounts->cpu, first ? "first" : "idle", pid, value + 1,
			       (int)(value - file), file, enter ?: one);
}

void sum_tasks(const struct overview_window *o, const struct runq_group *group,
	       struct task_sums *ret_sums)
{
	struct task_sums sums = {.path = group->path, .group = group};

	if (o->suspects.own_cgroup_id == group->cgroup_id)
		sums.own_ns = o->suspects.own_ns;
	for_each_suspect(s, &o->suspects) {
		if (!s->pid && s->cgroup_id == group->cgroup_id) {
			sums.exited_ns += s->ns;
			sums.exited = sums.exited ?: s;
			sums.exited_count += has_name(s, sums.exited->name) ? s->count : 0;
		}
		if (!s->pid || s->kthread || strcmp(s->cgroup, sums.path))
			continue;
		if (is_realtime(s)) {
			sums.realtime = sums.realtime ?: s;
			sums.realtime_ns += s->ns;
			sums.realtime_sleeps += s->sleeps;
			continue;
		}
		sums.top = sums.top ?: s;
		sums.ns += s->ns;
		sums.sleeps += s->sleeps;
		if (!strcmp(s->name, sums.top->name)) {
			sums.top_ns += s->ns;
			sums.top_count++;
		}
	}
	for_each_task(s, o, sums.path)
	{
		if (sums.exited && !is_realtime(s) && has_name(s, sums.exited->name) &&
		    s->started_by && s->started_by == sums.exited->started_by)
			sums.siblings_ns += s->ns;
	}
	for_each_suspect(s, &o->suspects)
		if (sums.exited && !sums.parent && s->pid > 1 &&
		    s->pid == sums.exited->started_by &&
		    (!sums.top || !strcmp(s->cgroup, sums.path)))
			sums.parent = s;
	*ret_sums = sums;
}

void task_sums_add(struct task_sums *sums, const struct task_sums *other)
{
	bool first = !sums->path,
	     same_top = sums->top && other->top && has_name(other->top, sums->top->name);

	sums->path = first ? other->path : sums->path;
	sums->group = first ? other->group : NULL;
	sums->ns += other->ns;
	sums->sleeps += other->sleeps;
	sums->exited_ns += other->exited_ns;
	sums->siblings_ns += other->siblings_ns;
	sums->realtime_ns += other->realtime_ns;
	sums->own_ns += other->own_ns;
	if (same_top || other->top_ns > sums->top_ns) {
		sums->top_ns = other->top_ns + (same_top ? sums->top_ns : 0);
		sums->top_count = other->top_count + (same_top ? sums->top_count : 0);
		sums->top = same_top ? sums->top : other->top;
	}
	sums->realtime = sums->realtime ?: other->realtime;
	sums->parents += other->parent && sums->parent != other->parent;
	if (!sums->exited)
		sums->parent = other->parent;
	else if (other->exited && sums->parent &&
		 !(other->parent && has_name(other->parent, sums->parent->name)))
		sums->parent = NULL;
	sums->exited = sums->exited ?: other->exited;
	if (other->exited && has_name(other->exited, sums->exited->name))
		sums->exited_count += other->exited_count;
}

uint64_t forking_ns(const struct task_sums *sums)
{
	uint64_t live = sums->ns - sums->siblings_ns, jobs = sums->exited_ns + sums->siblings_ns;
	uint64_t most = live < jobs ? live : jobs;

	return !sums->parent ? 0 : sums->parent->ns < most ? sums->parent->ns : most;
}

bool is_short_lived(const struct overview_window *o, const struct task_sums *sums)
{
	uint64_t own = sums->siblings_ns + forking_ns(sums);

	/*
	 * If other tasks used more CPU time than the short-lived processes, the other tasks are the
	 * culprits.
	 */
	return sums->exited_count >= SHORT_LIVED && sums->exited_ns + own > sums->ns - own &&
	       exited_hz(o, sums) >= SHORT_LIVED_HZ;
}

uint64_t wait_part(uint64_t wait_ns, const struct task_sums *sums, uint64_t ns)
{
	uint64_t all = task_sums_ns(sums) + sums->own_ns;

	return all ? (uint64_t)((double)wait_ns * (double)ns / (double)all) : wait_ns;
}

/* CPU time of all tasks with the same name. */
struct named {
	const char *name;
	uint64_t ns;
};

/* Formats the names of the tasks that use the most CPU time: "; cc1 uses 0.5 CPUs, make 0.3". */
static void list_names(const struct overview_window *o, const struct runq_group *group, char *buf,
		       size_t size)
{
	struct named most[NAMES] = {0}, one;
	size_t len = 0;

	for (size_t i = 0; i < o->suspects.nr; i++) {
		const struct suspect *s = &o->suspects.list[i], *other = o->suspects.list;

		one = (struct named){.name = s->name};
		for (; other < s && !(has_name(other, s->name) && suspect_in(other, group));
		     other++)
			;
		/* Sum the CPU time of a name only at the first task with the name. */
		for (; other >= s && other < o->suspects.list + o->suspects.nr; other++)
			one.ns += has_name(other, s->name) && suspect_in(other, group) ? other->ns
										       : 0;
		for (size_t j = 0; j < NAMES && !s->kthread; j++)
			if (one.ns > most[j].ns) {
				struct named keep = most[j];

				most[j] = one;
				one = keep;
			}
	}
	for (size_t j = 0; j < NAMES && most[j].ns && len < size; j++)
		len += (size_t)snprintf(
			buf + len, size - len, j ? ", %s %.2g%s" : "; %s uses %.2g%s", most[j].name,
			(double)most[j].ns / (double)o->load->window_ns, j ? "" : " CPUs");
}

const char *task_sums_text(const struct overview_window *o, const struct task_sums *sums, char *buf,
			   size_t size)
{
	double cpus = (double)sums->top_ns / (double)o->load->window_ns;
	const char *plural = cpus_plural(cpus);

	buf[0] = '\0';
	if (sums->group && 2 * sums->top_ns < task_sums_ns(sums))
		list_names(o, sums->group, buf, size);
	else if (sums->top && sums->top_count == 1)
		snprintf(buf, size, "; %s (PID %u) uses %.2g CPU%s", sums->top->name,
			 sums->top->pid, cpus, plural);
	else if (sums->top)
		snprintf(buf, size, "; %llu tasks named %s use %.2g CPU%s",
			 (unsigned long long)sums->top_count, sums->top->name, cpus, plural);
	return buf;
}

const char *wait_text(const struct victim *v, const struct report *report, const struct finding *f,
		      char *buf, size_t size)
{
	size_t len;

	if (v->starved) {
		double ms = (double)v->starved->ns / 1e6;

		len = (size_t)snprintf(buf, size, "no CPU time");
		if (v->starved->ns)
			len = (size_t)snprintf(buf, size, "only %.*f ms of CPU time", ms < 10.0,
					       ms);
		snprintf(buf + len, size - len, " in %.2g s", (double)report->window_ns / 1e9);
		return buf;
	}
	len = strlen(findings_rate(report, f->lost_ns, buf, size));
	len += (size_t)snprintf(buf + len, size - len, ", %.0f %% of its waiting",
				100.0 * f->share);
	if (len < size && !isnan(f->p99_ns))
		snprintf(buf + len, size - len, " (p99 %.3g ms)", f->p99_ns / 1e6);
	return buf;
}
