/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collects what the writers of the formats make in blocks. */
#ifndef SUBTICK_VIEW_PROM_OUT_H
#define SUBTICK_VIEW_PROM_OUT_H

#include <stddef.h>

enum prom_format {
	PROM_TEXT,	  /* text/plain; version=0.0.4 */
	PROM_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
	PROM_PROTOBUF,	  /* io.prometheus.client.MetricFamily, length-delimited */
	PROM_NR_FORMATS,
};

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

void prom_put(struct prom *prom, const char *data, size_t len);
void prom_flush(struct prom *prom);

#endif
