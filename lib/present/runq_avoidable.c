/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Findings and notes about waits while another core was idle. */
#include "present/runq.h"

#include <stdio.h>

#include "report/findings.h"

/* 10 ms of waiting per second, by all tasks of a group together. */
#define LEAST 0.01

/* Distance of the two bounds, as a part of the upper one, from which a note explains it. */
#define WIDE 0.01

static const struct finding_rule avoidable = {
	"avoidable", "placement", LEAST,
	"subtick trace: each wait, the idle CPU, and what placed the task; "
	"/sys/kernel/debug/sched/migration_cost_ns and the sched_domain flags decide when it moves"};
static const struct finding_rule excluded = {
	"excluded", "affinity", LEAST,
	"taskset -acp PID and cpuset.cpus.effective of the cgroup show what excludes it; "
	"taskset -acp LIST PID and cpuset.cpus change it"};

#define LOSS(member, key) COLUMN(struct runq_window, M_##key##_total, member),
static const struct column_spec loss_columns[] = {RUNQ_AVOIDABLE_LOSSES(LOSS)};
const struct table_spec runq_avoidable_losses_table =
	TABLE("quality", NULL, loss_columns, .optional = true);

static const char *cpu_words(uint32_t cpu, char *buf, size_t size)
{
	if (cpu == UINT32_MAX)
		return "a CPU";
	snprintf(buf, size, "CPU %u", cpu);
	return buf;
}

static void say(const struct runq_window *w, const struct runq_group_window *group,
		const struct finding_rule *rule, uint64_t lost_ns, uint32_t cpu, const char *why,
		struct report *report)
{
	struct finding f = finding_of(rule, lost_ns);
	char rate[48], buf[32], core[24];

	if (!findings_due(report, rule, lost_ns))
		return;
	finding_set(f.victim, "%s", runq_party_path(&group->party));
	f.cpu = cpu;
	f.share = (double)lost_ns / (double)group->sum_ns;
	findings_add(report, &f, "%s waits while %s, which %s, is idle: %s",
		     runq_party_name(w->per, &group->party, buf),
		     cpu_words(cpu, core, sizeof(core)), why,
		     findings_rate(report, lost_ns, rate, sizeof(rate)));
}

void runq_avoidable_findings(const struct runq_window *w, struct report *report)
{
	for (size_t i = 0; w->has_avoidable && i < w->nr_groups; i++) {
		const struct runq_group_window *group = &w->groups[i];

		if (group->avoidable_ns == UINT64_MAX)
			continue;
		say(w, group, &avoidable, group->avoidable_ns, group->idle_cpu, "it may use", report);
		say(w, group, &excluded, group->excluded_ns, group->excluded_cpu,
		    "its affinity or cpuset excludes", report);
	}
}

void runq_report_avoidable(const struct runq_window *w, struct report *report)
{
	const struct runq_group_window *widest = NULL;
	uint64_t most = 0;
	char buf[32];

	columns_set(report, &runq_avoidable_losses_table, 0, w);
	for (size_t i = 0; i < w->nr_groups; i++) {
		const struct runq_group_window *group = &w->groups[i];
		uint64_t width = group->avoidable_most_ns - group->avoidable_ns;

		if (width > most && (double)width > WIDE * (double)group->avoidable_most_ns) {
			widest = group;
			most = width;
		}
	}
	if (widest)
		report_note(report,
			    "the avoidable waits of %s are between %.3g and %.3g ms: some of its waits "
			    "have only bounds, because they overlap throttling by quota, their allowed "
			    "CPUs changed, or more than 8 sets of allowed CPUs are in use",
			    runq_party_name(w->per, &widest->party, buf),
			    (double)widest->avoidable_ns / 1e6,
			    (double)widest->avoidable_most_ns / 1e6);
}
