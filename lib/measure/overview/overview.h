/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures load, runq, noise and passive wake in one window; reads tasks and settings of cgroups. */
#ifndef SUBTICK_MEASURE_OVERVIEW_H
#define SUBTICK_MEASURE_OVERVIEW_H

#include "measure/load/window.h"
#include "measure/meter.h"
#include "measure/noise/window.h"
#include "measure/overview/settings.h"
#include "measure/overview/suspects.h"
#include "measure/runq/window.h"
#include "measure/wake/window.h"

#define OVERVIEW_CGROUPS 32
/* Settings are read of cgroups with waits of at least this share of the window. */
#define OVERVIEW_LEAST 0.01

/* Valid until the meter's next read. */
struct overview_window {
	const struct load_window *load;
	const struct runq_window *runq; /* NULL: unavailable, see runq_err */
	const struct err *runq_err;
	const struct wake_window *wake;	  /* NULL: unavailable */
	const struct noise_window *noise; /* NULL: unavailable */
	struct settings_mounts mounts;
	struct suspects suspects;
	struct settings *settings; /* of cgroups that wait or make others wait */
	size_t nr_settings;
};

int overview_open(struct meter **ret_meter, struct err *err);
const struct overview_window *overview_window(const struct meter *meter);

#endif
