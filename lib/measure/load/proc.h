/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources procstat, procidle and schedstat: what the kernel's own files say. */
#ifndef SUBTICK_MEASURE_LOAD_PROC_H
#define SUBTICK_MEASURE_LOAD_PROC_H

#include "measure/load/source.h"
#include "sys/procstat.h"

extern const struct load_source_ops load_source_procstat;
extern const struct load_source_ops load_source_procidle;
extern const struct load_source_ops load_source_schedstat;

/* Columns that source procstat read for its last sample, by CPU. NULL if the read failed. */
const struct procstat_cpu *load_procstat_read(struct load_source *procstat);

#endif
