/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick without a command: what the cores really did, beside what /proc/stat says. */
#include "commands.h"

#include "base/clock.h"
#include "measure/overview.h"
#include "opts.h"
#include "run.h"

static const struct opt options[] = {
	{NULL, 0, NULL, NULL, 0},
};

int cmd_overview(int argc, char **argv)
{
	struct opts_interval interval = {.interval_ns = 5 * NSEC_PER_SEC, .count = 1};
	struct view view;
	struct opts_state state = {
		.synopsis = "[options] [interval [count]]",
		.summary = "A summary of what the cores did. Default: one window of 5 seconds.",
		.own = options,
		.argc = argc,
		.argv = argv,
		.index = 1,
		.view = &view,
	};
	struct meter *meter;
	struct err err = {0};
	int id;

	opts_view(&view);
	while ((id = opts_next(&state)) != OPT_END) {
		if (id == OPT_DONE)
			return EXIT_FINE;
		if (id == OPT_BAD || !opts_interval(&state, state.value, &interval))
			return EXIT_USAGE;
	}
	run_signals();
	if (overview_open(&meter, &err))
		return opts_fail(NULL, &err);
	return run_meter("overview", meter, &interval, &view);
}
