/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A collector: how to open a meter, and how its windows become counters. */
#ifndef SUBTICK_SERVE_COLLECTOR_H
#define SUBTICK_SERVE_COLLECTOR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "config.h"
#include "measure/meter.h"
#include "report/report.h"
#include "store.h"

/* A report that several responses may share. */
struct shared {
	atomic_uint refs;
	struct report *report;
	uint64_t generation; /* the store's, with this window: the wall clock can be set back */
};

void shared_put(struct shared *shared);

struct collector_ops {
	const char *name; /* in --collect, and of /api/v1/NAME */
	/*
	 * Called with all privileges; afterwards the meter must work without them. @load: the meter
	 * of load, for those that can share its programs; NULL if it is not collected.
	 */
	int (*open)(const struct config *config, struct meter *load, struct meter **ret_meter,
		    struct err *err);
	/* Adds the window that @meter read last to the counters, with the store's lock held. */
	void (*absorb)(struct store *store, const struct config *config,
		       const struct meter *meter);
	/* Report of the window that @meter read last. */
	int (*present)(const struct meter *meter, struct report **ret_report);
};

struct collector {
	const struct collector_ops *ops;
	struct meter *meter;
	struct shared *last; /* the last window; under the store's lock */
	bool failing;	     /* the last read failed, and that was logged */
};

/* Ends the window: reads the meter, adds to the counters, publishes the report. */
int collector_update(struct collector *collector, struct store *store,
		     const struct config *config, struct err *err);
/* A new reference to the last window; NULL if there is none yet. */
struct shared *collector_last(struct collector *collector, struct store *store);

#endif
