/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings about who had the core: tasks, cgroups and kernel threads, each with its advice. */
#include "present/overview_rules.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6
#endif

/* Three steps of nice: a weight of 1024 against 526. */
#define HALF_WEIGHT 3

static const struct finding_rule realtime = {"realtime", "task", RULE_WAITS,
					     "chrt: another policy for the tasks, or another core"};
static const struct finding_rule short_lived = {"short_lived", "task", RULE_WAITS,
						"find out what starts them: subtick trace"};
static const struct finding_rule neighbour = {"neighbour", "cgroup", RULE_WAITS,
					      "subtick runq --blame --per task: which tasks"};
static const struct finding_rule victim_idle = {"idle_cgroup", "cgroup", RULE_WAITS, NULL};
static const struct finding_rule sched_idle = {"sched_idle", "task", RULE_WAITS,
					       "chrt -o -p 0 PID for each task with SCHED_IDLE"};
static const struct finding_rule niced = {
	"nice", "task", RULE_WAITS, "renice the tasks that wait, or those that they wait for"};
static const struct finding_rule same_group = {"same_group", "cgroup", RULE_WAITS,
					       "run fewer threads, or allow the cgroup more CPUs"};
static const struct finding_rule affinity = {"affinity", "affinity", RULE_WAITS,
					     "taskset -p: allow the tasks more CPUs"};
static const struct finding_rule cpuset_rule = {"cpuset", "affinity", RULE_WAITS, NULL};

/*
 * Lists real-time tasks that use at least a tenth of the real-time CPU time of @crew. The advice
 * does not change the policy of the others.
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

/* True if the task has at most half the weight of the task @top, and another name. */
static bool is_nicer(const struct suspect *s, const void *arg)
{
	const struct suspect *top = arg;

	return s->policy != SCHED_IDLE && s->nice >= top->nice + HALF_WEIGHT &&
	       !has_name(s, top->name);
}

static bool may_not_use(const struct suspect *s, const void *cpu)
{
	return cpuset_count(&s->allowed) && !cpuset_has(&s->allowed, *(const uint32_t *)cpu);
}

static const char *policy_name(int policy)
{
	return policy == SCHED_FIFO ? "SCHED_FIFO"
	       : policy == SCHED_RR ? "SCHED_RR"
				    : "SCHED_DEADLINE";
}

/* Length of the path of the level of @path just below the deepest common ancestor with @other. */
static size_t level_below_common(const char *path, const char *other)
{
	size_t i = 0, common = 0;

	for (; path[i] && path[i] == other[i]; i++)
		if (path[i] == '/')
			common = i;
	if (!path[i] && other[i] == '/')
		return i; /* @other is below @path */
	return common + 1 + strcspn(path + common + 1, "/");
}

static const struct settings_level *find_level(const struct settings *s, size_t len)
{
	for (unsigned int i = 0; s && i < s->nr; i++)
		if (s->levels[i].len == len)
			return &s->levels[i];
	return NULL;
}

static bool is_above(const char *path, const char *other)
{
	size_t len = strlen(path);

	return !strcmp(path, "/") || (!strncmp(path, other, len) && other[len] == '/');
}

/* The cgroup of @path that competes with @other's, and its settings; NULL if it has no files. */
static const struct settings_level *rival_level(const struct overview_window *o, const char *path,
						const char *other)
{
	if (is_above(path, other) || !strcmp(path, other))
		return NULL;
	return find_level(settings_of(o, path), level_below_common(path, other));
}

/* Sets cpu.idle of the culprit's cgroup that competes with the victim's, or the lowest weight. */
static void set_yield(const struct victim *v, const char *culprit, struct finding *f)
{
	const struct overview_window *o = v->o;
	const struct settings_level *level = rival_level(o, culprit, v->path);

	if (level && level->idle == 0)
		finding_set(f->setting, "%s%.*s/cpu.idle=1", o->mounts.cpu, (int)level->len,
			    culprit);
	else if (level && level->weight > 2)
		finding_set(f->setting, "%s%.*s/%s", o->mounts.cpu, (int)level->len, culprit,
			    o->mounts.v1 ? "cpu.shares=2" : "cpu.weight=1");
}

/* Without tasks and without a setting: the overview measures the tasks and names them. */
static void ask_overview(const struct victim *v, struct finding *f)
{
	if (!v->o->suspects.list && !f->setting[0])
		finding_set(f->command, "subtick --once");
}

#define RATE(ns) findings_rate(report, ns, rate, sizeof(rate))
#define WAITS	 wait_text(report, &f, rate, sizeof(rate))

void say_realtime(const struct victim *v, const struct crew *crew, const struct runq_blame *blame,
		  uint64_t lost_ns, struct report *report)
{
	const struct suspect *task = crew->realtime;
	struct finding f = victim_finding(v, &realtime, lost_ns, blame->wait_ns);
	char rate[96], priority[32] = "";

	if (!task)
		return;
	finding_set(f.culprit, "%s (PID %u)", task->name, task->pid);
	/* With an ordinary policy a busy task would still take half of the core. */
	suspects_command(v->o, crew->path, is_heavy_realtime, crew, "chrt -i -p 0", f.command);
	f.cpu = task->cpu;
	if (task->policy != SCHED_DEADLINE)
		snprintf(priority, sizeof(priority), " priority %d", task->priority);
	findings_add(report, &f, "%s (PID %u in %s, %s%s) makes %s wait: %s", task->name, task->pid,
		     crew->path, policy_name(task->policy), priority, v->who, WAITS);
}

/*
 * A command that moves the parent of the root's short-lived processes into a new cgroup that yields
 * to all others. Measured with Linux 6.12: SCHED_IDLE for the parent left half of the waiting.
 */
static void move_parent(const struct victim *v, uint32_t pid, struct finding *f)
{
	const struct settings_mounts *mounts = &v->o->mounts;
	const char *file = mounts->v1 ? "cpu.shares" : "cpu.weight", *least = mounts->v1 ? "2" : "1";
	char enable[SETTINGS_PATH + 64] = "";

	if (v->settings && v->settings->nr && v->settings->levels[0].idle >= 0) {
		file = "cpu.idle";
		least = "1";
	}
	if (!mounts->v1)
		snprintf(enable, sizeof(enable), "echo +cpu > %s/cgroup.subtree_control; ",
			 mounts->cpu);
	finding_set(f->command,
		    "%sd=%s/idle-%u; mkdir -p $d && echo %s > $d/%s && echo %u > $d/cgroup.procs",
		    enable, mounts->cpu, pid, least, file, pid);
}

static bool say_short_lived(const struct victim *v, const struct crew *crew,
			    const struct runq_blame *blame, uint64_t lost, struct report *report)
{
	const struct suspect *gone = crew->exited, *parent = crew->parent;
	struct finding f;
	char rate[96], by[FINDING_NAME] = "";

	if (!gone)
		return false;
	f = victim_finding(v, &short_lived, lost, blame->wait_ns);
	finding_set(f.culprit, "%s: %s", crew->path, gone->name);
	set_yield(v, crew->path, &f);
	if (parent)
		snprintf(by, sizeof(by), ", started by %s (PID %u),", parent->name, parent->pid);
	if (!f.setting[0] && parent && parent->pid > 1 && !strcmp(crew->path, "/") &&
	    strcmp(v->path, "/") && v->o->mounts.cpu[0])
		move_parent(v, parent->pid, &f);
	else if (!f.setting[0] && parent && parent->pid > 1 && parent->policy == SCHED_OTHER)
		finding_set(f.command, "chrt -i -p 0 %u", parent->pid);
	findings_add(report, &f,
		     "short-lived processes of %s (%.0f %s per second)%s make %s wait: %s",
		     crew->path, (double)gone->count * 1e9 / (double)v->o->load->window_ns,
		     gone->name, by, v->who, WAITS);
	return true;
}

/* A mostly idle CPU that most tasks of the victim may not use; UINT32_MAX: none. */
static uint32_t idle_excluded(const struct victim *v)
{
	const struct load_window *load = v->o->load;
	unsigned int cpu;

	cpuset_for_each(cpu, &load->cpus) {
		size_t all = 0, excluded = 0;

		if (load->cpu[cpu].flags & LOAD_NO_FIGURE ||
		    load->cpu[cpu].busy_ratio > 1.0 - RULE_IDLE)
			continue;
		for (size_t i = 0; i < v->o->suspects.nr; i++) {
			const struct suspect *s = &v->o->suspects.list[i];

			if (!s->pid || s->kthread || strcmp(s->cgroup, v->path))
				continue;
			all++;
			excluded += may_not_use(s, &cpu);
		}
		if (all && excluded > all / 2)
			return cpu;
	}
	return UINT32_MAX;
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

static bool say_affinity(const struct victim *v, const struct runq_blame *blame, uint64_t lost,
			 struct report *report)
{
	uint32_t cpu = idle_excluded(v);
	const struct suspect *task;
	struct finding f;
	bool by_cpuset;
	char rate[48], all[128], own[128], each[192];

	if (cpu == UINT32_MAX)
		return false;
	task = find_task(v->o, v->path, may_not_use, &cpu);
	by_cpuset = v->settings && v->settings->cpuset_file[0] &&
		    !cpuset_has(&v->settings->cpuset, cpu);
	f = victim_finding(v, by_cpuset ? &cpuset_rule : &affinity, lost, blame->wait_ns);
	f.cpu = cpu;
	online_cpus(v->o->load, all, sizeof(all));
	cpuset_format(&task->allowed, own, sizeof(own));
	if (by_cpuset) {
		finding_set(f.culprit, "cpuset.cpus %s", own);
		finding_set(f.setting, "%s=%s", v->settings->cpuset_file, all);
	} else {
		finding_set(f.culprit, "affinity of %s (PID %u)", task->name, task->pid);
		snprintf(each, sizeof(each), "taskset -pc %s", all);
		suspects_command(v->o, v->path, may_not_use, &cpu, each, f.command);
	}
	findings_add(report, &f,
		     "%s waits on CPU%s %s: %s; CPU %u, which its %s excludes, is %.0f %% idle",
		     v->who, cpuset_count(&task->allowed) > 1 ? "s" : "", own, RATE(lost), cpu,
		     by_cpuset ? "cpuset" : "affinity",
		     100.0 - 100.0 * v->o->load->cpu[cpu].busy_ratio);
	return true;
}

/* True if the culprit uses less than a quarter of the victim's CPU time: the victim takes more from it. */
static bool is_modest(const struct victim *v, const struct crew *crew)
{
	return v->o->suspects.nr && 4 * (crew->ns + crew->exited_ns) < crew_ns(&v->crew);
}

/*
 * True if the culprit uses at least half as much CPU time again as the victim. The waits of the
 * victim after preemptions are else its share of the core.
 */
static bool takes_more(const struct victim *v, const struct crew *crew)
{
	return 2 * (crew->ns + crew->exited_ns) > 3 * crew_ns(&v->crew);
}

void say_other(const struct victim *v, const struct crew *crew, const struct runq_blame *blame,
	       uint64_t lost_ns, struct report *report)
{
	const char *path = runq_party_path(&blame->culprit);
	const struct settings_level *own = rival_level(v->o, v->path, path);
	const struct settings_level *rival = rival_level(v->o, path, v->path);
	uint64_t lost = (uint64_t)((double)lost_ns *
				   (v->delayed + (takes_more(v, crew) ? v->rested : 0.0)));
	bool root = !strcmp(path, "/");
	struct finding f;
	char rate[96], buf[32], busy[FINDING_NAME], heavier[2 * FINDING_NAME] = "";

	if (is_modest(v, crew) || say_short_lived(v, crew, blame, lost, report) ||
	    say_affinity(v, blame, lost, report))
		return;
	f = victim_finding(v, &neighbour, lost, blame->wait_ns);
	finding_set(f.culprit, "%s", path);
	if (own && own->idle == 1) {
		f.rule = &victim_idle;
		finding_set(f.setting, "%s%.*s/cpu.idle=0", v->o->mounts.cpu, (int)own->len,
			    v->path);
		findings_add(report, &f, "%s waits for %s because cpu.idle of %.*s is 1: %s",
			     v->who, path, (int)own->len, v->path, RATE(lost));
		return;
	}
	set_yield(v, path, &f);
	/* Tasks of an ancestor compete one by one, and have no weight but their priority. */
	if (!f.setting[0] && crew->top && crew->top->policy == SCHED_OTHER &&
	    (double)crew->top_ns >= RULE_MOST / 2 * (double)(crew->ns + crew->exited_ns))
		suspects_command(v->o, path, has_name, crew->top->name, "chrt -i -p 0", f.command);
	ask_overview(v, &f);
	if (is_above(path, v->path) && crew->top)
		finding_set(f.culprit, "%s: %s", path, crew->top->name);
	if (own && rival && own->weight > 0 && rival->weight >= 2 * own->weight)
		snprintf(heavier, sizeof(heavier), "; %s of %.*s is %d, of %.*s only %d",
			 v->o->mounts.v1 ? "cpu.shares" : "cpu.weight", (int)rival->len, path,
			 rival->weight, (int)own->len, v->path, own->weight);
	findings_add(report, &f, "%s%s make%s %s wait: %s%s%s", root ? "tasks of " : "",
		     runq_party_name(v->o->runq->per, &blame->culprit, buf), root ? "" : "s",
		     v->who, WAITS, crew_text(v->o, crew, busy, sizeof(busy)), heavier);
}

/* True if tasks that pass @is have at least half of the cgroup's wake-ups: most waits are theirs. */
static bool wake_most(const struct victim *v, suspect_filter is, const void *arg)
{
	const struct suspects *tasks = &v->o->suspects;
	uint64_t all = 0, passed = 0;

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
 * Tasks that have a lower priority than @top, or SCHED_IDLE. The figure is that of the whole cgroup:
 * waits are not known by task.
 */
static bool say_priority(const struct victim *v, const struct crew *crew,
			 const struct runq_blame *blame, uint64_t lost, struct report *report)
{
	const struct suspect *top = crew->top;
	const struct suspect *idle = find_task(v->o, v->path, is_sched_idle, NULL);
	const struct suspect *nicer = find_task(v->o, v->path, is_nicer, top);
	struct finding f;
	char rate[48], victims[FINDING_TEXT], each[32] = "chrt -o -p 0";

	if (top->policy != SCHED_OTHER || (!idle && !nicer) ||
	    !wake_most(v, idle ? is_sched_idle : is_nicer, top))
		return false;
	f = victim_finding(v, idle ? &sched_idle : &niced, lost, blame->wait_ns);
	finding_set(f.culprit, "%s (PID %u)", top->name, top->pid);
	if (!idle)
		snprintf(each, sizeof(each), "renice -n %d -p", top->nice);
	suspects_command(v->o, v->path, idle ? is_sched_idle : is_nicer, top, each, victims);
	suspects_command(v->o, v->path, has_name, top->name, "chrt -i -p 0", f.command);
	if (victims[0] && f.command[0] && strlen(victims) + strlen(f.command) < FINDING_TEXT - 2)
		memcpy(stpcpy(victims + strlen(victims), "; "), f.command, strlen(f.command) + 1);
	finding_set(f.command, "%s", victims);
	if (idle) {
		findings_add(report, &f,
			     "tasks of %s wait for each other: %s; %s (PID %u) has SCHED_IDLE, %s "
			     "(PID %u) an ordinary policy",
			     v->name, RATE(lost), idle->name, idle->pid, top->name, top->pid);
		return true;
	}
	findings_add(report, &f,
		     "tasks of %s wait for each other: %s; %s (PID %u) has nice %d, %s (PID %u) "
		     "nice %d",
		     v->name, RATE(lost), nicer->name, nicer->pid, nicer->nice, top->name, top->pid,
		     top->nice);
	return true;
}

/*
 * Probability that the cgroup's own tasks keep all its CPUs busy (Erlang C). Tasks of a cgroup with
 * little load wait for each other because other tasks slow them down.
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

void say_same(const struct victim *v, const struct runq_blame *blame, uint64_t lost_ns,
	      struct report *report)
{
	uint64_t lost = (uint64_t)((double)lost_ns * (v->delayed + v->rested));
	const struct crew *crew = &v->crew;
	struct finding f;
	char rate[96], busy[FINDING_NAME];

	if (say_short_lived(v, crew, blame, lost, report) ||
	    (crew->top && say_priority(v, crew, blame, lost, report)) ||
	    say_affinity(v, blame, lost, report))
		return;
	/* SCHED_IDLE means to wait for every other task, and most of this waiting is theirs. */
	if (crew->top && crew->top->policy == SCHED_IDLE)
		return;
	lost = (uint64_t)((double)lost * own_load(v->o, crew));
	f = victim_finding(v, &same_group, lost, blame->wait_ns);
	finding_set(f.culprit, "%s", v->path);
	ask_overview(v, &f);
	/* One command that uses most of the time stands out only if there are others beside it. */
	if (crew->top && crew->top_ns < crew->ns && crew->top->policy == SCHED_OTHER &&
	    !(v->process && has_name(v->process, crew->top->name)) &&
	    (double)crew->top_ns > RULE_MOST * (double)crew->ns) {
		finding_set(f.culprit, "%s: %s", v->path, crew->top->name);
		suspects_command(v->o, v->path, has_name, crew->top->name, "chrt -i -p 0",
				 f.command);
	}
	crew_text(v->o, crew, busy, sizeof(busy));
	if (!v->process) {
		findings_add(report, &f, "tasks of %s wait for each other: %s%s", v->name, WAITS,
			     busy);
		return;
	}
	f.next = "run fewer tasks at a time, or move the task that waits into a cgroup with a high "
		 "cpu.weight";
	findings_add(report, &f, "%s waits for other tasks there: %s%s", v->who, WAITS, busy);
}
