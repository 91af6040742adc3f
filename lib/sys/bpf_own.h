/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cost of this process's own BPF programs and maps. */
#ifndef SUBTICK_SYS_BPF_OWN_H
#define SUBTICK_SYS_BPF_OWN_H

#include <stddef.h>
#include <stdint.h>

#define BPF_OWN_MAX 64

struct sys_bpf_own {
	int progs[BPF_OWN_MAX]; /* descriptors, owned by others */
	size_t nr_progs;
	uint64_t map_bytes;
};

struct sys_bpf_own_cost {
	char name[16];
	uint64_t run_ns;
	uint64_t runs; /* also 0 while kernel.bpf_stats_enabled is off */
};

/* Searches this process's descriptors. */
void sys_bpf_own_find(struct sys_bpf_own *ret_own);
/* Needs CAP_BPF before Linux 5.19, no privilege since. */
int sys_bpf_own_cost(int fd, struct sys_bpf_own_cost *ret_cost);

#endif
