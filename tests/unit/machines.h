/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates machines for the tests of `subtick doctor`: files and results of system calls. */
#ifndef SUBTICK_TESTS_UNIT_MACHINES_H
#define SUBTICK_TESTS_UNIT_MACHINES_H

#include "doctor/doctor.h"
#include "tree.h"

/* A laptop with Debian 12: x86-64, intel_idle, ref-cycles, cgroup v2, run by root. */
void machine_laptop(const struct tree *tree, struct probe *probe);
/* Simulates an arm64 guest without cpuidle driver and PMU, with cgroup v1 and v2, run by root. */
void machine_guest(const struct tree *tree, struct probe *probe);

/* Replaces the kernel's BTF by one with @traces and @funcs, which end with NULL. */
void machine_btf(const struct tree *tree, const char *const *traces, const char *const *funcs);
void machine_unprivileged(const struct tree *tree, struct probe *probe);

extern const char *const machine_x86_traces[];
extern const char *const machine_arm64_traces[];

#endif
