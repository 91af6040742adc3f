/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Adds findings about cgroups that ran on the core while the victim waited, with settings that
 * help.
 */
#include "present/overview_rules.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Maximum number of competing cgroups (struct competitor) of one victim. */
#define COMPETITORS 32
/* Competitor of the victim's cgroup: a single culprit, or all culprits below a common ancestor. */
struct competitor {
	const struct runq_party *party; /* culprit for which the victim waited longest */
	size_t len; /* length of the competitor's path, or 0 for an ancestor of the victim */
	size_t nr;  /* number of culprits that form the competitor */
	bool jobs;  /* true if each culprit is the cgroup of one short-lived process */
	/* Time that the victim waited for tasks of the culprits, except real-time tasks. */
	uint64_t wait_ns;
	struct task_sums sums;
};

/*
 * Length of the path of the cgroup that competes with @other for CPU time: the child of the deepest
 * common ancestor that contains @path. Returns 0 if @path is @other or an ancestor of @other.
 */
static size_t competitor_len(const char *path, const char *other)
{
	size_t i = 0, common = 0;

	for (; path[i] && path[i] == other[i]; i++)
		if (path[i] == '/')
			common = i;
	if (!path[i] && (i <= 1 || other[i] == '/' || !other[i]))
		return 0;
	/*
	 * @other is an ancestor of @path, so tasks of @other compete with the children of @other.
	 */
	if (path[i] == '/' && !other[i])
		common = i;
	return common + 1 + strcspn(path + common + 1, "/");
}

static const struct settings_level *competitor_level(const struct overview_window *o,
						     const char *path, const char *other)
{
	size_t len = competitor_len(path, other);

	return len ? level_of(o, path, len) : NULL;
}

/*
 * Formats a cgroup's weight as a setting: the highest weight if @first is true, otherwise the
 * lowest weight. The cgroup is @path or the ancestor of @path that competes with @other. If the
 * weight of this cgroup cannot be changed, @setting becomes "".
 */
static void set_weight(const struct overview_window *o, const char *path, const char *other,
		       bool first, char setting[FINDING_TEXT])
{
	const struct settings_level *level = competitor_level(o, path, other);
	const char *most = strchr(weight_setting(o, true, false), '=') + 1;
	/* The kernel refuses to set the weight of a cgroup whose cpu.idle is 1. */
	bool can = level && level->idle != 1 &&
		   (first ? level->weight > 0 && level->weight < atoi(most)
			  : level->idle == 0 || level->weight > 2);

	setting[0] = '\0';
	if (can)
		finding_format(setting, FINDING_TEXT, "%s%.*s/%s", o->mounts.cpu, (int)level->len,
			       path, weight_setting(o, first, level->idle == 0));
}

void set_yield(const struct victim *v, const char *culprit, char setting[FINDING_TEXT])
{
	set_weight(v->o, culprit, v->path, false, setting);
}

/*
 * True if the process of task @s has at least 9/10 of the wake-ups in the victim's cgroup. A
 * process with almost all wake-ups of its cgroup is a service that waits for its own children.
 */
static bool is_only_process(const struct victim *v, const struct suspect *s)
{
	uint64_t all = 0, own = 0;

	for_each_task(t, v->o, v->path)
	{
		all += t->sleeps;
		own += t->tgid == s->tgid ? t->sleeps : 0;
	}
	return all && 10 * own >= 9 * all;
}

void add_short_lived_finding(const struct victim *v, const struct task_sums *sums, const char *of,
			     uint64_t wait_ns, uint64_t lost_ns, uint64_t ranked_ns,
			     struct report *report)
{
	const struct suspect *gone = sums->exited, *parent = sums->parent;
	struct finding f = victim_finding(v, RULE(SHORT_LIVED), lost_ns, wait_ns);
	double hz = exited_hz(v->o, sums);
	char rate[96], by[FINDING_NAME] = "";

	finding_set(f.culprit, "%s: %s", of, gone->name);
	if (parent)
		snprintf(by, sizeof(by), ", started by %s (PID %u%s),", parent->name, parent->pid,
			 sums->parents > 1 ? " and others" : "");
	set_yield(v, sums->path, f.setting);
	if (!f.setting[0] && !sums->group)
		set_weight(v->o, v->path, sums->path, true, f.setting);
	if (!sums->group)
		f.next = "start them in one cgroup, and set its cpu.idle to 1";
	else if (!f.setting[0] && parent && !strcmp(sums->path, "/") &&
		 !(v->process && v->process->tgid == parent->tgid))
		move_command(v, parent->pid, false, NULL, f.command);
	else if (!f.setting[0] && parent && parent->policy != SCHED_IDLE &&
		 !is_only_process(v, parent))
		finding_set(f.command, "chrt -i -p 0 %u", parent->pid);
	else if (!f.setting[0])
		set_weight(v->o, v->path, sums->path, true, f.setting);
	wait_text(v, report, &f, rate, sizeof(rate));
	f.lost_ns = ranked_ns;
	findings_add(report, &f,
		     "short-lived processes of %s (%.*f %s per second)%s make %s wait: %s", of,
		     hz < 1.0, hz, gone->name, by, v->who, rate);
}

/*
 * True if all tasks of the cgroup of @sums have exited. A cgroup without live tasks probably
 * existed only for its exited tasks.
 */
static bool is_gone(const struct task_sums *sums)
{
	return sums->exited && !sums->top;
}

/* Name of the exited processes in a culprit cgroup that has no live task, or NULL. */
static const char *job_name(const struct victim *v)
{
	struct task_sums sums;

	for (size_t i = 0; i < v->nr_rows; i++) {
		if (!is_victim(v, &v->rows[i]) || v->rows[i].culprit.kind != RUNQ_PARTY_GROUP)
			continue;
		sum_tasks(v->o, v->rows[i].culprit.group, &sums);
		if (is_gone(&sums))
			return sums.exited->name;
	}
	return NULL;
}

/* True if the cgroup was created for one process, which has exited or has the name @name. */
static bool is_job(const struct task_sums *sums, const char *name)
{
	return is_gone(sums) || (name && sums->top && has_name(sums->top, name) &&
				 sums->top_ns == sums->ns && !sums->exited);
}

/* True if the cgroup @path is one of the culprits that form competitor @r. */
static bool counts_in(const struct competitor *r, const char *path, size_t len, bool job)
{
	const char *other = runq_party_path(r->party);

	if (r->jobs && job)
		return true;
	return len ? r->len == len && !strncmp(other, path, len) : !r->len && !strcmp(other, path);
}

static int by_wait(const void *a, const void *b)
{
	return CMP(((const struct competitor *)b)->wait_ns,
		   ((const struct competitor *)a)->wait_ns);
}

static size_t find_competitors(const struct victim *v, struct competitor competitors[COMPETITORS])
{
	const char *name = job_name(v);
	size_t nr = 0;

	array_for_each(row, v->rows, v->nr_rows) {
		const char *path = runq_party_path(&row->culprit);
		size_t len = competitor_len(path, v->path), j = 0;
		struct task_sums sums;
		bool job;

		if (!is_victim(v, row) || row->culprit.kind != RUNQ_PARTY_GROUP ||
		    row->culprit.group == row->victim.group)
			continue;
		sum_tasks(v->o, row->culprit.group, &sums);
		job = is_job(&sums, name);
		while (j < nr && !counts_in(&competitors[j], path, len, job))
			j++;
		if (j == COMPETITORS)
			continue;
		if (j == nr)
			competitors[nr++] = (struct competitor){
				.party = &row->culprit, .len = len, .jobs = job};
		competitors[j].nr++;
		competitors[j].wait_ns += wait_part(row->wait_ns, &sums, sums.ns + sums.exited_ns);
		task_sums_add(&competitors[j].sums, &sums);
		/*
		 * If each short-lived process has its own cgroup, the root may be the only common
		 * ancestor of the cgroups.
		 */
		if (competitors[j].len != len ||
		    strncmp(runq_party_path(competitors[j].party), path, len)) {
			competitors[j].len = 0;
			competitors[j].sums.path = "/";
		}
	}
	qsort(competitors, nr, sizeof(*competitors), by_wait);
	return nr;
}

static bool delays(const struct victim *v, const struct runq_group *one,
		   const struct runq_group *other)
{
	for (size_t i = 0; i < v->nr_rows; i++)
		if (v->rows[i].culprit.group == one && v->rows[i].victim.group == other)
			return true;
	return false;
}

/*
 * True if the culprit uses little CPU time: less than 1/4 of the victim's CPU time, or less than
 * 4/5 if the victim delays the culprit. The victim delays a culprit with little CPU time more than
 * the culprit delays the victim.
 */
static bool is_modest(const struct victim *v, const struct competitor *r,
		      const struct task_sums *sums)
{
	double ns = (double)(sums->ns + sums->exited_ns), own_ns = (double)task_sums_ns(&v->sums);

	return v->o->suspects.nr &&
	       (4 * ns < own_ns ||
		(5 * ns < 4 * own_ns && delays(v, v->group->party.group, r->party->group)));
}

/* True if the competing cgroup already has the lowest priority, by cpu.idle or SCHED_IDLE. */
static bool yields(const struct victim *v, const struct competitor *r)
{
	const struct settings_level *level =
		competitor_level(v->o, runq_party_path(r->party), v->path);

	return (level && level->idle == 1) || (r->sums.top && r->sums.top->policy == SCHED_IDLE);
}

/*
 * True if the culprit uses more than 1.5 times the CPU time of the victim. A culprit with at most
 * 1.5 times the victim's CPU time shares the core fairly, so the victim's waits after preemptions
 * by this culprit are normal.
 */
static bool takes_more(const struct victim *v, const struct task_sums *sums)
{
	return 2 * (sums->ns + sums->exited_ns) > 3 * task_sums_ns(&v->sums);
}

/*
 * Formats the name of a competing cgroup for a sentence: the cgroup of the single culprit, or the
 * common ancestor of several culprits.
 */
static void name_competitor(const struct victim *v, const struct competitor *r,
			    char name[FINDING_NAME])
{
	const char *path = runq_party_path(r->party);
	char buf[32];

	if (r->nr == 1)
		finding_format(name, FINDING_NAME, "%s",
			       runq_party_name(v->o->runq->per, r->party, buf));
	else if (r->len)
		finding_format(name, FINDING_NAME, "%.*s (%zu cgroups)", (int)r->len, path, r->nr);
	else
		finding_format(name, FINDING_NAME, "%zu cgroups such as %s", r->nr, path);
}

/*
 * Formats one command that lowers the priority of all competing cgroups; "" if the text is too
 * long.
 */
static void yield_all(const struct victim *v, const struct competitor *competitors, size_t nr,
		      char command[FINDING_TEXT])
{
	char setting[FINDING_TEXT];

	for (size_t i = 0; i < nr; i++) {
		set_yield(v, runq_party_path(competitors[i].party), setting);
		if (!finding_add_setting(command, setting)) {
			command[0] = '\0';
			return;
		}
	}
}

/*
 * Formats a text about the weights of cgroup @path and of the victim, if the weight of @path is at
 * least twice the weight of the victim.
 */
static const char *heavier_text(const struct victim *v, const char *path, char *buf, size_t size)
{
	const struct settings_level *own = competitor_level(v->o, v->path, path);
	const struct settings_level *competitor = competitor_level(v->o, path, v->path);

	buf[0] = '\0';
	if (own && competitor && own->weight > 0 && competitor->weight >= 2 * own->weight)
		snprintf(buf, size, "; %s of %.*s is %d, of %.*s only %d",
			 v->o->mounts.v1 ? "cpu.shares" : "cpu.weight", (int)competitor->len, path,
			 competitor->weight, (int)own->len, v->path, own->weight);
	return buf;
}

/*
 * If the weight of the victim's cgroup is below the default, adds the default weight to the advice
 * that lowers the priority of culprit @path. Even a culprit with cpu.idle 1 would delay a victim of
 * low weight.
 */
static void restore_weight(const struct victim *v, const char *path, struct finding *f)
{
	const struct settings_level *own = competitor_level(v->o, v->path, path);
	char setting[FINDING_TEXT];

	if (!own || own->weight <= 0 || own->weight >= default_weight(v->o) ||
	    (f->setting[0] && !finding_add_setting(f->command, f->setting)))
		return;
	f->setting[0] = '\0';
	finding_format(setting, FINDING_TEXT, "%s%.*s/%s=%d", v->o->mounts.cpu, (int)own->len,
		       v->path, v->o->mounts.v1 ? "cpu.shares" : "cpu.weight",
		       default_weight(v->o));
	finding_add_setting(f->command, setting);
}

/* Adds advice about one competing cgroup if no cgroup setting can lower its priority. */
static void advise(const struct victim *v, const struct competitor *r, struct finding *f)
{
	const char *path = runq_party_path(r->party);

	if (yields(v, r)) {
		f->next = "the culprit has cpu.idle or SCHED_IDLE already: give it other CPUs with "
			  "taskset or cpuset.cpus, or run less of it";
		return;
	}
	/*
	 * A task directly in an ancestor of the victim's cgroup has its own weight, and competes
	 * with the child cgroups of the ancestor. In the root cgroup, tasks compete in groups of
	 * one session (autogroups).
	 */
	yield_busy(v, &r->sums, RULE_MOST, f->command);
	if (!f->command[0])
		set_weight(v->o, v->path, path, true, f->setting);
}

/*
 * Adds one finding about the first @nr of @competitors. If @nr is above 1, each of the @nr
 * competitors must have a cgroup setting that lowers its priority.
 */
static void add_competitors_finding(const struct victim *v, const struct competitor *competitors,
				    size_t nr, struct report *report)
{
	const char *path = runq_party_path(competitors[0].party);
	struct task_sums sums = {0};
	uint64_t wait_ns = 0, lost;
	struct finding f;
	char rate[96], name[FINDING_NAME], busy[FINDING_NAME], heavier[2 * FINDING_NAME];
	char second[FINDING_NAME], more[FINDING_NAME + 8] = "";
	bool root = !strcmp(path, "/"), jobs;

	for (size_t i = 0; i < nr; i++) {
		wait_ns += competitors[i].wait_ns;
		task_sums_add(&sums, &competitors[i].sums);
	}
	/* A culprit that uses more CPU time also delays short-lived processes of the victim. */
	lost = (uint64_t)((double)wait_ns * v->weight *
			  (takes_more(v, &sums) ? (v->delayed + v->rested) / v->forked
						: v->delayed));
	f = victim_finding(v, RULE(NEIGHBOUR), lost, wait_ns);
	name_competitor(v, &competitors[0], name);
	if ((double)wait_ns < v->least_ns || is_modest(v, &competitors[0], &sums) ||
	    !findings_due(report, RULE(NEIGHBOUR), lost))
		return;
	/*
	 * Add no finding if victim and culprits are cgroups of short-lived processes. Each new
	 * process begins with a wait, so waits of short-lived processes for each other are normal.
	 */
	if (competitors[0].jobs && is_job(&v->sums, job_name(v)))
		return;
	jobs = competitors[0].jobs && competitors[0].nr > 1 && sums.exited;
	if (nr == 1 && (jobs || is_short_lived(v->o, &sums))) {
		add_short_lived_finding(v, &sums, name, wait_ns, lost, lost, report);
		return;
	}
	finding_set(f.culprit, "%s", path);
	if (nr == 2) {
		name_competitor(v, &competitors[1], second);
		finding_set(more, " and %s", second);
	} else if (nr > 2) {
		finding_set(more, " and %zu other cgroups", nr - 1);
	}
	if (nr > 1)
		yield_all(v, competitors, nr, f.command);
	else
		set_yield(v, path, f.setting);
	if (f.command[0] || f.setting[0])
		restore_weight(v, path, &f);
	else if (nr > 1)
		set_weight(v->o, v->path, path, true, f.setting);
	else
		advise(v, &competitors[0], &f);
	ask_overview(v, &f);
	if (!competitors[0].len && sums.top)
		finding_set(f.culprit, "%s: %s", path, sums.top->name);
	wait_text(v, report, &f, rate, sizeof(rate));
	if (yields(v, &competitors[0]))
		f.lost_ns = (uint64_t)(RULE_LIGHT * (double)lost);
	findings_add(report, &f, "%s%s%s make%s %s wait: %s%s%s", root ? "tasks of " : "", name,
		     more, root || nr > 1 ? "" : "s", v->who, rate,
		     task_sums_text(v->o, &sums, busy, sizeof(busy)),
		     heavier_text(v, path, heavier, sizeof(heavier)));
}

/* Adds one finding if cpu.idle of the victim's cgroup is 1. Returns true if cpu.idle is 1. */
static bool add_victim_idle_finding(const struct victim *v, const struct competitor *competitors,
				    size_t nr, struct report *report)
{
	const char *path = runq_party_path(competitors[0].party);
	const struct settings_level *own = competitor_level(v->o, v->path, path);
	uint64_t wait_ns = 0;
	struct finding f;
	char rate[96];

	if (!own || own->idle != 1)
		return false;
	for (size_t i = 0; i < nr; i++)
		wait_ns += competitors[i].wait_ns;
	f = victim_finding(v, RULE(VICTIM_IDLE),
			   (uint64_t)((double)wait_ns * v->weight * (v->delayed + v->rested)),
			   wait_ns);
	finding_set(f.culprit, "%s", path);
	finding_set(f.setting, "%s%.*s/cpu.idle=0", v->o->mounts.cpu, (int)own->len, v->path);
	wait_text(v, report, &f, rate, sizeof(rate));
	findings_add(report, &f, "%s waits for %s because cpu.idle of %.*s is 1: %s", v->who, path,
		     (int)own->len, v->path, rate);
	return true;
}

/* True if a cgroup setting can lower the priority of the competing cgroup. */
static bool can_yield(const struct victim *v, const struct competitor *r)
{
	char setting[FINDING_TEXT];

	set_yield(v, runq_party_path(r->party), setting);
	return setting[0] && !is_short_lived(v->o, &r->sums);
}

/*
 * True if a lower priority of competitor @first alone would not help, because competitor @r would
 * still delay the victim. If @first is CPU-bound and @r is not, @r does not use the CPU time that
 * @first loses.
 */
static bool replaces(const struct victim *v, const struct competitor *r,
		     const struct competitor *first)
{
	bool bound = is_cpu_bound(r->sums.ns, r->sums.sleeps);

	if (!can_yield(v, r) || !can_yield(v, first) ||
	    (!bound && is_cpu_bound(first->sums.ns, first->sums.sleeps)))
		return false;
	return 2 * r->wait_ns >= first->wait_ns || (bound && 2 * r->sums.ns >= first->sums.ns);
}

/* True if the busiest tasks of @one and @other may use the same CPU. */
static bool share_cpu(const struct task_sums *one, const struct task_sums *other)
{
	struct cpuset both = one->top ? one->top->allowed : (struct cpuset){0};

	cpuset_and(&both, other->top ? &other->top->allowed : &(struct cpuset){0});
	return cpuset_count(&both) > 0;
}

/*
 * Appends to @competitors each CPU-bound cgroup that may use the victim's CPUs, but did not delay
 * the victim in this window.
 */
static size_t add_others(const struct victim *v, struct competitor competitors[COMPETITORS],
			 size_t nr)
{
	const struct runq_window *w = v->o->runq;
	const char *name = job_name(v);

	for (size_t i = 0; i < w->nr_groups && nr < COMPETITORS; i++) {
		const struct runq_party *party = &w->groups[i].party;
		struct competitor r = {.party = party, .nr = 1};
		const char *path = runq_party_path(party);
		size_t j = 0;

		/*
		 * Groups are sorted by wait time, longest first. A cgroup with little wait time
		 * does not compete with the victim for a CPU.
		 */
		if ((double)w->groups[i].sum_ns < RULE_WAITS * (double)w->window_ns)
			break;
		r.len = competitor_len(path, v->path);
		if (party->kind != RUNQ_PARTY_GROUP || !r.len)
			continue;
		sum_tasks(v->o, party->group, &r.sums);
		while (j < nr && !counts_in(&competitors[j], path, r.len, is_job(&r.sums, name)))
			j++;
		if (j == nr && is_cpu_bound(r.sums.ns, r.sums.sleeps) &&
		    share_cpu(&r.sums, &v->sums))
			competitors[nr++] = r;
	}
	return nr;
}

/*
 * Adds one finding about the competitor that causes the most wait time and all competitors for
 * which replaces() is true. Adds a separate finding about each remaining competitor.
 */
void add_neighbours_finding(const struct victim *v, struct report *report)
{
	struct competitor competitors[COMPETITORS];
	size_t nr = find_competitors(v, competitors), same = 1;

	if (!nr || add_victim_idle_finding(v, competitors, nr, report))
		return;
	nr = add_others(v, competitors, nr);
	for (size_t i = 1; i < nr; i++)
		if (replaces(v, &competitors[i], &competitors[0])) {
			struct competitor keep = competitors[same];

			competitors[same++] = competitors[i];
			competitors[i] = keep;
		}
	add_competitors_finding(v, competitors, same, report);
	for (size_t i = same; i < nr; i++)
		add_competitors_finding(v, &competitors[i], 1, report);
}
