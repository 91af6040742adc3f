/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plots of `subtick audit --plot` and `--paper`, and the columns that the plots show. */
#include "view/svg/plots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/metrics.h"
#include "view/view.h"

#define PLOT(s, ...)                                         \
	{                                                    \
		.series = s, .nr_series = ARRAY_SIZE(s), __VA_ARGS__ \
	}

#define INTERVALS(set_name)                                                                   \
	{                                                                                     \
		.table = "intervals", .where = "set", .equals = set_name, .x = "interval_ns", \
		.x_end = "interval_end_ns", .y = "count", .mark = SVG_BARS                    \
	}

static const struct svg_series two_modes[] = {INTERVALS(SET_TWO_MODES_BUSY)};
static const struct svg_series with_idle[] = {INTERVALS(SET_WITH_IDLE_ALL)};
static const struct svg_series irqs[] = {INTERVALS(SET_SOFTIRQS)};

static const struct svg_plot ticks[] = {
	PLOT(two_modes,
	     .title = "Time between increments: user, nice, system; user and system load",
	     .y_label = "increments"),
	PLOT(with_idle, .title = "Time between increments: all columns; user load and idle",
	     .y_label = "increments"),
	PLOT(irqs, .title = "Time between increments: irq, softirq; user load and packets",
	     .y_label = "increments"),
};

/* Series with one curve per timer slack. */
#define DELAY(column, name, ...)                                                                  \
	{                                                                                         \
		.table = "delays", .x = "delay_ns", .y = column, .label = name, .mark = SVG_LINE, \
		.split = "slack_ns", __VA_ARGS__                                                  \
	}

static const struct svg_series run_time[] = {
	DELAY("real_per_iteration_ns", "real"),
	DELAY("delay_ns", "expected: the delay", .first_only = true),
};
static const struct svg_series modes[] = {
	DELAY("user_per_iteration_ns", "user (getrusage)"),
	DELAY("system_per_iteration_ns", "system (getrusage)"),
	DELAY("true_per_iteration_ns", "true: thread clock"),
};
static const struct svg_series factors[] = {
	DELAY("procstat_factor_ratio", "busy columns ÷ true busy time of the core"),
	DELAY("rusage_factor_ratio", "getrusage ÷ true"),
};

/* The y axes of the paper's plots show the time of this number of loop iterations. */
#define PAPER_LOOPS 1e7
#define PAPER(column, name, ...) DELAY(column, name, .times = PAPER_LOOPS, __VA_ARGS__)

static const struct svg_series paper_run_time[] = {
	PAPER("real_per_iteration_ns", "real"),
	PAPER("delay_ns", "estimated", .first_only = true),
};
static const struct svg_series paper_modes[] = {
	PAPER("user_per_iteration_ns", "user"),
	PAPER("system_per_iteration_ns", "system"),
};

static const struct svg_plot delays[] = {
	PLOT(run_time, .title = "Run time of one loop", .x_label = "delay", .y_label = "time"),
	PLOT(modes, .title = "CPU time of one loop, accounted and true", .x_label = "delay",
	     .y_label = "CPU time"),
	PLOT(factors, .title = "Accounted ÷ true", .x_label = "delay", .y_label = "factor"),
	PLOT(paper_run_time,
	     .title = "Run time per ten million loops; axes of figure 4 of the paper",
	     .x_label = "delay", .y_label = "run time"),
	PLOT(paper_modes,
	     .title = "User and system time per ten million loops; axes of figure 5 of the paper",
	     .x_label = "delay", .y_label = "CPU time"),
};

static const struct svg_series phases[] = {
	{.table = "phases", .x = "phase_ns", .y = "true_ratio", .label = "true", .mark = SVG_LINE},
	{.table = "phases",
	 .x = "phase_ns",
	 .y = "shown_ratio",
	 .label = "columns of /proc/stat",
	 .mark = SVG_LINE},
};

#define ERRORS(source)                                                                      \
	{                                                                                   \
		.table = "errors", .where = "shown_by", .equals = source, .x = "length_ns", \
		.y = "error_max_ratio", .label = source, .mark = SVG_POINTS                 \
	}

static const struct svg_series errors[] = {
	ERRORS("procstat"), ERRORS("procidle"),	       ERRORS("schedstat"), ERRORS("taskclock"),
	ERRORS("perf-tsc"), ERRORS("perf-calibrated"), ERRORS("bpf-pmu"),
};

static const struct svg_plot sources[] = {
	PLOT(phases, .title = "True and shown load, by the phase of the busy periods",
	     .x_label = "phase", .y_label = "load"),
	PLOT(errors, .title = "Largest error of each source, all loads", .x_label = "window",
	     .y_label = "error, points", .x_log = true),
};

const struct audit_figures audit_figures_ticks = {ticks, ARRAY_SIZE(ticks)};
const struct audit_figures audit_figures_delays = {delays, ARRAY_SIZE(delays)};
const struct audit_figures audit_figures_sources = {sources, ARRAY_SIZE(sources)};

#define TABLE1(slack, column, name)                                                                  \
	{                                                                                        \
		.table = "table1", .where = "slack_ns", .equals = slack, .x = "delay_ns", .y = column, \
		.label = name, .mark = SVG_LINE                                                  \
	}
/* Timer slacks of --paper in ns: the default of the kernel, as in the paper, and the minimum. */
#define PAPER_SLACK "50000"
#define PAPER_SLACK_NS 50000
#define LEAST_SLACK "1"

static const struct svg_series figure4_default[] = {
	TABLE1(PAPER_SLACK, "here_run_ns", "real, here"),
	TABLE1(PAPER_SLACK, "paper_run_ns", "real, the paper (table 1)"),
	TABLE1(PAPER_SLACK, "here_estimated_ns", "estimated: delay × loops"),
};
static const struct svg_series figure4_least[] = {
	TABLE1(LEAST_SLACK, "here_run_ns", "real, here"),
	TABLE1(LEAST_SLACK, "here_estimated_ns", "estimated: delay × loops"),
};
static const struct svg_series figure5_default[] = {
	TABLE1(PAPER_SLACK, "here_user_ns", "user, here"),
	TABLE1(PAPER_SLACK, "here_system_ns", "system, here"),
	TABLE1(PAPER_SLACK, "paper_user_ns", "user, the paper (table 1)"),
	TABLE1(PAPER_SLACK, "paper_system_ns", "system, the paper (table 1)"),
	TABLE1(PAPER_SLACK, "here_true_ns", "true CPU time, here"),
};
static const struct svg_series figure5_least[] = {
	TABLE1(LEAST_SLACK, "here_user_ns", "user, here"),
	TABLE1(LEAST_SLACK, "here_system_ns", "system, here"),
	TABLE1(LEAST_SLACK, "here_true_ns", "true CPU time, here"),
};
static const struct svg_plot figure1[] = {
	PLOT(two_modes, .title = "Time between increments of user, nice, system: figure 1 of the paper, here",
	     .y_label = "increments"),
};
static const struct svg_plot figure2[] = {
	PLOT(with_idle, .title = "Time between increments of all columns: figure 2 of the paper, here",
	     .y_label = "increments"),
};
#define SLACK_PLOT(series, text) PLOT(series, .title = text, .x_label = "delay", .y_label = "time")
static const struct svg_plot figure4[] = {
	SLACK_PLOT(figure4_default,
		   "Run time per ten million loops: figure 4, default timer slack (50 us)"),
	SLACK_PLOT(figure4_least,
		   "Run time per ten million loops: timer slack 1 ns, not measured in the paper"),
};
static const struct svg_plot figure5[] = {
	SLACK_PLOT(figure5_default, "User and system time per ten million loops: figure 5, default "
				    "timer slack (50 us)"),
	SLACK_PLOT(figure5_least, "User and system time per ten million loops: timer slack 1 ns, "
				  "not measured in the paper"),
};

const struct audit_paper_figure audit_paper_figures[AUDIT_NR_PAPER_FIGURES] = {
	{"1", true, figure1, ARRAY_SIZE(figure1)},
	{"2", true, figure2, ARRAY_SIZE(figure2)},
	{"4", false, figure4, ARRAY_SIZE(figure4)},
	{"5", false, figure5, ARRAY_SIZE(figure5)},
};

/* The title names the timer slack, because the plotted values depend on it. */
static void name_plot(const struct table *table, const char *title, char *buf, size_t size)
{
	int col = table_find(table, "slack_ns");
	size_t rows[2], nr = svg_values(table, col, rows, 2);
	uint64_t slack_ns = nr == 1 ? table_cell(table, rows[0], col)->u64 : 0;
	char slack[32] = "";

	if (slack_ns)
		view_format_ns(slack_ns, slack, sizeof(slack));
	snprintf(buf, size, "%s, %s%s%s", title,
		 nr > 1 ? "which is with slack 50.0 us" : "timer slack ", slack,
		 nr > 1 || slack_ns == PAPER_SLACK_NS ? "" : " instead of 50.0 us");
}

int audit_plot(FILE *out, const struct audit_figures *figures, const struct report *report)
{
	char titles[AUDIT_MAX_PLOTS][160];
	struct svg_plot plots[AUDIT_MAX_PLOTS];

	for (size_t i = 0; i < figures->nr; i++) {
		plots[i] = figures->plots[i];
		if (plots[i].series[0].times != PAPER_LOOPS)
			continue;
		name_plot(report_find(report, "delays"), plots[i].title, titles[i],
			  sizeof(titles[i]));
		plots[i].title = titles[i];
	}
	return svg_write(out, report, plots, figures->nr);
}
