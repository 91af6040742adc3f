/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick wake: wake-up latency of idle cores, per idle state. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "output.h"
#include "commands.h"
#include "measure/wake/wake.h"
#include "opts.h"
#include "present/present.h"
#include "present/wake.h"
#include "run.h"
#include "view/svg/plots.h"
#include "view/view.h"

/* Builds a report that lists each measured wake-up (point). */
static int list_points(struct meter *meter, bool distribution, struct report **ret_points,
		       struct err *err)
{
	int rc = wake_report_points(wake_window(meter), distribution, ret_points);

	return rc ? err_set(err, rc, "cannot list the points: %s", strerror(-rc)) : 0;
}

/* Writes all measured wake-ups (points) as CSV, or as JSON if the name ends in .json. */
static int write_points(struct meter *meter, const char *path, struct err *err)
{
	const char *dot = strrchr(path, '.');
	enum view_format format = dot && !strcmp(dot, ".json") ? VIEW_JSON : VIEW_CSV;
	struct report *points = NULL;
	int rc = list_points(meter, false, &points, err) ?: output_view(path, format, points, err);

	report_free(points);
	return rc;
}

/* Plots the measured wake-ups (points), and the points of @earlier unless @earlier is NULL. */
static int write_plot(struct meter *meter, const char *path, const struct report *earlier,
		      struct err *err)
{
	struct output_file file;
	struct report *points = NULL;
	int rc = list_points(meter, true, &points, err) ?: output_open(&file, path, err)
		?: output_close(&file, wake_plot(file.out, points, earlier), err);

	report_free(points);
	return rc;
}

struct wake_cmd {
	struct wake_opts wake;
	struct opts_interval interval;
	const char *points_file, *plot_file, *against_file;
	struct diff_side earlier; /* reports read from the file of --against */
	const char *fail_on;	  /* word after --fail-on: "exceeds", or NULL */
	bool quick, points_given;
	struct view view;
};

#define STORE(member) OPT_STORE(struct wake_cmd, member)
#define DISTANCE(member) \
	OPT_DURATION(struct wake_cmd, wake.sweep.member, 10 * NSEC_PER_USEC, NSEC_PER_SEC)
#define NIC(...) __VA_ARGS__, .group = "nic"

#define SOURCES(text) \
	.parse = set_sources, .words = wake_source_names, .expected = text, \
	OPT_AT(struct wake_cmd, wake.sources)

static const char *const fail_words[] = {"exceeds", NULL};

/* Parses --source (one source) and --sources (a list of sources except passive). */
static int set_sources(const struct opt *opt, const char *value, void *base, struct err *err)
{
	const struct wake_cmd *cmd = base;
	int rc = opt_set(opt, value, base, err);

	if (rc || (strcmp(opt->name, "sources") ? strchr(value, ',') != NULL
						: wake_has(cmd->wake.sources, WAKE_PASSIVE)))
		return -EINVAL;
	return 0;
}

/* Parses --points, which takes either a number of points per step or a file name. */
static int set_points(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct wake_cmd *cmd = base;
	uint64_t nr;
	int rc;

	if (value[0] == '-')
		return err_set(err, -EINVAL, "expected a number of points or a file (./%.40s)",
			       value);
	if (value[0] < '0' || value[0] > '9') {
		cmd->points_file = value;
		return 0;
	}
	rc = opt_whole(value, 1, 10000000, &nr, err);
	if (rc)
		return rc;
	cmd->wake.sweep.points = nr;
	cmd->points_given = true;
	return 0;
}

static int set_step(const struct opt *opt, const char *value, void *base, struct err *err)
{
	const char *unit = strchr(value, '%') ? "%" : "";
	double percent;

	if (!opt_decimal(value, unit, 0.1, 1000.0, &percent))
		return -EINVAL;
	((struct wake_cmd *)base)->wake.sweep.step = 1.0 + percent / 100.0;
	return 0;
}

static const struct opt options[] = {
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5", STORE(wake.cpus)},
	{"source", 's', "NAME", "timer (default), remote, passive or nic",
	 SOURCES("timer, remote, passive or nic")},
	{"sources", 0, "LIST", "several sources in turns, point by point: timer,remote",
	 SOURCES("a list of timer, remote and nic")},
	{"quick", 'q', NULL, "fewer points, about 20 s in total", STORE(quick)},
	{"from", 0, "TIME", "first launch distance, the time from setup to wake-up (default 300us)",
	 DISTANCE(from_ns)},
	{"to", 0, "TIME", "largest launch distance (default 8ms)", DISTANCE(to_ns)},
	{"step", 0, "PERCENT", "growth of the launch distance per step (default 10)",
	 .parse = set_step, .expected = "per cent from 0.1 to 1000"},
	{"points", 'n', "N|FILE",
	 "points per step (default 1500); a file name: write every point there",
	 .parse = set_points},
	{"state", 0, "NAME", "allow this idle state only, during the run", STORE(wake.force.state)},
	{"deepest", 0, "NAME", "allow only this and shallower idle states, during the run",
	 STORE(wake.force.deepest)},
	{"each-state", 0, NULL, "measure each idle state alone, then all", STORE(wake.force.each)},
	{"each-preference", 0, NULL,
	 "measure each energy performance preference (EPP) or bias (EPB)",
	 STORE(wake.force.preferences)},
	{"alone", 0, NULL, "take the other CPUs offline during the run", STORE(wake.force.alone)},
	{"breakdown", 'b', NULL,
	 "also show the time from launch to interrupt, switch and user code",
	 STORE(wake.breakdown)},
	{"plot", 0, "FILE.svg",
	 "draw latency over time, latency over idle time before the wake-up, and its distribution",
	 .parse = opts_svg, OPT_AT(struct wake_cmd, plot_file)},
	{"against", 0, "FILE.json",
	 "compare with an earlier run or machine, as subtick diff; --plot draws both",
	 STORE(against_file)},
	{"budget", 0, "TIME",
	 "show each CPU's deepest idle state with p99.9 up to TIME, and its latency limit; exit 2 "
	 "if "
	 "there is none",
	 OPT_DURATION(struct wake_cmd, wake.budget_ns, 1, NSEC_PER_SEC)},
	{"fail-on", 0, "exceeds", "exit 2 if an idle state takes longer than its driver claims",
	 .words = fail_words, STORE(fail_on)},
	{"device", 0, "NAME",
	 "nic: network device (default: the first with a clock and launch time)",
	 NIC(STORE(wake.nic.device))},
	{"irq-offset", 0, "TIME", "nic: time from DMA to interrupt (default 1800ns, for the i210)",
	 NIC(OPT_DURATION(struct wake_cmd, wake.nic.irq_offset_ns, 0, NSEC_PER_MSEC))},
	{"dma", 0, "TIME", "nic: DMA read time, subtracted in shallow states (default: measured)",
	 NIC(OPT_DURATION(struct wake_cmd, wake.nic.dma_ns, 0, NSEC_PER_MSEC))},
	{"software", 0, NULL,
	 "nic: send by a kernel timer instead of a card, to test without a card",
	 NIC(STORE(wake.nic.software))},
	{"root", 0, "DIR", "look for /sys and the journal below DIR (tests)", STORE(wake.root)},
	{0},
};

/* Refuses options that exclude each other, and applies --quick. */
static int check(const struct opts_state *state, void *base, struct err *err)
{
	struct wake_cmd *cmd = base;
	const struct opt *nic = opts_group(state, "nic");
	struct wake_sweep *sweep = &cmd->wake.sweep;
	bool passive = wake_has(cmd->wake.sources, WAKE_PASSIVE);
	unsigned int sources = __builtin_popcount(cmd->wake.sources);

	if (!!cmd->wake.force.state + !!cmd->wake.force.deepest + cmd->wake.force.each > 1)
		return err_set(err, -EINVAL,
			       "--state, --deepest and --each-state exclude each other");
	if (cmd->wake.force.preferences && (cmd->wake.force.each || cmd->wake.budget_ns))
		return err_set(err, -EINVAL,
			       "--each-preference excludes --each-state and --budget");
	if (nic && !wake_has(cmd->wake.sources, WAKE_NIC))
		return err_set(err, -EINVAL, "--%s needs --source nic", nic->name);
	if (sweep->from_ns > sweep->to_ns)
		return err_set(err, -EINVAL, "--from must not be above --to");
	if (passive && (cmd->points_file || cmd->plot_file || cmd->against_file ||
			cmd->wake.breakdown || cmd->quick || cmd->wake.force.each ||
			cmd->wake.force.preferences))
		return err_set(err, -EINVAL,
			       "--source passive keeps no single points: it excludes --points, "
			       "--plot, --against, --breakdown, --quick, --each-state and "
			       "--each-preference");
	if (!passive && cmd->interval.given)
		return err_set(err, -EINVAL, "[interval [count]] needs --source passive");
	/* --budget is compared with every idle state, so all idle states must be measured. */
	if (cmd->wake.budget_ns && !passive && !cmd->wake.force.state && !cmd->wake.force.deepest)
		cmd->wake.force.each |= wake_rounds_nr(cmd->wake.root, &cmd->wake.force, &cmd->wake.cpus) > 1;
	if (cmd->quick && !cmd->points_given) {
		uint64_t budget = 19 * NSEC_PER_SEC / sources / wake_passes(&cmd->wake);

		sweep->points = budget / wake_sweep_total_ns(sweep) ?: 1;
	}
	return 0;
}

static void show_progress(const struct wake_progress *p, uint64_t began_ns, bool last)
{
	double share = p->time_ratio;
	double left = (double)(clock_mono_ns() - began_ns) / share * (1.0 - share) / 1e9;

	if (!isatty(STDERR_FILENO))
		return;
	if (last)
		fprintf(stderr, "\r\033[K");
	else if (!p->done)
		fprintf(stderr, "\r\033[Kcalibrating ...");
	else if (share < 0.01)
		fprintf(stderr, "\r\033[K%llu of %llu points", (unsigned long long)p->done,
			(unsigned long long)p->total);
	else
		fprintf(stderr, "\r\033[K%llu of %llu points, %.0f s left",
			(unsigned long long)p->done, (unsigned long long)p->total, left);
}

static int read_earlier(struct wake_cmd *cmd, struct err *err)
{
	int rc;

	if (!cmd->against_file)
		return 0;
	rc = input_against(cmd->against_file, "wake", &cmd->earlier, err);
	if (rc || !cmd->plot_file || report_find(cmd->earlier.windows[0], "points"))
		return rc;
	return err_set(err, -EINVAL, "%s has no points to draw: save them with --points FILE.json",
		       cmd->against_file);
}

static int write_report(struct meter *meter, struct wake_cmd *cmd, struct report *report,
			struct err *err)
{
	bool by_points = cmd->earlier.nr && strcmp(cmd->earlier.windows[0]->command, "wake");
	struct report *points = NULL;
	int rc = by_points ? list_points(meter, false, &points, err) : 0;

	if (rc)
		report_free(report);
	else
		rc = output_against(&cmd->view, report, &cmd->earlier, points ?: report, err);
	report_free(points);
	return rc;
}

static int run_experiment(struct meter *meter, struct wake_cmd *cmd)
{
	struct wake_progress progress = {0};
	uint64_t began = clock_mono_ns();
	struct report *report;
	struct err err = {0};
	int rc = meter->ops->start(meter, &err);

	while (!rc && !progress.finished) {
		wake_progress(meter, &progress);
		show_progress(&progress, began, progress.finished);
		if (!progress.finished && run_wait(clock_mono_ns() + 100 * NSEC_PER_MSEC))
			break;
	}
	show_progress(&progress, began, true);
	if (!rc)
		rc = meter->ops->read(meter, &err) ?: present_window("wake", meter, &report, &err)
			?: write_report(meter, cmd, report, &err);
	/* The files of --points and --plot are written even if the reader closed the pipe. */
	if (rc == -EPIPE)
		rc = 0;
	if (!rc && cmd->points_file)
		rc = write_points(meter, cmd->points_file, &err);
	if (!rc && cmd->plot_file)
		rc = write_plot(meter, cmd->plot_file,
				cmd->earlier.nr ? cmd->earlier.windows[0] : NULL, &err);
	return rc ? opts_fail("wake", &err) : EXIT_SUCCESS;
}

/* An error while settings are restored takes precedence over the verdict. */
static int exit_code(int code, const struct wake_cmd *cmd, const struct wake_window *window)
{
	if (window->unrestored) {
		fprintf(stderr,
			"subtick wake: %u settings could not be restored\n"
			"  fix: run subtick wake again, which retries; see /run/subtick/restore\n",
			window->unrestored);
		return EXIT_ERROR;
	}
	if (code == EXIT_SUCCESS && ((cmd->fail_on && window->exceeded) || window->over_budget))
		return EXIT_VERDICT;
	return code;
}

static int run(struct wake_cmd *cmd)
{
	struct meter *meter;
	struct err err = {0};
	int code;

	if (output_check(cmd->points_file, &err) || output_check(cmd->plot_file, &err) ||
	    read_earlier(cmd, &err))
		return opts_fail("wake", &err);
	run_signals();
	if (wake_open(&cmd->wake, &meter, &err))
		return opts_fail("wake", &err);
	code = wake_has(cmd->wake.sources, WAKE_PASSIVE)
		       ? run_windows("wake", meter, &cmd->interval, &cmd->view)
		       : run_experiment(meter, cmd);
	wake_restore(meter);
	code = exit_code(code, cmd, wake_window(meter));
	meter->ops->close(meter);
	return code;
}

int cmd_wake(int argc, char **argv)
{
	struct wake_cmd cmd = {
		.wake = {.sources = 1u << WAKE_TIMER,
			 .sweep = {300 * NSEC_PER_USEC, 8 * NSEC_PER_MSEC, 1.1, 1500},
			 .nic = {.irq_offset_ns = WAKE_I210_IRQ_OFFSET_NS, .dma_ns = -1}},
		.interval = {.interval_ns = 5 * NSEC_PER_SEC, .count = 1},
	};
	struct opts_state state = {
		.command = "wake",
		.synopsis = "wake [options]\n       subtick wake --source passive [options] "
			    "[interval [count]]",
		.summary = "Wake latency of idle cores, per idle state. Default: the full "
			   "experiment on all cores, about\n2 minutes; --quick: 20 s.",
		.own = options,
		.view = &cmd.view,
		.tables = wake_tables,
		.interval = &cmd.interval,
		.check = check,
	};
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code == OPTS_PARSED)
		code = run(&cmd);
	input_reports_free(cmd.earlier.windows, cmd.earlier.nr);
	return code;
}
