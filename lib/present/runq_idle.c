/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of waits for idle cores, and which latency limit would give that time back. */
#include "present/runq.h"

#include "base/clock.h"
#include "report/columns.h"

struct idle_row {
	const char *cgroup, *name;
	uint32_t index;
	uint64_t claimed_ns, count, wait_ns;
	double avg_ns;
};

static const struct column_spec idle_cols[] = {
	COLUMN(struct idle_row, M_CGROUP, cgroup),
	COLUMN(struct idle_row, M_WAKE_INDEX, index, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct idle_row, M_WAKE_NAME, name),
	COLUMN(struct idle_row, M_WAKE_CLAIMED_NS, claimed_ns),
	COLUMN(struct idle_row, M_WAIT_NS, wait_ns),
	COLUMN(struct idle_row, M_COUNT, count),
	COLUMN(struct idle_row, M_AVG_NS, avg_ns, .flags = COLUMN_ROUND),
};

void runq_report_idle(const struct runq_window *w, struct report *report)
{
	struct table *table =
		report_table(report, "idle_states", "waits for a core to leave its idle state");

	columns_add(table, COLUMNS(idle_cols));
	for (size_t i = 0; i < w->nr_idle_states; i++) {
		const struct runq_idle_state *s = &w->idle_states[i];
		struct idle_row row = {
			.cgroup = runq_party_path(&s->party),
			.name = s->name,
			.index = s->index,
			.claimed_ns = s->claimed_ns,
			.count = s->count,
			.wait_ns = s->wait_ns,
			.avg_ns = (double)s->wait_ns / (double)s->count,
		};

		columns_row(table, COLUMNS(idle_cols), &row);
	}
	value_u64(report_quality(report, M_IDLE_FULL_TOTAL), w->idle_full);
}

/* What all groups together waited for cores to leave that state. */
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
 * Which latency limit would give the time back. cpuidle enters no state that claims more than the
 * limit, so a state without a claim, or with one below 1 us, cannot be avoided by one.
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
