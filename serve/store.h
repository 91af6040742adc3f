/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters, shared by the thread that measures and the one that answers scrapes. */
#ifndef SUBTICK_SERVE_STORE_H
#define SUBTICK_SERVE_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "contest.h"
#include "report/series.h"

/* The words of store.seen. */
enum store_seen {
	STORE_SEEN_NS, /* CLOCK_MONOTONIC */
	STORE_SEEN_ENDED,
	STORE_SEEN_POD, /* whether it is a pod or a container of one */
	STORE_SEEN_SINCE_NS, /* when it got its series */
	STORE_SEEN_ACTIVE_NS, /* see contest_decay(), as of STORE_SEEN_NS */
	STORE_NR_SEEN,
};

/* The words of F_NOISE_LONGEST; the first is on the page. */
enum store_longest {
	STORE_LONGEST_SHOWN,
	STORE_LONGEST_NOW, /* of the period */
	STORE_LONGEST_BEFORE, /* of the one before */
	STORE_LONGEST_PERIOD,
	STORE_NR_LONGEST,
};

struct store {
	pthread_mutex_t lock; /* held for a window's additions or for a copy, never for rendering */
	struct series series[FAMILY_NR];
	struct contest contest; /* of those that have none */
	struct series seen;  /* when each cgroup with series of its own last waited, and whether it ended */
	uint64_t generation; /* windows added so far */
	unsigned int readers;
};

/* @le_ns: boundaries of run-queue latency; those of wake latency are fixed. */
int store_init(struct store *store, const uint64_t *le_ns, unsigned int nr_le);
/*
 * Native histograms, too: of run-queue latency from the fine ones, or else of its boundaries; of wake
 * latency always from the fine ones.
 */
void store_native(struct store *store, bool fine);
void store_free(struct store *store);

/* For the thread that measures, with the lock held. Out of memory, a sample is dropped. */
void store_add(struct store *store, enum family_id id, const char *labels, uint64_t delta);
void store_set(struct store *store, enum family_id id, const char *labels, uint64_t value);
void store_set_f64(struct store *store, enum family_id id, const char *labels, double value);
/* Losses are counted since the start by the measurement itself. */
void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total);

/* A window was added: the next generation. Also frees the labels of removed rows that no copy has. */
void store_window_added(struct store *store);

/* A consistent copy of all families and its generation; call store_copy_done() soon. */
int store_copy(struct store *store, struct series copy[FAMILY_NR], uint64_t *ret_generation);
void store_copy_done(struct store *store);

#endif
