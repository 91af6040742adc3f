/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All counters of the exporter: written by the sampler's thread, copied by the event loop's. */
#ifndef SUBTICK_SERVE_STORE_H
#define SUBTICK_SERVE_STORE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/config.h"
#include "measure/wake/window.h"
#include "stats/load.h"
#include "view/series.h"

#define TOPK_SIZE 64

/* Time waited as of @seen_ns. It halves every minute. */
struct active {
	uint64_t ns, seen_ns;
};

/* Zeroed is empty. */
struct topk {
	struct topk_entry {
		uint64_t key; /* hash of the cgroup's path */
		struct active active;
	} entries[TOPK_SIZE];
	size_t nr;
	/*
	 * Index 0: cgroups outside pods; 1: pods. In the window that ends at full_ns a cgroup finds
	 * no place unless it is more than twice as active as least_ns. So a window searches once,
	 * not for every cgroup without series.
	 */
	uint64_t full_ns[2], least_ns[2];
};

/* A driver has at most 10 idle states; a kernel without one has two, and there is "unknown". */
#define STORE_IDLE_STATES 13

/* Parts of F_CPU after enum load_part, for sources without parts. */
enum { STORE_BUSY = LOAD_NR_PARTS, STORE_IDLE, STORE_NR_CONTEXTS };
/* Parts of F_RUNQ_FOLDED and F_RUNQ_EVICTED. */
enum { STORE_FOLDED_WAITS, STORE_FOLDED_BLAME };
enum store_evicted { STORE_ENDED, STORE_PRIORITY, STORE_SILENT, STORE_ACTIVITY };

/* The words of F_NOISE_LONGEST and F_SOFTIRQ_DELAY_LONGEST; the first is on the page. */
enum store_longest {
	STORE_LONGEST_SHOWN,
	STORE_LONGEST_NOW,    /* of the current period */
	STORE_LONGEST_BEFORE, /* of the previous one */
	STORE_LONGEST_PERIOD, /* number of the current one */
	STORE_NR_LONGEST,
};

struct store {
	const struct config *config; /* changes only under the lock */
	pthread_mutex_t lock; /* held for a window's additions or for a copy, never for rendering */
	struct series series[FAMILY_NR];
	struct series_table tables[FAMILY_NR]; /* families whose rows have the same labels share one */
	uint64_t wake_le_ns[WAKE_NR_LE];
	uint64_t generation; /* windows added so far */
	unsigned int readers;
	union word dropped; /* samples that found no memory */

	/* Cgroups with series of their own; see cgroups.h. */
	size_t nr_cgroups;
	uint32_t last_cgroup_id;
	struct topk topk; /* the most active cgroups without a place */
	uint32_t hints[16384]; /* by the low bits of a group's key: index of its row, if not stale */
	/* Values of part labels; idle states are only ever added. */
	const char *contexts[STORE_NR_CONTEXTS], *vecs[LOAD_NR_VECS], *idle_states[STORE_IDLE_STATES];
	char idle_names[STORE_IDLE_STATES][32];
	unsigned int nr_idle_states;
};

/* @config must outlive the store. */
void store_init(struct store *store, const struct config *config);
void store_free(struct store *store);

/*
 * Shows run-queue histograms at these boundaries only; without effect if one of them is not counted. For
 * the event loop's thread. Counts at hidden boundaries continue, so a boundary that is shown again has
 * all waits since the start.
 */
void store_show_le(struct store *store, const uint64_t *le_ns, unsigned int nr);

/*
 * For the thread that measures, with the lock held. Finds or adds the row with these labels in the
 * family's table. NULL: out of memory.
 */
struct series_row *store_row(struct store *store, enum family_id id, const struct label *pairs,
			     size_t nr);
/* The sample of a row, now on the page. @row: NULL drops it. @part: 0 in families without parts. */
static inline union word *store_sample(struct store *store, struct series_row *row,
				       enum family_id id, unsigned int part)
{
	return row ? series_sample(&store->series[id], row, part) : &store->dropped;
}

/* The sample of a family whose only label is the part. */
union word *store_single(struct store *store, enum family_id id, unsigned int part);
/* Notes of the collector's last window when it ended and where its figures come from. */
void store_window(struct store *store, const char *collector, const char *source,
		  uint64_t time_unix_ns);
/* @total: since the start. */
void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total);

/* A window was added: the next generation. */
void store_window_added(struct store *store);

/* A consistent copy of all tables and its generation; call store_copy_done() soon. */
int store_copy(struct store *store, struct series_table copy[FAMILY_NR], uint64_t *ret_generation);
void store_copy_done(struct store *store);

#endif
