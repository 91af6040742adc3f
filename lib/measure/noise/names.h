/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of the cgroups that noise hit, also without privileges. */
#ifndef SUBTICK_MEASURE_NOISE_NAMES_H
#define SUBTICK_MEASURE_NOISE_NAMES_H

#include "measure/noise/window.h"
#include "sys/cgroup.h"

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

#endif
