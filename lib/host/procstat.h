/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU and task times of /proc: stat, schedstat, PID/stat. */
#ifndef SUBTICK_SYS_PROCSTAT_H
#define SUBTICK_SYS_PROCSTAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "host/file.h"

enum procstat_col {
	PROCSTAT_USER, /* user time, including guest time */
	PROCSTAT_NICE, /* nice time, including guest_nice time */
	PROCSTAT_SYSTEM,
	PROCSTAT_IDLE,
	PROCSTAT_IOWAIT, /* iowait time, which may decrease */
	PROCSTAT_IRQ,
	PROCSTAT_SOFTIRQ,
	PROCSTAT_STEAL,
	PROCSTAT_GUEST,
	PROCSTAT_GUEST_NICE,
	PROCSTAT_NR_COLS,
};

/* Times of a CPU in ticks of 1/USER_HZ s; sysconf(_SC_CLK_TCK) is USER_HZ. */
struct procstat_cpu {
	uint64_t ticks[PROCSTAT_NR_COLS];
	uint8_t nr_cols; /* number of columns of the CPU's line; 0 for an offline CPU */
};

/*
 * Stores the values of each CPU n < @nr_cpus in cpus[n], and ignores all other CPUs. Returns
 * -EINVAL if the text is not /proc/stat, is truncated, or has a CPU twice, and -ERANGE if a number
 * exceeds 64 bits. After a failure @cpus is undefined.
 */
int procstat_parse(const char *text, size_t len, struct procstat_cpu *cpus, unsigned int nr_cpus);

/* Opens /proc/stat. The caller closes @stat with sys_text_close(). */
int procstat_open(struct sys_text *stat, const char *root, struct err *err);
/* Reads the open /proc/stat with one pread() and parses the text. */
int procstat_read(struct sys_text *stat, struct procstat_cpu *cpus, unsigned int nr_cpus);

struct schedstat_cpu {
	/* time in ns that tasks except the idle task ran, including interrupts */
	uint64_t run_ns;
	bool present; /* false if the CPU is offline and has no line */
};

/*
 * Like procstat_parse(), for /proc/schedstat. Returns -EPROTONOSUPPORT if the version is not 14 to
 * 17.
 */
int schedstat_parse(const char *text, size_t len, struct schedstat_cpu *cpus, unsigned int nr_cpus);

int schedstat_open(struct sys_text *stat, const char *root, struct err *err);
int schedstat_read(struct sys_text *stat, struct schedstat_cpu *cpus, unsigned int nr_cpus);

struct pidstat {
	uint64_t user_ticks; /* user and system time of the task, in units of 1/USER_HZ s */
	uint64_t system_ticks;
	pid_t parent;
	uint32_t flags; /* PF_ flags of the kernel's sched.h */
	int cpu;	/* last CPU of the task; -1 if the line does not contain the CPU */
};

/* Parses /proc/PID/stat, in which the task name may contain any character. */
int pidstat_parse(const char *text, struct pidstat *ret_stat);
/* Reads the stat file of @pid, which is a process id in the PID namespace of this process. */
int pidstat_read(const char *root, pid_t pid, struct pidstat *ret_stat);

#endif
