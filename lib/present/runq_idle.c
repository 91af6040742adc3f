/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of waits for idle cores, and the latency limit that would avoid them. */
#include "present/runq.h"

#include "base/clock.h"

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

#define LOSS(member, key) COLUMN(struct runq_window, M_##key##_total, member),
static const struct column_spec loss_columns[] = {RUNQ_IDLE_LOSSES(LOSS)};
const struct table_spec runq_idle_losses_table =
	TABLE("quality", NULL, loss_columns, .optional = true);

void runq_report_idle(const struct runq_window *w, struct report *report)
{
	struct table *table = columns_table(report, &runq_idle_table, 0);

	for (size_t i = 0; i < w->nr_idle_states; i++) {
		const struct runq_idle_state *s = &w->idle_states[i];
		struct idle_row row = {
			.cgroup = runq_party_path(&s->party),
			.s = *s,
			.avg_ns = (double)s->wait_ns / (double)s->count,
		};

		columns_row(table, &row);
	}
	columns_set(report, &runq_idle_losses_table, 0, w);
}

/* Wait time of all groups for cores to leave the state of @like. */
static uint64_t idle_wait(const struct runq_window *w, const struct runq_idle_state *like,
			  uint64_t *ret_count)
{
	uint64_t wait_ns = 0;

	*ret_count = 0;
	for (size_t i = 0; i < w->nr_idle_states; i++)
		if (w->idle_states[i].index == like->index) {
			wait_ns += w->idle_states[i].wait_ns;
			*ret_count += w->idle_states[i].count;
		}
	return wait_ns;
}

/*
 * Names the latency limit that would avoid the longest waits. cpuidle enters no state that claims
 * more than the limit, so a limit cannot avoid a state that claims less than 1 us or nothing.
 */
void runq_report_advice(const struct runq_window *w, struct report *report)
{
	const struct runq_idle_state *worst = NULL;
	uint64_t most = 0, count = 0, nr;

	for (size_t i = 0; i < w->nr_idle_states; i++) {
		const struct runq_idle_state *s = &w->idle_states[i];
		uint64_t wait_ns = idle_wait(w, s, &nr);

		if (s->claimed_ns == UINT64_MAX || s->claimed_ns < NSEC_PER_USEC || wait_ns <= most)
			continue;
		worst = s;
		most = wait_ns;
		count = nr;
	}
	if (!worst)
		return;
	report_note(
		report,
		"%llu waits of %.3f ms in all were for cores to leave %s, which claims %llu us; "
		"a latency limit of %llu us keeps cores out of it: hold it in "
		"/dev/cpu_dma_latency, or write it to power/pm_qos_resume_latency_us of single "
		"CPUs; that costs energy",
		(unsigned long long)count, (double)most / 1e6, worst->name,
		(unsigned long long)(worst->claimed_ns / NSEC_PER_USEC),
		(unsigned long long)(worst->claimed_ns / NSEC_PER_USEC - 1));
}
