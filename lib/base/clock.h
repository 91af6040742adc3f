/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clocks of the program, in nanoseconds. */
#ifndef SUBTICK_BASE_CLOCK_H
#define SUBTICK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* The clock of bpf_ktime_get_ns(), so stamps of user space and of BPF can be subtracted. */
static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/*
 * How far a clock is ahead of CLOCK_MONOTONIC, and how long the reading of both took: the truth is
 * within half of that.
 */
int64_t clock_offset_ns(clockid_t id, int64_t *ret_width);

/* What a clock shows, or did, when CLOCK_MONOTONIC has this value. */
uint64_t clock_at_ns(clockid_t id, uint64_t mono_ns);

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC};
}

#endif
