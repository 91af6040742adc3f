/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The shapes and colours for the parts of a core's time. */
#include "view/bar_style.h"
#include "base/array.h"

static const struct {
	enum metric_id id;
	struct bar_style look;
} known[] = {
	{M_TASK_RATIO, {"█", "#", STYLE_GREEN}},
	{M_HARDIRQ_RATIO, {"▓", "%", STYLE_RED}},
	{M_SOFTIRQ_ON_IDLE_RATIO, {"▒", "=", STYLE_YELLOW}},
	{M_SOFTIRQ_ON_TASK_RATIO, {"░", "-", STYLE_MAGENTA}},
	{M_KSOFTIRQD_RATIO, {"k", "k", STYLE_BLUE}},
	{M_IDLE_LOOP_RATIO, {"~", "~", STYLE_CYAN}},
	{M_POLL_IDLE_RATIO, {"o", "o", STYLE_CYAN}},
	{M_IDLE_RATIO, {"·", ".", STYLE_DIM}},
	{M_STEAL_RATIO, {"x", "x", STYLE_BRIGHT_RED}},
	{M_UNKNOWN_RATIO, {"?", "?", STYLE_BRIGHT_MAGENTA}},
};

struct bar_style bar_style_of(const struct table *table, size_t col, char letter[2])
{
	static const enum style styles[] = {STYLE_GREEN,   STYLE_RED,  STYLE_YELLOW,
					    STYLE_MAGENTA, STYLE_BLUE, STYLE_CYAN};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (table->cols[col].metric == metric_get(known[i].id))
			return known[i].look;
	letter[0] = 'A' + (col - table->bar_first) % 26;
	letter[1] = '\0';
	return (struct bar_style){letter, letter, styles[(col - table->bar_first) % 6]};
}

const char *style_sgr(enum style style)
{
	static const char *const sgr[STYLE_NR] = {
		[STYLE_PLAIN] = "",
		[STYLE_BOLD] = "\033[1m",
		[STYLE_DIM] = "\033[2m",
		[STYLE_RED] = "\033[31m",
		[STYLE_GREEN] = "\033[32m",
		[STYLE_YELLOW] = "\033[33m",
		[STYLE_BLUE] = "\033[34m",
		[STYLE_MAGENTA] = "\033[35m",
		[STYLE_CYAN] = "\033[36m",
		[STYLE_BRIGHT_RED] = "\033[91m",
		[STYLE_BRIGHT_MAGENTA] = "\033[95m",
		[STYLE_REVERSE] = "\033[7m",
		[STYLE_ALARM] = "\033[1;31m",
	};

	return sgr[style];
}
