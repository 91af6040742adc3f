/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds and reads the configuration of the running kernel. */
#include "sys/kconfig.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "sys/file.h"
#include "sys/scan.h"

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
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
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
