/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the causes of waits for each group. docs/methods/findings.md describes the rules. */
#include "present/overview.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "present/overview_rules.h"
#include "present/runq.h"
#include "present/wake.h"

/*
 * Minimum p99 of waits for a finding. If the p99 of the waits is shorter than LEAST_P99_NS, the
 * waits are only the cost of context switches.
 */
#define LEAST_P99_NS 100000.0
/* Upper bound of the exit latency of any idle state. */
#define IDLE_EXIT_MAX_NS 10000000

static bool is_below(const char *path, const char *top, size_t len)
{
	return !strncmp(path, top, len) && (path[len] == '/' || !path[len]);
}

/*
 * Path of the cgroup that uses most of the quota; "" if the victim itself uses most of the quota.
 */
static const char *quota_user(const struct victim *v, size_t len, double *ret_share)
{
	const struct suspects *tasks = &v->o->suspects;
	uint64_t all = 0, most = 0;
	const char *user = "";

	for_each_suspect(s, tasks) {
		uint64_t ns = 0;

		if (!is_below(s->cgroup, v->path, len))
			continue;
		all += s->ns;
		for_each_suspect(t, tasks)
			ns += strcmp(t->cgroup, s->cgroup) ? 0 : t->ns;
		if (ns > most && strcmp(s->cgroup, v->path)) {
			most = ns;
			user = s->cgroup;
		}
	}
	*ret_share = all ? (double)most / (double)all : 0.0;
	return *ret_share > RULE_MOST ? user : "";
}

/*
 * True if the quota that throttles the victim also throttles a group with a larger sum of
 * victim.delayed and victim.rested. The first @len bytes of the victim's path are the cgroup with
 * the quota.
 */
static bool quota_delays_other(const struct victim *v, size_t len, const struct report *report)
{
	const struct runq_window *w = v->o->runq;

	for (size_t i = 0; i < w->nr_groups; i++) {
		struct victim other;

		if (&w->groups[i] == v->group || w->groups[i].party.kind != RUNQ_PARTY_GROUP ||
		    !is_below(w->groups[i].party.group->path, v->path, len) ||
		    !findings_due(report, RULE(QUOTA), w->groups[i].cause_ns[RUNQ_THROTTLED]))
			continue;
		victim_init(&other, v->o, &w->groups[i]);
		if (other.delayed + other.rested > v->delayed + v->rested)
			return true;
	}
	return false;
}

static double quota_cpus(const struct settings_level *level)
{
	return level->quota_us && level->period_us
		       ? (double)level->quota_us / (double)level->period_us
		       : INFINITY;
}

/*
 * Upper bound of the CPU time, in CPUs, that the tasks below a cgroup would use without quotas:
 * their CPU time plus the time that the victim was throttled. The upper bound is INFINITY if the
 * CPU times of tasks were not measured.
 */
static double wanted_cpus(const struct victim *v, const struct settings_level *level)
{
	const struct suspects *tasks = &v->o->suspects;
	double ns = (double)v->group->cause_ns[RUNQ_THROTTLED];

	for_each_suspect(s, tasks)
		if (is_below(s->cgroup, v->path, level->len))
			ns += (double)s->ns;
	return tasks->nr ? fmin(ns / (double)v->o->runq->window_ns, cpuset_count(&v->o->load->cpus))
			 : INFINITY;
}

/*
 * Returns the cgroup whose quota throttled tasks longest: the victim's cgroup or one of its
 * ancestors. Quotas of at least wanted_cpus() are considered only if no quota is below
 * wanted_cpus(). Returns NULL if no quota is set.
 */
static const struct settings_level *quota_level(const struct victim *v)
{
	const struct settings_level *found = NULL;
	bool used = false;

	for (unsigned int i = 0; v->settings && i < v->settings->nr; i++) {
		const struct settings_level *level = &v->settings->levels[i];
		bool uses = wanted_cpus(v, level) > quota_cpus(level);

		if (isinf(quota_cpus(level)) || (found && used > uses) ||
		    (found && used == uses && found->throttled_ns >= level->throttled_ns))
			continue;
		found = level;
		used = uses;
	}
	return found;
}

/*
 * Sets the advice for the cgroup of a VM. If the VM manager has a command that changes the quota,
 * advise_vm() sets the command instead of the cgroup's setting, and clears @more, the text about
 * other quotas.
 */
static void advise_vm(const struct victim *v, size_t len, struct finding *f, char *more)
{
	const struct runq_group *group = v->group->party.group;
	char vm[VM_NAME], command[FINDING_TEXT];

	vm_quota_command(v->path, len, false, command, sizeof(command));
	if (command[0]) {
		f->setting[0] = '\0';
		memcpy(f->command, command, sizeof(command));
		more[0] = '\0';
	} else if (group->names && vm_of_cgroup(NULL, NULL, group->names->pod, vm)) {
		finding_set(f->only_if, "a new pod of the VM has the limit of " VM_KUBEVIRT_LIMIT);
	}
}

static void set_no_quota(const struct victim *v, const struct settings_level *level,
			 char setting[FINDING_TEXT])
{
	finding_format(setting, FINDING_TEXT, "%s%.*s/%s", v->o->mounts.cpu, (int)level->len,
		       v->path, v->o->mounts.v1 ? "cpu.cfs_quota_us=-1" : "cpu.max=max");
}

/*
 * Sets the advice of @f to remove the quota of cgroup @level, and each other quota that would still
 * throttle the victim. Formats @text about all removed quotas except the quota of @level.
 */
static void remove_quotas(const struct victim *v, const struct settings_level *level,
			  struct finding *f, char *text, size_t size)
{
	char setting[FINDING_TEXT];
	size_t len = 0;

	set_no_quota(v, level, f->setting);
	finding_add_setting(f->command, f->setting);
	text[0] = '\0';
	array_for_each(other, v->settings->levels, v->settings->nr) {
		double cpus = quota_cpus(other);

		if (other == level || isinf(cpus) ||
		    (cpus > quota_cpus(level) && cpus >= wanted_cpus(v, other)))
			continue;
		set_no_quota(v, other, setting);
		if (!finding_add_setting(f->command, setting) || len >= size)
			break;
		len += (size_t)snprintf(text + len, size - len, " and of %.*s (%.3g CPU%s)",
					(int)other->len, v->path, cpus, cpus == 1.0 ? "" : "s");
	}
	if (len)
		f->setting[0] = '\0';
	else
		f->command[0] = '\0';
}

static void add_quota_finding(const struct victim *v, struct report *report)
{
	const struct settings_level *level = quota_level(v);
	uint64_t lost = v->group->cause_ns[RUNQ_THROTTLED];
	struct finding f = victim_finding(v, RULE(QUOTA), lost, lost);
	char rate[48], by[FINDING_NAME + 64] = "", more[2 * FINDING_NAME], buf[FINDING_TEXT];
	const char *user, *name = runq_quota_name(v->group->party.group, v->name, buf);
	double share, cpus;

	if (!findings_due(report, RULE(QUOTA), lost))
		return;
	findings_rate(report, lost, rate, sizeof(rate));
	f.lost_ns = (uint64_t)(bound_factor(v) * (double)lost);
	if (!level) {
		findings_add(report, &f, "%s waits for its CPU quota: %s, %.0f %% of its waiting",
			     name, rate, 100.0 * f.share);
		return;
	}
	user = quota_user(v, level->len, &share);
	/*
	 * A CPU-bound group that uses up a quota is the culprit for all other groups with the same
	 * quota.
	 */
	if (!*user && v->delayed + v->rested < RULE_MOST &&
	    quota_delays_other(v, level->len, report))
		return;
	if (*user)
		snprintf(by, sizeof(by), "; %.255s uses %.0f %% of the quota", user, 100.0 * share);
	cpus = quota_cpus(level);
	finding_set(f.culprit, "%.*s", (int)level->len, v->path);
	remove_quotas(v, level, &f, more, sizeof(more));
	advise_vm(v, level->len, &f, more);
	findings_add(report, &f,
		     "%s waits for the CPU quota of %s (%.3g CPU%s)%s: %s, %.0f %% of its "
		     "waiting%s",
		     name, f.culprit, cpus, cpus == 1.0 ? "" : "s", more, rate, 100.0 * f.share,
		     by);
}

/* Returns the idle state with the largest sum of wake latencies on one core, or NULL. */
static const struct wake_state *slowest_state(const struct overview_window *o)
{
	const struct wake_state *most = NULL;

	for (size_t i = 0; o->wake && i < o->wake->nr_states; i++)
		if (!most || o->wake->states[i].sum_ns > most->sum_ns)
			most = &o->wake->states[i];
	return most;
}

/* Adds the command that keeps all CPUs out of idle state @state, by a limit on the exit latency. */
static void limit_idle_states(const struct wake_state *state, struct finding *f)
{
	char value[24];

	if (state->claimed_ns == WAKE_UNKNOWN || state->claimed_ns < NSEC_PER_USEC)
		return;
	finding_set(f->command,
		    "for f in /sys/devices/system/cpu/cpu[0-9]*/power/pm_qos_resume_latency_us; do "
		    "echo %s > $f; done",
		    wake_limit_value(state->claimed_ns - NSEC_PER_USEC, value));
}

/* @stolen is the wait time in ns that the finding about stolen time already includes. */
static void add_idle_exit_finding(const struct victim *v, uint64_t stolen, struct report *report)
{
	uint64_t lost = runq_idle_exit_ns(v->o->runq, v->group), longest = v->group->max_ns;
	const struct wake_state *state = slowest_state(v->o);
	struct finding f;
	char rate[48];

	/*
	 * If the longest wait exceeds the exit latency of every idle state, the hypervisor may have
	 * stopped the core during this wait.
	 */
	if (longest > IDLE_EXIT_MAX_NS)
		lost -= longest < lost ? longest : lost;
	lost -= stolen < lost ? stolen : lost;
	lost = (uint64_t)((double)lost * v->users_share);
	if (!findings_due(report, RULE(IDLE_EXIT), lost))
		return;
	f = victim_finding(v, RULE(IDLE_EXIT), lost, lost);
	if (state) {
		f.cpu = state->cpu;
		finding_set(f.culprit, "%s", state->name);
		limit_idle_states(state, &f);
	}
	findings_add(report, &f, "%s waits for idle cores to wake up%s%s: %s", v->name,
		     state ? ", mostly from " : "", state ? state->name : "",
		     findings_rate(report, lost, rate, sizeof(rate)));
}

/*
 * Returns the longest wait time that the victim's cgroup causes in another cgroup. If the victim's
 * cgroup has more tasks than CPUs, its tasks delay both each other and tasks of other cgroups.
 */
static uint64_t caused_ns(const struct victim *v)
{
	const struct runq_window *w = v->o->runq;
	uint64_t most = 0;

	array_for_each(row, w->blame, w->nr_blame) {
		struct victim other;
		uint64_t lost;

		if (row->culprit.group != v->group->party.group || row->wait_ns <= most ||
		    row->victim.group == row->culprit.group)
			continue;
		for (size_t j = 0; j < w->nr_groups; j++) {
			if (w->groups[j].party.group != row->victim.group)
				continue;
			victim_init(&other, v->o, &w->groups[j]);
			lost = (uint64_t)((double)row->wait_ns * other.process_share *
					  (other.delayed + other.rested));
			most = lost > most ? lost : most;
		}
	}
	return most;
}

/*
 * Minimum time that the victim waits behind a culprit for a finding: RULE_SHARE of the victim's
 * wait time, without its waits behind subtick itself.
 */
static double least_wait(const struct victim *v)
{
	uint64_t own_ns = 0;
	struct task_sums sums;

	array_for_each(row, v->rows, v->nr_rows) {
		if (!is_victim(v, row) || row->culprit.kind != RUNQ_PARTY_GROUP)
			continue;
		sum_tasks(v->o, row->culprit.group, &sums);
		own_ns += sums.own_ns ? wait_part(row->wait_ns, &sums, sums.own_ns) : 0;
	}
	return RULE_SHARE * ((double)v->group->sum_ns - (double)own_ns);
}

/* Adds findings about the victim's waits, one per kind of culprit. */
static void add_waits_finding(struct victim *v, struct report *report)
{
	uint64_t least, same_ns = 0, all_ns = 0;
	const struct table *table = findings_of(report);
	bool hog = false;
	size_t nr;

	v->least_ns = least_wait(v);
	least = (uint64_t)v->least_ns;
	array_for_each(row, v->rows, v->nr_rows) {
		struct task_sums sums;
		uint64_t wait_ns;

		if (!is_victim(v, row))
			continue;
		if (row->culprit.kind == RUNQ_PARTY_KTHREADS && row->wait_ns >= least)
			add_kthreads_finding(
				v, row, (uint64_t)((double)row->wait_ns * v->weight * v->delayed),
				report);
		if (row->culprit.kind != RUNQ_PARTY_GROUP)
			continue;
		sum_tasks(v->o, row->culprit.group, &sums);
		if (sums.realtime && row->wait_ns >= least)
			add_realtime_finding(
				v, &sums, wait_part(row->wait_ns, &sums, sums.realtime_ns), report);
		wait_ns = wait_part(row->wait_ns, &sums, sums.ns + sums.exited_ns);
		all_ns += wait_ns;
		if (row->culprit.group == row->victim.group)
			same_ns = wait_ns;
		else
			hog = hog || (is_cpu_bound(sums.ns, sums.sleeps) &&
				      (double)sums.ns >= RULE_MOST * (double)v->o->load->window_ns);
	}
	if (add_affinity_finding(v, all_ns, report))
		return;
	nr = table ? table->nr_rows : 0;
	add_neighbours_finding(v, report);
	hog = hog && table && table->nr_rows > nr;
	if (same_ns && same_ns >= least)
		add_same_finding(v, same_ns, caused_ns(v), hog, report);
}

static const struct suspect *first_starved(const struct overview_window *o, const char *path)
{
	for_each_suspect(s, &o->suspects)
		if (s->starved && !strcmp(s->cgroup, path))
			return s;
	return NULL;
}

/* True if a quota causes more than half of the cgroup's wait time. */
static bool is_throttled(const struct overview_window *o, const char *path)
{
	array_for_each(group, o->runq->groups, o->runq->nr_groups)
		if (group->party.kind == RUNQ_PARTY_GROUP &&
		    !strcmp(group->party.group->path, path))
			return 2 * group->cause_ns[RUNQ_THROTTLED] > group->sum_ns;
	return false;
}

/*
 * True if the starved task has a lower priority than the default, or one of the task's cgroups has
 * a lower weight than the default.
 */
static bool is_meant_to_wait(const struct overview_window *o, const struct suspect *s)
{
	const struct settings *settings = settings_of(o, s->cgroup);
	bool light = s->policy == SCHED_IDLE || s->nice > 0;

	for (unsigned int i = 0; settings && i < settings->nr; i++)
		light = light || settings->levels[i].idle == 1 ||
			(settings->levels[i].weight >= 0 &&
			 settings->levels[i].weight < default_weight(o));
	return light;
}

/*
 * True if a finding about a starved task of the victim's cgroup replaces the finding about the
 * cgroup's waits.
 */
static bool is_replaced(const struct victim *v)
{
	const struct suspect *s = first_starved(v->o, v->path);

	return s && strcmp(v->path, "/") && !is_meant_to_wait(v->o, s) &&
	       !is_throttled(v->o, v->path);
}

static bool has_finding(const struct report *report, const char *victim)
{
	const struct table *table = findings_of(report);

	for (size_t i = 0; table && i < table->nr_rows; i++)
		if (!strcmp(table_str(table, i, "victim") ?: "", victim))
			return true;
	return false;
}

static void add_victim_finding(const struct overview_window *o,
			       const struct runq_group_window *group,
			       const struct overview_steal *steal, struct report *report)
{
	struct victim v;

	victim_init(&v, o, group);
	v.weight = (1.0 - steal->taken) * v.process_share;
	add_quota_finding(&v, report);
	add_idle_exit_finding(&v, steal->ns, report);
	if (!(runq_p99(o->runq, group, group->sum_ns) < LEAST_P99_NS) && !is_replaced(&v))
		add_waits_finding(&v, report);
}

/*
 * Adds a finding about the starved tasks of a cgroup. runq counts a wait when the wait ends, so the
 * figures of runq do not contain the waits of a task that never runs. The culprit is the task with
 * the most CPU time on the CPU of the starved task.
 */
static void add_starved_finding(const struct overview_window *o, const struct suspect *s,
				struct report *report)
{
	const struct suspect *top = suspects_busiest(&o->suspects, s->cpu);
	bool meant = is_meant_to_wait(o, s);
	struct runq_group own = {.path = s->cgroup, .cgroup_id = UINT64_MAX}, other;
	double unknown[RUNQ_MAX_PERCENTILES];
	struct runq_group_window group = {.party.group = &own, .percentile_ns = unknown};
	struct runq_blame row = {.victim = group.party};
	struct victim v;

	if (!top || s != first_starved(o, s->cgroup) || is_throttled(o, s->cgroup) ||
	    (meant && has_finding(report, s->cgroup)))
		return;
	for (size_t i = 0; i < RUNQ_MAX_PERCENTILES; i++)
		unknown[i] = NAN;
	for_each_suspect(t, &o->suspects)
		if (t->starved && !strcmp(t->cgroup, s->cgroup))
			group.sum_ns += report->window_ns;
	other = (struct runq_group){.path = top->cgroup, .cgroup_id = top->cgroup_id};
	row.culprit.group = strcmp(own.path, other.path) ? &other : &own;
	row.wait_ns = group.cause_ns[RUNQ_OTHER] = group.sum_ns;
	victim_init(&v, o, &group);
	v.rows = &row;
	v.nr_rows = 1;
	v.starved = s;
	v.process = NULL;
	v.delayed = 1.0;
	v.rested = 0.0;
	v.meant = meant;
	finding_set(v.who, "%s (PID %u in %s)", s->name, s->pid, s->cgroup);
	add_waits_finding(&v, report);
}

static void add_victims_finding(const struct overview_window *o, const struct overview_steal *steal,
				struct report *report)
{
	const struct runq_window *w = o->runq;

	for (size_t i = 0; w && i < w->nr_groups; i++)
		if (findings_due(report, RULE(NEIGHBOUR), w->groups[i].sum_ns))
			add_victim_finding(o, &w->groups[i], steal, report);
	for_each_suspect(s, &o->suspects)
		if (w && s->starved)
			add_starved_finding(o, s, report);
}

void overview_wait_findings(const struct overview_window *o, struct report *report)
{
	struct overview_steal steal = overview_steal(o);

	add_noise_finding(o, &steal, NULL);
	add_victims_finding(o, &steal, report);
}

void overview_findings(const struct overview_window *o, struct overview_steal *steal,
		       struct report *report)
{
	add_noise_finding(o, steal, report);
	add_victims_finding(o, steal, report);
	if (o->runq)
		runq_note_unknown(o->runq, report);
}
