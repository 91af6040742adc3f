/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clocks in nanoseconds, and durations as text. */
#ifndef SUBTICK_BASE_CLOCK_H
#define SUBTICK_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
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

/* Time of CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(). */
static inline uint64_t clock_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* Offset of clock @id from CLOCK_MONOTONIC in ns. The error is at most half of *ret_width. */
int64_t clock_offset_ns(clockid_t id, int64_t *ret_width);

/* Time of clock @id at the instant when CLOCK_MONOTONIC is @mono_ns. */
uint64_t clock_at_ns(clockid_t id, uint64_t mono_ns);

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC};
}

static inline uint64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * NSEC_PER_SEC + tv.tv_usec * NSEC_PER_USEC;
}

/* NTP's rate correction of CLOCK_MONOTONIC: 1e-6 is 1 ppm. Returns 0 if unknown. */
double ntp_rate(void);

/* Parses a decimal number of 0 or more. @ret_end is the first character after the number. */
bool decimal_parse(const char *text, double *ret_number, char **ret_end);
/*
 * Parses a decimal number with the unit d, h, m (minutes), s, ms, us, µs or ns, or seconds without
 * a unit. Returns false and leaves @ret_ns unchanged for invalid text and for times outside
 * @min_ns … @max_ns.
 */
bool duration_parse(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns);
/* Formats a duration with up to six digits: "100 us", "1.5 s". */
void duration_format(uint64_t ns, char *buf, size_t size);

#endif
