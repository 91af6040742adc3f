/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A collector opens a meter (one kind of measurement) and adds its windows to the counters. */
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
	const char *name; /* name of the collector in --collect and in /api/v1/NAME */
	/* true if the exporter starts even if the collector cannot be opened */
	bool optional;
	/*
	 * Opens the meter while the process has all privileges. Reading the meter must work without
	 * privileges. @load is the meter of collector load, whose BPF programs can be shared, or
	 * NULL.
	 */
	int (*open)(const struct config *config, struct meter *load, struct meter **ret_meter,
		    struct err *err);
	/* Adds the last window of @meter to the counters. The caller holds the lock of @store. */
	void (*absorb)(struct store *store, const struct meter *meter);
};

struct collector {
	const struct collector_ops *ops;
	struct meter *meter;
	/* error that prevented opening an optional collector; code 0 if there was no error */
	struct err refused;
	uint64_t window_seq; /* number of windows that were read from the meter */
	bool readable;	     /* true if the last read of the meter filled the meter's window */
	bool failing;	     /* true after a failed read of the meter; the failure is logged once */

	/* Only the event loop's thread uses @report and the members after @report. */
	struct report *report; /* report of the last window; NULL until requested */
	struct body *json[2];  /* @report as JSON, without and with gzip; NULL until requested */
	uint64_t report_seq;   /* window_seq of the window in @report */
	/* remaining rounds that the history skips, because the last report was too large */
	unsigned int history_skip;
};

struct collectors {
	struct collector list[CONFIG_NR_COLLECTORS];
	/*
	 * Held while all meters are read, and while a report is built, so that all windows in a
	 * report belong to the same round.
	 */
	pthread_mutex_t lock;
	/* last window of each collector, without figures per task */
	struct overview_window windows;
};

/* Collector NAME is defined in the file NAME.c. */
#define COLLECTOR_DECLARE(name) extern const struct collector_ops collector_##name;
COLLECTORS(COLLECTOR_DECLARE)
#undef COLLECTOR_DECLARE

/* Index of the collector @name, or -1. */
int collector_index(const char *name);

/*
 * Opens and starts the collectors of @config. If an optional collector fails and is not the only
 * collector, logs the error, stores it in collector.refused and continues. On failure all
 * collectors are closed.
 */
int collectors_open(struct collectors *collectors, const struct config *config, struct err *err);
/* Sets the metric subtick_collector_up to 0 for collectors that could not be opened. */
void collectors_add_refused(const struct collectors *collectors, struct store *store);
void collectors_close(struct collectors *collectors);

/* Reads the meter and adds the window to the counters. The caller holds the collectors' lock. */
int collector_update(struct collector *collector, struct store *store, struct err *err);
/*
 * Returns the report of the last window. The first call after a window builds the report, which is
 * valid until the next call or collector_forget_report(). Only the event loop's thread may call
 * this function. Returns NULL before the first window, or if out of memory.
 */
const struct report *collector_report(struct collectors *collectors, enum config_collect id);
void collector_forget_report(struct collector *collector);

/*
 * Maximum number of noise sources with their own series, per CPU. Further sources are summed in one
 * row (other) per CPU and kind of noise.
 */
#define NOISE_SERIES_PER_CPU 48

struct load_window;
struct noise_window;
struct runq_window;
struct wake_window;

/* Add a measurement window to the counters. The caller holds the lock of the store. */
void load_absorb(struct store *store, const struct load_window *window);
void noise_absorb(struct store *store, const struct noise_window *window);
void runq_absorb(struct store *store, const struct runq_window *window);
void wake_absorb(struct store *store, const struct wake_window *window);

#endif
