/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulated machines for doctor: files, and the results of system calls. */
#ifndef SUBTICK_TESTS_UNIT_MACHINES_H
#define SUBTICK_TESTS_UNIT_MACHINES_H

#include "doctor/doctor.h"
#include "tree.h"

/* A laptop on Debian 12: x86-64, intel_idle, ref-cycles, cgroup v2, root. */
void machine_laptop(const struct tree *tree, struct probe *probe);
/* An arm64 guest without cpuidle driver and PMU, hybrid cgroups, kfuncs, root. */
void machine_guest(const struct tree *tree, struct probe *probe);

/* Replaces the kernel's BTF by one with these tracepoints and functions; NULL-terminated. */
void machine_btf(const struct tree *tree, const char *const *traces, const char *const *funcs);
/* As if run by an ordinary user. */
void machine_unprivileged(const struct tree *tree, struct probe *probe);

extern const char *const machine_x86_traces[];
extern const char *const machine_arm64_traces[];

#endif
