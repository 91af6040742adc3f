/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adds the findings of a runq window: groups that wait for a core, and the causes. */
#include "present/runq.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "present/load.h"
#include "report/findings.h"

/* Minimum wait time for a finding: 10 ms per second, summed over all tasks of a group. */
#define LEAST 0.01

/* A finding contains the group's p99 if one cause has at least this share of the wait time. */
#define ONE_CAUSE 0.9

/* Minimum share of wait time without a known cause for a note with the reason. */
#define UNKNOWN_LEAST 0.1

#define WHICH "run subtick --once to see the tasks, and a setting that reduces the waits"

static const struct finding_rule quota = {"quota", "quota", LEAST, WHICH};
static const struct finding_rule neighbour = {"neighbour", "cgroup", LEAST, WHICH};
static const struct finding_rule others = {"others", "cgroup", LEAST, "subtick runq --blame"};
static const struct finding_rule same_group = {"same_group", "cgroup", LEAST, WHICH};
static const struct finding_rule kernel_threads = {"kernel_threads", "kernel_thread", LEAST,
						   "run subtick noise to see the kernel threads"};
static const struct finding_rule idle_exit = {"idle_exit", "idle", LEAST,
					      "subtick runq --idle-states"};
static const struct finding_rule steal = {"steal", "hypervisor", LEAST, STEAL_NEXT};
static const struct finding_rule idle_state = {
	"idle_state", "idle", LEAST,
	"set the latency limit that the notes name, or measure the idle states with subtick wake"};
#define SAME_GROUP "tasks of %s wait for each other: %s%s"
/* Rule for findings about waits whose causes were not measured. */
static const struct finding_rule waits = {"waits", "unknown", LEAST, "subtick runq --blame"};

/* Rules for wall time in which tasks of a cgroup waited; the longest cause selects the rule. */
static const struct {
	struct finding_rule rule;
	const char *to;
} pressures[RUNQ_PRESSURE_NR_CAUSES] = {
	[RUNQ_PRESSURE_CONTENTION] = {{"pressure", "cgroup", LEAST, WHICH},
				      "for cores that other tasks had"},
	[RUNQ_PRESSURE_KTHREAD] = {{"pressure", "kernel_thread", LEAST,
				    "run subtick noise to see the kernel threads"},
				   "for cores that kernel threads had"},
	[RUNQ_PRESSURE_IDLE] = {{"pressure", "idle", LEAST, "subtick runq --idle-states"},
				"for idle cores to wake up"},
	[RUNQ_PRESSURE_QUOTA] = {{"pressure", "quota", LEAST, WHICH}, "for CPU quota"},
};

uint64_t runq_woken_ns(const struct runq_group_window *group)
{
	return group->cause_ns[RUNQ_SAME] + group->cause_ns[RUNQ_OTHER] +
	       group->cause_ns[RUNQ_KTHREAD];
}

double runq_delayed(const struct runq_group_window *group)
{
	uint64_t woken = runq_woken_ns(group);
	uint64_t all = woken + group->cause_ns[RUNQ_PREEMPTED];

	return all ? (double)woken / (double)all : 0.0;
}

double runq_p99(const struct runq_window *w, const struct runq_group_window *group, uint64_t wait_ns)
{
	if ((double)wait_ns < ONE_CAUSE * (double)group->sum_ns)
		return NAN;
	for (unsigned int i = 0; i < w->nr_percentiles; i++)
		if (w->percentiles[i] == 99.0)
			return group->percentile_ns[i];
	return NAN;
}

/* Formats " (p99 57.1 ms)", or "" if no p99 was requested or the waits have several causes. */
static const char *p99_of(const struct runq_window *w, const struct runq_group_window *group,
			  uint64_t wait_ns, char *buf, size_t size)
{
	double p99_ns = runq_p99(w, group, wait_ns);

	buf[0] = '\0';
	if (!isnan(p99_ns))
		snprintf(buf, size, " (p99 %.3g ms)", p99_ns / 1e6);
	return buf;
}

uint64_t runq_idle_exit_ns(const struct runq_window *w, const struct runq_group_window *group)
{
	uint64_t left = group->cause_ns[RUNQ_IDLE];

	array_for_each(state, w->idle_states, w->nr_idle_states)
		if (state->party.kind == group->party.kind &&
		    state->party.group == group->party.group)
			left -= state->wait_ns < left ? state->wait_ns : left;
	return left;
}

static bool is_known(const struct runq_window *w, enum runq_cause cause)
{
	return w->causes_known >> cause & 1;
}

static struct finding group_finding(const struct runq_window *w,
				    const struct runq_group_window *group,
				    const struct finding_rule *rule, uint64_t lost_ns)
{
	struct finding f = finding_of(rule, lost_ns);

	finding_set(f.victim, "%s", runq_party_path(&group->party));
	f.share = (double)lost_ns / (double)group->sum_ns;
	f.p99_ns = runq_p99(w, group, lost_ns);
	return f;
}

/* Adds a finding about one cause. @fmt gets the group's name, wait time per second and p99. */
#define SAY(rule, ns, fmt, ...)                                                              \
	do {                                                                                 \
		struct finding f = group_finding(w, group, rule, ns);                        \
                                                                                             \
		findings_add(report, &f, fmt, name,                                          \
			     findings_rate(report, f.lost_ns, rate, sizeof(rate)),           \
			     ##__VA_ARGS__, p99_of(w, group, f.lost_ns, p99, sizeof(p99))); \
	} while (0)

const char *runq_quota_name(const struct runq_group *group, const char *name,
			    char buf[FINDING_TEXT])
{
	char vm[VM_NAME];

	if (group && group->vm_len)
		snprintf(buf, FINDING_TEXT, "VM %s", name);
	else if (group && vm_of_cgroup(group->runtime, group->container_id,
				       group->names ? group->names->pod : NULL, vm))
		snprintf(buf, FINDING_TEXT, "VM %s (%s)", vm, name);
	else
		return name;
	return buf;
}

/* Sets the advice for a VM. The cgroup that has the quota is unknown. */
static void advise_vm(const struct runq_group *vm, struct finding *f, char next[FINDING_TEXT])
{
	if (!vm || !vm->vm_cgroup)
		return;
	vm_quota_command(vm->vm_cgroup, strlen(vm->vm_cgroup), true, f->command,
			 sizeof(f->command));
	vm_quota_limit(vm->vm_cgroup, next, FINDING_TEXT);
	f->next = next;
}

static void add_quota_finding(const struct runq_window *w, const struct runq_group_window *group,
			      const char *name, struct report *report)
{
	struct finding f = group_finding(w, group, &quota, group->cause_ns[RUNQ_THROTTLED]);
	char rate[48], p99[32], buf[FINDING_TEXT], next[FINDING_TEXT];

	if (!findings_due(report, &quota, f.lost_ns))
		return;
	advise_vm(group->party.group, &f, next);
	findings_add(report, &f, "%s waits for its CPU quota: %s, %.0f %% of its waiting%s",
		     runq_quota_name(group->party.group, name, buf),
		     findings_rate(report, f.lost_ns, rate, sizeof(rate)), 100.0 * f.share,
		     p99_of(w, group, f.lost_ns, p99, sizeof(p99)));
}

static void add_group_finding(const struct runq_window *w, const struct runq_group_window *group,
			      struct report *report)
{
	const uint64_t *cause = group->cause_ns;
	char rate[48], p99[32], buf[32];
	const char *name;

	/* Skip a group whose total wait time is too short for a finding. */
	if (!findings_due(report, &waits, group->sum_ns))
		return;
	name = runq_party_name(w->per, &group->party, buf);
	if (!w->has_causes) {
		SAY(&waits, group->sum_ns, "%s waits for a core: %s%s");
		return;
	}
	if (is_known(w, RUNQ_THROTTLED))
		add_quota_finding(w, group, name, report);
	/* With --blame, add_pair_finding() adds findings that name the culprits. */
	if (!w->has_blame) {
		SAY(&others, cause[RUNQ_OTHER], "%s waits for tasks of other groups: %s%s");
		SAY(&same_group, cause[RUNQ_SAME], SAME_GROUP);
		SAY(&kernel_threads, cause[RUNQ_KTHREAD], "%s waits for kernel threads: %s%s");
	}
	SAY(&idle_exit, runq_idle_exit_ns(w, group),
	    "%s waits for idle cores to wake up: %s%s");
}

static const struct runq_group_window *find_group(const struct runq_window *w,
						  const struct runq_party *party)
{
	array_for_each(group, w->groups, w->nr_groups)
		if (group->party.kind == party->kind && group->party.group == party->group)
			return group;
	return NULL;
}

/*
 * Adds a finding about one victim and one culprit. Blame includes waits after preemptions, which
 * are no delay if tasks share the core fairly.
 */
static void add_pair_finding(const struct runq_window *w, const struct runq_blame *blame,
			     struct report *report)
{
	bool kthreads = blame->culprit.kind == RUNQ_PARTY_KTHREADS;
	const struct runq_group_window *group;
	struct finding f;
	uint64_t lost;
	char rate[48], p99[32] = "", victim[32], culprit[32];

	if ((blame->culprit.kind != RUNQ_PARTY_GROUP && !kthreads) ||
	    !findings_due(report, &neighbour, blame->wait_ns))
		return;
	group = find_group(w, &blame->victim);
	lost = group ? (uint64_t)((double)blame->wait_ns * runq_delayed(group)) : 0;
	if (!findings_due(report, &neighbour, lost))
		return;
	f = group_finding(w, group, kthreads ? &kernel_threads : &neighbour, lost);
	finding_set(f.culprit, "%s", runq_party_path(&blame->culprit));
	f.share = (double)blame->wait_ns / (double)group->sum_ns;
	f.p99_ns = runq_p99(w, group, blame->wait_ns);
	p99_of(w, group, blame->wait_ns, p99, sizeof(p99));
	findings_rate(report, lost, rate, sizeof(rate));
	if (blame->culprit.group == blame->victim.group) {
		f.rule = &same_group;
		findings_add(report, &f, SAME_GROUP,
			     runq_party_name(w->per, &blame->victim, victim), rate, p99);
		return;
	}
	findings_add(report, &f, "%s make%s %s wait: %s%s",
		     kthreads ? "kernel threads" :
				runq_party_name(w->per, &blame->culprit, culprit),
		     kthreads ? "" : "s", runq_party_name(w->per, &blame->victim, victim), rate,
		     p99);
}

static void add_idle_state_finding(const struct runq_window *w, const struct runq_idle_state *state,
				   struct report *report)
{
	struct finding f = finding_of(&idle_state, state->wait_ns);
	char rate[48], buf[32];

	finding_set(f.victim, "%s", runq_party_path(&state->party));
	finding_set(f.culprit, "%s", state->name);
	findings_add(report, &f, "wake-ups from %s make %s wait: %s", state->name,
		     runq_party_name(w->per, &state->party, buf),
		     findings_rate(report, state->wait_ns, rate, sizeof(rate)));
}

static double percent_of(const struct report *report, uint64_t ns)
{
	return 100.0 * (double)ns / (double)report->window_ns;
}

/*
 * Adds no finding if descendants of the cgroup wait long enough for a finding, because a cgroup
 * waits whenever a descendant waits.
 */
static void add_pressure_finding(const struct runq_window *w, const struct runq_pressed *row,
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

void runq_note_unknown(const struct runq_window *w, struct report *report)
{
	array_for_each(group, w->groups, w->has_causes ? w->nr_groups : 0) {
		double share = (double)group->cause_ns[RUNQ_UNKNOWN] / (double)group->sum_ns;
		char buf[32];

		if (!findings_due(report, &waits, group->sum_ns) || share < UNKNOWN_LEAST)
			continue;
		report_note(report,
			    "%.0f %% of the waiting of %s has no known cause: these waits began "
			    "before the measurement, or more than %d switches of their core ago",
			    100.0 * share, runq_party_name(w->per, &group->party, buf),
			    RUNQ_NR_WALK);
		return;
	}
}

/* /proc/stat has only the total steal time, not the part in which tasks waited. */
static void add_steal_finding(const struct runq_window *w, struct report *report)
{
	struct finding f = finding_of(&steal, w->steal_ns);
	uint64_t waits_ns = 0;

	if (w->steal_ns == UINT64_MAX)
		return;
	array_for_each(group, w->groups, w->nr_groups)
		waits_ns += group->sum_ns;
	finding_set(f.culprit, "hypervisor");
	findings_add(report, &f,
		     "the hypervisor took %.3g ms of CPU time, while tasks waited %.3g ms for a core: "
		     "a task also waits while the hypervisor has its CPU",
		     (double)w->steal_ns / 1e6, (double)waits_ns / 1e6);
}

/*
 * QEMU before 10.2 names its threads only with debug-threads=on. Without names, the row
 * "NAME/other" contains the vCPU threads of VM NAME.
 */
static void note_unnamed(const struct runq_window *w, struct report *report)
{
	array_for_each(row, w->groups, w->sum == ROLLUP_VM ? w->nr_groups : 0) {
		const struct runq_group *vm = row->party.group;
		size_t same = 0;

		if (!vm || !vm->vm_len || !vm->path[vm->vm_len] ||
		    !findings_due(report, &waits, row->sum_ns))
			continue;
		array_for_each(group, w->groups, w->nr_groups)
			same += group->party.group && group->party.group->tgid == vm->tgid;
		if (same > 1)
			continue;
		report_note(report,
			    "no vCPU thread of %.*s waited, or its threads have no names and are in %s; "
			    "fix: QEMU names them with -name NAME,debug-threads=on",
			    (int)vm->vm_len, vm->path, vm->path);
		return;
	}
}

void runq_findings(const struct runq_window *w, bool groups, struct report *report)
{
	add_steal_finding(w, report);
	/* Skip findings about cores, because the waiting tasks are unknown. */
	if (w->per == RUNQ_PER_CPU)
		return;
	array_for_each(group, w->groups, groups ? w->nr_groups : 0)
		if (group->sum_ns)
			add_group_finding(w, group, report);
	array_for_each(blame, w->blame, groups ? w->nr_blame : 0)
		add_pair_finding(w, blame, report);
	array_for_each(state, w->idle_states, w->nr_idle_states)
		add_idle_state_finding(w, state, report);
	array_for_each(row, w->pressed, w->nr_pressed)
		add_pressure_finding(w, row, report);
	runq_note_unknown(w, report);
	note_unnamed(w, report);
}
