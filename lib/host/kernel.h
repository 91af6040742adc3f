/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configuration, command line, lockdown, sched_ext and CPU time accounting of the kernel. */
#ifndef SUBTICK_SYS_KERNEL_H
#define SUBTICK_SYS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kconfig_state {
	KCONFIG_UNKNOWN, /* no kernel configuration was found */
	KCONFIG_NO,	 /* the symbol "is not set", or is not in the configuration */
	KCONFIG_YES,
	KCONFIG_MODULE,
	KCONFIG_VALUE, /* the symbol has a number or a string as value */
};

struct kconfig {
	char *text; /* text of the configuration; NULL if no configuration was found */
	size_t len;
	char source[256]; /* path of the configuration file, without the root directory */
};

/*
 * Reads /proc/config.gz, /boot/config-RELEASE or a file of the module directory. Returns -ENOENT if
 * no configuration exists, -EINVAL if a file is not a configuration, and -EFBIG if a file is too
 * large.
 */
int kconfig_open(struct kconfig *config, const char *root, const char *release);
void kconfig_close(struct kconfig *config);

/* Looks up @symbol, without CONFIG_. Returns KCONFIG_UNKNOWN without a configuration. */
enum kconfig_state kconfig_get(const struct kconfig *config, const char *symbol);
/*
 * Looks up @symbol and copies its value without quotes to @buf. Returns KCONFIG_UNKNOWN if the
 * value is too long for @buf.
 */
enum kconfig_state kconfig_value(const struct kconfig *config, const char *symbol, char *buf,
				 size_t size);
/* Reads the configuration of the running kernel and looks up one symbol. */
enum kconfig_state kconfig_running(const char *symbol);
/*
 * True if the kernel command line has @key. Copies the last value of @key ("" without "=") to @buf,
 * which may be NULL. Dashes and underscores are equivalent. Words after "--" belong to init.
 */
bool cmdline_get(const char *cmdline, const char *key, char *buf, size_t size);

enum lockdown {
	LOCKDOWN_ABSENT, /* the kernel has no lockdown, or securityfs is not mounted */
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY,
};

/* Returns -EINVAL for unknown content. */
int lockdown_read(const char *root, enum lockdown *ret_level);

/* The BPF scheduler of scheduling class sched_ext (Linux 6.12 and later). */
struct sched_ext {
	char name[128];		/* name of the BPF scheduler; "" if none is enabled */
	bool partial;		/* the scheduler schedules only tasks with policy SCHED_EXT */
	uint64_t enabled_total; /* number of BPF schedulers enabled since boot */
};

/* Returns -ENOENT if the kernel lacks sched_ext. */
int sched_ext_read(const char *root, struct sched_ext *ret_ext);

/* Accounting method of the times in /proc/stat. */
enum accounting {
	ACCT_UNKNOWN,
	ACCT_TICK,	  /* each tick is charged to the context that it interrupts */
	/* interrupts and softirqs are measured with a clock, all other contexts by ticks */
	ACCT_IRQTIME,
	ACCT_VIRT_GEN,	  /* user and system time of nohz_full CPUs is measured with a clock */
	ACCT_VIRT_NATIVE, /* the time of every context is measured with a clock (s390, POWER) */
};

struct accounting_facts {
	const struct kconfig *config;
	const char *cmdline;
	const char *machine;	  /* architecture, as in uname(2) */
	const char *clocksources; /* available clock sources; "" if unknown */
};

/* Derives from @facts how the kernel accounts CPU time. @ret_why is the reason. */
enum accounting accounting_regime(const struct accounting_facts *facts, const char **ret_why);
const char *accounting_name(enum accounting regime);

#endif
