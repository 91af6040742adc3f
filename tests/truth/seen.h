/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits of tasks, computed from perf's timestamps of switches and wake-ups. */
#ifndef SUBTICK_TESTS_TRUTH_SEEN_H
#define SUBTICK_TESTS_TRUTH_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pinned.h"
#include "witness.h"

/* Waits of one task, from perf's events and from the kernel's accounting. */
struct seen {
	pid_t pid;
	bool running;
	uint64_t from_ns; /* start of the current wait, or 0 */
	uint64_t count, sum_ns, min_ns, max_ns;
	uint64_t missed; /* number of waits that the kernel's accounting omits */
	struct live_schedstat was, is;
};

/* Events that the test records with witness_begin(). */
extern const char *const seen_events[];
/* Sums the waits of @nr tasks from perf's events. All tasks must sleep at @from_ns. */
void seen_fill(struct seen *seen, size_t nr, const struct witness *w, uint64_t from_ns);

#endif
