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
	/* "vector": a local interrupt vector, such as the core's timer or an IPI */
	SUBTICK_NOISE_VECTOR,
	SUBTICK_NOISE_SOFTIRQ, /* "softirq": a softirq vector, such as NET_RX */
	SUBTICK_NOISE_KTHREAD, /* "kthread": a kernel thread */
	/* "nmi"; NMI time is also counted for the context that the NMI interrupted */
	SUBTICK_NOISE_NMI,
};

/* Bits of subtick_noise_opts.flags. Unknown bits cause -EINVAL. */
enum subtick_noise_flag {
	SUBTICK_NOISE_SENDERS = 1 << 0, /* fill the lists SUBTICK_SENDERS and SUBTICK_CALLS */
};

/* A member that is 0 or NULL selects its default. subtick_noise_open() copies the string. */
struct subtick_noise_opts {
	uint32_t size;	  /* sizeof(struct subtick_noise_opts) */
	uint32_t flags;	  /* enum subtick_noise_flag */
	const char *cpus; /* CPUs to report, "0,2-5" (NULL: all) */
};

/*
 * Starts to measure noise and stores a new context in @ret, to be freed with subtick_close(). @opts
 * may be NULL. On failure subtick_error() returns the cause.
 */
int subtick_noise_open(struct subtick **ret, const struct subtick_noise_opts *opts);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
