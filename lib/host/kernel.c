/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads configuration, command line, lockdown and CPU time accounting of the kernel. */
#include "host/kernel.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "host/file.h"

/* Maximum size of a kernel configuration in memory. allmodconfig gives less than 1 MiB. */
#define KCONFIG_MAX (8U << 20)

static int kconfig_inflate(int fd, char **ret_text, size_t *ret_len)
{
	/* gzread() reads gzip data or plain text. gzclose() closes @fd. */
	gzFile gz = gzdopen(fd, "rb");
	char *text = malloc(KCONFIG_MAX);
	int len = gz && text ? gzread(gz, text, KCONFIG_MAX) : -1;
	int rc = !gz || !text ? -ENOMEM : len < 0 ? -EINVAL : len == KCONFIG_MAX ? -EFBIG : 0;

	if (!gz)
		close(fd);
	/* Only gzclose() reports that the stream was truncated. */
	else if (gzclose_r(gz) != Z_OK && !rc)
		rc = -EINVAL;
	if (rc) {
		free(text);
		return rc;
	}
	*ret_text = realloc(text, len + 1) ?: text;
	*ret_len = len;
	return 0;
}

static bool kconfig_plausible(const char *text, size_t len)
{
	struct scan start = {text, text + len};

	return scan_word(&start, "CONFIG_") || memmem(text, len, "\nCONFIG_", strlen("\nCONFIG_"));
}

static int kconfig_open_file(struct kconfig *config, const char *root, const char *path)
{
	int fd = sys_open(root, path), rc;

	if (fd < 0)
		return fd;
	rc = kconfig_inflate(fd, &config->text, &config->len);
	if (rc)
		return rc;
	if (!kconfig_plausible(config->text, config->len)) {
		kconfig_close(config);
		return -EINVAL;
	}
	snprintf(config->source, sizeof(config->source), "%s", path);
	return 0;
}

int kconfig_open(struct kconfig *config, const char *root, const char *release)
{
	const char *const paths[] = {
		"/proc/config.gz",
		SYS_PATH("/boot/config-%s", release),
		SYS_PATH("/lib/modules/%s/config", release),
		SYS_PATH("/usr/lib/modules/%s/config", release),
		SYS_PATH("/lib/modules/%s/build/.config", release),
	};
	int rc = -ENOENT, first = -ENOENT;

	memset(config, 0, sizeof(*config));
	for (size_t i = 0; i < ARRAY_SIZE(paths) && rc; i++) {
		rc = kconfig_open_file(config, root, paths[i]);
		first = first == -ENOENT ? rc : first;
	}
	return rc ? first : 0;
}

void kconfig_close(struct kconfig *config)
{
	free(config->text);
	memset(config, 0, sizeof(*config));
}

static enum kconfig_state kconfig_store(struct scan line, char *buf, size_t size)
{
	bool letter = line.end - line.pos == 1;
	int len;

	if (letter && *line.pos == 'y')
		return KCONFIG_YES;
	if (letter && *line.pos == 'm')
		return KCONFIG_MODULE;
	if (letter && *line.pos == 'n')
		return KCONFIG_NO;
	if (line.end - line.pos >= 2 && *line.pos == '"' && line.end[-1] == '"') {
		line.pos++;
		line.end--;
	}
	len = (int)(line.end - line.pos);
	return buf && snprintf(buf, size, "%.*s", len, line.pos) >= (int)size ? KCONFIG_UNKNOWN
									      : KCONFIG_VALUE;
}

enum kconfig_state kconfig_value(const struct kconfig *config, const char *symbol, char *buf,
				 size_t size)
{
	struct scan rest = {config->text, config->text + config->len}, line;
	bool cut;

	if (!config->text)
		return KCONFIG_UNKNOWN;
	while (scan_line(&rest, &line, &cut))
		if (scan_word(&line, "CONFIG_") && scan_word(&line, symbol) &&
		    scan_char(&line, '='))
			return kconfig_store(line, buf, size);
	return KCONFIG_NO;
}

enum kconfig_state kconfig_get(const struct kconfig *config, const char *symbol)
{
	return kconfig_value(config, symbol, NULL, 0);
}

enum kconfig_state kconfig_running(const char *symbol)
{
	enum kconfig_state state = KCONFIG_UNKNOWN;
	struct kconfig config;
	struct utsname name;

	if (!uname(&name) && !kconfig_open(&config, NULL, name.release)) {
		state = kconfig_get(&config, symbol);
		kconfig_close(&config);
	}
	return state;
}

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

/* Removes and returns the next word. Blanks in double quotes do not end the word. */
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
	static const char *const levels[] = {
		[LOCKDOWN_NONE] = "[none]",
		[LOCKDOWN_INTEGRITY] = "[integrity]",
		[LOCKDOWN_CONFIDENTIALITY] = "[confidentiality]",
	};
	enum lockdown level = LOCKDOWN_NONE;
	char text[64];
	int rc = sys_read_file(root, "/sys/kernel/security/lockdown", text, sizeof(text));

	if (rc < 0 && rc != -ENOENT)
		return rc;
	while (rc >= 0 && level < ARRAY_SIZE(levels) && !strstr(text, levels[level]))
		level++;
	if (level == ARRAY_SIZE(levels))
		return -EINVAL;
	*ret_level = rc < 0 ? LOCKDOWN_ABSENT : level;
	return 0;
}

#define SCHED_EXT "/sys/kernel/sched_ext"

int sched_ext_read(const char *root, struct sched_ext *ret_ext)
{
	struct sched_ext ext = {0};
	uint64_t all = 1;
	char state[32];
	int rc = sys_read_file(root, SCHED_EXT "/state", state, sizeof(state));

	if (rc < 0)
		return rc;
	sys_read_u64(root, SCHED_EXT "/enable_seq", &ext.enabled_total);
	/* root/ops vanishes when the kernel begins to disable the BPF scheduler. */
	if (!strcmp(state, "enabled") &&
	    sys_read_file(root, SCHED_EXT "/root/ops", ext.name, sizeof(ext.name)) < 0)
		ext.name[0] = '\0';
	sys_read_u64(root, SCHED_EXT "/switch_all", &all);
	ext.partial = ext.name[0] && !all;
	*ret_ext = ext;
	return 0;
}

static enum accounting because(const char **ret_why, const char *why, enum accounting regime)
{
	*ret_why = why;
	return regime;
}

/*
 * IRQ_TIME_ACCOUNTING needs a precise sched_clock: on x86 a usable TSC and no tsc=noirqtime
 * (arch/x86/kernel/tsc.c). The kernel removes an unstable TSC from the available clock sources.
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
	/* VIRT_CPU_ACCOUNTING_GEN is inactive until context tracking is on. */
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
