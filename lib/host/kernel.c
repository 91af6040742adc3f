/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the kernel's build configuration, command line, lockdown level and accounting regime. */
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

/* A limit, so that a bad file cannot use up the memory; allmodconfig is below 1 MiB. */
#define KCONFIG_MAX (8U << 20)

static int kconfig_inflate(int fd, char **ret_text, size_t *ret_len)
{
	size_t size = 1U << 16, len = 0;
	char *text = NULL, *larger;
	gzFile gz;
	int got, rc = 0;

	/* gzread() reads plain text, too. The gzFile owns fd from here on. */
	gz = gzdopen(fd, "rb");
	if (!gz) {
		close(fd);
		return -ENOMEM;
	}
	do {
		size *= 2;
		larger = size <= KCONFIG_MAX ? realloc(text, size) : NULL;
		if (!larger) {
			rc = size <= KCONFIG_MAX ? -ENOMEM : -EFBIG;
			break;
		}
		text = larger;
		got = gzread(gz, text + len, size - len);
		if (got < 0) {
			rc = -EINVAL;
			break;
		}
		len += got;
	} while (len == size);
	/* Only gzclose() reports that the stream was truncated. */
	if (gzclose_r(gz) != Z_OK && !rc)
		rc = -EINVAL;
	if (rc) {
		free(text);
		return rc;
	}
	*ret_text = text;
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
	static const char *const places[] = {
		"/proc/config.gz",
		"/boot/config-%s",
		"/lib/modules/%s/config",
		"/usr/lib/modules/%s/config",
		"/lib/modules/%s/build/.config",
	};
	char path[sizeof(config->source)];
	int rc, first = -ENOENT;

	memset(config, 0, sizeof(*config));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *mark = strstr(places[i], "%s");
		int head = mark ? mark - places[i] : (int)strlen(places[i]);

		if (snprintf(path, sizeof(path), "%.*s%s%s", head, places[i], mark ? release : "",
			     mark ? mark + 2 : "") >= (int)sizeof(path))
			continue;
		rc = kconfig_open_file(config, root, path);
		if (!rc)
			return 0;
		if (rc != -ENOENT && first == -ENOENT)
			first = rc;
	}
	return first;
}

void kconfig_close(struct kconfig *config)
{
	free(config->text);
	memset(config, 0, sizeof(*config));
}

static enum kconfig_state kconfig_store(struct scan line, char *buf, size_t size)
{
	size_t len;

	if (line.end - line.pos == 1 && *line.pos == 'y')
		return KCONFIG_YES;
	if (line.end - line.pos == 1 && *line.pos == 'm')
		return KCONFIG_MODULE;
	if (line.end - line.pos == 1 && *line.pos == 'n')
		return KCONFIG_NO;
	if (line.end - line.pos >= 2 && *line.pos == '"' && line.end[-1] == '"') {
		line.pos++;
		line.end--;
	}
	len = line.end - line.pos;
	if (!buf)
		return KCONFIG_VALUE;
	if (len >= size)
		return KCONFIG_UNKNOWN;
	memcpy(buf, line.pos, len);
	buf[len] = '\0';
	return KCONFIG_VALUE;
}

enum kconfig_state kconfig_parse(const char *text, size_t len, const char *symbol, char *buf,
				 size_t size)
{
	struct scan rest = {text, text + len}, line;
	bool cut;

	while (scan_line(&rest, &line, &cut))
		if (scan_word(&line, "CONFIG_") && scan_word(&line, symbol) &&
		    scan_char(&line, '='))
			return kconfig_store(line, buf, size);
	return KCONFIG_NO;
}

enum kconfig_state kconfig_value(const struct kconfig *config, const char *symbol, char *buf,
				 size_t size)
{
	if (!config->text)
		return KCONFIG_UNKNOWN;
	return kconfig_parse(config->text, config->len, symbol, buf, size);
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
	/* The file of the name disappears as soon as the scheduler is being disabled. */
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
