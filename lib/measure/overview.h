/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The overview: what the cores did, beside the kernel's own figures. */
#ifndef SUBTICK_MEASURE_OVERVIEW_H
#define SUBTICK_MEASURE_OVERVIEW_H

#include "measure/meter.h"

int overview_open(struct meter **ret_meter, struct err *err);

#endif
