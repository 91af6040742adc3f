/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources bpf and bpf-pmu. */
#ifndef SUBTICK_MEASURE_LOAD_BPF_H
#define SUBTICK_MEASURE_LOAD_BPF_H

#include "measure/load/source.h"

extern const struct load_source_ops load_source_bpf;
extern const struct load_source_ops load_source_bpf_pmu;

#endif
