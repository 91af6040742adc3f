/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of all measurements, used by the command line program and the exporter. */
#ifndef SUBTICK_MEASURE_METER_H
#define SUBTICK_MEASURE_METER_H

#include "base/err.h"

struct meter;

/*
 * Functions of a measurement. X_open(const struct X_opts *, struct meter **, struct err *) opens
 * the measurement X. All functions of a measurement must be called from the same thread.
 */
struct meter_ops {
	/* Starts the measurement and begins the first window. */
	int (*start)(struct meter *meter, struct err *err);
	/*
	 * Ends the window and begins the next window without a gap. X_window() returns the result
	 * of the ended window, which is valid until the next call of read().
	 */
	int (*read)(struct meter *meter, struct err *err);
	/*
	 * Optional: a descriptor to poll between reads, and the function to call when the
	 * descriptor is readable.
	 */
	int (*event_fd)(const struct meter *meter);
	int (*event)(struct meter *meter, struct err *err);
	/* Detaches the BPF programs, restores changed settings and frees the meter; never fails. */
	void (*close)(struct meter *meter);
};

/* First member of the private struct of every measurement. */
struct meter {
	const struct meter_ops *ops;
};

#endif
