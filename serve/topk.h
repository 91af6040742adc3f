/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The most active of the cgroups that have no series of their own. */
#ifndef SUBTICK_SERVE_TOPK_H
#define SUBTICK_SERVE_TOPK_H

#include <stddef.h>
#include <stdint.h>

#define TOPK_SIZE 64

/* Time waited as of @seen_ns. It halves every minute. */
struct active {
	uint64_t ns, seen_ns;
};

/* Zeroed is empty. */
struct topk {
	struct topk_entry {
		uint64_t key; /* hash of the cgroup's path */
		struct active active;
	} entries[TOPK_SIZE];
	size_t nr;
	/*
	 * Index 0: cgroups outside pods; 1: pods. In the window that ends at full_ns a cgroup finds
	 * no place unless it is more than twice as active as least_ns. So a window searches once,
	 * not for every cgroup without series.
	 */
	uint64_t full_ns[2], least_ns[2];
};

uint64_t active_now(const struct active *active, uint64_t now_ns);
/*
 * Adds the wait time of a cgroup in the window that ends now; returns its activity. If there is no
 * room, it replaces the least active entry, if that is less active than @wait_ns.
 */
uint64_t topk_add(struct topk *topk, uint64_t key, uint64_t wait_ns, uint64_t now_ns);
/* The cgroup has series of its own now. */
void topk_remove(struct topk *topk, uint64_t key);

#endif
