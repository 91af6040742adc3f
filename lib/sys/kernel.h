/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the running kernel was told to behave: command line, lockdown, clock, accounting. */
#ifndef SUBTICK_SYS_KERNEL_H
#define SUBTICK_SYS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/kconfig.h"

/*
 * Pure: whether the kernel saw @key in @cmdline, and its last value ("" for a bare word). Dashes
 * and underscores are the same, and what follows " -- " is init's. @buf may be NULL.
 */
bool cmdline_get(const char *cmdline, const char *key, char *buf, size_t size);

enum lockdown {
	LOCKDOWN_ABSENT, /* the kernel has no lockdown, or securityfs is not mounted */
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

/* -EINVAL for a level this program does not know. */
int lockdown_read(const char *root, enum lockdown *ret_level);

/* What decides the columns of /proc/stat. */
enum accounting {
	ACCT_UNKNOWN,
	ACCT_TICK,	  /* whatever the tick interrupts gets the whole tick */
	ACCT_IRQTIME,	  /* the same for tasks; interrupts and softirqs by clock */
	ACCT_VIRT_GEN,	  /* user and system by clock on nohz_full CPUs, tick on the others */
	ACCT_VIRT_NATIVE, /* everything by clock (s390, POWER) */
};

struct accounting_facts {
	const struct kconfig *config;
	const char *cmdline;
	const char *machine;	  /* as uname(2) names it */
	const char *clocksources; /* those available; "" if not known */
};

/* Pure. @why is one clause for people. */
enum accounting accounting_regime(const struct accounting_facts *facts, char *why, size_t size);
const char *accounting_name(enum accounting regime);

#endif
