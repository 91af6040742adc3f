/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Timestamps of idle entries and exits of a core, recorded by a BPF program of the test. */
#ifndef SUBTICK_TESTS_LIVE_IDLE_LOG_H
#define SUBTICK_TESTS_LIVE_IDLE_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IDLE_LOG_NR    (1u << 16)
#define IDLE_LOG_READS 9

struct idle_log {
	int prog, link, count_map, stamp_map;
	volatile uint64_t *count;
	volatile uint64_t *stamps; /* timestamp of event n is stamps[n % IDLE_LOG_NR] */
};

enum idle_log_event {
	IDLE_LOG_ENTRY,
	IDLE_LOG_EXIT,
	IDLE_LOG_TIMER_IRQ, /* x86: interrupt of the local APIC timer */
};

/*
 * Attaches a BPF program that logs each idle entry of @cpu. Attach subtick's BPF programs first:
 * BPF programs on one event run in order of attachment, and the log must run last.
 */
int idle_log_open(struct idle_log *log, int cpu, struct err *err);
/*
 * Opens a log for event @event. For each timestamp, the BPF program reads the clock @reads times
 * (at most IDLE_LOG_READS) and logs the last clock reading. Returns -ENOENT if the kernel does not
 * have the event.
 */
int idle_log_open_at(struct idle_log *log, int cpu, enum idle_log_event event, unsigned int reads,
		     struct err *err);
/* Attaches an empty BPF program to the event. Returns a file descriptor or -errno. */
int idle_log_empty(enum idle_log_event event);
/* Returns the number of logged events. */
uint64_t idle_log_count(const struct idle_log *log);
/* Returns the CLOCK_MONOTONIC time of log entry @nr. The log keeps the last IDLE_LOG_NR entries. */
uint64_t idle_log_stamp(const struct idle_log *log, uint64_t nr);
void idle_log_close(struct idle_log *log);

#endif
