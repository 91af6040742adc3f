/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Content of `subtick report`: output of other commands, of files or of the exporter's history. */
#ifndef SUBTICK_CMD_REPORT_RUN_H
#define SUBTICK_CMD_REPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/option.h"
#include "view/html/html.h"

/* Content of a report. Owns all strings of @doc except the machine. */
struct gathered {
	FILE *windows, *findings, *text; /* closed by gathered_finish() */
	struct html_doc doc;
	size_t findings_size, text_size, nr_windows, nr_texts;
	bool measured; /* the report has a window of a command other than doctor */
};

int gathered_open(struct gathered *g, struct err *err);
int gathered_read(struct gathered *g, const char *text, size_t size, struct err *err);
/* Adds the reason why @command is missing. @command must outlive @g. 0 or -ENOMEM. */
int gathered_miss(struct gathered *g, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Closes the memory streams of @g, which completes @g->doc. */
int gathered_finish(struct gathered *g, struct err *err);
void gathered_free(struct gathered *g);

/* Names of the measurements, NULL-terminated. */
extern const char *const report_collectors[];

/*
 * Runs the measurements of @asked, bits of report_collectors. 0 selects all except audit and crit,
 * which load cores. Measurements that only observe run at the same time. A failed measurement is
 * added by gathered_miss(). Returns 0 or -ENOMEM.
 */
int report_run(struct gathered *g, unsigned int seconds, uint32_t asked, bool progress);

/*
 * Parser of "2026-11-17 03:12[:00]" in local time, or in UTC with a Z at the end, to a uint64_t of
 * Unix time in ns.
 */
opt_parse report_history_time;
/*
 * Adds all windows of `subtick serve --history` that ended from @at_ns to @at_ns + @for_ns. @dir is
 * the directory, or NULL for the setting of the exporter. Gaps are added by gathered_miss().
 * Returns -ENODATA if the time span has no window; @err then lists the time spans that have
 * windows.
 */
int report_history(struct gathered *g, const char *dir, uint64_t at_ns, uint64_t for_ns,
		   struct err *err);

#endif
