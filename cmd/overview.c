/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick without a command: the live screen on a terminal, else a summary of the cores. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"
#include "measure/overview/overview.h"
#include "opts.h"
#include "present/overview.h"
#include "run.h"
#include "view/screen/screen.h"
#include "view/screen/canvas.h"

#define INTERVAL_NS NSEC_PER_SEC
/* Length of the first window, which is short, so that the screen soon shows figures. */
#define FIRST_NS (200 * NSEC_PER_MSEC)
#define TASKS	 5 /* maximum number of tasks of each CPU in the task pane */

static const char *const commands[OVERVIEW_NR_PARTS] = {
	[OVERVIEW_LOAD] = "load",
	[OVERVIEW_RUNQ] = "runq",
	[OVERVIEW_WAKE] = "wake",
	[OVERVIEW_NOISE] = "noise",
};

struct live {
	struct screen screen;
	struct meter *meter;
	struct terminal *terminal;
	uint64_t began_ns, next_ns;
};

static void live_open(struct live *live, const struct overview_opts *opts, struct err *err)
{
	for (int i = 0; i < OVERVIEW_NR_PARTS; i++)
		screen_add(&live->screen, commands[i]);
	if (overview_open(opts, &live->meter, err) || live->meter->ops->start(live->meter, err))
		return;
	live->began_ns = clock_mono_ns();
	live->next_ns = live->began_ns + FIRST_NS;
}

static int live_show(struct live *live, enum overview_part part)
{
	const struct overview_window *w = overview_window(live->meter);
	struct report *report;

	if (w->errs[part].code) {
		screen_refuse(&live->screen, part, &w->errs[part]);
		return 0;
	}
	return overview_part_report(w, part, true, &report) ?: screen_show(&live->screen, part, report);
}

/*
 * Ends the current window and shows the window on the screen. Windows also end during a pause, so
 * that the first window after the pause has the normal length.
 */
static void live_read(struct live *live, struct err *err)
{
	if (live->meter->ops->read(live->meter, err))
		return;
	for (int i = 0; i < OVERVIEW_NR_PARTS && !live->screen.paused; i++)
		if (live_show(live, i))
			err_set(err, -ENOMEM, "out of memory");
	live->began_ns = clock_mono_ns();
	live->next_ns += live->screen.interval_ns;
	if (live->next_ns < live->began_ns)
		live->next_ns = live->began_ns + live->screen.interval_ns;
}

static void live_draw(struct live *live, bool again, struct err *err)
{
	struct canvas canvas;
	int rows, cols;

	terminal_size(live->terminal, &rows, &cols);
	if (canvas_init(&canvas, rows, cols) || screen_draw(&live->screen, &canvas))
		err_set(err, -ENOMEM, "out of memory");
	else
		terminal_paint(live->terminal, &canvas, again);
	canvas_free(&canvas);
}

/* Handles pending keys. Returns true if the user quits. */
static bool live_keys(struct live *live, bool *ret_again)
{
	uint64_t interval_ns = live->screen.interval_ns;
	int key;

	while ((key = terminal_key(live->terminal)) != SCREEN_KEY_NONE) {
		*ret_again |= key == ('l' & 0x1f);
		if (screen_key(&live->screen, key))
			return true;
	}
	if (live->screen.interval_ns != interval_ns)
		live->next_ns = live->began_ns + live->screen.interval_ns;
	return false;
}

static void live_loop(struct live *live, struct err *err)
{
	bool again = false;

	while (!err->code) {
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

		live_draw(live, again, err);
		again = false;
		/* A key, a resize, a stop signal or the end of the window ends the wait. */
		if (err->code || run_wait_input(live->next_ns, &input) ||
		    input.revents & (POLLHUP | POLLERR | POLLNVAL) ||
		    (input.revents & POLLIN && live_keys(live, &again)))
			return;
		if (clock_mono_ns() >= live->next_ns)
			live_read(live, err);
	}
}

/* Runs the live screen until q or a signal. Closes @terminal. Returns the exit code. */
static int screen_run(struct terminal *terminal, const struct overview_opts *opts)
{
	/* The bars already show the load, so the first pane shows the run-queue latency. */
	struct live live = {.terminal = terminal,
			    .screen = {.interval_ns = INTERVAL_NS,
				       .ascii = !terminal_utf8(terminal),
				       .home = OVERVIEW_RUNQ}};
	struct err err = {0};

	live_open(&live, opts, &err);
	if (!err.code)
		live_loop(&live, &err);
	if (live.meter)
		live.meter->ops->close(live.meter);
	screen_free(&live.screen);
	/* The terminal must be restored before a message is printed. */
	terminal_close(terminal);
	return err.code ? opts_fail(NULL, &err) : EXIT_SUCCESS;
}

struct overview_cmd {
	struct opts_interval interval;
	struct overview_opts overview;
	bool once;
};

const struct opt overview_options[] = {
	{"once", 0, NULL, "print one summary of 5 seconds, even on a terminal",
	 OPT_STORE(struct overview_cmd, once)},
	{"cores", 0, NULL, "also which cgroups share a physical core, as in subtick load",
	 OPT_STORE(struct overview_cmd, overview.cores)},
	/* An option, because pressure costs more CPU time than all other run-queue figures. */
	{"pressure", 0, NULL,
	 "live screen: also the wall time in which tasks waited, as in subtick runq",
	 OPT_STORE(struct overview_cmd, overview.pressure)},
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
	int code = opts_walk(&state, argc, argv, &cmd);

	if (code != OPTS_PARSED)
		return code;
	if (cmd.once && cmd.interval.given)
		return opts_usage(&state, "--once and an interval exclude each other");
	run_signals();
	if (!cmd.once && !cmd.interval.given && view.format == VIEW_TEXT && terminal_usable()) {
		run_signals_screen();
		if (!terminal_open(view.color, &terminal, &err)) {
			cmd.overview.top = TASKS;
			return screen_run(terminal, &cmd.overview);
		}
		fprintf(stderr, "subtick: no live screen: %s; printing text instead\n", err.what);
	}
	if (cmd.overview.pressure)
		return opts_usage(&state, "--pressure is for the live screen; subtick runq "
					  "--pressure prints it");
	if (overview_open(&cmd.overview, &meter, &err))
		return opts_fail(NULL, &err);
	return run_meter("overview", meter, &cmd.interval, &view, NULL);
}
