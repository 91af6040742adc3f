/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources procstat, procidle and schedstat: what the kernel's own files say. */
#ifndef SUBTICK_MEASURE_LOAD_PROC_H
#define SUBTICK_MEASURE_LOAD_PROC_H

#include "measure/load/source.h"

extern const struct load_source_ops load_source_procstat;
extern const struct load_source_ops load_source_procidle;
extern const struct load_source_ops load_source_schedstat;

#endif
