/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Busy time of each CPU core, split by context. */
#ifndef SUBTICK_LOAD_H
#define SUBTICK_LOAD_H

#include <subtick/subtick.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Sources of CPU load figures, named as in `subtick load --source`. See subtick-load(8). */
enum subtick_load_source {
	SUBTICK_LOAD_AUTO, /* the best source that works on this machine */
	SUBTICK_LOAD_BPF,
	SUBTICK_LOAD_BPF_PMU,
	SUBTICK_LOAD_PERF_TSC,
	SUBTICK_LOAD_PERF_CALIBRATED,
	SUBTICK_LOAD_PROCIDLE,
	SUBTICK_LOAD_SCHEDSTAT,
	SUBTICK_LOAD_TASKCLOCK,
	SUBTICK_LOAD_PROCSTAT,
};

/* A member that is 0 or NULL selects its default. subtick_load_open() copies the strings. */
struct subtick_load_opts {
	uint32_t size;	 /* sizeof(struct subtick_load_opts) */
	uint32_t source; /* enum subtick_load_source */
	/*
	 * hardware event to count with sources bpf-pmu and perf-* (NULL: the architecture's
	 * default)
	 */
	const char *event;
	const char *cpus; /* CPUs to report, "0,2-5" (NULL: all) */
};

/*
 * Starts to measure load and stores a new context in @ret, to be freed with subtick_close(). @opts
 * may be NULL. On failure subtick_error() returns the cause.
 */
int subtick_load_open(struct subtick **ret, const struct subtick_load_opts *opts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
