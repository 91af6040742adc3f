/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick without a command: the live screen on a terminal, else a summary of the cores. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/array.h"
#include "commands.h"
#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "measure/overview/overview.h"
#include "measure/runq/runq.h"
#include "measure/wake/wake.h"
#include "opts.h"
#include "present/overview.h"
#include "present/present.h"
#include "run.h"
#include "view/screen/screen.h"
#include "view/screen/terminal.h"

#define INTERVAL_NS NSEC_PER_SEC
/* The first window is short, so that the screen shows figures at once. */
#define FIRST_NS (200 * NSEC_PER_MSEC)
#define TASKS	 5 /* of each CPU, in the pane of tasks */

static int open_load(struct meter *load, bool pressure, struct meter **ret_meter, struct err *err)
{
	struct load_opts opts = {.compare = true, .softirq = true, .noise = true, .top = TASKS};

	return load_open(&opts, ret_meter, err);
}

static int open_runq(struct meter *load, bool pressure, struct meter **ret_meter, struct err *err)
{
	struct runq_opts opts = {.blame = true, .pressure = pressure, .load = load};

	return runq_open(&opts, ret_meter, err);
}

/* Passive: the timers that other programs set show how late their core wakes. */
static int open_wake(struct meter *load, bool pressure, struct meter **ret_meter, struct err *err)
{
	struct wake_opts opts = {.sources = 1U << WAKE_PASSIVE, .bare = true};

	return wake_open(&opts, ret_meter, err);
}

/* Counts from the programs of load. */
static int open_noise(struct meter *load, bool pressure, struct meter **ret_meter, struct err *err)
{
	struct noise_opts opts = {.load = load};

	return noise_open(&opts, ret_meter, err);
}

/* Each measurement has one or more panes. The screen needs the first, load; the others may be refused. */
static const struct {
	const char *command;
	int (*open)(struct meter *load, bool pressure, struct meter **ret_meter, struct err *err);
} sources[] = {
	{"load", open_load},
	{"runq", open_runq},
	{"wake", open_wake},
	{"noise", open_noise},
};

#define NR_SOURCES (ARRAY_SIZE(sources))
#define HOME	   1 /* first pane: runq, as the bars already show load */

struct live {
	struct screen screen;
	struct meter *meters[SCREEN_MAX_SLOTS]; /* NULL: refused */
	struct terminal *terminal;
	uint64_t began_ns, next_ns;
};

static void live_fail(struct live *live, size_t slot, const struct err *why, struct err *err)
{
	if (!slot) {
		*err = *why;
		return;
	}
	if (live->meters[slot])
		live->meters[slot]->ops->close(live->meters[slot]);
	live->meters[slot] = NULL;
	if (screen_refuse(&live->screen, slot, why))
		err_set(err, -ENOMEM, "out of memory");
}

static void live_open(struct live *live, bool pressure, struct err *err)
{
	for (size_t i = 0; i < NR_SOURCES && !err->code; i++) {
		struct err why = {0};

		if (screen_add(&live->screen, sources[i].command) != (int)i)
			err_set(err, -ENOMEM, "out of memory");
		else if (sources[i].open(live->meters[0], pressure, &live->meters[i], &why))
			live_fail(live, i, &why, err);
	}
}

static void live_start(struct live *live, struct err *err)
{
	for (size_t i = 0; i < live->screen.nr_slots && !err->code; i++) {
		struct meter *meter = live->meters[i];
		struct err why = {0};

		if (meter && meter->ops->start(meter, &why))
			live_fail(live, i, &why, err);
	}
	live->began_ns = clock_mono_ns();
	live->next_ns = live->began_ns + FIRST_NS;
}

/* While paused, windows are read but not shown, so that the next one shown is not longer. */
static void live_read(struct live *live, struct err *err)
{
	for (size_t i = 0; i < live->screen.nr_slots && !err->code; i++) {
		struct meter *meter = live->meters[i];
		struct report *report = NULL;
		struct err why = {0};

		if (!meter)
			continue;
		if (meter->ops->read(meter, &why) ||
		    (!live->screen.paused &&
		     present_window(sources[i].command, meter, &report, &why))) {
			live_fail(live, i, &why, err);
		} else if (report && screen_show(&live->screen, i, report)) {
			err_set(err, -ENOMEM, "out of memory");
		}
	}
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

/* True if it is time to quit. */
static bool live_keys(struct live *live, bool *ret_again)
{
	enum screen_action action;
	int key;

	while ((key = terminal_key(live->terminal)) != SCREEN_KEY_NONE) {
		*ret_again |= key == ('l' & 0x1f);
		action = screen_key(&live->screen, key);
		if (action == SCREEN_QUIT)
			return true;
		if (action == SCREEN_INTERVAL)
			live->next_ns = live->began_ns + live->screen.interval_ns;
	}
	return false;
}

static void live_loop(struct live *live, struct err *err)
{
	bool again = false;

	while (!err->code) {
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

		live_draw(live, again, err);
		again = false;
		/* Until a key, a new size, a signal to stop or the end of the window. */
		if (err->code || run_wait_input(live->next_ns, &input))
			return;
		if (input.revents & (POLLHUP | POLLERR | POLLNVAL))
			return;
		if ((input.revents & POLLIN) && live_keys(live, &again))
			return;
		if (clock_mono_ns() >= live->next_ns)
			live_read(live, err);
	}
}

/*
 * Shows the cores and the other measurements of this machine until q or a signal. @pressure adds
 * the table of pressure, which costs more than the rest of runq. Closes @terminal. Returns the exit
 * code.
 */
static int screen_run(struct terminal *terminal, bool pressure)
{
	struct live live = {.terminal = terminal};
	struct err err = {0};

	screen_init(&live.screen, INTERVAL_NS);
	live.screen.ascii = !terminal_utf8(terminal);
	live.screen.home = HOME;
	live_open(&live, pressure, &err);
	if (!err.code)
		live_start(&live, &err);
	if (!err.code)
		live_loop(&live, &err);
	for (size_t i = 0; i < live.screen.nr_slots; i++)
		if (live.meters[i])
			live.meters[i]->ops->close(live.meters[i]);
	screen_free(&live.screen);
	/* First restore the terminal, so that the message is readable. */
	terminal_close(terminal);
	return err.code ? opts_fail(NULL, &err) : EXIT_SUCCESS;
}

struct overview_cmd {
	struct opts_interval interval;
	bool once, pressure;
};

const struct opt overview_options[] = {
	{"once", 0, NULL, "print one summary of 5 seconds, even on a terminal",
	 OPT_STORE(struct overview_cmd, once)},
	{"pressure", 0, NULL,
	 "live screen: also the wall time in which tasks waited, as in subtick runq",
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
