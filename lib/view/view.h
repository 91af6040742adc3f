/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints reports. Only lib/view/ and lib/tracefile/ write to a stream of the caller. */
#ifndef SUBTICK_VIEW_H
#define SUBTICK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/columns.h"
#include "report/report.h"

/* Flushes the stream. Returns @rc if @rc is nonzero, else 0 or the -errno of the stream. */
int stream_end(FILE *out, int rc);

enum view_format {
	VIEW_TEXT,
	VIEW_JSON, /* JSON Lines: one object per report */
	VIEW_CSV,  /* a header line when the columns change, and one line per table row */
};

#define VIEW_MAX_WIDTHS 32
#define VIEW_TOP_ALL	UINT32_MAX /* value of --top 0: no limit on rows and findings */

/* Loss counters of the previous report. Loss counters count from the start of the measurement. */
struct losses_seen {
	struct {
		uint64_t key; /* hash of column.key of a loss counter; 0: unused entry */
		uint64_t total;
	} of[24];
};

struct view {
	enum view_format format;
	FILE *out;
	bool color;
	bool bars;	       /* text format: true if the terminal can show stacked bars */
	bool all;	       /* text format: show all tables, including text_hidden tables */
	bool wide;	       /* text format: show every part of a sum in its own column */
	int width;	       /* text format: columns of the terminal, or 0 without a terminal */
	/* maximum number of rows of each ranked list, or 0 in commands without --top */
	uint32_t top;
	unsigned long written; /* number of reports written so far */
	struct losses_seen losses;
	/* state of the last printed report, which avoids repeated headings and notes */
	struct {
		/* hashes of the last printed columns, bar legend and notes */
		uint64_t columns, legend, notes;
		uint64_t window_ns, second;
		unsigned int age; /* number of reports since the last heading */
		/* widths of the columns that are printed below the last heading */
		unsigned short widths[VIEW_MAX_WIDTHS];
	} seen;
};

/*
 * Prints a report and flushes the stream. Returns 0, -EPIPE if the reader closed the pipe, -ENOMEM
 * for an incomplete report, or another -errno. The caller must ignore SIGPIPE.
 */
int view_write(struct view *view, const struct report *report);

/* Write a report in one format. view_write() calls the function for the format. */
int view_text(struct view *view, const struct report *report);
int view_json(struct view *view, const struct report *report);
int view_csv(struct view *view, const struct report *report);

/* Writes text as a quoted JSON string in ASCII. Invalid bytes become U+FFFD. */
void json_put_text(FILE *out, const char *str);
/* As json_put_text(), but "<" becomes \u003c, so that the text cannot end a script element. */
void json_put_html(FILE *out, const char *str);

/* Formats a duration with three significant digits: "1.23 ms", "250 ns", "12.3 s". */
void view_format_ns(double ns, char *buf, size_t size);
/* Formats a ratio with one decimal: "12.3%". */
void view_format_ratio(double ratio, char *buf, size_t size);
/* Formats a ratio with enough decimals to show small values: "0.0004%". */
void view_format_ratio_fine(double ratio, char *buf, size_t size);
/* Formats a number or boolean for text output; "-" for other values. */
void view_format_value(const struct value *value, enum unit unit, char *buf, size_t size);

/*
 * True if JSON and CSV write the real number @value as an integer: at least a million ns, cycles,
 * Hz, bytes or counts. Nine significant digits could lose whole units of large numbers.
 */
bool view_is_whole(const struct value *value, enum unit unit);

/* Writes the JSON Schema of a command with the NULL-terminated list @tables. */
void view_schema(FILE *out, const char *command, const struct table_spec *const *tables);

#endif
