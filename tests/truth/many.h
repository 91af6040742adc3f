/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows of thousands of cgroups: slots in memory as the BPF programs fill them, read as by the
 * meter.
 */
#ifndef SUBTICK_TESTS_TRUTH_MANY_H
#define SUBTICK_TESTS_TRUTH_MANY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Slots with counts at boundaries only, for @nr cgroups and @cpus processors. Needs BPF maps. */
int many_open(size_t nr, unsigned int cpus, struct err *err);
/* Slots with fine histograms for @nr containers, three per pod. The rows are pods with names. */
int many_open_pods(size_t nr, unsigned int cpus, struct err *err);
/*
 * Adds some waits to each cgroup and ends the window. Returns the CPU time for slots, figures and
 * report. -EPROTO if a count, a sum or a boundary is wrong.
 */
int many_window(uint64_t *ret_cpu_ns, struct err *err);
/* Number of instructions for a window without waits. */
int many_quiet_window(uint64_t *ret_cpu_ns, struct err *err);
void many_close(void);

#endif
