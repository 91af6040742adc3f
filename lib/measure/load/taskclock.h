/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source taskclock. */
#ifndef SUBTICK_MEASURE_LOAD_TASKCLOCK_H
#define SUBTICK_MEASURE_LOAD_TASKCLOCK_H

#include "measure/load/source.h"

extern const struct load_source_ops load_source_taskclock;

#endif
