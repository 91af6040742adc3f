/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of pressure: how long somebody waited, why, and what the kernel says of it. */
#include "present/runq.h"

#include "report/columns.h"

struct pressure_row {
	const char *cgroup, *name;
	uint64_t waiting_ns, stalled_ns;
	struct runq_pressed pressed;
};

#define CAUSE(id, of, cause, ...) \
	COLUMN(struct pressure_row, id, pressed.times.of[RUNQ_PRESSURE_##cause], __VA_ARGS__)

/* Where pods have names, people read those. */
static const struct column_spec path_cols[] = {
	COLUMN(struct pressure_row, M_CGROUP, cgroup),
};

static const struct column_spec name_cols[] = {
	COLUMN(struct pressure_row, M_CGROUP, cgroup, .flags = COLUMN_DATA_ONLY),
	COLUMN(struct pressure_row, M_SHOWN, name),
};

static const struct column_spec time_cols[] = {
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

void runq_report_pressure(const struct runq_window *w, struct report *report)
{
	struct table *table =
		report_table(report, "pressure",
			     "wall time in which somebody waited for a core, with all below");
	size_t at;

	if (w->has_names)
		columns_add(table, COLUMNS(name_cols));
	else
		columns_add(table, COLUMNS(path_cols));
	at = columns_add(table, COLUMNS(time_cols));
	for (size_t i = 0; i < w->nr_pressed; i++) {
		const struct runq_pressed *p = &w->pressed[i];
		struct runq_party party = {.kind = RUNQ_PARTY_GROUP, .group = p->group};
		char name[32];
		struct pressure_row row = {
			.cgroup = p->group->path,
			.name = runq_party_name(w->per, &party, name),
			.waiting_ns = runq_pressure_sum(p->times.waiting_ns),
			.stalled_ns = runq_pressure_sum(p->times.stalled_ns),
			.pressed = *p,
		};
		size_t nr = w->has_names ? columns_row(table, COLUMNS(name_cols), &row)
					 : columns_row(table, COLUMNS(path_cols), &row);

		columns_fill(table, nr, at, COLUMNS(time_cols), &row);
	}
	value_u64(report_quality(report, M_PRESSURE_FULL_TOTAL), w->pressure_losses.full);
	value_u64(report_quality(report, M_PRESSURE_SHARED_TOTAL), w->pressure_losses.shared);
	value_u64(report_quality(report, M_PRESSURE_CROWDED_TOTAL), w->pressure_losses.crowded);
	value_u64(report_quality(report, M_PRESSURE_UNSTABLE_TOTAL), w->pressure_unstable);
}

void runq_report_pressure_notes(const struct runq_window *w, struct report *report)
{
	if (w->psi_err)
		report_note(report, "the kernel's PSI is unavailable: %s; fix: %s",
			    w->psi_err->what, w->psi_err->fix);
	else if (!w->psi_of_cgroups)
		report_note(report, "the kernel's PSI of cgroups is unavailable: %s",
			    w->hierarchy == RUNQ_HIERARCHY_V1
				    ? "cgroup v1 has none; fix: --hierarchy v2, if tasks are in "
				      "cgroups there"
				    : "only that of the machine is read here");
}
