/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick wake: how long an idle core takes to wake, per idle state. */
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/wake/wake.h"
#include "opts.h"
#include "present/present.h"
#include "run.h"
#include "wake_file.h"

enum {
	ID_SOURCE = OPT_OWN,
	ID_SOURCES,
	ID_STEP,
	ID_POINTS,
	ID_FAIL_ON,
};

struct wake_cmd {
	struct wake_opts wake;
	struct opts_interval interval;
	const char *points_file, *plot_file, *against_file;
	struct report *earlier; /* the points of --against */
	bool quick, points_given, fail_on_exceeds;
};

#define STORE(member) OPT_STORE(struct wake_cmd, member)
#define DISTANCE(member) \
	OPT_DURATION(struct wake_cmd, wake.sweep.member, 10 * NSEC_PER_USEC, NSEC_PER_SEC)
#define NIC(...) __VA_ARGS__, .group = "nic"

static const char *const source_words[] = {"timer", "remote", "passive", "nic", NULL};
static const char *const fail_words[] = {"exceeds", NULL};

static const struct opt options[] = {
	{"cpu", 'C', "LIST", "only these CPUs, such as 0,2-5", STORE(wake.cpus)},
	{"source", 's', "NAME", "timer (default), remote, passive or nic", .id = ID_SOURCE,
	 .words = source_words},
	{"sources", 0, "LIST", "several sources in turns, point by point: timer,remote",
	 .id = ID_SOURCES, .words = source_words},
	{"quick", 'q', NULL, "fewer points, about 20 s in all", STORE(quick)},
	{"from", 0, "TIME", "first launch distance (default 300us)", DISTANCE(from_ns)},
	{"to", 0, "TIME", "no launch distance above this (default 8ms)", DISTANCE(to_ns)},
	{"step", 0, "PERCENT", "growth of the launch distance per step (default 10)",
	 .id = ID_STEP},
	{"points", 'n', "N|FILE",
	 "points per step (default 1500); a file name: write every point there", .id = ID_POINTS},
	{"state", 0, "NAME", "allow this idle state only, during the run", STORE(wake.force.state)},
	{"deepest", 0, "NAME", "allow no deeper idle state than this", STORE(wake.force.deepest)},
	{"each-state", 0, NULL, "each idle state alone, one after the other, then all as before",
	 STORE(wake.force.each)},
	{"alone", 0, NULL, "take the other CPUs offline during the run", STORE(wake.force.alone)},
	{"breakdown", 'b', NULL,
	 "also show the time from launch to interrupt, switch and user code",
	 STORE(wake.breakdown)},
	{"plot", 0, "FILE.svg", "draw latency by time, by silent time, and its distribution",
	 STORE(plot_file)},
	{"against", 0, "POINTS.json", "with --plot: also the points of an earlier run or machine",
	 STORE(against_file)},
	{"fail-on", 0, "exceeds", "exit 2 if a state takes longer than claimed", .id = ID_FAIL_ON,
	 .words = fail_words},
	{"device", 0, "NAME", "nic: network device with a hardware clock and launch time",
	 NIC(STORE(wake.nic.device))},
	{"irq-offset", 0, "TIME", "nic: from DMA to interrupt (default 1800ns, the i210's)",
	 NIC(OPT_DURATION(struct wake_cmd, wake.nic.irq_offset_ns, 0, NSEC_PER_MSEC))},
	{"dma", 0, "TIME", "nic: DMA read time, subtracted in shallow states (default: measured)",
	 NIC(OPT_DURATION(struct wake_cmd, wake.nic.dma_ns, 0, NSEC_PER_MSEC))},
	{"software", 0, NULL, "nic: a kernel timer sends, no card; tests the path only",
	 NIC(STORE(wake.nic.software))},
	{"root", 0, "DIR", "look for /sys and the journal below DIR (tests)", STORE(wake.root)},
	{0},
};

static bool parse_source(struct opts_state *state, struct wake_cmd *cmd, bool several)
{
	char word[64], *save = NULL, *name;

	snprintf(word, sizeof(word), "%s", state->value);
	cmd->wake.sources = 0;
	for (name = strtok_r(word, ",", &save); name; name = strtok_r(NULL, ",", &save)) {
		enum wake_source source = WAKE_TIMER;

		while (source < WAKE_NR_SOURCES && strcmp(name, wake_source_name(source)))
			source++;
		if (source == WAKE_NR_SOURCES)
			break;
		cmd->wake.sources |= 1u << source;
	}
	if (!name && cmd->wake.sources && !(several && wake_has(cmd->wake.sources, WAKE_PASSIVE)) &&
	    (several || !(cmd->wake.sources & (cmd->wake.sources - 1))))
		return true;
	opts_usage(state, "--%s %s: expected %s", several ? "sources" : "source", state->value,
		   several ? "a list of timer, remote and nic" : "timer, remote, passive or nic");
	return false;
}

/* A number is points per step, anything else a file. */
static bool parse_points(struct opts_state *state, struct wake_cmd *cmd)
{
	uint64_t nr;

	if (state->value[0] == '-') {
		opts_usage(state, "--points %s: expected a number of points or a file (./%s)",
			   state->value, state->value);
		return false;
	}
	if (state->value[0] < '0' || state->value[0] > '9') {
		cmd->points_file = state->value;
		return true;
	}
	if (!opts_u64(state, "--points", state->value, 1, 10000000, &nr))
		return false;
	cmd->wake.sweep.points = nr;
	cmd->points_given = true;
	return true;
}

static bool parse_step(struct opts_state *state, struct wake_cmd *cmd)
{
	char *end;
	double percent = strtod(state->value, &end);

	if (end == state->value || (*end && strcmp(end, "%")) ||
	    !(percent >= 0.1 && percent <= 1000)) {
		opts_usage(state, "--step %s: expected per cent from 0.1 to 1000", state->value);
		return false;
	}
	cmd->wake.sweep.step = 1.0 + percent / 100.0;
	return true;
}

static bool parse_option(struct opts_state *state, int id, void *arg)
{
	struct wake_cmd *cmd = arg;

	switch (id) {
	case OPT_OPERAND:
		return opts_interval(state, state->value, &cmd->interval);
	case ID_SOURCE:
	case ID_SOURCES:
		return parse_source(state, cmd, id == ID_SOURCES);
	case ID_STEP:
		return parse_step(state, cmd);
	case ID_POINTS:
		return parse_points(state, cmd);
	default:
		cmd->fail_on_exceeds = !strcmp(state->value, "exceeds");
		if (!cmd->fail_on_exceeds)
			opts_usage(state, "--fail-on %s: expected exceeds", state->value);
		return cmd->fail_on_exceeds;
	}
}

/* Options that exclude each other, and the points of --quick. */
static bool check_options(struct opts_state *state, struct wake_cmd *cmd)
{
	const struct opt *nic = opts_group(state, "nic");
	struct wake_sweep *sweep = &cmd->wake.sweep;
	bool passive = wake_has(cmd->wake.sources, WAKE_PASSIVE);
	unsigned int sources = __builtin_popcount(cmd->wake.sources);

	if (!!cmd->wake.force.state + !!cmd->wake.force.deepest + cmd->wake.force.each > 1) {
		opts_usage(state, "--state, --deepest and --each-state exclude each other");
		return false;
	}
	if (nic && !wake_has(cmd->wake.sources, WAKE_NIC)) {
		opts_usage(state, "--%s goes with --source nic", nic->name);
		return false;
	}
	if (cmd->against_file && !cmd->plot_file) {
		opts_usage(state, "--against goes with --plot");
		return false;
	}
	if (sweep->from_ns > sweep->to_ns) {
		opts_usage(state, "--from must not be above --to");
		return false;
	}
	if (passive && (cmd->points_file || cmd->plot_file || cmd->wake.breakdown || cmd->quick ||
			cmd->wake.force.each)) {
		opts_usage(state, "--source passive keeps no single points: it excludes --points, "
				  "--plot, --breakdown, --quick and --each-state");
		return false;
	}
	if (!passive && cmd->interval.given) {
		opts_usage(state,
			   "[interval [count]] goes with --source passive; other sources end "
			   "by themselves");
		return false;
	}
	if (cmd->quick && !cmd->points_given) {
		uint64_t budget = 19 * NSEC_PER_SEC / sources / wake_passes(&cmd->wake);

		sweep->points = budget / wake_sweep_total_ns(sweep);
		if (!sweep->points)
			sweep->points = 1;
	}
	return true;
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

static int run_experiment(struct meter *meter, const struct wake_cmd *cmd, struct view *view)
{
	struct wake_progress progress = {0};
	uint64_t began = clock_mono_ns();
	struct report *report = NULL;
	struct err err = {0};
	int rc;

	rc = meter->ops->start(meter, &err);
	while (!rc && !progress.finished) {
		wake_progress(meter, &progress);
		show_progress(&progress, began, progress.finished);
		if (!progress.finished && run_wait(clock_mono_ns() + 100 * NSEC_PER_MSEC))
			break;
	}
	show_progress(&progress, began, true);
	if (!rc)
		rc = meter->ops->read(meter, &err);
	if (!rc)
		rc = present_window("wake", meter, &report, &err);
	if (!rc) {
		rc = view_write(view, report);
		if (rc && rc != -EPIPE)
			err_set(&err, rc, "cannot write: %s", strerror(-rc));
		if (rc == -EPIPE)
			rc = 0;
	}
	report_free(report);
	if (!rc && cmd->points_file)
		rc = wake_file_points(meter, cmd->points_file, &err);
	if (!rc && cmd->plot_file)
		rc = wake_file_plot(meter, cmd->plot_file, cmd->earlier, &err);
	return rc ? opts_fail("wake", &err) : EXIT_SUCCESS;
}

/* Settings left changed outweigh a verdict. */
static int exit_code(int code, const struct wake_cmd *cmd, const struct wake_window *window)
{
	if (window->unrestored) {
		fprintf(stderr,
			"subtick wake: %u settings could not be restored\n"
			"  fix: run subtick wake again, which retries; see /run/subtick/restore\n",
			window->unrestored);
		return EXIT_ERROR;
	}
	return code == EXIT_SUCCESS && cmd->fail_on_exceeds && window->exceeded ? EXIT_VERDICT : code;
}

int cmd_wake(int argc, char **argv)
{
	struct wake_cmd cmd = {
		.wake = {.sources = 1u << WAKE_TIMER,
			 .sweep = {300 * NSEC_PER_USEC, 8 * NSEC_PER_MSEC, 1.1, 1500},
			 .nic = {.irq_offset_ns = WAKE_I210_IRQ_OFFSET_NS, .dma_ns = -1}},
		.interval = {.interval_ns = 5 * NSEC_PER_SEC, .count = 1},
	};
	struct view view;
	struct opts_state state = {
		.command = "wake",
		.synopsis = "wake [options]\n       subtick wake --source passive [options] "
			    "[interval [count]]",
		.summary =
			"How long an idle core takes to wake, per idle state. By default the full "
			"experiment on all\ncores, about 2 minutes; --quick: 20 s.",
		.own = options,
		.view = &view,
	};
	struct meter *meter;
	struct err err = {0};
	int code;

	code = opts_walk(&state, argc, argv, parse_option, &cmd);
	if (code != OPTS_PARSED)
		return code;
	if (!check_options(&state, &cmd))
		return EXIT_USAGE;
	if (!opts_svg(&state, cmd.plot_file))
		return EXIT_USAGE;
	if (wake_file_check(cmd.points_file, &err) || wake_file_check(cmd.plot_file, &err) ||
	    (cmd.against_file && wake_file_read(cmd.against_file, &cmd.earlier, &err)))
		return opts_fail("wake", &err);
	run_signals();
	if (wake_open(&cmd.wake, &meter, &err)) {
		report_free(cmd.earlier);
		return opts_fail("wake", &err);
	}
	if (wake_has(cmd.wake.sources, WAKE_PASSIVE))
		code = run_windows("wake", meter, &cmd.interval, &view);
	else
		code = run_experiment(meter, &cmd, &view);
	wake_restore(meter);
	code = exit_code(code, &cmd, wake_window(meter));
	meter->ops->close(meter);
	report_free(cmd.earlier);
	return code;
}
