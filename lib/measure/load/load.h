/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick load` as a measurement: windows of per-core load, split by context. */
#ifndef SUBTICK_MEASURE_LOAD_H
#define SUBTICK_MEASURE_LOAD_H

#include <stdbool.h>

#include "base/cpuset.h"
#include "measure/load/source.h"
#include "measure/load/window.h"
#include "measure/meter.h"

struct load_opts {
	const char *source; /* NULL or "auto": the best that works here */
	const char *event;  /* counter sources: another event, or NULL */
	struct cpuset cpus; /* CPUs to report; empty: all that are possible */
	bool compare;	    /* every source that works, side by side */
	const char *const *compare_with; /* only these, NULL-terminated; NULL: all */
	bool softirq;	    /* time by softirq vector */
	bool bursts;	    /* distribution of busy bursts */
	bool irq;	    /* time by interrupt line */
	bool noise;	    /* the source also counts for `noise`: see load_noise_source() */
	bool senders;	    /* with noise: also who sends IPIs */
	bool wake;	    /* the source also counts passive wake-ups: see load_wake_source() */
	bool cores;	    /* how many siblings of each physical core are busy */
	bool cgroups;	    /* with cores: which cgroups share a physical core */
	enum topology_level by; /* also sums of the CPUs of each core, cache, node or package */
	uint32_t top;   /* the tasks with most time of each CPU; 0: none */
};

int load_open(const struct load_opts *opts, struct meter **ret_meter, struct err *err);
/* The window that the last read ended; it stays until the next. */
const struct load_window *load_window(const struct meter *meter);
/* The source, if it counts for `noise`, too; else NULL. The caller closes it. */
struct load_source *load_noise_source(struct meter *meter);
/* The source, if a switch program of runq can count for it, too; else NULL. The caller closes it. */
struct load_source *load_core_source(struct meter *meter);
/* The source, if it counts passive wake-ups, too; else NULL with the reason. The caller closes it. */
struct load_source *load_wake_source(struct meter *meter, struct load_wake *ret_wake, struct err *err);

#endif
