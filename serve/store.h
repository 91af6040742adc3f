/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters between the thread that measures and the one that answers scrapers. */
#ifndef SUBTICK_SERVE_STORE_H
#define SUBTICK_SERVE_STORE_H

#include <pthread.h>
#include <stdint.h>

#include "report/series.h"

struct store {
	pthread_mutex_t lock; /* held for a window's additions or for a copy, never for rendering */
	struct series series[FAMILY_NR];
	struct series seen; /* cgroups with series of their own: when they last waited */
	uint64_t generation; /* windows added so far */
	unsigned int readers;
};

/* Boundaries of run-queue waits; those of idle wake-ups are ours. */
int store_init(struct store *store, const uint64_t *le_ns, unsigned int nr_le);
void store_free(struct store *store);

/* For the thread that measures, with the lock held. A sample that finds no memory is dropped. */
void store_add(struct store *store, enum family_id id, const char *labels, uint64_t delta);
void store_set(struct store *store, enum family_id id, const char *labels, uint64_t value);
void store_set_f64(struct store *store, enum family_id id, const char *labels, double value);
/* Losses are counted since the start by the measurement itself. */
void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total);

/* A consistent copy of all families and its generation; give it back soon. */
int store_copy(struct store *store, struct series copy[FAMILY_NR], uint64_t *ret_generation);
void store_copy_done(struct store *store);

#endif
