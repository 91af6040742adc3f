/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All sources of load, and the choice among them. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCES_H
#define SUBTICK_MEASURE_LOAD_SOURCES_H

#include "measure/load/source.h"
#include "host/procstat.h"

extern const struct load_source_ops load_source_bpf, load_source_bpf_pmu, load_source_perf_tsc,
	load_source_perf_calibrated, load_source_procidle, load_source_schedstat,
	load_source_taskclock, load_source_procstat;

/* All sources, best first; NULL-terminated. */
const struct load_source_ops *const *load_sources(void);
/*
 * Opens the source @name. For "auto" or NULL opens the best source, and @err has the reason why a
 * better one failed.
 */
int load_source_open(const char *name, const struct load_source_opts *opts,
		     struct load_source **ret_source, struct err *err);
/* Adds a user, which must also close the source. */
struct load_source *load_source_share(struct load_source *source);
/* Removes a user. Frees the source with its last user. */
void load_source_close(struct load_source *source);
/* Losses since the source was opened. */
void load_source_losses(struct load_source *source, struct load_losses *ret_losses);
/* Columns that source procstat read for its last sample, by CPU. NULL if the read failed. */
const struct procstat_cpu *load_procstat_read(struct load_source *procstat);

/* Samples of a source at both ends of a window, by CPU. */
struct load_ends {
	struct load_sample *prev, *cur;
};

/* Returns 0 or -ENOMEM. Call load_ends_close() also after a failure. */
int load_ends_open(struct load_ends *ends, unsigned int nr_cpus);
void load_ends_close(struct load_ends *ends);
/* Samples the source: ends a window and begins the next. */
void load_ends_sample(struct load_ends *ends, struct load_source *source);

/* Several sources side by side, to compare others with the first. */
#define SOURCE_SET_MAX 8

struct source_set {
	struct load_source *source[SOURCE_SET_MAX]; /* the others are compared with the first */
	unsigned int nr;
	struct err passed_over; /* why a better source is unavailable; code 0 if none is better */
};

/* Opens the first source by load_source_open(). On failure the set is empty. */
int source_set_open(struct source_set *set, const char *name, const struct load_source_opts *opts,
		    struct err *err);
/* Opens other sources, all or those in @names. Skips sources that this machine lacks. */
void source_set_add(struct source_set *set, const char *const *names,
		    const struct load_source_opts *opts);
/* -EINVAL if @event is given and no source of the set counts events. */
int source_set_check_event(const struct source_set *set, const char *event, struct err *err);
void source_set_close(struct source_set *set);
/* Index of the source @name, or -1. */
int source_set_find(const struct source_set *set, const char *name);

#endif
