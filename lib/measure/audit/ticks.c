/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit ticks: the time between two changes of the figures, and the tick that it betrays. */
#include "measure/audit/audit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/flood.h"
#include "gen/cpu_mix.h"
#include "measure/audit/watch.h"

#define BIN_NS	  100000
#define NR_BINS	  401 /* up to 40 ms */
#define MAX_PEAKS 24
#define PEAK_MIN  0.01
#define SETTLE_NS (100 * NSEC_PER_MSEC)

enum load {
	LOAD_TWO_MODES,
	LOAD_WITH_IDLE,
	LOAD_SOFTIRQS,
	NR_LOADS
};

static const char *const load_names[NR_LOADS] = {"user+system", "user+idle", "user+softirq"};

/* Which columns are watched under which load; the first two are the paper's figures. */
static const struct {
	enum load load;
	uint32_t cols;
	const char *modes;
} sets[] = {
	{LOAD_TWO_MODES, AUDIT_BUSY_COLS, "user, nice, system"},
	{LOAD_TWO_MODES, AUDIT_ALL_COLS, "all"},
	{LOAD_WITH_IDLE, AUDIT_BUSY_COLS, "user, nice, system"},
	{LOAD_WITH_IDLE, AUDIT_ALL_COLS, "all"},
	{LOAD_SOFTIRQS, AUDIT_IRQ_COLS, "irq, softirq"},
};

#define NR_SETS (sizeof(sets) / sizeof(sets[0]))

struct ticks {
	const struct audit_opts *opts;
	const struct audit_env *env;
	struct audit_findings *findings;
	struct counter_edges edge_sets[NR_SETS];
	struct audit_watch watch[NR_LOADS];
	struct err skipped; /* why the softirq load did not run */
	bool stopped;
};

struct loads {
	struct cpu_mix first, second;
	struct flood flood;
};

static int loads_start(struct loads *loads, enum load load, int cpu, struct err *err)
{
	struct flood_opts flood = {
		.send_cpu = audit_other_cpu(cpu), .recv_cpu = cpu, .burst = 24, .pause_ns = 60000};
	int rc;

	if (load == LOAD_SOFTIRQS && flood.send_cpu < 0)
		return err_unsupported(err, -ENODEV, "run it on a machine with two cores",
				       "packets for one core must come from another");
	rc = cpu_mix_start(&loads->first, load == LOAD_WITH_IDLE ? CPU_MIX_IDLE : CPU_MIX_USER, cpu, err);
	if (!rc && load == LOAD_TWO_MODES)
		rc = cpu_mix_start(&loads->second, CPU_MIX_SYSTEM, cpu, err);
	if (!rc && load == LOAD_SOFTIRQS)
		rc = flood_start(&loads->flood, &flood, err);
	return rc;
}

static void loads_stop(struct loads *loads)
{
	cpu_mix_stop(&loads->first);
	cpu_mix_stop(&loads->second);
	flood_stop(&loads->flood);
}

/* All sets of one load come from the same readings. */
static int run_load(struct ticks *t, enum load load, uint64_t length_ns, struct err *err)
{
	struct loads loads = {0};
	size_t first = NR_SETS, nr = 0;
	int rc;

	for (size_t i = 0; i < NR_SETS; i++) {
		if (sets[i].load != load)
			continue;
		first = i < first ? i : first;
		nr++;
	}
	audit_progress(t->env, "ticks: %s", load_names[load]);
	rc = loads_start(&loads, load, (int)t->opts->cpu, err);
	if (!rc)
		t->stopped = audit_wait(t->env, clock_mono_ns() + SETTLE_NS);
	if (!rc && !t->stopped)
		rc = audit_watch(t->opts->cpu, length_ns, load != LOAD_SOFTIRQS, &t->edge_sets[first],
				 nr, t->env, &t->watch[load], err);
	if (!rc && !gen_child_on(&loads.first.child, (int)t->opts->cpu))
		rc = audit_no_load(err, t->opts->cpu);
	t->stopped |= t->watch[load].stopped;
	loads_stop(&loads);
	return rc;
}

static void take_irq(struct audit_findings *f, const struct counter_edges *irq)
{
	/* Too few say nothing: 32 random stamps have a coherence of about 0.18. */
	f->irq_known = f->tick_known && irq->nr >= PERIOD_MIN_INCREMENTS;
	if (f->irq_known)
		f->irq_coherence = tick_fit_coherence(irq->stamps, irq->nr, (double)f->tick_ns, NULL);
}

static void set_name(size_t set, char *buf, size_t size)
{
	snprintf(buf, size, "%s: %s", load_names[sets[set].load], sets[set].modes);
}

static int bins_of(const struct counter_edges *edges, struct bins *ret_bins)
{
	int rc = bins_init(ret_bins, BIN_NS, NR_BINS);

	if (!rc)
		bins_add_intervals(ret_bins, edges);
	return rc;
}

/* "12.0 ms 24%, 8.0 ms 18%": the three highest. */
static void top_peaks(const struct bins *bins, char *buf, size_t size)
{
	struct bins_peak peaks[MAX_PEAKS];
	size_t nr = bins_peaks(bins, PEAK_MIN, peaks, MAX_PEAKS), len = 0;

	buf[0] = '\0';
	for (int shown = 0; shown < 3; shown++) {
		struct bins_peak *top = NULL;

		for (size_t i = 0; i < nr; i++)
			if (peaks[i].count && (!top || peaks[i].count > top->count))
				top = &peaks[i];
		if (!top)
			break;
		len += snprintf(buf + len, size - len, "%s%.1f ms %.0f%%", shown ? ", " : "",
				top->at_ns / 1e6, top->share * 100.0);
		top->count = 0;
	}
}

static void add_sets(const struct ticks *t, struct report *report)
{
	const struct audit_findings *f = t->findings;
	struct table *table = report_table(report, "sets", "increments of /proc/stat");
	size_t col_set = table_col(table, M_AUDIT_SET);
	size_t col_nr = table_col(table, M_INCREMENTS_TOTAL);
	size_t col_blur = table_col(table, M_BLURRED_TOTAL);
	size_t col_on = table_col(table, M_COHERENCE_RATIO);
	size_t col_top = table_col(table, M_TOP_PEAKS), col_hz = table_col(table, M_READ_HZ);
	size_t col_read = table_col(table, M_READ_NS), col_cost = table_col(table, M_READER_RATIO);
	char name[96];

	for (size_t i = 0; i < NR_SETS; i++) {
		const struct audit_watch *w = &t->watch[sets[i].load];
		const struct counter_edges *edges = &t->edge_sets[i];
		struct bins bins;
		size_t row;

		if (!w->reads || !w->wall_ns)
			continue;
		row = table_row(table);
		set_name(i, name, sizeof(name));
		value_str(table_cell(table, row, col_set), name);
		value_u64(table_cell(table, row, col_nr), edges->nr);
		value_u64(table_cell(table, row, col_blur), edges->blurred);
		if (f->tick_known && edges->nr)
			value_f64(
				table_cell(table, row, col_on),
				tick_fit_coherence(edges->stamps, edges->nr, (double)f->tick_ns, NULL));
		if (!bins_of(edges, &bins)) {
			top_peaks(&bins, name, sizeof(name));
			value_str(table_cell(table, row, col_top), name);
			bins_free(&bins);
		}
		value_f64(table_cell(table, row, col_hz),
			  (double)w->reads * 1e9 / (double)w->wall_ns);
		value_f64(table_cell(table, row, col_read), (double)w->read_ns / (double)w->reads);
		value_f64(table_cell(table, row, col_cost), (double)w->cpu_ns / (double)w->wall_ns);
	}
}

struct interval_tables {
	struct table *peaks, *bins;
};

static struct interval_tables interval_tables(struct report *report)
{
	struct interval_tables t = {
		.peaks = report_table(report, "peaks", "peaks of the time between increments"),
		.bins = report_table(report, "intervals", "time between increments"),
	};

	table_col(t.peaks, M_AUDIT_SET);
	table_col(t.peaks, M_INTERVAL_NS);
	table_col(t.peaks, M_INTERVAL_TICKS);
	table_col(t.peaks, M_COUNT);
	table_col(t.peaks, M_SHARE_RATIO);
	table_col(t.bins, M_AUDIT_SET);
	table_col(t.bins, M_INTERVAL_NS);
	table_col(t.bins, M_INTERVAL_END_NS);
	table_col(t.bins, M_COUNT);
	if (t.bins && t.peaks)
		t.bins->text_hidden = t.peaks->text_hidden = true;
	return t;
}

static void add_peaks(const struct ticks *t, struct table *table, const char *name,
		      const struct bins *bins)
{
	struct bins_peak peaks[MAX_PEAKS];
	size_t nr = bins_peaks(bins, PEAK_MIN, peaks, MAX_PEAKS);

	for (size_t i = 0; i < nr; i++) {
		size_t row = table_row(table);

		value_str(table_cell(table, row, 0), name);
		value_u64(table_cell(table, row, 1), (uint64_t)peaks[i].at_ns);
		if (t->findings->tick_known)
			value_f64(table_cell(table, row, 2),
				  peaks[i].at_ns / (double)t->findings->tick_ns);
		value_u64(table_cell(table, row, 3), peaks[i].count);
		value_f64(table_cell(table, row, 4), peaks[i].share);
	}
}

static void add_bins(struct table *table, const char *name, const struct bins *bins)
{
	for (size_t i = 0; i < bins->nr; i++) {
		uint64_t middle = i * bins->width_ns, half = bins->width_ns / 2;
		size_t row;

		if (!bins->count[i])
			continue;
		row = table_row(table);
		value_str(table_cell(table, row, 0), name);
		value_u64(table_cell(table, row, 1), middle > half ? middle - half : 0);
		value_u64(table_cell(table, row, 2), middle + half);
		value_u64(table_cell(table, row, 3), bins->count[i]);
	}
	/* Longer ones have no upper edge, which is null, but they are not lost. */
	if (bins->above) {
		size_t row = table_row(table);

		value_str(table_cell(table, row, 0), name);
		value_u64(table_cell(table, row, 1),
			  bins->nr * bins->width_ns - bins->width_ns / 2);
		value_u64(table_cell(table, row, 3), bins->above);
	}
}

static int add_intervals(const struct ticks *t, struct report *report)
{
	struct interval_tables tables = interval_tables(report);
	char name[64];

	for (size_t i = 0; i < NR_SETS; i++) {
		struct bins bins;

		if (!t->edge_sets[i].nr_intervals)
			continue;
		if (bins_of(&t->edge_sets[i], &bins))
			return -ENOMEM;
		set_name(i, name, sizeof(name));
		add_peaks(t, tables.peaks, name, &bins);
		add_bins(tables.bins, name, &bins);
		bins_free(&bins);
	}
	return 0;
}

static void add_quality(const struct ticks *t, struct report *report)
{
	uint64_t blurred = 0;

	/* Sets of one load are of the same readings: counted once, in the one that saw most. */
	for (int load = 0; load < NR_LOADS; load++) {
		uint64_t most = 0;

		for (size_t i = 0; i < NR_SETS; i++)
			if (sets[i].load == (enum load)load && t->edge_sets[i].blurred > most)
				most = t->edge_sets[i].blurred;
		blurred += most;
	}
	value_u64(report_quality(report, M_BLURRED_TOTAL), blurred);
}

static void add_notes(const struct ticks *t, struct report *report)
{
	const struct audit_findings *f = t->findings;

	if (f->tick_known && f->hz == f->user_hz)
		report_note(report,
			    "tick and unit are both 1/%u s, or the load's modes did not mix: "
			    "a shorter tick would show as peaks below 10 ms",
			    f->hz);
	else if (f->tick_known)
		report_note(
			report,
			"user, nice and system move on a tick of 1/%u s, and are shown in units "
			"of 1/%u s: %s",
			f->hz, f->user_hz,
			f->hz % f->user_hz
				? "a unit is no whole number of ticks, so their increments "
				  "alternate"
				: "a unit is a whole number of ticks, the peak of a steady load");
	else if (f->tick_unclear)
		report_note(report, "no tick was found, which says nothing: %s", f->tick_unclear);
	else
		report_note(report, "increments of user, nice and system fall on no tick");
	if (f->irq_known)
		report_note(report, "irq and softirq move %s",
			    f->irq_coherence >= AUDIT_ON_TICK
				    ? "on the same tick: they are samples too"
				    : "between ticks: this kernel measures interrupts");
	if (t->skipped.code)
		report_note(report, "irq and softirq columns were not tried: %s%s%s",
			    t->skipped.what, t->skipped.fix[0] ? "; fix: " : "", t->skipped.fix);
	if (t->stopped)
		report_note(report, "stopped early");
}

int audit_ticks(const struct audit_opts *opts, const struct audit_env *env,
		struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct ticks t = {.opts = opts, .env = env, .findings = findings};
	uint64_t budget = opts->budget_ns ?: (opts->brief ? 7 : 20) * NSEC_PER_SEC;
	uint64_t begin = clock_mono_ns();
	struct report *report = NULL;
	int rc = 0;

	findings->user_hz = sysconf(_SC_CLK_TCK);
	for (size_t i = 0; i < NR_SETS; i++)
		counter_edges_init(&t.edge_sets[i], sets[i].cols);
	for (int load = 0; load < NR_LOADS && !rc && !t.stopped; load++) {
		struct err why = {0};

		rc = run_load(&t, load, budget / NR_LOADS, &why);
		/* Packets need more than the rest does; without them the rest still stands. */
		if (rc && load == LOAD_SOFTIRQS) {
			t.skipped = why;
			rc = 0;
		} else if (rc && err) {
			*err = why;
		}
		if (!rc && load == LOAD_TWO_MODES)
			audit_take_tick(findings, &t.edge_sets[0], &t.watch[LOAD_TWO_MODES]);
	}
	if (!rc) {
		take_irq(findings, &t.edge_sets[NR_SETS - 1]);
		report = audit_report("ticks", opts, findings, begin);
		if (report) {
			report_source(report, "procstat");
			add_sets(&t, report);
			if (add_intervals(&t, report))
				report->failed = true;
			add_quality(&t, report);
			add_notes(&t, report);
		}
		rc = audit_report_done(report, ret_report, err);
	}
	for (size_t i = 0; i < NR_SETS; i++)
		counter_edges_free(&t.edge_sets[i]);
	return rc;
}
