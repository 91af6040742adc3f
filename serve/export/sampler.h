/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that ends windows on time, independent of scrapes. */
#ifndef SUBTICK_SERVE_SAMPLER_H
#define SUBTICK_SERVE_SAMPLER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "serve/export/collector.h"
#include "serve/config.h"
#include "serve/export/store.h"

struct sampler {
	struct collectors *collectors;
	struct store *store;
	const struct config *config; /* changes only under the store's lock */
	pthread_t thread;
	bool started;
	atomic_bool stopping;
	int wake_fd;   /* eventfd: wakes the thread to check @stopping and the interval */
	int notify_fd; /* eventfd: readable after each round of windows */
	unsigned int rounds;	  /* since the last call of meminfo_trim() */
	unsigned int trim_rounds; /* from one call to the next */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
	atomic_uint_fast64_t round_ns;	/* end of the last round, 0 before the first */
	atomic_uint_fast64_t window_ns; /* end of the last round with a window */
};

int sampler_open(struct sampler *sampler, struct err *err);
int sampler_start(struct sampler *sampler, struct err *err);
/* Ends the thread and waits for it. */
void sampler_close(struct sampler *sampler);
/* The interval has changed: it applies to the current window already. */
void sampler_wake(struct sampler *sampler);
/* True if a round ended, or the thread started, within the last three intervals. */
bool sampler_alive(const struct sampler *sampler);
/* True if a round with a window ended within the last three intervals. */
bool sampler_ready(const struct sampler *sampler);

#endif
