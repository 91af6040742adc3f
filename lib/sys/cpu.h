/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Possible, present and online CPUs, and their NUMA nodes. */
#ifndef SUBTICK_SYS_CPU_H
#define SUBTICK_SYS_CPU_H

#include <stddef.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "sys/file.h"

enum cpu_kind {
	CPU_ONLINE,
	CPU_PRESENT,
	CPU_POSSIBLE, /* fixed at boot: the size of every per-CPU table */
};

int cpu_set(const char *root, enum cpu_kind kind, struct cpuset *ret_set, struct err *err);

/* The package (socket) that a CPU is in, by its number; -1 if unknown. */
int cpu_package(const char *root, unsigned int cpu);

/* The online set through a file that stays open: one pread() each time, for any number of CPUs. */
struct cpu_online {
	struct sys_text text;
	struct cpuset set;
	struct cpuset returned; /* online now, offline at the read before */
};

/* Reads the set. A zeroed struct, and one that was not opened, can be closed. */
int cpu_online_open(struct cpu_online *online, const char *root, struct err *err);
/* Reads the set again. Keeps it on failure. */
int cpu_online_read(struct cpu_online *online);
void cpu_online_close(struct cpu_online *online);

/* "host, Linux 6.12.3 #1 SMP ..., aarch64, 4 CPUs"; cut off if @size is too small. */
void node_describe(char *buf, size_t size);

#endif
