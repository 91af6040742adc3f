/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The measurements of `subtick report`: other commands of this program, run and read back. */
#ifndef SUBTICK_CMD_REPORT_RUN_H
#define SUBTICK_CMD_REPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "view/html/html.h"

/* The content of a report. Begin with gathered_open(); owns all strings but the machine. */
struct gathered {
	FILE *windows, *findings, *text; /* closed by gathered_finish() */
	struct html_doc doc;
	size_t findings_size, text_size, nr_windows, nr_texts;
	bool measured; /* there is a window of a command other than doctor */
};

int gathered_open(struct gathered *g, struct err *err);
/* Checks every report of a JSON text and adds it. */
int gathered_read(struct gathered *g, const char *text, size_t size, struct err *err);
/* Adds a measurement that is not in the report, and why; @command must outlive @g. 0 or -ENOMEM. */
int gathered_miss(struct gathered *g, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Completes @g->doc. */
int gathered_finish(struct gathered *g, struct err *err);
void gathered_free(struct gathered *g);

/* Names of the measurements, in order; NULL at the end. */
extern const char *const report_collectors[];

/*
 * Runs the collectors of @asked, bits of report_collectors. If @asked is 0, it runs all but audit
 * and crit, which put load on cores. Collectors that only observe run at the same time. A collector that this build lacks
 * or that fails is added to the missing, with its error message. 0 or -ENOMEM.
 */
int report_run(struct gathered *g, unsigned int seconds, uint32_t asked, bool progress);

#endif
