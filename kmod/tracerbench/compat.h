/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Hides differences between kernel versions, and for stats.h also between kernel and user space. */
#ifndef TRACERBENCH_COMPAT_H
#define TRACERBENCH_COMPAT_H

#ifdef __KERNEL__

#include <linux/errno.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/types.h>

/*
 * Lets other tasks run on the current CPU. Without tb_yield(), a long sort would block the CPU on
 * kernels without full preemption.
 */
static inline void tb_yield(void)
{
	cond_resched();
}

#else /* definitions for user space */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t u64;

#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline void tb_yield(void)
{
}

#endif

#endif
