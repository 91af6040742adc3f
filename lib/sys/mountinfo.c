/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses /proc/self/mountinfo. */
#include "sys/mountinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/file.h"
#include "sys/scan.h"

static bool mount_field(struct scan *line, struct scan *ret_field)
{
	const char *end;

	if (line->pos == line->end)
		return false;
	end = memchr(line->pos, ' ', line->end - line->pos);
	*ret_field = (struct scan){line->pos, end ? end : line->end};
	line->pos = end ? end + 1 : line->end;
	return ret_field->pos < ret_field->end;
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The kernel writes blank, tab, newline, backslash and # as \ooo. */
static int mount_unescape(struct scan field, char *buf, size_t size)
{
	size_t len = 0;

	while (field.pos < field.end) {
		char c = *field.pos++;

		if (c == '\\') {
			if (field.end - field.pos < 3 || field.pos[0] > '3' ||
			    !is_octal(field.pos[0]) || !is_octal(field.pos[1]) ||
			    !is_octal(field.pos[2]))
				return -EINVAL;
			c = (field.pos[0] - '0') << 6 | (field.pos[1] - '0') << 3 |
			    (field.pos[2] - '0');
			field.pos += 3;
		}
		if (!c)
			return -EINVAL;
		if (len + 1 >= size)
			return -ENAMETOOLONG;
		buf[len++] = c;
	}
	buf[len] = '\0';
	return 0;
}

/* The next field without its escapes. */
static int mount_text(struct scan *line, char *buf, size_t size)
{
	struct scan field;

	return mount_field(line, &field) ? mount_unescape(field, buf, size) : -EINVAL;
}

static int mount_parse_line(struct scan line, struct mount *mount)
{
	struct scan field;
	int rc;

	for (int i = 0; i < 3; i++) /* mount id, parent id, device */
		if (!mount_field(&line, &field))
			return -EINVAL;
	rc = mount_text(&line, mount->root, sizeof(mount->root));
	if (!rc)
		rc = mount_text(&line, mount->point, sizeof(mount->point));
	if (rc)
		return rc;
	/* Mount options, any number of optional fields, a lone dash. */
	do
		if (!mount_field(&line, &field))
			return -EINVAL;
	while (field.end - field.pos != 1 || *field.pos != '-');
	rc = mount_text(&line, mount->fstype, sizeof(mount->fstype));
	if (rc)
		return rc;
	/* The source may be empty: then there are two blanks in a row. */
	mount_field(&line, &field);
	if (!mount_field(&line, &field))
		return -EINVAL;
	/* Overlays list their layers here; cutting those off does no harm. */
	snprintf(mount->options, sizeof(mount->options), "%.*s", (int)(field.end - field.pos),
		 field.pos);
	return 0;
}

int mountinfo_parse(const char *text, size_t len, mountinfo_fn fn, void *arg)
{
	struct scan rest = {text, text + len}, line;
	struct mount *mount = malloc(sizeof(*mount));
	bool cut;
	int rc = 0;

	if (!mount)
		return -ENOMEM;
	while (!rc && scan_line(&rest, &line, &cut)) {
		rc = cut ? -EINVAL : mount_parse_line(line, mount);
		if (!rc)
			rc = fn(mount, arg);
	}
	free(mount);
	return rc;
}

int mountinfo_each(const char *root, mountinfo_fn fn, void *arg)
{
	struct sys_text text;
	int rc = sys_text_open(&text, root, "/proc/self/mountinfo", 16384);

	if (rc)
		return rc;
	rc = sys_text_read(&text, false);
	if (!rc)
		rc = mountinfo_parse(text.buf, text.len, fn, arg);
	sys_text_close(&text);
	return rc;
}

struct mount_search {
	const char *fstype;
	char *buf;
	size_t size;
};

static int mount_match(const struct mount *mount, void *arg)
{
	struct mount_search *search = arg;

	if (strcmp(mount->fstype, search->fstype))
		return 0;
	if (snprintf(search->buf, search->size, "%s", mount->point) >= (int)search->size)
		return -ENAMETOOLONG;
	return 1;
}

int mountinfo_find(const char *root, const char *fstype, char *buf, size_t size)
{
	struct mount_search search = {fstype, buf, size};
	int rc = mountinfo_each(root, mount_match, &search);

	return rc > 0 ? 0 : rc ?: -ENOENT;
}

bool mount_has_option(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		if (!strncmp(options, word, len) && (!options[len] || options[len] == ','))
			return true;
		options = strchr(options, ',');
		if (!options)
			return false;
		options++;
	}
}
