/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counters of the exporter, written by the sampler's thread, copied by the event loop's thread. */
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

/* Wait time of a cgroup, halved every minute. @ns is the value at the time @seen_ns. */
struct active {
	uint64_t ns, seen_ns;
};

/* List of the most active cgroups that have no series. A zeroed struct topk is an empty list. */
struct topk {
	struct topk_entry {
		uint64_t key; /* hash of the cgroup's path */
		struct active active;
	} entries[TOPK_SIZE];
	size_t nr;
	/*
	 * full_ns: end of the window in which no cgroup could be evicted, or 0. least_ns: lowest
	 * activity in this window; only a cgroup with more than twice least_ns starts another
	 * search for a cgroup to evict. Index 0: cgroups outside pods, 1: pods.
	 */
	uint64_t full_ns[2], least_ns[2];
};

/* Maximum number of idle states: 10 of a cpuidle driver, 2 without a driver, and "unknown". */
#define STORE_IDLE_STATES 13

/* More parts of F_CPU than enum load_part, for load sources that do not split time by context. */
enum { STORE_BUSY = LOAD_NR_PARTS, STORE_IDLE, STORE_NR_CONTEXTS };
/* Parts of the metric families F_RUNQ_FOLDED and F_RUNQ_EVICTED. */
enum store_folded {
	STORE_FOLDED_WAITS,
	STORE_FOLDED_BLAME,
	STORE_FOLDED_CORE_PAIRS,
};
enum store_evicted { STORE_ENDED, STORE_PRIORITY, STORE_SILENT, STORE_ACTIVITY };

/* Words of F_NOISE_LONGEST and F_SOFTIRQ_DELAY_LONGEST. Only STORE_LONGEST_SHOWN is exported. */
enum store_longest {
	STORE_LONGEST_SHOWN,  /* longest time in ns in the current and the previous period */
	STORE_LONGEST_NOW,    /* longest time in ns in the current period */
	STORE_LONGEST_PERIOD, /* number of the current period */
	STORE_NR_LONGEST,
};

struct store {
	const struct config *config; /* settings; protected by @lock */
	/* held while a window is added or tables are copied, never while metrics are formatted */
	pthread_mutex_t lock;
	struct series series[FAMILY_NR];
	/* Tables of rows. Families whose rows have equal labels share a table. */
	struct series_table tables[FAMILY_NR];
	uint64_t wake_le_ns[WAKE_NR_LE];
	unsigned int readers;
	union word dropped; /* receives the samples of rows that could not be allocated */

	/* Number of cgroups that have series; see cgroups.h. */
	size_t nr_cgroups;
	uint32_t last_cgroup_id;
	struct topk topk;
	/* row index of a cgroup, by the low bits of its key; the row index may be out of date */
	uint32_t hints[16384];
	/* Values of part labels. Names of idle states are never removed from the list. */
	const char *contexts[STORE_NR_CONTEXTS], *vecs[LOAD_NR_VECS], *idle_states[STORE_IDLE_STATES];
	char idle_names[STORE_IDLE_STATES][32];
	unsigned int nr_idle_states;
};

/* @config must outlive the store. */
void store_init(struct store *store, const struct config *config);
void store_free(struct store *store);

/*
 * Exports run-queue histograms only at the boundaries @le_ns. Changes nothing if a boundary was not
 * set at the start. Hidden boundaries are counted, so a boundary is complete when it is shown
 * again. Only the event loop's thread may call this function.
 */
void store_show_le(struct store *store, const uint64_t *le_ns, unsigned int nr);

/*
 * Finds or adds the row with the labels @pairs in the table of the family @id. The caller holds the
 * lock. Returns NULL if out of memory.
 */
struct series_row *store_row(struct store *store, enum family_id id, const struct label *pairs,
			     size_t nr);
/*
 * Returns a sample of @row and marks it as exported. If @row is NULL, the value is discarded. @part
 * is 0 in families without parts.
 */
static inline union word *store_sample(struct store *store, struct series_row *row,
				       enum family_id id, unsigned int part)
{
	return row ? series_sample(&store->series[id], row, part) : &store->dropped;
}

/* Returns a sample of a family whose only label is the part. */
union word *store_single(struct store *store, enum family_id id, unsigned int part);
/* Sets the end time and the source of the collector's last window. */
void store_window(struct store *store, const char *collector, const char *source,
		  uint64_t time_unix_ns);
/* Sets a loss counter. @total is the number of losses since the start of the measurement. */
void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total);

/*
 * Frees labels of removed rows, unless a copy of the tables is in use. The caller holds the lock.
 * Call store_reclaim() after each window, because the exporter may never be scraped.
 */
void store_reclaim(struct store *store);

/* Copies all tables under the lock of @store. Call store_copy_done() after the use of the copy. */
int store_copy(struct store *store, struct series_table copy[FAMILY_NR]);
void store_copy_done(struct store *store);

#endif
