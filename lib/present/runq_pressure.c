/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of pressure: wall time with waiting tasks by cause, and the kernel's PSI. */
#include "present/runq.h"

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
	TABLE("pressure", "wall time in which somebody waited for a core, with all below",
	      pressure_columns, .rank = "waiting_ns");

#define LOSS(member, key) COLUMN(struct runq_pressure_losses, M_##key##_total, member),
static const struct column_spec loss_columns[] = {RUNQ_PRESSURE_LOSSES(LOSS)};
const struct table_spec runq_pressure_losses_table =
	TABLE("quality", NULL, loss_columns, .optional = true);

void runq_report_pressure(const struct runq_window *w, struct report *report)
{
	struct table *table =
		columns_table(report, &runq_pressure_table, w->has_names ? WITH_NAMES : 0);

	/* Text shows names where there are any. */
	if (table)
		table->cols[0].data_only = w->has_names;
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

		columns_row(table, &row);
	}
	columns_set(report, &runq_pressure_losses_table, 0, &w->pressure_losses);
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
