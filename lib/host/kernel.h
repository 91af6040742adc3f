/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings of the running kernel: configuration, command line, lockdown, BPF scheduler, accounting. */
#ifndef SUBTICK_SYS_KERNEL_H
#define SUBTICK_SYS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kconfig_state {
	KCONFIG_UNKNOWN, /* no configuration was found */
	KCONFIG_NO,	 /* "is not set", or not listed */
	KCONFIG_YES,
	KCONFIG_MODULE,
	KCONFIG_VALUE, /* a number or a string */
};

struct kconfig {
	char *text; /* NULL: none was found */
	size_t len;
	char source[256]; /* the file, without the root */
};

/*
 * Tries /proc/config.gz, /boot/config-RELEASE and the module directory of @release. -ENOENT if
 * there is none; kconfig_get() then returns KCONFIG_UNKNOWN. -EINVAL if a file is not a
 * configuration, -EFBIG if it is too large to be one.
 */
int kconfig_open(struct kconfig *config, const char *root, const char *release);
void kconfig_close(struct kconfig *config);

/* @symbol without CONFIG_. */
enum kconfig_state kconfig_get(const struct kconfig *config, const char *symbol);
/* The same, and the value without quotes for KCONFIG_VALUE; -ENOSPC becomes KCONFIG_UNKNOWN. */
enum kconfig_state kconfig_value(const struct kconfig *config, const char *symbol, char *buf,
				 size_t size);
/* Of the running kernel, for one question; see kconfig_open() for where it is read. */
enum kconfig_state kconfig_running(const char *symbol);
/* Looks up @symbol in @text; pure. */
enum kconfig_state kconfig_parse(const char *text, size_t len, const char *symbol, char *buf,
				 size_t size);

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

/* The BPF scheduler of class sched_ext (Linux 6.12). */
struct sched_ext {
	char name[128];		/* "": none is enabled */
	bool partial;		/* schedules tasks with policy SCHED_EXT only */
	uint64_t enabled_total; /* schedulers enabled since boot */
};

/* -ENOENT if the kernel has no class sched_ext. */
int sched_ext_read(const char *root, struct sched_ext *ret_ext);

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
