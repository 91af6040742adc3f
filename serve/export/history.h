/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* History in memory: compressed windows of the last ten minutes, for the live page. */
#ifndef SUBTICK_SERVE_HISTORY_H
#define SUBTICK_SERVE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/http/body.h"

#define HISTORY_SPAN_NS	 (600ULL * 1000000000)
/* Minimum time between two rounds of windows in the history. */
#define HISTORY_EVERY_NS (2ULL * 1000000000)
/*
 * Minimum time between two rounds while no live page is open. A report, its JSON and gzip cost more
 * CPU time than all counters.
 */
#define HISTORY_UNWATCHED_NS (20ULL * 1000000000)
#define HISTORY_BYTES	 (3u << 19)	      /* memory for compressed windows: 1.5 MiB */
/* Maximum compressed size of a window in bytes. Larger windows are not stored. */
#define HISTORY_LARGEST	 (HISTORY_BYTES / 16)
#define HISTORY_MAX	 2048 /* maximum number of windows in the history */
/* After a report with more cells, the history skips the collector for HISTORY_SKIP rounds. */
#define HISTORY_CELLS 20000
#define HISTORY_SKIP  30

/* Window of one collector in the history. All windows of a round have the same mono_ns. */
struct history_entry {
	uint64_t mono_ns; /* CLOCK_MONOTONIC time at which the window was added to the history */
	uint64_t unix_ns; /* Unix time in ns at the end of the window, as in the window's JSON */
	unsigned int collector;
	uint32_t at, len; /* offset and length of the window's compressed JSON in history.data */
};

struct history {
	struct history_entry entries[HISTORY_MAX]; /* windows of the history, oldest first */
	size_t nr;
	char *data;	/* buffer of HISTORY_BYTES bytes; NULL before the first window */
	uint32_t bytes; /* number of used bytes at the start of @data */
	/* current minimum time between two rounds of windows; 0 before the first round */
	uint64_t every_ns;
	uint64_t last_ns;    /* CLOCK_MONOTONIC time of the last round of windows */
	uint64_t watched_ns; /* CLOCK_MONOTONIC time at which a live page was last open */
};

/* Returns true if the caller must add the windows of the current round with history_add(). */
bool history_due(struct history *history, uint64_t now_ns);
/*
 * Adds a copy of the gzip-compressed window @body, and drops windows older than HISTORY_SPAN_NS. If
 * the history is full, drops every second round and doubles the time between rounds.
 */
void history_add(struct history *history, uint64_t now_ns, uint64_t unix_ns,
		 unsigned int collector, const struct body *body);
/* Returns the window of the collector that ended nearest to @unix_ns, or NULL. */
const struct history_entry *history_find(const struct history *history, unsigned int collector,
					 uint64_t unix_ns);
void history_free(struct history *history);

#endif
