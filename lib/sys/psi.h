/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own pressure stall information (PSI) of the CPU. */
#ifndef SUBTICK_SYS_PSI_H
#define SUBTICK_SYS_PSI_H

#include <stdint.h>

#define PSI_CPU_NODE "/proc/pressure/cpu"

/* Totals since boot, or since the cgroup was made; UINT64_MAX if there is none. */
struct psi {
	uint64_t some_ns; /* at least one task waited */
	uint64_t full_ns; /* none ran either; the kernel has none for the whole machine */
};

/* @path is PSI_CPU_NODE or the cpu.pressure of a cgroup. 0 or -errno. */
int psi_read(const char *root, const char *path, struct psi *ret_psi);

#endif
