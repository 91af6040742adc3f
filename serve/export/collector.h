/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collectors: how to open a meter, and how its windows become counters. */
#ifndef SUBTICK_SERVE_COLLECTOR_H
#define SUBTICK_SERVE_COLLECTOR_H

#include <pthread.h>
#include <stdbool.h>

#include "serve/config.h"
#include "measure/overview/overview.h"
#include "report/report.h"
#include "serve/export/store.h"

struct collector_ops {
	const char *name; /* in --collect, and of /api/v1/NAME */
	bool optional;	  /* a failed open leaves this collector out, if others are collected */
	/*
	 * Called with all privileges; later the meter must work without them. @load: meter of load,
	 * whose programs others can share. NULL: load is not collected.
	 */
	int (*open)(const struct config *config, struct meter *load, struct meter **ret_meter,
		    struct err *err);
	/* Adds the window that @meter read last to the counters, with the store's lock held. */
	void (*absorb)(struct store *store, const struct meter *meter);
};

struct collector {
	const struct collector_ops *ops;
	struct meter *meter;
	struct err refused;  /* reason why an optional collector is left out; code 0: none */
	uint64_t window_seq; /* windows read so far */
	bool readable;	     /* the last read filled the window */
	bool failing;	     /* the last read failed, and that was logged */

	/* Used by the event loop's thread only. */
	struct report *report; /* NULL: not asked for */
	uint64_t report_seq;   /* its window */
	unsigned int history_skip; /* rounds of the history to skip: the report was too large */
};

struct collectors {
	struct collector list[CONFIG_NR_COLLECTORS];
	/*
	 * The sampler's thread holds the lock while it reads all meters, and the event loop's thread
	 * while it builds a report. So the windows of a report end at the same time.
	 */
	pthread_mutex_t lock;
	struct overview_window windows; /* last windows; no tasks */
};

/* Each is defined in the file of its name. */
#define COLLECTOR_DECLARE(name) extern const struct collector_ops collector_##name;
COLLECTORS(COLLECTOR_DECLARE)
#undef COLLECTOR_DECLARE

/* Index of the collector of that name; -1: none. */
int collector_index(const char *name);

/*
 * Opens and starts the collectors that @config names. On failure all are closed. An optional one that
 * fails beside others is logged and has its reason in refused.
 */
int collectors_open(struct collectors *collectors, const struct config *config, struct err *err);
/* Adds the series of refused collectors: subtick_collector_up is 0. */
void collectors_add_refused(const struct collectors *collectors, struct store *store);
void collectors_close(struct collectors *collectors);

/*
 * Ends the window: reads the meter and adds to the counters. Builds no report. Needs the lock of the
 * collectors.
 */
int collector_update(struct collector *collector, struct store *store, struct err *err);
/*
 * The report of the last window, for the event loop's thread; valid until it is called again or
 * forgotten. Builds it unless that was done. NULL if there is no window yet, or out of memory.
 */
const struct report *collector_report(struct collectors *collectors, enum config_collect id);
void collector_forget_report(struct collector *collector);

/* Series of each counter of noise, for each core on average; later sources are in (other). */
#define NOISE_SERIES_PER_CPU 48

struct load_window;
struct noise_window;
struct runq_window;
struct wake_window;

/* Add a window to the counters, with the store's lock held. */
void load_absorb(struct store *store, const struct load_window *window);
void noise_absorb(struct store *store, const struct noise_window *window);
void runq_absorb(struct store *store, const struct runq_window *window);
void wake_absorb(struct store *store, const struct wake_window *window);

#endif
