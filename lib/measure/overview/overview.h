/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures load with all sources, runq with blame and passive wake in one window. */
#ifndef SUBTICK_MEASURE_OVERVIEW_H
#define SUBTICK_MEASURE_OVERVIEW_H

#include "measure/load/window.h"
#include "measure/meter.h"
#include "measure/runq/window.h"
#include "measure/wake/window.h"

/* Valid until the meter's next read. */
struct overview_window {
	const struct load_window *load;
	const struct runq_window *runq; /* NULL: unavailable, see runq_err */
	const struct err *runq_err;
	const struct wake_window *wake; /* NULL: unavailable */
};

int overview_open(struct meter **ret_meter, struct err *err);
const struct overview_window *overview_window(const struct meter *meter);

#endif
