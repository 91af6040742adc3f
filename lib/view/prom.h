/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series as Prometheus text 0.0.4, OpenMetrics 1.0 or protobuf. */
#ifndef SUBTICK_VIEW_PROM_H
#define SUBTICK_VIEW_PROM_H

#include <string.h>

#include "view/series.h"

enum prom_format {
	PROM_TEXT,	  /* text/plain; version=0.0.4 */
	PROM_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
	PROM_PROTOBUF,	  /* io.prometheus.client.MetricFamily, length-delimited */
	PROM_NR_FORMATS,
};

/* For the Content-Type header. */
const char *prom_content_type(enum prom_format format);
/*
 * The format that an Accept header, or NULL, gives the largest weight; of equal ones the last of
 * enum prom_format. Text if it names none. @protobuf: whether that is offered.
 */
enum prom_format prom_accept(const char *accept, bool protobuf);

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
void prom_write(struct prom *prom, const struct series *series, const struct series_table *table);
/* Writes the rest of the block and the end mark of OpenMetrics; 0 or the sink's result. */
int prom_end(struct prom *prom);

/* For the writers of the formats. */
static inline void prom_flush(struct prom *p)
{
	if (!p->rc && p->used)
		p->rc = p->sink(p->arg, p->block, p->used);
	p->used = 0;
}

static inline void prom_put(struct prom *p, const char *data, size_t len)
{
	while (len) {
		size_t fits = sizeof(p->block) - p->used;

		if (fits > len)
			fits = len;
		memcpy(p->block + p->used, data, fits);
		p->used += fits;
		data += fits;
		len -= fits;
		if (p->used == sizeof(p->block))
			prom_flush(p);
	}
}

/*
 * Writes the length of the family, then the family, as protobuf: the only format with native
 * histograms. Encodes it twice, the first time for the length.
 */
void prom_proto_write(struct prom *prom, const struct series *series,
		      const struct series_table *table);

#endif
