/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The look of the parts of a stacked bar, for text and for the live screen. */
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
	STYLE_REVERSE, /* live screen only: the selection */
	STYLE_ALARM,   /* live screen only: losses and errors */
	STYLE_NR,
};

/* Parts differ in shape and in colour, for colour-blind people and terminals without colours. */
struct bar_style {
	const char *shape;
	const char *ascii; /* for terminals without UTF-8 */
	enum style style;
};

/* A column without a look of its own gets a letter, by its order, which is written to @letter. */
struct bar_style bar_style_of(const struct table *table, size_t col, char letter[2]);

/* The escape sequence that begins @style; "" for STYLE_PLAIN. */
const char *style_sgr(enum style style);

#endif
