/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report parts of `subtick runq` with --idle-states, --avoidable and --pressure. */
#include "present/runq.h"

#include <stdio.h>

#include "base/clock.h"
#include "present/wake.h"
#include "report/findings.h"

struct idle_row {
	const char *cgroup;
	struct runq_idle_state s;
	double avg_ns;
};

static const struct column_spec idle_columns[] = {
	COLUMN(struct idle_row, M_CGROUP, cgroup),
	COLUMN(struct idle_row, M_WAKE_INDEX, s.index, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct idle_row, M_WAKE_NAME, s.name),
	COLUMN(struct idle_row, M_WAKE_CLAIMED_NS, s.claimed_ns),
	COLUMN(struct idle_row, M_WAIT_NS, s.wait_ns),
	COLUMN(struct idle_row, M_COUNT, s.count),
	COLUMN(struct idle_row, M_AVG_NS, avg_ns, .flags = COLUMN_ROUND),
};
const struct table_spec runq_idle_table =
	TABLE("idle_states", "waits for a core to leave its idle state", idle_columns,
	      .rank = "wait_ns");

void runq_report_idle(const struct runq_window *w, struct report *report)
{
	struct table *table = columns_table(report, &runq_idle_table, 0);

	array_for_each(s, w->idle_states, w->nr_idle_states) {
		double avg_ns = (double)s->wait_ns / (double)s->count;

		columns_row(table, &(struct idle_row){runq_party_path(&s->party), *s, avg_ns});
	}
}

/* Sums the waits for cores to leave idle state @like->index, over all groups. */
static struct runq_idle_state sum_state(const struct runq_window *w,
					const struct runq_idle_state *like)
{
	struct runq_idle_state sum = *like;

	sum.wait_ns = sum.count = 0;
	array_for_each(state, w->idle_states, w->nr_idle_states)
		if (state->index == like->index) {
			sum.wait_ns += state->wait_ns;
			sum.count += state->count;
		}
	return sum;
}

/*
 * Adds a note with the limit of the exit latency (PM QoS) that avoids the idle state with the
 * longest waits. cpuidle enters no state whose exit latency is above the limit. The limit is a
 * whole number of us, so no limit can exclude an idle state with an exit latency below 1 us.
 */
void runq_report_advice(const struct runq_window *w, struct report *report)
{
	struct runq_idle_state worst = {0};
	char value[24];

	array_for_each(state, w->idle_states, w->nr_idle_states) {
		struct runq_idle_state sum = sum_state(w, state);

		if (sum.claimed_ns != UINT64_MAX && sum.claimed_ns >= NSEC_PER_USEC &&
		    sum.wait_ns > worst.wait_ns)
			worst = sum;
	}
	if (!worst.wait_ns)
		return;
	report_note(report,
		    "%llu waits (%.3f ms in total) were for cores that woke from idle state %s, "
		    "which claims %llu us; a latency limit of %llu us prevents this state: a "
		    "process holds /dev/cpu_dma_latency open with the limit, or write %s to "
		    "power/pm_qos_resume_latency_us of single CPUs; the limit costs energy",
		    (unsigned long long)worst.count, (double)worst.wait_ns / 1e6, worst.name,
		    (unsigned long long)(worst.claimed_ns / NSEC_PER_USEC),
		    (unsigned long long)(worst.claimed_ns / NSEC_PER_USEC - 1),
		    wake_limit_value(worst.claimed_ns - NSEC_PER_USEC, value));
}

/* Minimum wait time of a group for a finding, as a share of the window. */
#define LEAST 0.01

/* Minimum of (upper bound - lower bound) ÷ upper bound of the avoidable wait time for a note. */
#define WIDE 0.01

static const struct finding_rule avoidable = {
	"avoidable", "placement", LEAST,
	"run subtick trace to see each wait and the idle CPU; "
	"/sys/kernel/debug/sched/migration_cost_ns "
	"and the sched_domain flags control when the kernel moves a waiting task"};
static const struct finding_rule excluded = {"excluded", "affinity", LEAST,
					     "find the limit in taskset -acp PID or in "
					     "cpuset.cpus.effective of the cgroup, and allow more "
					     "CPUs with taskset -acp LIST PID or cpuset.cpus"};

static const char *cpu_words(uint32_t cpu, char *buf, size_t size)
{
	if (cpu == UINT32_MAX)
		return "a CPU";
	snprintf(buf, size, "CPU %u", cpu);
	return buf;
}

static void add_parts(const struct runq_window *w, const struct runq_group_window *group,
		      const struct finding_rule *rule, uint64_t lost_ns, uint32_t cpu,
		      const char *why, struct report *report)
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
	array_for_each(group, w->groups, w->has_avoidable ? w->nr_groups : 0) {
		if (group->avoidable_ns == UINT64_MAX)
			continue;
		add_parts(w, group, &avoidable, group->avoidable_ns, group->idle_cpu, "it may use",
			  report);
		add_parts(w, group, &excluded, group->excluded_ns, group->excluded_cpu,
			  "its affinity or cpuset excludes", report);
	}
}

void runq_report_avoidable(const struct runq_window *w, struct report *report)
{
	const struct runq_group_window *widest = NULL;
	uint64_t most = 0;
	char buf[32];

	array_for_each(group, w->groups, w->nr_groups) {
		uint64_t width = group->avoidable_most_ns - group->avoidable_ns;

		if (width > most && (double)width > WIDE * (double)group->avoidable_most_ns) {
			widest = group;
			most = width;
		}
	}
	if (widest)
		report_note(report,
			    "the avoidable waits of %s are between %.3g and %.3g ms: some waits "
			    "have only bounds, because they overlap throttling by quota, the "
			    "allowed CPUs changed, or more than 8 sets of allowed CPUs are in use",
			    runq_party_name(w->per, &widest->party, buf),
			    (double)widest->avoidable_ns / 1e6,
			    (double)widest->avoidable_most_ns / 1e6);
}

struct pressure_row {
	const char *cgroup, *name;
	uint64_t waiting_ns, stalled_ns;
	struct runq_pressed pressed;
};

#define CAUSE(id, of, cause, ...) \
	COLUMN(struct pressure_row, id, pressed.times.of[RUNQ_PRESSURE_##cause], __VA_ARGS__)

#define WITH_NAMES 1

static const struct column_spec pressure_columns[] = {
	COLUMN(struct pressure_row, M_CGROUP, cgroup),
	COLUMN(struct pressure_row, M_SHOWN, name, .when = WITH_NAMES),
	COLUMN(struct pressure_row, M_WAITING_NS, waiting_ns),
	CAUSE(M_WAITING_CONTENTION_NS, waiting_ns, CONTENTION),
	CAUSE(M_WAITING_KTHREAD_NS, waiting_ns, KTHREAD),
	CAUSE(M_WAITING_IDLE_NS, waiting_ns, IDLE),
	CAUSE(M_WAITING_QUOTA_NS, waiting_ns, QUOTA),
	COLUMN(struct pressure_row, M_STALLED_NS, stalled_ns),
	CAUSE(M_STALLED_CONTENTION_NS, stalled_ns, CONTENTION, .flags = COLUMN_DATA_ONLY),
	CAUSE(M_STALLED_KTHREAD_NS, stalled_ns, KTHREAD, .flags = COLUMN_DATA_ONLY),
	CAUSE(M_STALLED_IDLE_NS, stalled_ns, IDLE, .flags = COLUMN_DATA_ONLY),
	CAUSE(M_STALLED_QUOTA_NS, stalled_ns, QUOTA, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct pressure_row, M_PSI_WAITING_NS, pressed.psi_waiting_ns),
	COLUMN(struct pressure_row, M_PSI_STALLED_NS, pressed.psi_stalled_ns),
};
const struct table_spec runq_pressure_table =
	TABLE("pressure", "wall time in which a task waited for a core, with all below",
	      pressure_columns, .rank = "waiting_ns");

void runq_report_pressure(const struct runq_window *w, struct report *report)
{
	struct table *table =
		columns_table(report, &runq_pressure_table, w->has_names ? WITH_NAMES : 0);

	/* Text output shows names of pods instead of cgroup paths. */
	if (table)
		table->cols[0].data_only = w->has_names;
	array_for_each(p, w->pressed, w->nr_pressed) {
		struct runq_party party = {.kind = RUNQ_PARTY_GROUP, .group = p->group};
		char name[32];

		columns_row(table, &(struct pressure_row){
					   p->group->path,
					   runq_party_name(w->per, &party, name),
					   runq_pressure_sum(p->times.waiting_ns),
					   runq_pressure_sum(p->times.stalled_ns),
					   *p,
				   });
	}
}

void runq_report_pressure_notes(const struct runq_window *w, struct report *report)
{
	if (w->psi_err)
		report_note(report, "the kernel's PSI is unavailable: %s; fix: %s",
			    w->psi_err->what, w->psi_err->fix);
	else if (!w->psi_of_cgroups)
		report_note(report, "the kernel's PSI of cgroups is unavailable: %s",
			    w->hierarchy == RUNQ_HIERARCHY_V1
				    ? "cgroup v1 has no PSI; fix: --hierarchy v2, if tasks are in "
				      "cgroups of v2"
				    : "subtick serve reads only the PSI of the machine; subtick "
				      "runq --pressure shows the PSI of cgroups");
}
