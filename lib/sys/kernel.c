/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the kernel's command line, lockdown mode and accounting regime. */
#include "sys/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sys/file.h"
#include "sys/scan.h"

static bool cmdline_key(struct scan *word, const char *key)
{
	const char *p = word->pos;

	for (; *key; key++, p++) {
		char have = p < word->end && *p == '-' ? '_' : p < word->end ? *p : '\0';

		if (have != (*key == '-' ? '_' : *key))
			return false;
	}
	word->pos = p;
	return p == word->end || *p == '=';
}

/* The next blank-separated word; blanks inside double quotes do not end it. */
static bool cmdline_word(const char **pos, struct scan *ret_word)
{
	const char *p = *pos + strspn(*pos, " \t\n");
	bool quoted = false;

	ret_word->pos = p;
	for (; *p && (quoted || !strchr(" \t\n", *p)); p++)
		if (*p == '"')
			quoted = !quoted;
	ret_word->end = p;
	*pos = p;
	return ret_word->pos < ret_word->end;
}

bool cmdline_get(const char *cmdline, const char *key, char *buf, size_t size)
{
	const char *pos = cmdline;
	struct scan word;
	bool found = false;

	while (cmdline_word(&pos, &word)) {
		if (word.end - word.pos == 2 && !memcmp(word.pos, "--", 2))
			break;
		if (!cmdline_key(&word, key))
			continue;
		found = true;
		scan_char(&word, '=');
		if (buf)
			snprintf(buf, size, "%.*s", (int)(word.end - word.pos), word.pos);
	}
	return found;
}

int lockdown_read(const char *root, enum lockdown *ret_level)
{
	char text[64];
	int rc = sys_read_file(root, "/sys/kernel/security/lockdown", text, sizeof(text));

	if (rc == -ENOENT) {
		*ret_level = LOCKDOWN_ABSENT;
		return 0;
	}
	if (rc < 0)
		return rc;
	if (strstr(text, "[none]"))
		*ret_level = LOCKDOWN_NONE;
	else if (strstr(text, "[integrity]"))
		*ret_level = LOCKDOWN_INTEGRITY;
	else if (strstr(text, "[confidentiality]"))
		*ret_level = LOCKDOWN_CONFIDENTIALITY;
	else
		return -EINVAL;
	return 0;
}

static enum accounting because(const char **ret_why, const char *why, enum accounting regime)
{
	*ret_why = why;
	return regime;
}

/*
 * IRQ_TIME_ACCOUNTING is switched on at boot only if sched_clock is precise. On x86 that is a
 * usable TSC without tsc=noirqtime (arch/x86/kernel/tsc.c); an unstable one leaves the list of
 * available clock sources.
 */
static enum accounting irqtime_regime(const struct accounting_facts *facts, const char **ret_why)
{
	char tsc[32];

	if (strcmp(facts->machine, "x86_64") && strcmp(facts->machine, "i686"))
		return because(ret_why, "CONFIG_IRQ_TIME_ACCOUNTING", ACCT_IRQTIME);
	if (cmdline_get(facts->cmdline, "tsc", tsc, sizeof(tsc)) && !strcmp(tsc, "noirqtime"))
		return because(ret_why, "CONFIG_IRQ_TIME_ACCOUNTING, but booted with tsc=noirqtime",
			       ACCT_TICK);
	if (cmdline_get(facts->cmdline, "notsc", NULL, 0) ||
	    (facts->clocksources[0] && !strstr(facts->clocksources, "tsc")))
		return because(ret_why, "CONFIG_IRQ_TIME_ACCOUNTING, but the TSC is not usable",
			       ACCT_TICK);
	return because(ret_why, "CONFIG_IRQ_TIME_ACCOUNTING and a usable TSC", ACCT_IRQTIME);
}

enum accounting accounting_regime(const struct accounting_facts *facts, const char **ret_why)
{
	const struct kconfig *config = facts->config;
	bool gen = kconfig_get(config, "VIRT_CPU_ACCOUNTING_GEN") == KCONFIG_YES;

	if (!config->text)
		return because(ret_why, "the kernel's configuration is unavailable", ACCT_UNKNOWN);
	if (kconfig_get(config, "VIRT_CPU_ACCOUNTING_NATIVE") == KCONFIG_YES)
		return because(ret_why, "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE", ACCT_VIRT_NATIVE);
	/* Every distribution compiles it in; it is inactive until context tracking is on. */
	if (gen && (kconfig_get(config, "CONTEXT_TRACKING_USER_FORCE") == KCONFIG_YES ||
		    kconfig_get(config, "CONTEXT_TRACKING_FORCE") == KCONFIG_YES))
		return because(ret_why, "context tracking is forced on", ACCT_VIRT_GEN);
	if (gen && cmdline_get(facts->cmdline, "nohz_full", NULL, 0))
		return because(ret_why, "booted with nohz_full=", ACCT_VIRT_GEN);
	if (kconfig_get(config, "IRQ_TIME_ACCOUNTING") == KCONFIG_YES)
		return irqtime_regime(facts, ret_why);
	return because(ret_why,
		       gen ? "VIRT_CPU_ACCOUNTING_GEN is inactive without nohz_full="
			   : "CONFIG_TICK_CPU_ACCOUNTING",
		       ACCT_TICK);
}

const char *accounting_name(enum accounting regime)
{
	static const char *const names[] = {
		[ACCT_UNKNOWN] = "unknown",	    [ACCT_TICK] = "tick",
		[ACCT_IRQTIME] = "IRQTIME",	    [ACCT_VIRT_GEN] = "VIRT_GEN",
		[ACCT_VIRT_NATIVE] = "VIRT_NATIVE",
	};

	return names[regime];
}
