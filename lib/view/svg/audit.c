/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plots of an audit and the columns they show, for `subtick audit --plot` and HTML. */
#include "view/svg/audit.h"

#include <string.h>

#include "report/audit_sets.h"

#define NR(x) (sizeof(x) / sizeof((x)[0]))
#define PLOT(s, ...)                                         \
	{                                                    \
		.series = s, .nr_series = NR(s), __VA_ARGS__ \
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

#define DELAY(column, name)                                                                      \
	{                                                                                        \
		.table = "delays", .x = "delay_ns", .y = column, .label = name, .mark = SVG_LINE \
	}

static const struct svg_series run_time[] = {
	DELAY("real_per_iteration_ns", "real"),
	DELAY("delay_ns", "expected: the delay"),
};
static const struct svg_series modes[] = {
	DELAY("user_per_iteration_ns", "user (getrusage)"),
	DELAY("system_per_iteration_ns", "system (getrusage)"),
	DELAY("true_per_iteration_ns", "true: thread clock"),
};
static const struct svg_series factors[] = {
	DELAY("procstat_factor_ratio", "busy columns ÷ true busy time of the core"),
	DELAY("rusage_factor_ratio", "getrusage ÷ thread clock"),
};

static const struct svg_plot delays[] = {
	PLOT(run_time, .title = "Run time of one loop", .x_label = "delay", .y_label = "time"),
	PLOT(modes, .title = "CPU time of one loop, accounted and true", .x_label = "delay",
	     .y_label = "CPU time"),
	PLOT(factors, .title = "Accounted ÷ true", .x_label = "delay", .y_label = "factor"),
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
	PLOT(phases, .title = "Load of a core under a locked burn, by the phase of the burn",
	     .x_label = "phase", .y_label = "load"),
	PLOT(errors, .title = "Largest error of each source, all loads", .x_label = "window",
	     .y_label = "error, points", .x_log = true),
};

const struct audit_figures audit_figures[AUDIT_NR_FIGURES] = {
	{"ticks", ticks, NR(ticks)},
	{"delays", delays, NR(delays)},
	{"sources", sources, NR(sources)},
};

const struct audit_figures *audit_figures_of(const char *experiment)
{
	for (size_t i = 0; i < AUDIT_NR_FIGURES; i++)
		if (!strcmp(audit_figures[i].experiment, experiment))
			return &audit_figures[i];
	return NULL;
}
