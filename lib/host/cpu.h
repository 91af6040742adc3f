/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Possible, online and isolated CPUs, NUMA nodes, affinity, and the rate of the cycle clock. */
#ifndef SUBTICK_SYS_CPU_H
#define SUBTICK_SYS_CPU_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cpuset.h"
#include "base/err.h"
#include "host/file.h"

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

/* @pid 0: the calling thread. Both return 0 or -errno. */
int affinity_get(pid_t pid, struct cpuset *ret_cpus);
int affinity_set(pid_t pid, const struct cpuset *cpus);
/* Pins to one CPU. */
int affinity_pin(pid_t pid, unsigned int cpu);

/*
 * All CPUs of nohz_full=, isolcpus= and isolated cpuset partitions. @cgroup2 is where the unified
 * hierarchy is mounted, "" if it is not. @root as in host/file.h. Empty if there are none.
 */
void isolated_cpus(const char *root, const char *cgroup2, struct cpuset *ret_set);

/*
 * The rate that the hardware reports, else measured with CLOCK_MONOTONIC over 20 ms. 0 without a
 * cycle clock. The error of the measurement is two clock reads in 20 ms, below 10 ppm.
 */
uint64_t cycles_hz(void);

#endif
