/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns the windows of `subtick load` into a report. */
#ifndef SUBTICK_MEASURE_LOAD_REPORT_H
#define SUBTICK_MEASURE_LOAD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/hist.h"
#include "base/err.h"
#include "measure/load/load.h"
#include "measure/load/source_set.h"

struct load_result {
	const struct load_opts *opts;
	unsigned int nr_cpus;
	uint64_t window_ns;
	unsigned int nr_lanes;
	struct load_source *source[SOURCE_SET_MAX];
	const struct load_cpu_window *windows[SOURCE_SET_MAX];
	const struct load_vecs *vecs_prev, *vecs_cur; /* per CPU, or NULL */
	const uint64_t *bursts_prev, *bursts_cur; /* nr_cpus × HIST_NR, or NULL */
	const struct err *passed_over; /* why auto took no better source, or NULL */
	bool steal_known;
};

/* The losses of a source as keys of the report's quality. */
void load_report_losses(const struct load_losses *losses, struct report *report);
int load_report(const struct load_result *result, struct report **ret_report);

#endif
