/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time that interrupts, softirqs and kernel threads take from the tasks of each core and cgroup. */
#ifndef SUBTICK_NOISE_H
#define SUBTICK_NOISE_H

#include <subtick/subtick.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum subtick_noise_kind {
	SUBTICK_NOISE_IRQ,     /* "irq": a device's interrupt line */
	SUBTICK_NOISE_VECTOR,  /* "vector": a local vector, such as the core's timer or an IPI */
	SUBTICK_NOISE_SOFTIRQ, /* "softirq" */
	SUBTICK_NOISE_KTHREAD, /* "kthread" */
	/* "nmi"; the time of an NMI is also part of the interrupted context */
	SUBTICK_NOISE_NMI,
};

/* Bits of subtick_noise_opts.flags. Unknown bits: -EINVAL. */
enum subtick_noise_flag {
	SUBTICK_NOISE_SENDERS = 1 << 0, /* fill the lists SUBTICK_SENDERS and SUBTICK_CALLS */
};

/* A member that is 0 selects the default of that member. */
struct subtick_noise_opts {
	uint32_t size;	  /* sizeof(struct subtick_noise_opts) */
	uint32_t flags;	  /* enum subtick_noise_flag */
	const char *cpus; /* CPUs to report, "0,2-5"; NULL: all */
};

/* @opts may be NULL. */
int subtick_noise_open(struct subtick **ret, const struct subtick_noise_opts *opts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
