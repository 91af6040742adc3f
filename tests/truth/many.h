/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulates windows of thousands of cgroups. Counters in memory are filled as the BPF programs fill
 * counters, and read as `subtick runq` reads counters.
 */
#ifndef SUBTICK_TESTS_TRUTH_MANY_H
#define SUBTICK_TESTS_TRUTH_MANY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Creates counters for @nr cgroups and @cpus processors. The histograms of the cgroups have only
 * the boundaries of option --le. The function needs permission to create BPF maps.
 */
int many_open(size_t nr, unsigned int cpus, struct err *err);
/*
 * Creates counters with fine histograms for @nr containers, three per pod. Each row of the report
 * is a pod with its name.
 */
int many_open_pods(size_t nr, unsigned int cpus, struct err *err);
/*
 * Adds 6 waits to each cgroup, or 24 waits to each container of many_open_pods(), and ends the
 * window. Measures the CPU time for reading the counters, computing the values of the report, and
 * building the report. Returns -EPROTO if a count, a sum or a boundary is wrong.
 */
int many_window(uint64_t *ret_cpu_ns, struct err *err);
/* Measures the CPU time of a window without waits. */
int many_quiet_window(uint64_t *ret_cpu_ns, struct err *err);
void many_close(void);

#endif
