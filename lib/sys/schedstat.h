/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The per-CPU lines of /proc/schedstat. */
#ifndef SUBTICK_SYS_SCHEDSTAT_H
#define SUBTICK_SYS_SCHEDSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/file.h"

struct schedstat_cpu {
	uint64_t run_ns;  /* time that tasks other than idle ran, including interrupts on top */
	uint64_t wait_ns; /* time that tasks waited to run, summed over tasks */
	uint64_t slices;
	bool present; /* false: the CPU has no line, it is offline */
};

struct schedstat {
	struct sys_text text;
};

/*
 * Fills cpus[0 … nr_cpus-1]; lines of higher CPUs are checked and left out. -EINVAL for text that
 * is not /proc/schedstat or is cut off, -EPROTONOSUPPORT for a version other than 14–17, -ERANGE
 * for a number beyond 64 bits. On failure the content of @cpus is undefined.
 */
int schedstat_parse(const char *text, size_t len, struct schedstat_cpu *cpus, unsigned int nr_cpus);

int schedstat_open(struct schedstat *stat, const char *root, struct err *err);
int schedstat_read(struct schedstat *stat, struct schedstat_cpu *cpus, unsigned int nr_cpus);
void schedstat_close(struct schedstat *stat);

#endif
