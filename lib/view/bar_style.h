/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the parts of a stacked bar look, in text and on the live screen alike. */
#ifndef SUBTICK_VIEW_BAR_STYLE_H
#define SUBTICK_VIEW_BAR_STYLE_H

#include <stddef.h>

#include "report/report.h"

enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_RED,
	STYLE_GREEN,
	STYLE_YELLOW,
	STYLE_BLUE,
	STYLE_MAGENTA,
	STYLE_CYAN,
	STYLE_BRIGHT_RED,
	STYLE_BRIGHT_MAGENTA,
	STYLE_REVERSE, /* the live screen alone: what is chosen */
	STYLE_ALARM,   /* the live screen alone: what must not be overlooked */
	STYLE_NR,
};

/* Shapes differ as well as colours: not everybody sees both. */
struct bar_style {
	const char *shape;
	const char *ascii; /* for terminals that do not speak UTF-8 */
	enum style style;
};

/* What has no look of its own gets a letter, written to @letter, in the order of the columns. */
struct bar_style bar_style_of(const struct table *table, size_t col, char letter[2]);

/* The escape sequence that begins @style; "" for STYLE_PLAIN. */
const char *style_sgr(enum style style);

#endif
