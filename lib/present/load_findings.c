/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds busy time that the usual tools do not show, and time that the hypervisor takes. */
#include "present/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/losses.h"
#include "report/findings.h"

/*
 * Minimum window length for a comparison with /proc/stat, which counts in steps of 10 ms. In shorter
 * windows, rounding alone could look like an error.
 */
#define PROCSTAT_LEAST_NS (950 * NSEC_PER_MSEC)

static const struct finding_rule procstat_low = {
	"procstat_low", CAUSE_ACCOUNTING, 0.0,
	"run subtick audit to measure the error of /proc/stat on this machine"};
static const struct finding_rule procstat_high = {
	"procstat_high", CAUSE_ACCOUNTING, 0.0,
	"run subtick audit to measure the error of /proc/stat on this machine"};
static const struct finding_rule softirq_on_idle = {
	"softirq_on_idle", CAUSE_ACCOUNTING, LOAD_WRONG_RATIO,
	"run subtick noise to see these softirqs, and the cgroups that softirqs interrupt"};
static const struct finding_rule steal = {
	"steal", "hypervisor", LOAD_WRONG_RATIO, STEAL_NEXT};
static const struct finding_rule core_shared = {"core_shared", "placement", LOAD_WRONG_RATIO,
						"find the busy tasks with subtick load --cores "
						"--tasks 1, and move one task to the idle core "
						"with taskset or cpuset.cpus"};

static const struct finding_rule core_shared_cgroup = {
	"core_shared_cgroup", "placement", LOAD_WRONG_RATIO,
	"give one of the two cgroups whole physical cores in cpuset.cpus, or use core scheduling "
	"(PR_SCHED_CORE, prctl(2))"};

/* CPUs that share one finding, because the rule and the kind of work are the same on each CPU. */
struct alike {
	const struct finding_rule *rule;
	const char *work; /* kind of work that takes most of the busy time of @cpus, or NULL */
	struct cpuset cpus;
	double busy, shown, lost; /* sums of ratios over @cpus: busy, busy in /proc/stat, lost */
};

/* Number of busy parts, which precede all other parts in enum load_part. */
#define NR_BUSY (LOAD_PART_IDLE_LOOP + 1)

static const char *const work_names[NR_BUSY] = {
	[LOAD_PART_TASK] = "tasks",
	[LOAD_PART_HARDIRQ] = "interrupts",
	/* Softirq time on idle and softirq time on tasks count as one kind of work. */
	[LOAD_PART_SOFTIRQ_ON_IDLE] = "softirqs",
	[LOAD_PART_KSOFTIRQD] = "softirqs in threads",
	[LOAD_PART_IDLE_LOOP] = "the entry and exit of idle states",
};

static unsigned int largest_vec(const struct load_vecs *vecs)
{
	unsigned int most = 0;

	for (unsigned int i = 1; i < LOAD_NR_VECS; i++)
		if (vecs->ns[i] > vecs->ns[most])
			most = i;
	return most;
}

/*
 * Name of the work that takes most of the CPU's busy time. If softirq vectors were measured,
 * softirq work has the name of the vector with the most time.
 */
static const char *main_work(const struct load_window *w, unsigned int cpu)
{
	const struct load_cpu_window *c = &w->cpu[cpu];
	uint64_t softirq = c->part_ns[LOAD_PART_SOFTIRQ_ON_IDLE] +
			   c->part_ns[LOAD_PART_SOFTIRQ_ON_TASK];
	unsigned int most = LOAD_PART_SOFTIRQ_ON_IDLE;

	if (!w->parts)
		return NULL;
	for (unsigned int i = 0; i < NR_BUSY; i++)
		if (i != LOAD_PART_SOFTIRQ_ON_TASK && i != LOAD_PART_SOFTIRQ_ON_IDLE &&
		    c->part_ns[i] > softirq && c->part_ns[i] > c->part_ns[most])
			most = i;
	if (most == LOAD_PART_SOFTIRQ_ON_IDLE && w->cpu_vecs)
		return load_vec_name(largest_vec(&w->cpu_vecs[cpu]));
	return work_names[most];
}

struct grouped {
	/*
	 * At most one element per rule, or per kind of work for procstat_low and softirq_on_idle.
	 */
	struct alike list[NR_BUSY + 2 * LOAD_NR_VECS + 4];
	size_t nr;
};

static void group_add(struct grouped *grouped, const struct finding_rule *rule, const char *work,
		      unsigned int cpu, const struct alike *ratios)
{
	struct alike *alike = grouped->list;
	const struct alike *end = alike + grouped->nr;

	while (alike < end && (alike->rule != rule || alike->work != work))
		alike++;
	if (alike == end) {
		*alike = (struct alike){.rule = rule, .work = work};
		grouped->nr++;
	}
	cpuset_add(&alike->cpus, cpu);
	alike->busy += ratios->busy;
	alike->shown += ratios->shown;
	alike->lost += ratios->lost;
}

static void look_at(const struct load_window *w, unsigned int cpu, struct grouped *grouped)
{
	const struct load_cpu_window *c = &w->cpu[cpu];
	const struct load_cpu_window *shown = load_shown(w, "procstat", cpu);
	double on_idle = load_part_ratio(c, LOAD_PART_SOFTIRQ_ON_IDLE);
	struct alike ratios = {.busy = c->busy_ratio};

	/*
	 * Skip CPUs with stolen time, which the kernel and load_move_steal() distribute
	 * differently.
	 */
	if (shown && w->window_ns >= PROCSTAT_LEAST_NS && !load_is_stolen(c) &&
	    load_is_wrong(shown->busy_ratio, c->busy_ratio)) {
		bool low = shown->busy_ratio < c->busy_ratio;

		ratios.shown = shown->busy_ratio;
		ratios.lost = fabs(shown->busy_ratio - c->busy_ratio);
		group_add(grouped, low ? &procstat_low : &procstat_high,
			  low ? main_work(w, cpu) : NULL, cpu, &ratios);
	}
	if (load_is_wrong(0.0, on_idle)) {
		ratios.lost = on_idle;
		group_add(grouped, &softirq_on_idle,
			  w->cpu_vecs ? load_vec_name(largest_vec(&w->cpu_vecs[cpu])) : NULL, cpu,
			  &ratios);
	}
	if (load_is_stolen(c)) {
		ratios.lost = load_part_ratio(c, LOAD_PART_STEAL);
		group_add(grouped, &steal, NULL, cpu, &ratios);
	}
}

/* The task with the most CPU time on any single CPU of @cpus; NULL if tasks were not measured. */
static const struct load_task *top_task(const struct load_window *w, const struct cpuset *cpus)
{
	const struct load_task *top = NULL;

	array_for_each(task, w->tasks, w->tasks ? w->nr_tasks : 0)
		if (task->pid != UINT32_MAX && cpuset_has(cpus, task->cpu) &&
		    (!top || task->ns > top->ns))
			top = task;
	return top;
}

/* Adds the finding about the CPUs of @alike, for example "CPU 3 is 40.0 % busy; ...". */
static void add_finding(const struct load_window *w, const struct alike *alike, double steal_lost,
			struct report *report)
{
	double part = alike->rule == &steal ? steal_lost : 1.0;
	struct finding f = finding_of(
		alike->rule, (uint64_t)(alike->lost * part * (double)report->window_ns));
	unsigned int nr = cpuset_count(&alike->cpus);
	double busy = 100.0 * alike->busy / nr, shown = 100.0 * alike->shown / nr;
	double lost = 100.0 * alike->lost / nr;
	const char *many = nr > 1 ? "s" : "", *are = nr > 1 ? "are on average" : "is";
	const struct load_task *task = alike->work == work_names[LOAD_PART_TASK] ?
					       top_task(w, &alike->cpus) : NULL;
	char cpus[64], who[64];

	cpuset_format(&alike->cpus, cpus, sizeof(cpus));
	snprintf(who, sizeof(who), "%s", alike->work ?: "");
	if (nr == 1)
		f.cpu = cpuset_next(&alike->cpus, 0);
	if (task)
		snprintf(who, sizeof(who), "%.16s (PID %u)", task->comm, task->pid);
	finding_set(f.culprit, "%s", alike->rule == &steal ? "hypervisor" : who);
	if (alike->rule == &procstat_low)
		findings_add(report, &f,
			     "CPU%s %s %s %.1f %% busy%s%s; /proc/stat, top and mpstat show %.1f %%",
			     many, cpus, are, busy, who[0] ? ", mostly with " : "", who, shown);
	else if (alike->rule == &procstat_high)
		findings_add(report, &f,
			     "CPU%s %s %s %.1f %% busy; /proc/stat, top and mpstat show %.1f %%",
			     many, cpus, are, busy, shown);
	else if (alike->rule == &softirq_on_idle)
		findings_add(report, &f,
			     "CPU%s %s spend%s %.1f %% in softirqs%s%s while no task runs: no "
			     "task's CPU time contains it",
			     many, cpus, nr > 1 ? "" : "s", lost, alike->work ? ", mostly " : "",
			     alike->work ?: "");
	else
		findings_add(report, &f,
			     "the hypervisor takes %.1f %% of the time of CPU%s %s", lost, many,
			     cpus);
}

/*
 * Adds a finding if both hyperthreads of one core were busy while another core was idle. The
 * overlap of busy and idle time is at least the busy time plus the idle time minus the window
 * length.
 */
static void find_shared(const struct load_window *w, struct report *report)
{
	const struct load_core *shared = NULL, *idle = NULL;
	struct finding f;
	uint64_t sum;

	array_for_each(core, w->cores, w->cores ? w->nr_cores : 0) {
		if (core->flags & LOAD_NO_FIGURE)
			continue;
		if (core->cpu[0] != core->cpu[1] &&
		    (!shared || core->busy_ns[LOAD_SIBLINGS_ALL] > shared->busy_ns[LOAD_SIBLINGS_ALL]))
			shared = core;
		if (!idle || core->busy_ns[LOAD_SIBLINGS_NONE] > idle->busy_ns[LOAD_SIBLINGS_NONE])
			idle = core;
	}
	if (!shared || shared == idle)
		return;
	sum = shared->busy_ns[LOAD_SIBLINGS_ALL] + idle->busy_ns[LOAD_SIBLINGS_NONE];
	if (sum <= shared->window_ns)
		return;
	f = finding_of(&core_shared, sum - shared->window_ns);
	finding_set(f.culprit, "CPU %u", shared->cpu[1]);
	finding_set(f.victim, "CPU %u", shared->cpu[0]);
	findings_add(report, &f,
		     "CPUs %u and %u of one physical core are both busy at least %.1f %% of the time "
		     "while the core of CPU %u is idle",
		     shared->cpu[0], shared->cpu[1],
		     100.0 * (double)f.lost_ns / (double)shared->window_ns, idle->cpu[0]);
}

/* Adds a finding about the two cgroups that shared a physical core for the longest time. */
static void find_pair(const struct load_window *w, struct report *report)
{
	array_for_each(pair, w->pairs, w->cgroups && w->pairs ? w->nr_pairs : 0) {
		struct finding f = finding_of(&core_shared_cgroup, pair->ns);

		if (!pair->run_ns || !strcmp(pair->cgroup, pair->sibling))
			continue;
		f.share = (double)pair->ns / (double)pair->run_ns;
		finding_set(f.victim, "%s", pair->cgroup);
		finding_set(f.culprit, "%s", pair->sibling);
		findings_add(report, &f,
			     "%s shares its physical core with %s %.1f %% of its running time",
			     pair->cgroup, pair->sibling, 100.0 * f.share);
		return;
	}
}

void load_findings(const struct load_window *w, double steal_lost, struct report *report)
{
	struct grouped grouped = {0};

	cpuset_for_each(cpu, &w->cpus)
		if (!(w->cpu[cpu].flags & LOAD_NO_FIGURE))
			look_at(w, cpu, &grouped);
	array_for_each(alike, grouped.list, grouped.nr)
		add_finding(w, alike, steal_lost, report);
	find_shared(w, report);
	find_pair(w, report);
}
