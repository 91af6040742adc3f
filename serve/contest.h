/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which cgroups without series of their own wait most: a few of them, in little memory. */
#ifndef SUBTICK_SERVE_CONTEST_H
#define SUBTICK_SERVE_CONTEST_H

#include <stddef.h>
#include <stdint.h>

#define CONTEST_SIZE 64

/* Zeroed is empty. */
struct contest {
	struct contender {
		uint64_t hash; /* of its labels */
		uint64_t active_ns, seen_ns;
	} contenders[CONTEST_SIZE];
	size_t nr;
	/*
	 * Of cgroups outside pods, and of pods: in the window that ends at full_ns nobody gives way to
	 * one, unless that is more than twice as active as least_ns. So a window looks once, not for
	 * each cgroup without series.
	 */
	uint64_t full_ns[2], least_ns[2];
};

/* What is left after @past_ns of an activity, which is time waited: it halves every minute. */
uint64_t contest_decay(uint64_t active_ns, uint64_t past_ns);
/*
 * Adds what the cgroup waited in the window that ends now; its activity. If there is no room, it
 * takes that of the least active one, if that is less active than this window alone.
 */
uint64_t contest_add(struct contest *contest, const char *labels, uint64_t wait_ns, uint64_t now_ns);
/* It has series of its own now. */
void contest_leave(struct contest *contest, const char *labels);

#endif
