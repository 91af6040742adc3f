/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The thread that ends windows on time, whatever the scrapers do. */
#ifndef SUBTICK_SERVE_SAMPLER_H
#define SUBTICK_SERVE_SAMPLER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "collector.h"
#include "config.h"
#include "store.h"

struct sampler {
	struct collector *collectors;
	struct store *store;
	const struct config *config; /* changes only under the store's lock */
	pthread_t thread;
	bool started;
	atomic_bool stopping;
	int wake_fd;   /* eventfd: written to make the thread look at what is new here */
	int notify_fd; /* eventfd: readable after each round of windows */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
	atomic_uint_fast64_t round_ns;	/* of the last round, 0 before the first */
	atomic_uint_fast64_t window_ns; /* of the last round that gave a window */
	void (*log)(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
};

int sampler_open(struct sampler *sampler, struct err *err);
int sampler_start(struct sampler *sampler, struct err *err);
/* Ends the thread and waits for it. */
void sampler_close(struct sampler *sampler);
/* The interval is another: the window under way ends by it. */
void sampler_wake(struct sampler *sampler);
/* Whether a round ended, or the thread began, within the last three intervals. */
bool sampler_alive(const struct sampler *sampler);
/* The same of a round in which at least one window ended well; the start does not count. */
bool sampler_ready(const struct sampler *sampler);

#endif
