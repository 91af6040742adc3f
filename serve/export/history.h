/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of the last ten minutes in bounded memory, compressed. The live page loads these windows
 * when it is opened.
 */
#ifndef SUBTICK_SERVE_HISTORY_H
#define SUBTICK_SERVE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/http/body.h"

#define HISTORY_SPAN_NS	 (600ULL * 1000000000)
/* minimum time between two rounds of windows in the history */
#define HISTORY_EVERY_NS (2ULL * 1000000000)
/*
 * Time between two rounds while no page is open. This time is longer, because report, JSON and gzip
 * cost more CPU time than all counters.
 */
#define HISTORY_UNWATCHED_NS (20ULL * 1000000000)
#define HISTORY_BYTES	 (3u << 19)	      /* memory for compressed windows: 1.5 MiB */
/* maximum compressed size of a window; larger windows are not kept */
#define HISTORY_LARGEST	 (HISTORY_BYTES / 16)
#define HISTORY_MAX	 2048		      /* maximum number of windows */
/*
 * A report with more cells is not kept, and the history builds no report of its collector in the
 * next HISTORY_SKIP rounds.
 */
#define HISTORY_CELLS 20000
#define HISTORY_SKIP  30

/* One window of one collector. All windows of a round have the same mono_ns. */
struct history_entry {
	uint64_t mono_ns; /* CLOCK_MONOTONIC of history_add() */
	uint64_t unix_ns; /* Unix time in ns of the end of the window, as in its JSON */
	unsigned int collector;
	uint32_t at, len; /* gzip of the window's JSON in history.data */
};

struct history {
	struct history_entry entries[HISTORY_MAX]; /* oldest first */
	size_t nr;
	char *data;	/* buffer of HISTORY_BYTES bytes; NULL before the first window */
	uint32_t bytes; /* number of used bytes of @data, which has no gaps */
	uint64_t every_ns; /* current time between two rounds; 0 before the first round */
	uint64_t last_ns;  /* CLOCK_MONOTONIC of the last round */
	uint64_t watched_ns; /* CLOCK_MONOTONIC when a page was last open */
};

/* True if the windows of this round are to be added with history_add(). */
bool history_due(struct history *history, uint64_t now_ns);
/*
 * Adds a copy of @body, which is gzip, and drops windows older than HISTORY_SPAN_NS. If the buffer
 * is full, every second round is dropped and the time between rounds is doubled.
 */
void history_add(struct history *history, uint64_t now_ns, uint64_t unix_ns,
		 unsigned int collector, const struct body *body);
/* Window of the collector that ended nearest to @unix_ns, or NULL. */
const struct history_entry *history_find(const struct history *history, unsigned int collector,
					 uint64_t unix_ns);
void history_free(struct history *history);

#endif
