/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists all load sources and chooses the best source. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCES_H
#define SUBTICK_MEASURE_LOAD_SOURCES_H

#include "base/array.h"
#include "measure/load/source.h"
#include "host/procstat.h"

extern const struct load_source_ops load_source_bpf, load_source_bpf_pmu, load_source_perf_tsc,
	load_source_perf_calibrated, load_source_procidle, load_source_schedstat,
	load_source_taskclock, load_source_procstat;

/* All sources, best source first; NULL-terminated. */
const struct load_source_ops *const *load_sources(void);
/*
 * Opens the source @name, or the best source that works if @name is "auto" or NULL. After success
 * @err contains the reason why a better source failed, or code 0.
 */
int load_source_open(const char *name, const struct load_source_opts *opts,
		     struct load_source **ret_source, struct err *err);
/* Adds a user of the source. Each user of the source must call load_source_close(). */
struct load_source *load_source_share(struct load_source *source);
/* Removes a user of the source. The last user frees the source. */
void load_source_close(struct load_source *source);
/* Gets the loss counters since @source was opened. */
void load_source_losses(struct load_source *source, struct load_losses *ret_losses);
/*
 * Returns the columns of /proc/stat by CPU that source procstat read for its last sample, or NULL
 * if the read failed.
 */
const struct procstat_cpu *load_procstat_read(struct load_source *procstat);

/* Samples of a source at both ends of a window, by CPU. */
struct load_ends {
	struct load_sample *prev, *cur;
};

/* Allocates the arrays. The caller checks @memory->failed. */
void load_ends_open(struct load_ends *ends, struct blocks *memory, unsigned int nr_cpus);
/* Samples the source, which ends a window and begins the next window. */
void load_ends_sample(struct load_ends *ends, struct load_source *source);

/* Sources that measure at the same time. All other sources are compared with the first source. */
#define SOURCE_SET_MAX 8

struct source_set {
	struct load_source *source[SOURCE_SET_MAX];
	unsigned int nr;
	/* reason why a better source is unavailable, or code 0 */
	struct err passed_over;
};

/* Opens source @name as the first source of @set. On failure @set contains no source. */
int source_set_open(struct source_set *set, const char *name, const struct load_source_opts *opts,
		    struct err *err);
/*
 * Opens the sources in @names, or all sources if @names is NULL. Skips sources that this machine
 * does not support.
 */
void source_set_add(struct source_set *set, const char *const *names,
		    const struct load_source_opts *opts);
/* Returns -EINVAL if @event is not NULL and no source of the set counts hardware events. */
int source_set_check_event(const struct source_set *set, const char *event, struct err *err);
void source_set_close(struct source_set *set);
/* Returns the index of the source @name, or -1. */
int source_set_find(const struct source_set *set, const char *name);

#endif
