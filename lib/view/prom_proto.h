/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series as io.prometheus.client.MetricFamily, the format that has native histograms. */
#ifndef SUBTICK_VIEW_PROM_PROTO_H
#define SUBTICK_VIEW_PROM_PROTO_H

#include "view/series.h"
#include "view/prom_out.h"

/* Writes the length of the family, then the family. Encodes it twice, the first time for the length. */
void prom_proto_write(struct prom *prom, const struct series *series,
		      const struct series_table *table);

#endif
