/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds who waits for a core so long that it matters, and for what. */
#include "present/runq.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/findings.h"

/* 10 ms of waiting per second, by all tasks of a group together. */
#define LEAST 0.01

#define RAISE_QUOTA "raise cpu.max (v1: cpu.cfs_quota_us) of the cgroup, or run fewer threads"

static const struct finding_rule quota = {"quota", "quota", LEAST, RAISE_QUOTA};
static const struct finding_rule neighbour = {
	"neighbour", "cgroup", LEAST, "separate them with cpu.weight, cpu.max or cpuset.cpus"};
static const struct finding_rule others = {"others", "cgroup", LEAST, "subtick runq --blame"};
static const struct finding_rule same_group = {
	"same_group", "cgroup", LEAST, "run fewer threads, or allow the cgroup more cores"};
static const struct finding_rule preempted = {"preempted", "cgroup", LEAST, "subtick runq --blame"};
static const struct finding_rule kernel_threads = {
	"kernel_threads", "kernel_thread", LEAST, "subtick runq --blame --per task"};
static const struct finding_rule idle_exit = {"idle_exit", "idle", LEAST, "subtick runq --idle-states"};
static const struct finding_rule idle_state = {
	"idle_state", "idle", LEAST, "the latency limit that the note below names, or subtick wake"};
#define SAME_GROUP "tasks of %s wait %s for each other%s"
/* Without causes only that they wait is known. */
static const struct finding_rule waits = {"waits", "unknown", LEAST, "subtick runq --blame"};

/* Wall time, of which each task of a group can lose the same: by what most of it was lost to. */
static const struct {
	struct finding_rule rule;
	const char *to;
} pressures[RUNQ_PRESSURE_NR_CAUSES] = {
	[RUNQ_PRESSURE_CONTENTION] = {{"pressure", "cgroup", LEAST, "subtick runq --blame"},
				      "for cores that other tasks had"},
	[RUNQ_PRESSURE_KTHREAD] = {{"pressure", "kernel_thread", LEAST, "subtick runq --blame --per task"},
				   "for cores that kernel threads had"},
	[RUNQ_PRESSURE_IDLE] = {{"pressure", "idle", LEAST, "subtick runq --idle-states"},
				"for idle cores to wake up"},
	[RUNQ_PRESSURE_QUOTA] = {{"pressure", "quota", LEAST, RAISE_QUOTA}, "for CPU quota"},
};

/* " (p99 57.1 ms)", or nothing if no p99 was asked for. */
static const char *p99_of(const struct runq_window *w, const struct runq_group_window *group,
			  char *buf, size_t size)
{
	buf[0] = '\0';
	for (unsigned int i = 0; i < w->nr_percentiles; i++)
		if (w->percentiles[i] == 99.0 && !isnan(group->percentile_ns[i]))
			snprintf(buf, size, " (p99 %.3g ms)", group->percentile_ns[i] / 1e6);
	return buf;
}

/* What the group waited for cores to leave idle states, as far as a state is not known, which says more. */
static uint64_t idle_exit_ns(const struct runq_window *w, const struct runq_group_window *group)
{
	uint64_t left = group->cause_ns[RUNQ_IDLE];

	for (size_t i = 0; i < w->nr_idle_states; i++) {
		const struct runq_idle_state *state = &w->idle_states[i];

		if (state->party.kind == group->party.kind &&
		    state->party.group == group->party.group)
			left -= state->wait_ns < left ? state->wait_ns : left;
	}
	return left;
}

static bool is_known(const struct runq_window *w, enum runq_cause cause)
{
	return w->causes_known >> cause & 1;
}

static void say_group(const struct runq_window *w, const struct runq_group_window *group,
		      struct report *report)
{
	const uint64_t *cause = group->cause_ns;
	char rate[32], p99[32], buf[32];
	const char *name;

	/* The sum is the largest of all; most groups end here. */
	if (!findings_due(report, &waits, group->sum_ns))
		return;
	name = runq_party_name(w->per, &group->party, buf);
	p99_of(w, group, p99, sizeof(p99));
#define RATE(ns) findings_rate(report, ns, rate, sizeof(rate))
	if (!w->has_causes) {
		findings_add(report, FINDING(&waits, group->sum_ns), "%s waits %s for a core%s", name,
			     RATE(group->sum_ns), p99);
		return;
	}
	if (is_known(w, RUNQ_THROTTLED))
		findings_add(report, FINDING(&quota, cause[RUNQ_THROTTLED]),
			     "%s waits %s for its CPU quota, %.0f %% of its waiting%s", name,
			     RATE(cause[RUNQ_THROTTLED]),
			     100.0 * (double)cause[RUNQ_THROTTLED] / (double)group->sum_ns, p99);
	/* Blame says more: who had the core, also after it was taken away. */
	if (!w->has_blame) {
		findings_add(report, FINDING(&others, cause[RUNQ_OTHER]),
			     "tasks of other groups make %s wait %s%s", name,
			     RATE(cause[RUNQ_OTHER]), p99);
		findings_add(report, FINDING(&same_group, cause[RUNQ_SAME]), SAME_GROUP, name,
			     RATE(cause[RUNQ_SAME]), p99);
		findings_add(report, FINDING(&preempted, cause[RUNQ_PREEMPTED]),
			     "%s waits %s to get back a core that other tasks took from it%s", name,
			     RATE(cause[RUNQ_PREEMPTED]), p99);
	}
	findings_add(report, FINDING(&kernel_threads, cause[RUNQ_KTHREAD]),
		     "kernel threads make %s wait %s%s", name, RATE(cause[RUNQ_KTHREAD]), p99);
	findings_add(report, FINDING(&idle_exit, idle_exit_ns(w, group)),
		     "idle cores cost %s %s while they wake up for it%s", name,
		     RATE(idle_exit_ns(w, group)), p99);
}

static const struct runq_group_window *find_group(const struct runq_window *w,
						  const struct runq_party *party)
{
	for (size_t i = 0; i < w->nr_groups; i++)
		if (w->groups[i].party.kind == party->kind &&
		    w->groups[i].party.group == party->group)
			return &w->groups[i];
	return NULL;
}

static void say_pair(const struct runq_window *w, const struct runq_blame *blame,
		     struct report *report)
{
	const struct runq_group_window *group;
	char rate[32], p99[32] = "", victim[32], culprit[32];

	if (blame->culprit.kind != RUNQ_PARTY_GROUP ||
	    !findings_due(report, &neighbour, blame->wait_ns))
		return;
	group = find_group(w, &blame->victim);
	if (group)
		p99_of(w, group, p99, sizeof(p99));
	if (blame->culprit.group == blame->victim.group) {
		findings_add(report, FINDING(&same_group, blame->wait_ns), SAME_GROUP,
			     runq_party_name(w->per, &blame->victim, victim),
			     RATE(blame->wait_ns), p99);
		return;
	}
	findings_add(report, FINDING(&neighbour, blame->wait_ns), "%s makes %s wait %s%s",
		     runq_party_name(w->per, &blame->culprit, culprit),
		     runq_party_name(w->per, &blame->victim, victim),
		     RATE(blame->wait_ns), p99);
}

static void say_idle_state(const struct runq_window *w, const struct runq_idle_state *state,
			   struct report *report)
{
	char rate[32], buf[32];

	findings_add(report, FINDING(&idle_state, state->wait_ns), "wake-ups from %s cost %s %s", state->name,
		     runq_party_name(w->per, &state->party, buf), RATE(state->wait_ns));
#undef RATE
}

static double percent_of(const struct report *report, uint64_t ns)
{
	return 100.0 * (double)ns / (double)report->window_ns;
}

/* Only the innermost cgroups: all above them wait whenever they do, which says nothing more. */
static void say_pressure(const struct runq_window *w, const struct runq_pressed *row,
			 struct report *report)
{
	const struct runq_party party = {.kind = RUNQ_PARTY_GROUP, .group = row->group};
	uint64_t waiting_ns = runq_pressure_sum(row->times.waiting_ns);
	bool machine = !strcmp(row->group->path, "/");
	char buf[32];
	int most = 0;

	for (int i = 1; i < RUNQ_PRESSURE_NR_CAUSES; i++)
		if (row->times.waiting_ns[i] > row->times.waiting_ns[most])
			most = i;
	if (!findings_due(report, &pressures[most].rule, waiting_ns) ||
	    findings_due(report, &pressures[most].rule, row->below_ns))
		return;
	findings_add(report, FINDING(&pressures[most].rule, waiting_ns),
		     "%s waited %.1f %% of the wall time for a core, %.1f %% %s; in %.1f %% none "
		     "of its tasks ran",
		     machine ? "somebody on this machine" : runq_party_name(w->per, &party, buf),
		     percent_of(report, waiting_ns),
		     percent_of(report, row->times.waiting_ns[most]), pressures[most].to,
		     percent_of(report, runq_pressure_sum(row->times.stalled_ns)));
}

void runq_findings(const struct runq_window *w, struct report *report)
{
	/* The waits of a core are no one's in particular. */
	if (w->per == RUNQ_PER_CPU)
		return;
	for (size_t i = 0; i < w->nr_groups; i++)
		if (w->groups[i].sum_ns)
			say_group(w, &w->groups[i], report);
	for (size_t i = 0; i < w->nr_blame; i++)
		say_pair(w, &w->blame[i], report);
	for (size_t i = 0; i < w->nr_idle_states; i++)
		say_idle_state(w, &w->idle_states[i], report);
	for (size_t i = 0; i < w->nr_pressed; i++)
		say_pressure(w, &w->pressed[i], report);
}
