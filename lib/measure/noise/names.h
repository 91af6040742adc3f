/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of noise sources; which core sent IPIs to which. */
#ifndef SUBTICK_MEASURE_NOISE_NAMES_H
#define SUBTICK_MEASURE_NOISE_NAMES_H

#include "base/cpuset.h"
#include "measure/noise/window.h"
#include "host/cgroup.h"

struct noise_name {
	uint64_t id;
	char path[NOISE_CGROUP_SIZE]; /* "": the last walk found none */
};

struct noise_names {
	struct cgroup_paths paths;
	struct noise_name *list; /* cgroups that a walk was made for */
	size_t nr;
	uint64_t next_walk_ns; /* CLOCK_MONOTONIC: no walk before that */
};

/* @mount: of the hierarchy; "": none. */
void noise_names_open(struct noise_names *names, const char *mount);
void noise_names_close(struct noise_names *names);
/* A cgroup that has ended is "(gone)". One that no walk has looked for yet is "(new)". */
void noise_names_fill(struct noise_names *names, struct noise_hit *hits, size_t nr);

struct noise_senders {
	unsigned int nr_cpus;
	const struct noise_sends *live; /* by sending CPU, mapped. NULL: not requested */
	struct noise_sends *was;	/* as read last */
	struct noise_sent ipis, calls;
};

int noise_senders_open(struct noise_senders *senders, const struct noise_sends *live,
		       unsigned int nr_cpus);
void noise_senders_close(struct noise_senders *senders);
/* Lists everything sent to @cpus since the last reading, at the end of window @window_seq. */
void noise_senders_read(struct noise_senders *senders, const struct cpuset *cpus, uint64_t window_seq);

#endif
