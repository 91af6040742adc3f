/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick noise` as a measurement: what takes time from the tasks of each core, and from whom. */
#ifndef SUBTICK_MEASURE_NOISE_H
#define SUBTICK_MEASURE_NOISE_H

#include "measure/meter.h"
#include "measure/noise/window.h"

struct noise_opts {
	struct cpuset cpus; /* empty: all that are possible */
	uint32_t top;	    /* sources of each core to report; 0: all */
	bool senders;	    /* count IPIs by sender and target */
	bool judged;
	struct meter *load; /* shares its source if that counts noise; may be NULL */
	struct noise_limits limits;
};

#define NOISE_LIMITS_FORM "max=TIME, rate=NUMBER/s or share=PERCENT%, such as max=50us,share=0.1%"

extern const struct noise_limits noise_no_limits;
/* Limits of --isolated without --fail-over. */
extern const struct noise_limits noise_isolated_limits;

/* Parses one of NOISE_LIMITS_FORM. False if @word has another form; @limits is then unchanged. */
bool noise_limit_parse(const char *word, struct noise_limits *limits);
/* True if a figure of @core is above its limit. */
bool noise_exceeds(const struct noise_core *core, const struct noise_limits *limits);

int noise_open(const struct noise_opts *opts, struct meter **ret_meter, struct err *err);
/* The window that the last read ended; it stays until the next. */
const struct noise_window *noise_window(const struct meter *meter);

#endif
