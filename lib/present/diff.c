/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the windows of two files, figure by figure, for each CPU or cgroup. */
#include "present/diff.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stats/compare.h"

/* Probability that all confidence intervals together contain the true values (Bonferroni). */
#define CONFIDENCE  0.95
#define MAX_FIGURES 16
#define MAX_NAMES   5

enum kind {
	SHARE,
	TIME,
	RATE,
	CYCLES,
	NR_KINDS,
};

struct figure {
	const char *key; /* key of the figure in the JSON output of the command */
	enum kind kind;
	bool sum; /* sum over a window: add_table() divides the value by the length of the window */
};

static const struct figure load_figures[] = {
	{"busy_ratio", SHARE, false},		 {"task_ratio", SHARE, false},
	{"hardirq_ratio", SHARE, false},	 {"softirq_on_idle_ratio", SHARE, false},
	{"softirq_on_task_ratio", SHARE, false}, {"ksoftirqd_ratio", SHARE, false},
	{"idle_loop_ratio", SHARE, false},	 {"steal_ratio", SHARE, false},
	{0},
};
static const struct figure runq_figures[] = {
	{"count", RATE, true},
	{"sum_ns", SHARE, true},
	{"avg_ns", TIME, false},
	{"p50_ns", TIME, false},
	{"p90_ns", TIME, false},
	{"p99_ns", TIME, false},
	{"max_ns", TIME, false},
	{"causes.idle_exit_ns", SHARE, true},
	{"causes.same_group_ns", SHARE, true},
	{"causes.other_group_ns", SHARE, true},
	{"causes.kernel_thread_ns", SHARE, true},
	{"causes.preempted_ns", SHARE, true},
	{"causes.throttled_ns", SHARE, true},
	{"causes.migrated_ns", SHARE, true},
	{0},
};
static const struct figure noise_figures[] = {
	{"noise_ratio", SHARE, false},	 {"hardirq_ratio", SHARE, false},
	{"softirqs_ratio", SHARE, false}, {"kthread_ratio", SHARE, false},
	{"events_hz", RATE, false},	 {"max_ns", TIME, false},
	{0},
};
static const struct figure wake_figures[] = {
	{"median_ns", TIME, false},
	{"mean_ns", TIME, false},
	{"p99_ns", TIME, false},
	{"max_ns", TIME, false},
	{0},
};

static const struct figure point_figures[] = {{"latency_ns", TIME, false}, {0}};
static const struct figure crit_figures[] = {{"batch", TIME, false}, {"median", TIME, false}, {0}};

/* Commands whose output can be compared. */
static const struct subject {
	const char *command, *tables[2];
	const char *names[MAX_NAMES]; /* keys that identify a row; empty for runq, see row_name() */
	const struct figure *figures;
	const char *samples; /* word for samples in notes, such as "windows" */
	bool ranges;	     /* KEY is a mean over rounds with the range KEY_low to KEY_high */
} subjects[] = {
	{"load", {"cpus", "all"}, {"cpu"}, load_figures, "windows", false},
	{"runq", {"groups"}, {NULL}, runq_figures, "windows", false},
	{"noise", {"cores"}, {"cpu"}, noise_figures, "windows", false},
	{"wake", {"states"}, {"cpu", "source", "preference", "forced", "name"}, wake_figures, "windows", false},
	{"wake.points", {"points"}, {"cpu", "source", "preference", "forced", "name"}, point_figures, "points", false},
	{"crit", {"ops"}, {"op"}, crit_figures, "rounds", true},
};

/* Figures of a CPU, cgroup, idle state or operation in the two compared files. */
struct item {
	char *name;
	struct moments figures[MAX_FIGURES][2];
};

struct diff {
	const struct subject *subject;
	bool cycles; /* true if all times are in cycles instead of ns */
	void *by_name;	       /* tsearch(3) tree that owns the elements of @items */
	struct item **items;   /* items in the order of their first rows in the two files */
	size_t nr_items;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

/*
 * Writes the name of a row: "CPU 0", "/app", "CPU 0 timer C1" or, for a task, "make 4711". Rows of
 * runq without a pid are named by the first column of the table.
 */
static void row_name(const struct subject *subject, const struct table *table, size_t row,
		     char *buf, size_t size)
{
	static const char *const task[MAX_NAMES] = {"comm", "pid"};
	const char *first[MAX_NAMES] = {table->nr_cols ? table->cols[0].key : NULL};
	const char *const *names = subject->names;
	size_t used = 0;

	if (!names[0])
		names = table_find(table, "pid") < 0 ? first : task;
	buf[0] = '\0';
	for (int i = 0; i < MAX_NAMES && names[i] && used < size; i++) {
		const struct value *value = table_get(table, row, names[i]);
		const char *blank = used ? " " : "";

		if (value->kind == VALUE_STR)
			used += snprintf(buf + used, size - used, "%s%s", blank, value->str);
		else if (value->kind != VALUE_NULL)
			used += snprintf(buf + used, size - used, "%s%s%.0f", blank,
					 strcmp(names[i], "cpu") ? "" : "CPU ",
					 value_number(value));
	}
}

static void item_free(void *arg)
{
	struct item *item = arg;

	free(item->name);
	free(item);
}

/* Finds or adds the item with @name. Returns NULL if out of memory. */
static struct item *item_get(struct diff *diff, char *name)
{
	struct item **found = tfind(&(struct item){.name = name}, &diff->by_name, by_name),
		     *item;

	if (found)
		return *found;
	item = calloc(1, sizeof(*item));
	if (!item)
		return NULL;
	item->name = strdup(name);
	if (!item->name || !tsearch(item, &diff->by_name, by_name)) {
		item_free(item);
		return NULL;
	}
	return array_push(diff->items, diff->nr_items, item) ? NULL : item;
}

static double scale(const struct figure *figure, uint64_t window_ns)
{
	if (!figure->sum)
		return 1.0;
	return figure->kind == RATE ? 1e9 / (double)window_ns : 1.0 / (double)window_ns;
}

/* Adds the mean and the range of one run to @to. Ignores a range that does not contain the mean. */
static void add_range(struct moments *to, const struct report *window, const struct table *table,
		      size_t row, const char *key)
{
	double rounds = table_number(window->fields, 0, "rounds"), mean = table_number(table, row, key);
	char low[32], high[32];
	double min, max;

	snprintf(low, sizeof(low), "%s_low", key);
	snprintf(high, sizeof(high), "%s_high", key);
	min = table_number(table, row, low);
	max = table_number(table, row, high);
	if (!(rounds >= 1.0 && rounds < 1e9 && min <= mean && mean <= max))
		return;
	to->min = to->count ? fmin(to->min, min) : min;
	to->max = to->count ? fmax(to->max, max) : max;
	to->count += (uint64_t)rounds;
	to->mean += (mean - to->mean) * rounds / (double)to->count;
}

static int add_table(struct diff *diff, const struct report *window, const struct table *table,
		     int side)
{
	const struct figure *figures = diff->subject->figures;
	char name[4096];

	for (size_t row = 0; table && row < table->nr_rows; row++) {
		struct item *item;

		row_name(diff->subject, table, row, name, sizeof(name));
		item = item_get(diff, name);
		if (!item)
			return -ENOMEM;
		for (int i = 0; figures[i].key; i++) {
			double value = table_number(table, row, figures[i].key) *
				       scale(&figures[i], window->window_ns);

			if (diff->subject->ranges)
				add_range(&item->figures[i][side], window, table, row,
					  figures[i].key);
			else if (isfinite(value))
				moments_add(&item->figures[i][side], value);
		}
	}
	return 0;
}

static int add_side(struct diff *diff, const struct diff_side *from, int side)
{
	const struct subject *subject = diff->subject;
	int rc = 0;

	array_for_each(window, from->windows, from->nr)
		for (int t = 0; !rc && t < 2 && subject->tables[t]; t++)
			rc = add_table(diff, *window, report_find(*window, subject->tables[t]),
				       side);
	return rc;
}

/* If a file lacks a figure, the values of the figure are unknown, not 0. */
static bool has_figure(const struct diff *diff, int figure, int side)
{
	array_for_each(item, diff->items, diff->nr_items)
		if ((*item)->figures[figure][side].count)
			return true;
	return false;
}

/* Adds zeros for windows without a row: in runq, a cgroup without waits has no row. */
static void add_zeros(struct diff *diff, size_t windows, int side)
{
	const struct figure *figures = diff->subject->figures;

	for (int f = 0; figures[f].key; f++) {
		if (!figures[f].sum || !has_figure(diff, f, side))
			continue;
		array_for_each(item, diff->items, diff->nr_items)
			while ((*item)->figures[f][side].count < windows)
				moments_add(&(*item)->figures[f][side], 0.0);
	}
}

struct diff_row {
	const char *name, *figure;
	double before, after;
	struct unpaired found;
	int8_t changed;
};

#define ROW(id, member, ...) COLUMN(struct diff_row, id, member, __VA_ARGS__)
#define ROW_COLUMNS(unit)                                         \
	{                                                         \
		ROW(M_DIFF_NAME, name),                           \
		ROW(M_DIFF_FIGURE, figure),                       \
		ROW(M_DIFF_BEFORE_##unit, before),                \
		ROW(M_DIFF_AFTER_##unit, after),                  \
		ROW(M_DIFF_CHANGE, found.ratio),                  \
		ROW(M_DIFF_LOW, found.low),                       \
		ROW(M_DIFF_HIGH, found.high),                     \
		ROW(M_DIFF_CHANGED, changed),                     \
	}
static const struct column_spec share_columns[] = ROW_COLUMNS(RATIO);
static const struct column_spec time_columns[] = ROW_COLUMNS(NS);
static const struct column_spec rate_columns[] = ROW_COLUMNS(HZ);
static const struct column_spec cycle_columns[] = ROW_COLUMNS(CYCLES);
static const struct table_spec kind_tables[NR_KINDS] = {
	[SHARE] = TABLE("shares", "share of the time", share_columns),
	[TIME] = TABLE("times", "time", time_columns),
	[RATE] = TABLE("rates", "per second", rate_columns),
	[CYCLES] = TABLE("cycles", "cycles", cycle_columns),
};

struct diff_fields {
	const char *command, *before_file, *after_file;
	uint64_t before_windows, after_windows, compared, changed;
	double confidence;
};

static const struct column_spec field_columns[] = {
	COLUMN(struct diff_fields, M_COMMAND, command),
	COLUMN(struct diff_fields, M_DIFF_BEFORE_FILE, before_file),
	COLUMN(struct diff_fields, M_DIFF_AFTER_FILE, after_file),
	COLUMN(struct diff_fields, M_DIFF_BEFORE_WINDOWS, before_windows),
	COLUMN(struct diff_fields, M_DIFF_AFTER_WINDOWS, after_windows),
	COLUMN(struct diff_fields, M_DIFF_COMPARED, compared),
	COLUMN(struct diff_fields, M_DIFF_CHANGED_TOTAL, changed),
	COLUMN(struct diff_fields, M_DIFF_CONFIDENCE, confidence),
};
static const struct table_spec fields_table = TABLE("", NULL, field_columns);

const struct table_spec *const diff_tables[] = {
	&fields_table, &kind_tables[SHARE], &kind_tables[TIME], &kind_tables[RATE],
	&kind_tables[CYCLES], NULL,
};

/* Sorts changed figures first, and larger changes first. A figure in only one file ranks first. */
static int by_change(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	double x_size = isnan(x->found.ratio) ? HUGE_VAL : fabs(log1p(x->found.ratio));
	double y_size = isnan(y->found.ratio) ? HUGE_VAL : fabs(log1p(y->found.ratio));

	return CMP(y->changed, x->changed) ?: CMP(y_size, x_size) ?: strcmp(x->name, y->name)
						?: strcmp(x->figure, y->figure);
}

static bool is_nothing(const struct moments both[2])
{
	return (!both[0].count || both[0].max <= 0.0) && (!both[1].count || both[1].max <= 0.0);
}

static unsigned int least(const struct diff *diff)
{
	return diff->subject->ranges ? UNPAIRED_MIN_ROUNDS : UNPAIRED_MIN;
}

static bool enough(const struct diff *diff, const struct moments both[2])
{
	return both[0].count >= least(diff) && both[1].count >= least(diff);
}

static enum kind kind_of(const struct diff *diff, const struct figure *figure)
{
	return diff->cycles ? CYCLES : figure->kind;
}

static size_t fill_rows(const struct diff *diff, double confidence, struct diff_row *rows,
			enum kind kind, uint64_t *changed)
{
	const struct figure *figures = diff->subject->figures;
	size_t nr = 0;

	array_for_each(item, diff->items, diff->nr_items)
		for (int f = 0; figures[f].key; f++) {
			const struct moments *both = (*item)->figures[f];
			struct unpaired found;

			if (kind_of(diff, &figures[f]) != kind || is_nothing(both))
				continue;
			found = diff->subject->ranges
					? unpaired_ranges(&both[0], &both[1])
					: unpaired_compare(&both[0], &both[1], confidence);
			rows[nr] = (struct diff_row){
				.name = (*item)->name,
				.figure = figures[f].key,
				.before = both[0].count ? both[0].mean : NAN,
				.after = both[1].count ? both[1].mean : NAN,
				.found = found,
				.changed = enough(diff, both) ? found.changed : -1,
			};
			*changed += rows[nr++].changed == 1;
		}
	qsort(rows, nr, sizeof(*rows), by_change);
	return nr;
}

static uint64_t count_compared(const struct diff *diff)
{
	uint64_t nr = 0;

	array_for_each(item, diff->items, diff->nr_items)
		for (int f = 0; diff->subject->figures[f].key; f++)
			nr += enough(diff, (*item)->figures[f]) && !is_nothing((*item)->figures[f]);
	return nr;
}

static bool has_losses(const struct diff_side *side)
{
	array_for_each(window, side->windows, side->nr) {
		const struct table *quality = (*window)->quality;

		for (size_t col = 0; col < quality->nr_cols; col++)
			if (quality->cols[col].metric->unit == UNIT_COUNT &&
			    value_number(table_cell(quality, 0, col)) > 0.0)
				return true;
	}
	return false;
}

static void add_notes(const struct diff *diff, const struct diff_side sides[2],
		      const struct diff_fields *fields, struct report *report)
{
	const char *before = sides[0].windows[0]->source, *after = sides[1].windows[0]->source;

	if (!fields->compared)
		report_note(report,
			    "a file has fewer than %u %s, so it is unknown which figures changed",
			    least(diff), diff->subject->samples);
	else
		report_note(report,
			    "%llu of %llu figures changed; all intervals together contain the true "
			    "changes "
			    "with a probability of %g %%, if %s are independent of each other",
			    (unsigned long long)fields->changed,
			    (unsigned long long)fields->compared, 100.0 * CONFIDENCE,
			    diff->subject->samples);
	if (before && after && strcmp(before, after))
		report_note(report, "%s was measured by source %s, %s by source %s", sides[0].file,
			    before, sides[1].file, after);
	/* Skip crit, because the counts in its table "quality" are not losses. */
	for (int i = 0; i < 2 && !diff->subject->ranges; i++)
		if (has_losses(&sides[i]))
			report_note(report,
				    "windows of %s have losses: the key quality in this file "
				    "counts the losses",
				    sides[i].file);
}

static void build(const struct diff *diff, const struct diff_side sides[2], bool all,
		  struct report *report)
{
	struct diff_fields fields = {
		.command = diff->subject->command,
		.before_file = sides[0].file,
		.after_file = sides[1].file,
		.before_windows = sides[0].nr,
		.after_windows = sides[1].nr,
		.compared = count_compared(diff),
	};
	struct diff_row *rows = calloc(diff->nr_items + 1, MAX_FIGURES * sizeof(*rows));
	double confidence = 1.0 - (1.0 - CONFIDENCE) / (double)(fields.compared + !fields.compared);
	int8_t shown = fields.compared ? 1 : -1;

	if (!rows) {
		report->failed = true;
		return;
	}
	for (int kind = 0; kind < NR_KINDS; kind++) {
		size_t nr = fill_rows(diff, confidence, rows, kind, &fields.changed);
		bool show = all ? kind != CYCLES || diff->cycles : nr && rows[0].changed == shown;
		struct table *table = show ? columns_table(report, &kind_tables[kind], 0) : NULL;

		for (size_t row = 0; table && row < nr && (all || rows[row].changed == shown); row++)
			columns_row(table, &rows[row]);
	}
	fields.confidence = fields.compared ? CONFIDENCE : NAN;
	columns_set(report, &fields_table, 0, &fields);
	add_notes(diff, sides, &fields, report);
	free(rows);
}

static int check_side(const struct diff_side *side, const char *command, struct err *err)
{
	array_for_each(window, side->windows, side->nr) {
		const char *own = (*window)->command;

		if (strcmp(own, command))
			return err_set(err, -EINVAL, "%s is output of %s, not of %s", side->file,
				       own, command);
		if (!(*window)->window_ns)
			return err_set(err, -EINVAL, "%s has a window of 0 ns", side->file);
	}
	return 0;
}

/* Returns an error if the top-level key @key has different values in the two files. */
static int check_same(const struct diff_side sides[2], const char *key, struct err *err)
{
	const struct table *before = sides[0].windows[0]->fields, *after = sides[1].windows[0]->fields;
	const struct value *a = table_get(before, 0, key), *b = table_get(after, 0, key);

	if (a->kind == VALUE_STR ? b->kind == VALUE_STR && !strcmp(a->str, b->str)
				 : a->kind == b->kind && a->flag == b->flag)
		return 0;
	return err_set(err, -EINVAL, "%s and %s differ in %s: they cannot be compared", sides[0].file,
		       sides[1].file, key);
}

static int choose(const struct diff_side sides[2], struct diff *diff, struct err *err)
{
	const char *command = sides[0].windows[0]->command, *unit;
	int rc;

	array_for_each(subject, subjects, ARRAY_SIZE(subjects))
		if (!strcmp(subject->command, command))
			diff->subject = subject;
	if (!diff->subject)
		return err_set(err, -EINVAL,
			       "%s is output of %s: only load, runq, noise, wake and crit can be "
			       "compared",
			       sides[0].file, command);
	rc = check_side(&sides[0], command, err) ?: check_side(&sides[1], command, err);
	if (rc || !diff->subject->ranges)
		return rc;
	unit = table_str(sides[0].windows[0]->fields, 0, "unit");
	diff->cycles = unit && !strcmp(unit, "cycles");
	return check_same(sides, "engine", err) ?: check_same(sides, "do_work", err);
}

int diff_report(const struct diff_side sides[2], bool all, struct report **ret_report,
		struct err *err)
{
	const struct report *last = sides[1].windows[sides[1].nr - 1];
	struct report *report = NULL;
	struct diff diff = {0};
	uint64_t window_ns = 0;
	int rc = choose(sides, &diff, err);

	if (rc)
		return rc;
	rc = add_side(&diff, &sides[0], 0) ?: add_side(&diff, &sides[1], 1);
	array_for_each(window, sides[1].windows, sides[1].nr)
		window_ns += (*window)->window_ns;
	if (!rc)
		report = report_begin("diff", last->time_unix_ns, window_ns, last->source);
	if (report) {
		add_zeros(&diff, sides[0].nr, 0);
		add_zeros(&diff, sides[1].nr, 1);
		build(&diff, sides, all, report);
	}
	tdestroy(diff.by_name, item_free);
	free(diff.items);
	rc = report_finish(report, ret_report);
	return rc ? err_set(err, rc, "out of memory") : 0;
}
