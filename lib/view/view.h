/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints reports; the only code of the library's side that writes to a stream. */
#ifndef SUBTICK_VIEW_VIEW_H
#define SUBTICK_VIEW_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "report/report.h"

enum view_format {
	VIEW_TEXT,
	VIEW_JSON, /* JSON Lines: one object per report */
	VIEW_CSV,  /* header once; one line per row of the first table */
};

struct view {
	enum view_format format;
	FILE *out;
	bool color;
	bool bars;	       /* text: draw stacked bars (a terminal that can show them) */
	bool all;	       /* text: also tables marked text_hidden */
	int width;	       /* text: columns of the terminal, 0 when not one */
	unsigned long written; /* reports so far */
};

/* 0, -EPIPE when the reader has gone, or another -errno of the stream; flushes. */
int view_write(struct view *view, const struct report *report);

/* One per format; called through view_write(). */
int view_text(struct view *view, const struct report *report);
int view_json(struct view *view, const struct report *report);
int view_csv(struct view *view, const struct report *report);

/* "1.23 ms", "250 ns", "12.3 s": three significant digits, for people. */
void view_format_ns(double ns, char *buf, size_t size);

#endif
