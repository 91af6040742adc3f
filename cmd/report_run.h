/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The measurements of `subtick report`: other commands of this program, run and read back. */
#ifndef SUBTICK_CMD_REPORT_RUN_H
#define SUBTICK_CMD_REPORT_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "report/report.h"
#include "view/html/html.h"

/* The reports gathered, and what is missing with the reason; owns the strings of @missing. */
struct gathered {
	struct report **reports;
	size_t nr_reports;
	struct html_missing *missing;
	size_t nr_missing;
};

/* Adds every report of a JSON text. */
int gathered_read(struct gathered *g, const char *text, size_t size, struct err *err);
void gathered_free(struct gathered *g);

/* Names of the measurements, in order; NULL at the end. */
extern const char *const report_collectors[];

/*
 * Runs the collectors of the comma-separated @list (NULL: all); those that only observe run at the
 * same time. A collector that this build lacks or that fails is added to the missing, with its
 * error message. 0 or -ENOMEM.
 */
int report_run(struct gathered *g, unsigned int seconds, const char *list, bool progress);

#endif
