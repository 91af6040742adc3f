/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the running kernel: command line, lockdown, accounting regime. */
#ifndef SUBTICK_SYS_KERNEL_H
#define SUBTICK_SYS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/kconfig.h"

/*
 * Whether @cmdline has @key, and its last value ("" for a word without value); pure. Dashes and
 * underscores are the same. Words after " -- " are for init. @buf may be NULL.
 */
bool cmdline_get(const char *cmdline, const char *key, char *buf, size_t size);

enum lockdown {
	LOCKDOWN_ABSENT, /* the kernel has no lockdown, or securityfs is not mounted */
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

/* -EINVAL for an unknown level. */
int lockdown_read(const char *root, enum lockdown *ret_level);

/* How the kernel fills the columns of /proc/stat. */
enum accounting {
	ACCT_UNKNOWN,
	ACCT_TICK,	  /* the context that the tick interrupts is charged the whole tick */
	ACCT_IRQTIME,	  /* the same for tasks; a clock measures interrupts and softirqs */
	ACCT_VIRT_GEN,	  /* a clock measures user and system on nohz_full CPUs; else tick */
	ACCT_VIRT_NATIVE, /* a clock measures everything (s390, POWER) */
};

struct accounting_facts {
	const struct kconfig *config;
	const char *cmdline;
	const char *machine;	  /* as uname(2) names it */
	const char *clocksources; /* the available ones; "" if unknown */
};

/* Pure. @ret_why is the reason, for people. */
enum accounting accounting_regime(const struct accounting_facts *facts, const char **ret_why);
const char *accounting_name(enum accounting regime);

#endif
