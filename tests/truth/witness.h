/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An independent record of kernel tracepoints, read through perf. */
#ifndef SUBTICK_TESTS_TRUTH_WITNESS_H
#define SUBTICK_TESTS_TRUTH_WITNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WITNESS_EVENTS 28
#define WITNESS_CPUS   4

/* One hit of a tracepoint, stamped with CLOCK_MONOTONIC. */
struct witness_hit {
	uint64_t time_ns;
	uint16_t event; /* index into the list of event names */
	uint16_t cpu;
	uint32_t length;
	const unsigned char *raw;
};

struct witness {
	/* tracepoint names, for example "sched/sched_switch"; a name may occur more than once */
	const char *const *names;
	unsigned int nr, nr_cpus;
	int fd[WITNESS_CPUS][WITNESS_EVENTS];
	void *ring[WITNESS_CPUS];
	unsigned char *copy[WITNESS_CPUS];
	struct witness_hit *hits; /* hits sorted by time, valid after witness_end() */
	size_t nr_hits;
};

/* True if the kernel has the event @name. */
bool witness_has(const char *name);
/*
 * Starts to record the events @names on all CPUs. @names is NULL-terminated. Fails the test program
 * on an error.
 */
void witness_begin(struct witness *w, const char *const *names);
/* Ends the recording. Fails the test program if an event was lost. */
void witness_end(struct witness *w);
void witness_free(struct witness *w);

/*
 * Returns the value of a field of a tracepoint hit. @field is the name of the field in the event's
 * format file.
 */
int64_t witness_field(const struct witness *w, const struct witness_hit *hit, const char *field);

#endif
