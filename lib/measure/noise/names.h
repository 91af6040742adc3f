/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of cgroups that are victims of noise, and counters of IPI senders. */
#ifndef SUBTICK_MEASURE_NOISE_NAMES_H
#define SUBTICK_MEASURE_NOISE_NAMES_H

#include "base/array.h"
#include "base/cpuset.h"
#include "measure/noise/window.h"
#include "host/cgroup.h"

struct noise_name {
	uint64_t id;
	/* path of the cgroup; "" if the last search of the directories did not find it */
	char path[NOISE_CGROUP_SIZE];
};

#define NOISE_NAMES_MAX 1024

struct noise_names {
	struct cgroup_paths paths;
	struct noise_name list[NOISE_NAMES_MAX]; /* cgroups whose paths were requested */
	size_t nr;
	/* earliest CLOCK_MONOTONIC time of the next search of the cgroup directories */
	uint64_t next_walk_ns;
};

/* Initializes @names. @mount is the mount point of the cgroup hierarchy, or "". */
void noise_names_open(struct noise_names *names, const char *mount);
void noise_names_close(struct noise_names *names);
/*
 * Sets the cgroup paths of the victims in @hits: "(gone)" if the cgroup was removed, "(new)" if the
 * cgroup appeared after the last search of the cgroup directories.
 */
void noise_names_fill(struct noise_names *names, struct noise_hit *hits, size_t nr);

struct noise_senders {
	unsigned int nr_cpus;
	const struct noise_sends *live; /* mapped counters by sending CPU; NULL without --senders */
	struct noise_sends *was;	/* copy of the counters `live` at the last reading */
	struct noise_window *window; /* window whose lists of IPIs and function calls are filled */
};

/* Allocates the lists of @window. The caller checks @memory->failed. */
void noise_senders_open(struct noise_senders *senders, struct noise_window *window,
			struct blocks *memory, const struct noise_sends *live,
			unsigned int nr_cpus);
/* Lists the IPIs that were sent to @cpus in window @window_seq. */
void noise_senders_read(struct noise_senders *senders, const struct cpuset *cpus, uint64_t window_seq);

#endif
