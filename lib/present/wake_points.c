/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the reports of the measured wake-ups (points) and of the latency distribution. */
#include "present/wake.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "stats/hist.h"

struct point_row {
	struct wake_point p;
	uint64_t point;
	double latency_ns, irq_ns;
	uint32_t cpu, index, silent_ns;
	int8_t entered, package;
	const char *source, *name, *order, *rejected, *forced, *preference;
};

static const struct column_spec point_columns[] = {
	COLUMN(struct point_row, M_WAKE_POINT_NR, point),
	COLUMN(struct point_row, M_CPU, cpu),
	COLUMN(struct point_row, M_WAKE_SOURCE, source),
	COLUMN(struct point_row, M_WAKE_LAUNCH_NS, p.launch_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct point_row, M_WAKE_DISTANCE_NS, p.distance_ns),
	COLUMN(struct point_row, M_WAKE_POINT_SILENT_NS, silent_ns),
	COLUMN(struct point_row, M_WAKE_LATENCY_NS, latency_ns, .flags = COLUMN_ROUND),
	COLUMN(struct point_row, M_WAKE_IRQ_NS, irq_ns, .flags = COLUMN_ROUND),
	COLUMN(struct point_row, M_WAKE_EXPIRE_NS, p.expire_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct point_row, M_WAKE_SWITCH_NS, p.switch_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct point_row, M_WAKE_USER_NS, p.user_ns, .flags = COLUMN_EMPTY_IS_NULL),
	COLUMN(struct point_row, M_WAKE_INDEX, index),
	COLUMN(struct point_row, M_WAKE_NAME, name),
	COLUMN(struct point_row, M_WAKE_ORDER, order),
	COLUMN(struct point_row, M_WAKE_REJECT, rejected),
	COLUMN(struct point_row, M_WAKE_FORCED, forced),
	COLUMN(struct point_row, M_WAKE_PREFERENCE, preference),
	COLUMN(struct point_row, M_WAKE_POINT_ENTERED, entered),
	COLUMN(struct point_row, M_WAKE_POINT_PACKAGE, package),
};
static const struct table_spec points_table = TABLE("points", NULL, point_columns);

/* Every idle state with a valid point has a row in w->states. */
static const char *state_name(const struct wake_window *w, const struct wake_cpu *cpu,
			      unsigned int index)
{
	for (size_t i = cpu->first_state; i < cpu->end_state; i++)
		if (w->states[i].index == index)
			return w->states[i].name;
	return NULL;
}

/*
 * Forced idle state or energy preference of a round, or NULL. Only rounds with valid points are in
 * w->states.
 */
static const char *round_name(const struct wake_window *w, const struct wake_cpu *cpu,
			      unsigned int round, bool preference)
{
	for (size_t i = cpu->first_state; i < cpu->end_state && w->nr_rounds > 1; i++) {
		const char *name = preference ? w->states[i].preference : w->states[i].forced;

		if (w->states[i].round == round)
			return name[0] ? name : NULL;
	}
	return NULL;
}

static int8_t tristate(enum wake_entered entered)
{
	return entered == WAKE_ENTERED_UNKNOWN ? -1 : entered == WAKE_ENTERED_YES;
}

static struct point_row point_row(const struct wake_window *w, const struct wake_cpu *cpu,
				  const struct wake_point *p)
{
	bool taken = p->reject == WAKE_TAKEN;

	return (struct point_row){
		.p = *p,
		.point = p - cpu->points,
		.cpu = cpu->cpu,
		.source = wake_source_names[p->source],
		.silent_ns = taken ? p->silent_ns : UINT32_MAX,
		.latency_ns = taken ? p->latency_ns : NAN,
		.irq_ns = p->irq_ns != INT32_MIN ? p->irq_ns : NAN,
		.index = taken ? p->state : UINT32_MAX,
		.name = taken ? state_name(w, cpu, p->state) : NULL,
		.order = taken ? wake_order_names[p->order] : NULL,
		.rejected = taken ? NULL : wake_reject_names[p->reject],
		.forced = round_name(w, cpu, p->round, false),
		.preference = round_name(w, cpu, p->round, true),
		.entered = taken ? tristate(p->entered) : -1,
		.package = tristate(p->package),
	};
}

/* Index of the column of a residency counter, such as c6_ns, pc6_ns or cpuidle_ns. */
static size_t depth_column(struct table *t, const char *name)
{
	char key[16];
	size_t i;
	int at;

	for (i = 0; name[i] && i < sizeof(key) - 4; i++)
		key[i] = tolower((unsigned char)name[i]);
	strcpy(key + i, "_ns");
	at = table_find(t, key);
	return at >= 0 ? (size_t)at : table_col_as(t, M_WAKE_DEPTH_NS, key, name);
}

/* Cores of different types have different residency counters. */
static void add_depth_columns(const struct wake_window *w, struct table *t)
{
	array_for_each(cpu, w->cpus, w->nr_cpus)
		for (unsigned int k = 0; k < cpu->nr_depths; k++)
			depth_column(t, cpu->depth_names[k]);
}

static void fill_depths(struct table *t, size_t row, const struct wake_cpu *cpu, size_t point)
{
	for (unsigned int k = 0; k < cpu->nr_depths; k++) {
		uint32_t ns = cpu->depth_ns[point * cpu->nr_depths + k];

		if (ns != UINT32_MAX)
			value_u64(table_cell(t, row, depth_column(t, cpu->depth_names[k])), ns);
	}
}

struct le_row {
	uint32_t cpu;
	const char *source, *name;
	uint64_t le_ns, count;
};

static const struct column_spec le_columns[] = {
	COLUMN(struct le_row, M_CPU, cpu),
	COLUMN(struct le_row, M_WAKE_SOURCE, source),
	COLUMN(struct le_row, M_WAKE_NAME, name),
	COLUMN(struct le_row, M_BURST_LE_NS, le_ns, .key = "le_ns", .title = "wake latency"),
	COLUMN(struct le_row, M_COUNT, count),
};
static const struct table_spec distribution_table = TABLE("distribution", NULL, le_columns);

/* Filter that selects the points of one curve. */
struct curve {
	const struct wake_cpu *cpu; /* NULL: all cores */
	const char *state;	    /* NULL: all idle states */
	enum wake_source source;    /* WAKE_NR_SOURCES: all sources */
};

static bool in_curve(const struct wake_window *w, const struct wake_cpu *cpu,
		     const struct wake_point *p, const struct curve *c)
{
	const char *name = c->state ? state_name(w, cpu, p->state) : NULL;

	return p->reject == WAKE_TAKEN && (!c->cpu || c->cpu == cpu) &&
	       (c->source == WAKE_NR_SOURCES || c->source == p->source) &&
	       (!c->state || (name && !strcmp(name, c->state)));
}

/* Adds cumulative counts at the upper bounds of the histogram buckets. */
static void add_distribution(const struct wake_window *w, struct table *t, const struct curve *c)
{
	struct le_row row = {
		.cpu = c->cpu ? c->cpu->cpu : UINT32_MAX,
		.source = c->source < WAKE_NR_SOURCES ? wake_source_names[c->source] : NULL,
		.name = c->state};
	uint64_t count[HIST_NR + 1] = {0}, total = 0;

	array_for_each(cpu, w->cpus, w->nr_cpus)
		array_for_each(p, cpu->points, cpu->nr_points)
			if (in_curve(w, cpu, p, c)) {
				count[hist_index(p->latency_ns)]++;
				total++;
			}
	for (unsigned int i = 0; i < HIST_NR && row.count < total; i++) {
		row.count += count[i];
		/* Skip all but the last of the empty buckets before the shortest latency. */
		if (!row.count && !count[i + 1])
			continue;
		row.le_ns = hist_high(i) - 1;
		columns_row(t, &row);
	}
}

/* True if no earlier row of w->states has the same idle state. */
static bool is_first(const struct wake_window *w, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (!strcmp(w->states[i].name, w->states[row].name))
			return false;
	return true;
}

static void add_distributions(const struct wake_window *w, struct report *report)
{
	struct table *t = columns_table(report, &distribution_table, 0);
	bool by_core = w->nr_cpus <= WAKE_PLOT_CORES && __builtin_popcount(w->sources) == 1;

	for (size_t i = 0; i < w->nr_states && w->nr_totals; i++)
		if (is_first(w, i))
			add_distribution(w, t,
					 &(struct curve){NULL, w->states[i].name, WAKE_NR_SOURCES});
	for (enum wake_source source = WAKE_TIMER; source <= WAKE_NIC && !w->nr_totals; source++) {
		if (!wake_has(w->sources, source))
			continue;
		array_for_each(cpu, w->cpus, by_core ? w->nr_cpus : 0)
			add_distribution(w, t, &(struct curve){cpu, NULL, source});
		if (!by_core)
			add_distribution(w, t, &(struct curve){NULL, NULL, source});
	}
}

struct box_row {
	uint32_t index;
	const char *name;
	double latency_ns;
};

static const struct column_spec box_columns[] = {
	COLUMN(struct box_row, M_WAKE_INDEX, index),
	COLUMN(struct box_row, M_WAKE_NAME, name),
	COLUMN(struct box_row, M_WAKE_LATENCY_NS, latency_ns, .flags = COLUMN_ROUND),
};
static const struct table_spec boxes_table = TABLE("boxes", NULL, box_columns);

static void add_boxes(const struct wake_window *w, struct report *report)
{
	struct table *t = columns_table(report, &boxes_table, 0);

	array_for_each(total, w->totals, w->nr_totals) {
		const struct wake_summary *s = &total->summary;
		const double values[] = {s->min_ns, s->p25_ns, s->median_ns, s->p75_ns, s->max_ns};

		array_for_each(ns, values, ARRAY_SIZE(values))
			columns_row(t, &(struct box_row){total->index, total->name, *ns});
	}
}

int wake_report_points(const struct wake_window *w, bool distribution, struct report **ret_report)
{
	struct report *report = report_begin("wake.points", w->time_unix_ns, w->window_ns, NULL);
	struct table *t;

	if (!report)
		return -ENOMEM;
	columns_set(report, &wake_machine_table, 0, &w->machine.machine);
	t = columns_table(report, &points_table, 0);
	add_depth_columns(w, t);
	array_for_each(cpu, w->cpus, report->failed ? 0 : w->nr_cpus)
		array_for_each(p, cpu->points, cpu->nr_points)
			fill_depths(t, columns_row(t, (struct point_row[]){point_row(w, cpu, p)}),
				    cpu, p - cpu->points);
	if (distribution)
		add_distributions(w, report);
	if (distribution && w->nr_totals)
		add_boxes(w, report);
	return report_finish(report, ret_report);
}
