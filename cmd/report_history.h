/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of `subtick serve --history` as the content of a report. */
#ifndef SUBTICK_CMD_REPORT_HISTORY_H
#define SUBTICK_CMD_REPORT_HISTORY_H

#include "base/option.h"
#include "report_run.h"
#include "serve/history_file.h"

/*
 * Parses "2026-11-17 03:12[:00]" of local time, or of UTC with a Z at the end, into a uint64_t of Unix
 * time in ns.
 */
opt_parse report_history_time;
/*
 * Adds all windows that ended from @at_ns to @at_ns + @for_ns. @dir: NULL for the directory of the
 * exporter's settings file. A collector that has windows of only a part of the time is added to the
 * missing, with that part. -ENODATA if there is no window; @err then lists the times of windows.
 */
int report_history(struct gathered *g, const char *dir, uint64_t at_ns, uint64_t for_ns,
		   struct err *err);

#endif
