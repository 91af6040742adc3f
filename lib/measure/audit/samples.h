/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeps samples of every source on one core, to make windows of any length from them. */
#ifndef SUBTICK_MEASURE_AUDIT_SAMPLES_H
#define SUBTICK_MEASURE_AUDIT_SAMPLES_H

#include <stddef.h>

#include "base/err.h"
#include "measure/load/sources.h"

struct audit_samples {
	struct source_set set;			  /* the first source is the reference */
	struct load_sample *kept[SOURCE_SET_MAX]; /* per source, of the audited core */
	size_t nr, room;			  /* samples kept per source */
	unsigned int cpu;
	struct load_sample *scratch; /* of all CPUs */
};

/* err->unsupported if there is no source for the true load. */
int audit_samples_open(struct audit_samples *samples, unsigned int cpu, size_t room,
		       struct err *err);
void audit_samples_close(struct audit_samples *samples);
/* Drops all samples. */
void audit_samples_reset(struct audit_samples *samples);
/* Takes one more sample of every source; does nothing if there is no room. */
void audit_samples_add(struct audit_samples *samples);
/* The window of source @at between two samples. */
void audit_samples_window(const struct audit_samples *samples, size_t at, size_t from, size_t to,
			  struct load_cpu_window *ret_window);

struct audit_error {
	size_t windows, voids;
	double true_ratio, shown_ratio; /* means */
	double bias;			/* mean of shown minus true */
	double median, p99, max;	/* of the absolute error; NAN without windows */
	double rms;
};

/* The errors of source @at over all windows of @steps samples; a window begins at each sample. */
int audit_samples_error(const struct audit_samples *samples, size_t at, size_t steps,
			struct audit_error *ret_error);

#endif
