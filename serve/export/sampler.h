/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thread that ends all measurement windows at fixed times, independent of scrapes. */
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
	const struct config *config; /* settings; protected by the lock of the store */
	pthread_t thread;
	bool started;
	atomic_bool stopping;
	/* eventfd that wakes the sampler's thread, which then checks @stopping and the interval */
	int wake_fd;
	int notify_fd; /* eventfd that is readable after each round of windows */
	unsigned int rounds; /* number of rounds of windows */
	/* CLOCK_MONOTONIC time at which the sampler's thread was started */
	uint64_t start_ns;
	/* CLOCK_MONOTONIC time at the end of the last round of windows; 0 before the first round */
	atomic_uint_fast64_t round_ns;
	/* CLOCK_MONOTONIC time at the end of the last round in which a window was read */
	atomic_uint_fast64_t window_ns;
};

int sampler_open(struct sampler *sampler, struct err *err);
int sampler_start(struct sampler *sampler, struct err *err);
/* Stops the sampler's thread and waits until it has ended. */
void sampler_close(struct sampler *sampler);
/* Wakes the sampler's thread, so that a changed interval applies to the current window. */
void sampler_wake(struct sampler *sampler);
/* True if a round of windows ended, or the thread started, within the last three intervals. */
bool sampler_alive(const struct sampler *sampler);
/* True if a round with at least one readable window ended within the last three intervals. */
bool sampler_ready(const struct sampler *sampler);

#endif
