/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measurement of `subtick noise`: interrupts, softirqs and kernel threads on each CPU, and the
 * tasks that they interrupt.
 */
#ifndef SUBTICK_MEASURE_NOISE_H
#define SUBTICK_MEASURE_NOISE_H

#include "measure/meter.h"
#include "measure/noise/window.h"

struct noise_opts {
	struct cpuset cpus; /* CPUs to report, or empty for all possible CPUs */
	uint32_t top;	    /* number of sources to report per CPU, or 0 for all */
	bool senders;	    /* count IPIs by sender and target */
	bool judged;
	struct meter *load; /* load measurement that shares its source with noise, or NULL */
	struct noise_limits limits;
};

#define NOISE_LIMITS_FORM "max=TIME, rate=NUMBER/s or share=PERCENT%, such as max=50us,share=0.1%"

extern const struct noise_limits noise_no_limits;
/* Default limits of --isolated. */
extern const struct noise_limits noise_isolated_limits;

/* Parses a limit of the form NOISE_LIMITS_FORM. Returns false if @word is not a valid limit. */
bool noise_limit_parse(const char *word, struct noise_limits *limits);
/* True if a value of @core exceeds its limit. */
bool noise_exceeds(const struct noise_core *core, const struct noise_limits *limits);

int noise_open(const struct noise_opts *opts, struct meter **ret_meter, struct err *err);
/* Returns the result of the last window, which is valid until the next read of @meter. */
const struct noise_window *noise_window(const struct meter *meter);

#endif
