/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All sources of load, and the choice among them. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCES_H
#define SUBTICK_MEASURE_LOAD_SOURCES_H

#include "measure/load/source.h"
#include "sys/procstat.h"

extern const struct load_source_ops load_source_bpf, load_source_bpf_pmu, load_source_perf_tsc,
	load_source_perf_calibrated, load_source_procidle, load_source_schedstat,
	load_source_taskclock, load_source_procstat;

/* All sources, best first; NULL-terminated. */
const struct load_source_ops *const *load_sources(void);
/* By name, or "auto"/NULL: the best that opens; @err then holds why a better one did not. */
int load_source_open(const char *name, const struct load_source_opts *opts,
		     struct load_source **ret_source, struct err *err);
/* A second user, who also closes it. What a source keeps from sample to sample is in the samples. */
struct load_source *load_source_share(struct load_source *source);
/* The last user's close ends it. */
void load_source_close(struct load_source *source);
/* What was lost since the source was opened. */
void load_source_losses(struct load_source *source, struct load_losses *ret_losses);
/* Columns that source procstat read for its last sample, by CPU. NULL if the read failed. */
const struct procstat_cpu *load_procstat_read(struct load_source *procstat);

/* Samples of a source at both ends of a window, by CPU. */
struct load_ends {
	struct load_sample *prev, *cur;
};

/* 0 or -ENOMEM. load_ends_close() also after a failed open. */
int load_ends_open(struct load_ends *ends, unsigned int nr_cpus);
void load_ends_close(struct load_ends *ends);
/* Ends a window, which begins the next one. */
void load_ends_sample(struct load_ends *ends, struct load_source *source);

#endif
