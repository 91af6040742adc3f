/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Possible, online and isolated CPUs, CPU affinity, and the rate of the cycle clock. */
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
	CPU_POSSIBLE, /* fixed at boot */
};

int cpu_set(const char *root, enum cpu_kind kind, struct cpuset *ret_set, struct err *err);

/* Highest possible CPU number of this machine plus 1, the size of per-CPU tables. */
int cpu_nr(unsigned int *ret_nr, struct err *err);

/* Reads a file that contains a CPU list such as "0,2-5". */
int cpu_list_read(const char *root, const char *path, struct cpuset *ret_set);

/* Returns the number of the package (socket) of @cpu, or -1 if unknown. */
int cpu_package(const char *root, unsigned int cpu);

/* Online CPUs. The list of online CPUs in sysfs stays open, so that each update is one pread(). */
struct cpu_online {
	struct sys_text text;
	struct cpuset set;
	struct cpuset returned; /* CPUs that came online between the last two reads */
};

/* Opens and reads the list of online CPUs. A zeroed struct cpu_online may be closed. */
int cpu_online_open(struct cpu_online *online, const char *root, struct err *err);
/* A failed read leaves online->set unchanged. */
int cpu_online_read(struct cpu_online *online);
void cpu_online_close(struct cpu_online *online);

/* Writes "host, Linux 6.12.3 #1 SMP ..., aarch64, 4 CPUs", truncated to @size bytes. */
void node_describe(char *buf, size_t size);

/* Gets the CPU affinity of thread @pid; 0 is the calling thread. */
int affinity_get(pid_t pid, struct cpuset *ret_cpus);
int affinity_set(pid_t pid, const struct cpuset *cpus);
int affinity_pin(pid_t pid, unsigned int cpu);

/*
 * Gets the CPUs of nohz_full=, isolcpus= and isolated cpuset partitions. @cgroup2 is the mount
 * point of cgroup v2, or "".
 */
void isolated_cpus(const char *root, const char *cgroup2, struct cpuset *ret_set);

/*
 * Returns the rate of the cycle clock in Hz, or 0 if there is no cycle clock. If the hardware does
 * not report the rate, the rate is measured over 20 ms with an error below 10 ppm.
 */
uint64_t cycles_hz(void);

#endif
