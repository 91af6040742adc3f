/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series as Prometheus text 0.0.4, OpenMetrics 1.0 or protobuf. */
#ifndef SUBTICK_VIEW_PROM_H
#define SUBTICK_VIEW_PROM_H

#include "view/series.h"
#include "view/prom_out.h"

/* Writes all samples of one family; call it once per family. A family without samples is left out. */
void prom_write(struct prom *prom, const struct series *series, const struct series_table *table);
/* Writes the rest of the block and the end mark of OpenMetrics; 0 or the sink's result. */
int prom_end(struct prom *prom);

#endif
