/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which columns of the reports make which figure. */
#include "audit_plot.h"

#include <errno.h>
#include <string.h>

#include "view/svg.h"

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

static const struct svg_series two_modes[] = {INTERVALS("user+system: user, nice, system")};
static const struct svg_series with_idle[] = {INTERVALS("user+idle: all")};
static const struct svg_series irqs[] = {INTERVALS("user+softirq: irq, softirq")};

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
	DELAY("procstat_factor_ratio", "busy columns of the core over its true busy time"),
	DELAY("rusage_factor_ratio", "getrusage over thread clock"),
};

static const struct svg_plot delays[] = {
	PLOT(run_time, .title = "Run time of one loop", .x_label = "delay", .y_label = "time"),
	PLOT(modes, .title = "CPU time of one loop, as accounted and true", .x_label = "delay",
	     .y_label = "CPU time"),
	PLOT(factors, .title = "Accounted over true", .x_label = "delay", .y_label = "factor"),
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
	     .y_label = "error, points of load", .x_log = true),
};

static const struct {
	const char *experiment;
	const struct svg_plot *plots;
	size_t nr;
} figures[AUDIT_NR_PLOTS] = {
	{"ticks", ticks, NR(ticks)},
	{"delays", delays, NR(delays)},
	{"sources", sources, NR(sources)},
};

static int path_of(const char *path, const char *experiment, char *buf, size_t size)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	int stem = dot && dot > (slash ?: path) ? (int)(dot - path) : (int)strlen(path);

	return snprintf(buf, size, "%.*s-%s%s", stem, path, experiment, path + stem) < (int)size
		       ? 0
		       : -ENAMETOOLONG;
}

int audit_plot_open(struct audit_plots *plots, const char *path, const char *only)
{
	int rc = 0;

	for (size_t i = 0; i < AUDIT_NR_PLOTS && !rc; i++) {
		char own[4096];

		if (only && strcmp(only, figures[i].experiment))
			continue;
		if (!only)
			rc = path_of(path, figures[i].experiment, own, sizeof(own));
		if (!rc) {
			plots->file[i] = fopen(only ? path : own, "we");
			rc = plots->file[i] ? 0 : -errno;
		}
	}
	if (rc)
		fprintf(stderr, "subtick audit: cannot write --plot %s: %s\n", path, strerror(-rc));
	return rc;
}

int audit_plot_draw(struct audit_plots *plots, const char *experiment, const struct report *report)
{
	int rc = 0;

	for (size_t i = 0; i < AUDIT_NR_PLOTS; i++) {
		if (!plots->file[i] || strcmp(figures[i].experiment, experiment))
			continue;
		rc = svg_write(plots->file[i], report, figures[i].plots, figures[i].nr);
		if (fclose(plots->file[i]) && !rc)
			rc = -errno;
		plots->file[i] = NULL;
	}
	if (rc)
		fprintf(stderr, "subtick audit: cannot draw the plots: %s\n", strerror(-rc));
	return rc;
}

void audit_plot_close(struct audit_plots *plots)
{
	for (size_t i = 0; i < AUDIT_NR_PLOTS; i++)
		if (plots->file[i])
			fclose(plots->file[i]);
	*plots = (struct audit_plots){0};
}
