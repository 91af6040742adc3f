/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick without a command: the live screen on a terminal, else a summary of the cores. */
#include "commands.h"

#include <stdio.h>

#include "base/clock.h"
#include "measure/overview/overview.h"
#include "present/overview.h"
#include "opts.h"
#include "run.h"
#include "screen.h"

struct overview_cmd {
	struct opts_interval interval;
	bool once, pressure;
};

const struct opt overview_options[] = {
	{"once", 0, NULL, "print one summary of 5 seconds, even on a terminal",
	 OPT_STORE(struct overview_cmd, once)},
	{"pressure", 0, NULL,
	 "live screen: also the wall time in which somebody waited, as in subtick runq",
	 OPT_STORE(struct overview_cmd, pressure)},
	{0},
};

int cmd_overview(int argc, char **argv)
{
	struct overview_cmd cmd = {.interval = {.interval_ns = 5 * NSEC_PER_SEC, .count = 1}};
	struct view view;
	struct opts_state state = {
		.synopsis = "[options] [interval [count]]",
		.summary = "What the cores do: the live screen on a terminal, else or with an "
			   "interval: text.\nDefault for text: one window of 5 seconds.",
		.own = overview_options,
		.view = &view,
		.tables = overview_tables,
		.interval = &cmd.interval,
	};
	struct meter *meter;
	struct terminal *terminal;
	struct err err = {0};
	int code;

	code = opts_walk(&state, argc, argv, &cmd);
	if (code != OPTS_PARSED)
		return code;
	if (cmd.once && cmd.interval.given)
		return opts_usage(&state, "--once and an interval exclude each other");
	run_signals();
	if (!cmd.once && !cmd.interval.given && view.format == VIEW_TEXT && terminal_usable()) {
		run_signals_screen();
		if (!terminal_open(view.color, &terminal, &err))
			return screen_run(terminal, cmd.pressure);
		fprintf(stderr, "subtick: no live screen: %s; printing text instead\n", err.what);
	}
	if (cmd.pressure)
		return opts_usage(&state, "--pressure is for the live screen; subtick runq "
					  "--pressure prints it");
	if (overview_open(&meter, &err))
		return opts_fail(NULL, &err);
	return run_meter("overview", meter, &cmd.interval, &view);
}
