/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The windows of the last ten minutes, compressed, in bounded memory: for the page after a reload. */
#ifndef SUBTICK_SERVE_HISTORY_H
#define SUBTICK_SERVE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/http/body.h"

#define HISTORY_SPAN_NS	 (600ULL * 1000000000)
#define HISTORY_EVERY_NS (2ULL * 1000000000) /* a window each, or more rarely; see history_add() */
/* While no page is open: a report, its JSON and gzip cost more than all counters. */
#define HISTORY_UNWATCHED_NS (20ULL * 1000000000)
#define HISTORY_BYTES	 (3u << 19)	      /* of memory for compressed windows: 1.5 MiB */
#define HISTORY_LARGEST	 (HISTORY_BYTES / 16) /* larger windows are not kept */
#define HISTORY_MAX	 2048		      /* entries */
/* A larger report is not kept, and not built again for some rounds: its cost exceeds its use. */
#define HISTORY_CELLS 20000
#define HISTORY_SKIP  30

/* One window of one collector. Entries of one round have the same time. */
struct history_entry {
	uint64_t mono_ns; /* CLOCK_MONOTONIC, when it was added */
	uint64_t unix_ns; /* the window's end, as its JSON has it */
	unsigned int collector;
	uint32_t at, len; /* gzip of the window's JSON in history.data */
};

struct history {
	struct history_entry entries[HISTORY_MAX]; /* oldest first */
	size_t nr;
	char *data;	/* HISTORY_BYTES; NULL before the first window */
	uint32_t bytes; /* used bytes of @data, without gaps */
	uint64_t every_ns; /* 0 before the first */
	uint64_t last_ns;  /* CLOCK_MONOTONIC of the last round */
	uint64_t watched_ns; /* last time that a page was open or asked for it, CLOCK_MONOTONIC */
};

/* True if a round is due: then add its windows with history_add(). */
bool history_due(struct history *history, uint64_t now_ns);
/*
 * Copies @body, which is gzip. Drops windows older than the span. Without room, drops every second
 * round and from then on keeps half as many: the span stays the same.
 */
void history_add(struct history *history, uint64_t now_ns, uint64_t unix_ns,
		 unsigned int collector, const struct body *body);
/* The collector's entry whose window ended nearest to @unix_ns; NULL: no entry. */
const struct history_entry *history_find(const struct history *history, unsigned int collector,
					 uint64_t unix_ns);
void history_free(struct history *history);

#endif
