/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes metrics in the Prometheus text format 0.0.4, OpenMetrics 1.0 or protobuf. */
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

const char *prom_content_type(enum prom_format format);
/*
 * Chooses the format with the largest weight in an Accept header. Of formats with equal weights,
 * chooses the last in enum prom_format. Returns PROM_TEXT if @accept is NULL or has no known
 * format. Chooses protobuf only if @protobuf is true.
 */
enum prom_format prom_accept(const char *accept, bool protobuf);

/*
 * Callback that receives each full block of output. A nonzero result stops the output, and
 * prom_end() returns this result.
 */
typedef int prom_sink(void *arg, const char *data, size_t len);

struct prom {
	enum prom_format format;
	prom_sink *sink;
	void *arg;
	size_t used;
	int rc;
	char block[64 * 1024];
};

/* Writes all samples of one family, or nothing if there are none. Call once per family. */
void prom_write(struct prom *prom, const struct series *series, const struct series_table *table);
/* Writes the last block and, in OpenMetrics, "# EOF". Returns 0 or the result of the callback. */
int prom_end(struct prom *prom);

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
 * Writes one family as length-delimited protobuf. Encodes the family twice, because the length
 * precedes the data.
 */
void prom_proto_write(struct prom *prom, const struct series *series,
		      const struct series_table *table);

#endif
