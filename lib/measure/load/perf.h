/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources perf-tsc and perf-calibrated. */
#ifndef SUBTICK_MEASURE_LOAD_PERF_H
#define SUBTICK_MEASURE_LOAD_PERF_H

#include "measure/load/source.h"

extern const struct load_source_ops load_source_perf_tsc;
extern const struct load_source_ops load_source_perf_calibrated;

#endif
