/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds the report of `subtick audit ticks`. */
#include "present/audit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "report/metrics.h"

#define BIN_NS	  100000
#define NR_BINS	  401 /* number of bins in the histogram of intervals, up to 40 ms */
#define MAX_PEAKS 24
#define PEAK_MIN  0.01

static const char *const load_names[AUDIT_TICKS_NR_LOADS] = {
	[AUDIT_TICKS_TWO_MODES] = "user and system",
	[AUDIT_TICKS_WITH_IDLE] = "user and idle",
	[AUDIT_TICKS_SOFTIRQS] = "irq and softirq",
};

static const char *const set_names[AUDIT_NR_SETS] = {
	[AUDIT_SET_TWO_MODES_BUSY] = SET_TWO_MODES_BUSY,
	[AUDIT_SET_TWO_MODES_ALL] = SET_TWO_MODES_ALL,
	[AUDIT_SET_WITH_IDLE_BUSY] = SET_WITH_IDLE_BUSY,
	[AUDIT_SET_WITH_IDLE_ALL] = SET_WITH_IDLE_ALL,
	[AUDIT_SET_SOFTIRQS] = SET_SOFTIRQS,
};

static int bins_of(const struct counter_edges *edges, struct bins *ret_bins)
{
	int rc = bins_init(ret_bins, BIN_NS, NR_BINS);

	if (!rc)
		bins_add_intervals(ret_bins, edges);
	return rc;
}

/* Formats the three highest peaks: "12.0 ms 24%, 8.0 ms 18%". */
static void top_peaks(const struct bins *bins, char *buf, size_t size)
{
	struct bins_peak peaks[MAX_PEAKS];
	size_t nr = bins_peaks(bins, PEAK_MIN, peaks, MAX_PEAKS), len = 0;

	buf[0] = '\0';
	for (int shown = 0; shown < 3; shown++) {
		struct bins_peak *top = NULL;

		array_for_each(peak, peaks, nr)
			if (peak->count && (!top || peak->count > top->count))
				top = peak;
		if (!top)
			break;
		len += snprintf(buf + len, size - len, "%s%.1f ms %.0f%%", shown ? ", " : "",
				top->at_ns / 1e6, top->share * 100.0);
		top->count = 0;
	}
}

void audit_ticks_peaks(const struct counter_edges *edges, char *buf, size_t size)
{
	struct bins bins;

	snprintf(buf, size, "not measured");
	if (!edges->nr_intervals || bins_of(edges, &bins))
		return;
	top_peaks(&bins, buf, size);
	bins_free(&bins);
}

struct set_row {
	const char *set;
	uint64_t increments, blurred;
	double coherence;
	char peaks[96];
	double read_hz, read_ns, reader_ratio;
};

static const struct column_spec set_columns[] = {
	COLUMN(struct set_row, M_AUDIT_SET, set),
	COLUMN(struct set_row, M_INCREMENTS_TOTAL, increments),
	COLUMN(struct set_row, M_READER_DELAYED_TOTAL, blurred),
	COLUMN(struct set_row, M_COHERENCE_RATIO, coherence),
	COLUMN(struct set_row, M_TOP_PEAKS, peaks),
	COLUMN(struct set_row, M_READ_HZ, read_hz),
	COLUMN(struct set_row, M_READ_NS, read_ns),
	COLUMN(struct set_row, M_READER_RATIO, reader_ratio),
};
const struct table_spec audit_sets_table = TABLE("sets", "increments of /proc/stat", set_columns);

struct peak_row {
	const char *set;
	uint64_t at_ns;
	double ticks;
	uint64_t count;
	double share;
};

static const struct column_spec peak_columns[] = {
	COLUMN(struct peak_row, M_AUDIT_SET, set),
	COLUMN(struct peak_row, M_INTERVAL_NS, at_ns),
	COLUMN(struct peak_row, M_INTERVAL_TICKS, ticks),
	COLUMN(struct peak_row, M_COUNT, count),
	COLUMN(struct peak_row, M_SHARE_RATIO, share),
};
const struct table_spec audit_peaks_table =
	TABLE("peaks", "peaks of the time between increments", peak_columns, .text_hidden = true);

static void add_peaks(const struct audit_findings *f, struct table *table, const char *set,
		      const struct bins *bins)
{
	struct bins_peak peaks[MAX_PEAKS];
	size_t nr = bins_peaks(bins, PEAK_MIN, peaks, MAX_PEAKS);

	array_for_each(peak, peaks, nr)
		columns_row(table,
			    &(struct peak_row){
				    .set = set,
				    .at_ns = (uint64_t)peak->at_ns,
				    .ticks = f->tick_known ? peak->at_ns / (double)f->tick_ns : NAN,
				    .count = peak->count,
				    .share = peak->share,
			    });
}

struct interval_row {
	const char *set;
	uint64_t from_ns, to_ns, count;
};

static const struct column_spec interval_columns[] = {
	COLUMN(struct interval_row, M_AUDIT_SET, set),
	COLUMN(struct interval_row, M_INTERVAL_NS, from_ns),
	COLUMN(struct interval_row, M_INTERVAL_END_NS, to_ns),
	COLUMN(struct interval_row, M_COUNT, count),
};
const struct table_spec audit_intervals_table =
	TABLE("intervals", "time between increments", interval_columns, .text_hidden = true);

static void add_bins(struct table *table, const char *set, const struct bins *bins)
{
	uint64_t half = bins->width_ns / 2;

	for (size_t i = 0; i < bins->nr; i++) {
		uint64_t middle = i * bins->width_ns, from_ns = middle > half ? middle - half : 0;

		if (bins->count[i])
			columns_row(table, &(struct interval_row){set, from_ns, middle + half,
								  bins->count[i]});
	}
	/* The last row counts the intervals above the last bin, and has no upper bound. */
	if (bins->above)
		columns_row(table, &(struct interval_row){set, bins->nr * bins->width_ns - half,
							  UINT64_MAX, bins->above});
}

static void add_set(const struct audit_watch *w, const struct counter_edges *edges,
		    const struct audit_findings *f, const char *set, const struct bins *bins,
		    struct table *table)
{
	struct set_row row = {
		.set = set,
		.increments = edges->nr,
		.blurred = edges->blurred,
		.coherence = f->tick_known && edges->nr
				     ? tick_fit_coherence(edges->stamps, edges->nr,
							  (double)f->tick_ns, NULL)
				     : NAN,
		.read_hz = (double)w->reads * 1e9 / (double)w->wall_ns,
		.read_ns = (double)w->read_ns / (double)w->reads,
		.reader_ratio = (double)w->cpu_ns / (double)w->wall_ns,
	};

	top_peaks(bins, row.peaks, sizeof(row.peaks));
	columns_row(table, &row);
}

static void add_tables(const struct audit_ticks *t, const struct audit_findings *f,
		       struct report *report)
{
	struct table *sets = columns_table(report, &audit_sets_table, 0);
	struct table *peaks = columns_table(report, &audit_peaks_table, 0);
	struct table *intervals = columns_table(report, &audit_intervals_table, 0);

	for (size_t i = 0; i < AUDIT_NR_SETS && !report->failed; i++) {
		const struct audit_watch *w = &t->watch[audit_ticks_load_of(i)];
		struct bins bins;

		if (!w->reads || !w->wall_ns)
			continue;
		report->failed = bins_of(&t->edges[i], &bins);
		if (report->failed)
			return;
		add_set(w, &t->edges[i], f, set_names[i], &bins, sets);
		add_peaks(f, peaks, set_names[i], &bins);
		add_bins(intervals, set_names[i], &bins);
		bins_free(&bins);
	}
}

static const struct column_spec quality_columns[] = {
	COLUMN(struct counter_edges, M_READER_DELAYED_TOTAL, blurred),
};
const struct table_spec audit_blurred_table =
	TABLE("quality", NULL, quality_columns, .optional = true);

static void add_quality(const struct audit_ticks *t, struct report *report)
{
	struct counter_edges sum = {0};

	/*
	 * All sets of a load count the same reads of /proc/stat, so add the largest count per load.
	 */
	for (enum audit_ticks_load load = 0; load < AUDIT_TICKS_NR_LOADS; load++) {
		uint64_t most = 0;

		for (size_t i = 0; i < AUDIT_NR_SETS; i++)
			if (audit_ticks_load_of(i) == load && t->edges[i].blurred > most)
				most = t->edges[i].blurred;
		sum.blurred += most;
	}
	columns_set(report, &audit_blurred_table, 0, &sum);
}

static void add_notes(const struct audit_ticks *t, const struct audit_findings *f,
		      struct report *report)
{
	if (f->tick_known && f->hz == f->user_hz)
		report_note(
			report,
			"either tick and unit are both 1/%u s, or the load did not mix user and "
			"system time: a shorter tick would show as peaks below 10 ms",
			f->hz);
	else if (f->tick_known)
		report_note(
			report,
			"user, nice and system change on a tick of 1/%u s, in units of 1/%u s: %s",
			f->hz, f->user_hz,
			f->hz % f->user_hz
				? "a unit is not a whole number of ticks, so the intervals "
				  "alternate"
				: "a unit is a whole number of ticks, so a steady load has one "
				  "peak");
	else if (f->tick_unclear)
		report_note(report, "the tick is unknown: %s", f->tick_unclear);
	else if (f->tick_looked)
		report_note(report, "user, nice and system do not change on a tick");
	if (f->irq_known)
		report_note(report, "irq and softirq change %s",
			    f->irq_coherence >= AUDIT_ON_TICK
				    ? "on the same tick: the tick also samples them"
				    : "between ticks: this kernel measures interrupts");
	for (int load = 0; load < AUDIT_TICKS_NR_LOADS; load++) {
		const struct err *why = &t->skipped[load];

		if (why->code)
			report_note(report, "%s were not measured: %s%s%s", load_names[load],
				    why->what, why->fix[0] ? "; fix: " : "", why->fix);
	}
	if (t->alone)
		report_note(report, "there is no other core: the reader ran on the audited core "
				    "and was its load of user and system time");
	if (t->stopped)
		report_note(report, "stopped early");
}

int audit_ticks_report(const struct audit_opts *opts, const struct audit_findings *findings,
		       const struct audit_ticks *ticks, struct report **ret_report, struct err *err)
{
	struct report *report = audit_report("ticks", opts, findings, ticks->window_ns, "procstat");

	if (report) {
		add_tables(ticks, findings, report);
		add_quality(ticks, report);
		add_notes(ticks, findings, report);
	}
	return audit_report_done(report, ret_report, err);
}
