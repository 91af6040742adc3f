/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cgroups have series of their own, and what becomes of the series of those that lose them. */
#ifndef SUBTICK_SERVE_RUNQ_LIMIT_H
#define SUBTICK_SERVE_RUNQ_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "store.h"

/* The label of what has no series of its own. */
#define RUNQ_OTHER_LABEL "(other)"
/* Room for one more label that is a cause. */
#define RUNQ_CAUSE_LABEL_SIZE 32
/* ,cause="…" of each cause. */
extern const char *const runq_cause_labels[];

/*
 * Whether the cgroup with these labels, cgroup="X", has series of its own from now on. If all are
 * taken, one that is alive takes those of the cgroup that ended longest ago, else of the one that
 * has been silent longest. A pod also takes those of a cgroup outside pods, silent or not. Else
 * one that waits more than twice as much as another, over some minutes, takes those of that one.
 */
struct runq_candidate {
	const char *labels;
	bool ended; /* the cgroup was gone by the end of the window */
	bool pod;   /* it is a pod, or in one */
	uint64_t wait_ns; /* in the window */
};

bool runq_limit_admit(struct store *store, const struct config *config,
		      const struct runq_candidate *candidate, uint64_t now_ns);
/* Drops the series of cgroups that ended or were silent for long enough. */
void runq_limit_expire(struct store *store, uint64_t now_ns);

#endif
