/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The per-CPU lines of /proc/stat. */
#ifndef SUBTICK_SYS_PROCSTAT_H
#define SUBTICK_SYS_PROCSTAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/file.h"

enum procstat_col {
	PROCSTAT_USER, /* includes guest */
	PROCSTAT_NICE, /* includes guest_nice */
	PROCSTAT_SYSTEM,
	PROCSTAT_IDLE,
	PROCSTAT_IOWAIT, /* may go backwards */
	PROCSTAT_IRQ,
	PROCSTAT_SOFTIRQ,
	PROCSTAT_STEAL,
	PROCSTAT_GUEST,
	PROCSTAT_GUEST_NICE,
	PROCSTAT_NR_COLS,
};

/* In units of 1/USER_HZ s: sysconf(_SC_CLK_TCK). */
struct procstat_cpu {
	uint64_t ticks[PROCSTAT_NR_COLS];
	uint8_t nr_cols; /* how many columns the kernel has; 0: no line, the CPU is offline */
};

struct procstat {
	struct sys_text text;
};

/*
 * Fills cpus[0 … nr_cpus-1]; lines of higher CPUs are checked and left out. -EINVAL for text that
 * is not /proc/stat, is cut off, or has a CPU twice; -ERANGE for a number beyond 64 bits. On
 * failure the content of @cpus is undefined.
 */
int procstat_parse(const char *text, size_t len, struct procstat_cpu *cpus, unsigned int nr_cpus);

int procstat_open(struct procstat *stat, const char *root, struct err *err);
/* Reads the open file with one pread() and parses it. */
int procstat_read(struct procstat *stat, struct procstat_cpu *cpus, unsigned int nr_cpus);
void procstat_close(struct procstat *stat);

#endif
