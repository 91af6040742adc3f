/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Content of `subtick report`: output of commands, saved files, or history of the exporter. */
#ifndef SUBTICK_CMD_REPORT_RUN_H
#define SUBTICK_CMD_REPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/option.h"
#include "view/html/html.h"

/* Content of a report. struct gathered owns all strings of @doc except @doc.machine. */
struct gathered {
	/* memory streams of the report; closed by gathered_finish() */
	FILE *windows, *findings, *text;
	struct html_doc doc;
	size_t findings_size, text_size, nr_windows, nr_texts;
	bool measured; /* true if the report has a window of a command other than doctor */
};

int gathered_open(struct gathered *g, struct err *err);
int gathered_read(struct gathered *g, const char *text, size_t size, struct err *err);
/* Adds the reason why @command has no output. @command must outlive @g. Returns 0 or -ENOMEM. */
int gathered_miss(struct gathered *g, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Closes the memory streams of @g, which completes @g->doc. */
int gathered_finish(struct gathered *g, struct err *err);
void gathered_free(struct gathered *g);

/* Names of the measurements, NULL-terminated. */
extern const char *const report_collectors[];

/*
 * Runs the measurements of @asked, a bit set of report_collectors. If @asked is 0, runs all
 * measurements except audit and crit, because audit and crit load cores. load, runq, noise and wake
 * run at the same time. gathered_miss() records a failed measurement. Returns 0 or -ENOMEM.
 */
int report_run(struct gathered *g, unsigned int seconds, uint32_t asked, bool progress);

/*
 * Option parser of a time such as "2026-11-17 03:12[:00]", stored as uint64_t in Unix ns. The time
 * is local, or UTC with a final Z.
 */
opt_parse report_history_time;
/*
 * Adds all windows of `subtick serve --history` that ended from @at_ns to @at_ns + @for_ns. @dir is
 * the directory of the history, or NULL for the directory in the exporter's settings.
 * gathered_miss() records gaps. If the time span has no window, returns -ENODATA, and @err lists
 * the time spans that have windows.
 */
int report_history(struct gathered *g, const char *dir, uint64_t at_ns, uint64_t for_ns,
		   struct err *err);

#endif
