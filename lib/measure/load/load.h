/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurement of `subtick load`: load of each core in successive windows, split by context. */
#ifndef SUBTICK_MEASURE_LOAD_H
#define SUBTICK_MEASURE_LOAD_H

#include <stdbool.h>

#include "base/cpuset.h"
#include "measure/load/source.h"
#include "measure/load/window.h"
#include "measure/meter.h"

struct load_opts {
	const char *source; /* name of the source; NULL or "auto" for the best source that works */
	/* hardware event for sources that use hardware counters; NULL for the default event */
	const char *event;
	struct cpuset cpus; /* CPUs to report, or empty for all possible CPUs */
	bool compare;	    /* compare all sources that work on this machine */
	/* Names of the compared sources, NULL-terminated, or NULL for all */
	const char *const *compare_with;
	bool softirq;	    /* measure softirq time by softirq vector */
	/* measure the distribution of busy bursts, the periods between idle periods */
	bool bursts;
	bool irq;	    /* measure hardirq time by interrupt line */
	bool noise;	    /* the source also counts noise; see load_noise_source() */
	bool senders;	    /* count the senders of IPIs; requires noise */
	bool wake; /* the source also counts passive wake-ups; see load_wake_source() */
	bool cores;	    /* measure how many siblings of each physical core are busy */
	bool cgroups;	    /* measure which cgroups share a physical core; requires cores */
	/* report pairs of cgroups by id, without paths: an exporter may lack access to the paths */
	bool cgroup_ids;
	enum topology_level by; /* level of the sums in the report; TOPOLOGY_CPU for no sums */
	uint32_t top;   /* number of tasks to report per CPU; 0 disables --tasks */
};

int load_open(const struct load_opts *opts, struct meter **ret_meter, struct err *err);
/* Returns the result of the last window, which is valid until the next read of @meter. */
const struct load_window *load_window(const struct meter *meter);
/* Returns the source of @meter if it counts noise, or NULL. The caller must close the source. */
struct load_source *load_noise_source(struct meter *meter);
/*
 * Returns the source of @meter if runq's program on sched_switch can replace load_switch of the
 * source, or NULL. The caller must close the source.
 */
struct load_source *load_core_source(struct meter *meter);
/*
 * Returns the source of @meter, or NULL with a reason in @err if the source counts no passive
 * wake-ups. The caller must close the source.
 */
struct load_source *load_wake_source(struct meter *meter, struct err *err);

#endif
