/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Collectors: each opens a meter and adds its windows to the counters. */
#ifndef SUBTICK_SERVE_COLLECTOR_H
#define SUBTICK_SERVE_COLLECTOR_H

#include <pthread.h>
#include <stdbool.h>

#include "serve/config.h"
#include "measure/overview/overview.h"
#include "report/report.h"
#include "serve/export/store.h"
#include "serve/http/body.h"

struct collector_ops {
	const char *name; /* name in --collect and in /api/v1/NAME */
	bool optional;	  /* the exporter starts without this collector if it cannot be opened */
	/*
	 * Opens the meter with all privileges. Reading the meter must work without privileges.
	 * @load is the meter of load, whose BPF programs can be shared, or NULL.
	 */
	int (*open)(const struct config *config, struct meter *load, struct meter **ret_meter,
		    struct err *err);
	/* Adds the last window of @meter to the counters, with the store locked. */
	void (*absorb)(struct store *store, const struct meter *meter);
};

struct collector {
	const struct collector_ops *ops;
	struct meter *meter;
	/* reason why an optional collector is not measured; code 0 if it is measured */
	struct err refused;
	uint64_t window_seq; /* number of windows read */
	bool readable;	     /* the last read of the meter filled the window */
	bool failing;	     /* the last read of the meter failed; the failure is logged once */

	/* The members below belong to the event loop's thread. */
	struct report *report; /* NULL until requested */
	struct body *json[2];  /* @report as JSON, without and with gzip; NULL until requested */
	uint64_t report_seq;   /* window_seq of @report */
	/*
	 * Remaining number of rounds in which no report is built for the history, because the last
	 * report was too large.
	 */
	unsigned int history_skip;
};

struct collectors {
	struct collector list[CONFIG_NR_COLLECTORS];
	/*
	 * The sampler's thread holds the lock while it reads all meters. The event loop's thread
	 * holds the lock while it builds a report. Therefore all windows in a report are of the
	 * same round.
	 */
	pthread_mutex_t lock;
	/* last window of each collector, without figures per task */
	struct overview_window windows;
};

/* Each collector is defined in the file with the name of the collector. */
#define COLLECTOR_DECLARE(name) extern const struct collector_ops collector_##name;
COLLECTORS(COLLECTOR_DECLARE)
#undef COLLECTOR_DECLARE

/* Index of the collector @name, or -1. */
int collector_index(const char *name);

/*
 * Opens and starts the collectors of @config. If an optional collector cannot be opened but others
 * are requested too, this is logged and the reason is stored in @refused. On any other failure all
 * collectors are closed.
 */
int collectors_open(struct collectors *collectors, const struct config *config, struct err *err);
/* Sets subtick_collector_up to 0 for refused collectors. */
void collectors_add_refused(const struct collectors *collectors, struct store *store);
void collectors_close(struct collectors *collectors);

/*
 * Ends a window: reads the meter and adds the window to the counters. The caller holds the lock of
 * the collectors.
 */
int collector_update(struct collector *collector, struct store *store, struct err *err);
/*
 * Report of the last window, built at the first call after a window. The report is valid until the
 * next call of this function or of collector_forget_report(). Only the event loop's thread may call
 * this function. NULL before the first window, or without memory.
 */
const struct report *collector_report(struct collectors *collectors, enum config_collect id);
void collector_forget_report(struct collector *collector);

/*
 * Maximum number of noise sources with series of their own, per CPU on average. All other noise
 * sources are summed in the row (other).
 */
#define NOISE_SERIES_PER_CPU 48

struct load_window;
struct noise_window;
struct runq_window;
struct wake_window;

/* Add a window to the counters. The caller holds the lock of the store. */
void load_absorb(struct store *store, const struct load_window *window);
void noise_absorb(struct store *store, const struct noise_window *window);
void runq_absorb(struct store *store, const struct runq_window *window);
void wake_absorb(struct store *store, const struct wake_window *window);

#endif
