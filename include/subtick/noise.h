/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interrupts, softirqs and kernel threads of each core: the time they take, and from which cgroups. */
#ifndef SUBTICK_NOISE_H
#define SUBTICK_NOISE_H

#include <subtick/subtick.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum subtick_noise_kind {
	SUBTICK_NOISE_IRQ,     /* "irq": a device's interrupt line */
	SUBTICK_NOISE_VECTOR,  /* "vector": the core's own timer, an IPI, another local vector */
	SUBTICK_NOISE_SOFTIRQ, /* "softirq" */
	SUBTICK_NOISE_KTHREAD, /* "kthread" */
	SUBTICK_NOISE_NMI,     /* "nmi": its time is also in what it interrupted */
};

/* Bits of subtick_noise_opts.flags. Unknown bits: -EINVAL. */
enum subtick_noise_flag {
	SUBTICK_NOISE_SENDERS = 1 << 0, /* SUBTICK_SENDERS and SUBTICK_CALLS */
};

/* Members that are 0 have their default. */
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
