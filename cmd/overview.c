/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick without a command: the live screen on a terminal, else a summary of the cores. */
#include "commands.h"

#include <stdio.h>

#include "base/clock.h"
#include "measure/overview.h"
#include "opts.h"
#include "run.h"
#include "screen.h"

enum {
	OPT_ONCE = OPT_OWN,
};

static const struct opt options[] = {
	{"once", 0, NULL, "one summary of 5 seconds, also on a terminal", OPT_ONCE},
	{NULL, 0, NULL, NULL, 0},
};

int cmd_overview(int argc, char **argv)
{
	struct opts_interval interval = {.interval_ns = 5 * NSEC_PER_SEC, .count = 1};
	struct view view;
	struct opts_state state = {
		.synopsis = "[options] [interval [count]]",
		.summary = "What the cores do: a live screen on a terminal; elsewhere, or with an "
			   "interval,\nas text. Default of text: one window of 5 seconds.",
		.own = options,
		.argc = argc,
		.argv = argv,
		.index = 1,
		.view = &view,
	};
	struct meter *meter;
	struct terminal *terminal;
	struct err err = {0};
	bool once = false;
	int id;

	opts_view(&view);
	while ((id = opts_next(&state)) != OPT_END) {
		if (id == OPT_DONE)
			return EXIT_FINE;
		once |= id == OPT_ONCE;
		if (id == OPT_BAD ||
		    (id == OPT_OPERAND && !opts_interval(&state, state.value, &interval)))
			return EXIT_USAGE;
	}
	if (once && interval.given)
		return opts_usage(&state, "--once and an interval exclude each other");
	run_signals();
	if (!once && !interval.given && view.format == VIEW_TEXT && terminal_usable()) {
		run_signals_screen();
		if (!terminal_open(view.color, &terminal, &err))
			return screen_run(terminal);
		fprintf(stderr, "subtick: %s; text instead of the live screen\n", err.what);
	}
	if (overview_open(&meter, &err))
		return opts_fail(NULL, &err);
	return run_meter("overview", meter, &interval, &view);
}
