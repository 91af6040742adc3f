/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Simulates windows of thousands of cgroups: fills slots in memory like the BPF programs, and reads
 * them like the meter.
 */
#ifndef SUBTICK_TESTS_TRUTH_MANY_H
#define SUBTICK_TESTS_TRUTH_MANY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Creates slots with counts at boundaries only, for @nr cgroups and @cpus processors. Needs BPF
 * maps.
 */
int many_open(size_t nr, unsigned int cpus, struct err *err);
/*
 * Creates slots with fine histograms for @nr containers, three per pod. The rows of the report are
 * pods with names.
 */
int many_open_pods(size_t nr, unsigned int cpus, struct err *err);
/*
 * Adds some waits to each cgroup and ends the window. Returns the CPU time for reading the slots,
 * computing the figures and building the report. -EPROTO if a count, a sum or a boundary is wrong.
 */
int many_window(uint64_t *ret_cpu_ns, struct err *err);
/* Number of instructions for a window without waits. */
int many_quiet_window(uint64_t *ret_cpu_ns, struct err *err);
void many_close(void);

#endif
