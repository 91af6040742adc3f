/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Totals without their empty buckets, to keep those of many groups: about 600 bytes, not 8,500. */
#ifndef SUBTICK_STATS_RUNQ_PACK_H
#define SUBTICK_STATS_RUNQ_PACK_H

#include "stats/runq.h"

struct runq_packed;

/* Free it with free(); NULL if there is no memory. */
struct runq_packed *runq_pack(const struct runq_totals *totals);
/* NULL is totals without waits. */
void runq_unpack(const struct runq_packed *packed, struct runq_totals *ret_totals);

#endif
