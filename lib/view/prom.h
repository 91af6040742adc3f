/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series as Prometheus text 0.0.4 or OpenMetrics 1.0. */
#ifndef SUBTICK_VIEW_PROM_H
#define SUBTICK_VIEW_PROM_H

#include <stddef.h>

#include "report/series.h"

enum prom_format {
	PROM_TEXT,	  /* text/plain; version=0.0.4 */
	PROM_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
};

/* For the Content-Type header. */
const char *prom_content_type(enum prom_format format);
/* The format that an Accept header asks for: text unless OpenMetrics has at least its weight. */
enum prom_format prom_accept(const char *accept);

/* Allocates name="value" pairs, escaped, separated by commas; the arguments end with NULL. */
char *prom_labels(const char *name, ...) __attribute__((sentinel));

/* Called with each full block; a nonzero result stops the output and is returned. */
typedef int prom_sink(void *arg, const char *data, size_t len);

struct prom {
	enum prom_format format;
	prom_sink *sink;
	void *arg;
	size_t used;
	int rc;
	char block[64 * 1024];
};

/* Writes all samples of one family; call it once per family. A family without samples is left out. */
void prom_write(struct prom *prom, const struct series *series);
/* Writes the rest of the block and the end mark of OpenMetrics; 0 or the sink's result. */
int prom_end(struct prom *prom);

#endif
