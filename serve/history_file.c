/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the history on disk: finds and unpacks blocks of measurement windows. */
#include "serve/history_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

/*
 * Maximum size of an unpacked block in bytes, which limits the memory for a damaged file. A block
 * with one large window can exceed HISTORY_BLOCK_RAW.
 */
#define MAX_RAW (256u << 20)

const struct history_head history_head = {
	.gzip = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 4, 255},
	.extra = {24, 0, 'S', 'T', 20, 0},
};
_Static_assert(sizeof(struct history_head) == 36, "10 + 2 + 4 + 20 bytes");

void history_name(uint64_t unix_s, char ret_name[HISTORY_NAME])
{
	time_t seconds = unix_s < INT32_MAX * 2ULL ? (time_t)unix_s : (time_t)(INT32_MAX * 2ULL);
	struct tm tm = {0};

	gmtime_r(&seconds, &tm);
	strftime(ret_name, HISTORY_NAME, "subtick-%Y%m%dT%H%M%SZ.jsonl.gz", &tm);
}

int history_is_file(const struct dirent *entry)
{
	return !fnmatch("subtick-????????T??????Z.jsonl.gz", entry->d_name, 0);
}

bool history_member_read(int fd, uint64_t at, struct history_member *ret)
{
	struct history_head head;

	if (pread(fd, &head, sizeof(head), (off_t)at) != sizeof(head) ||
	    memcmp(&head, &history_head, offsetof(struct history_head, size)))
		return false;
	*ret = (struct history_member){.at = at,
				       .size = le32toh(head.size),
				       .first_s = le32toh(head.first_s),
				       .last_s = le32toh(head.last_s)};
	memcpy(ret->collector, head.collector, sizeof(head.collector));
	return ret->size > sizeof(head) + 8;
}

static int walk_file(int fd, uint64_t from_s, uint64_t to_s, history_member_fn *fn, void *arg)
{
	struct history_member member;
	int rc = 0;

	for (uint64_t at = 0; !rc && history_member_read(fd, at, &member); at += member.size)
		if (member.last_s >= from_s && member.first_s <= to_s)
			rc = fn(arg, fd, &member);
	return rc;
}

int history_walk(int dir, uint64_t from_s, uint64_t to_s, history_member_fn *fn, void *arg)
{
	struct dirent **names;
	int nr = scandirat(dir, ".", &names, history_is_file, alphasort), rc = nr < 0 ? -errno : 0;
	char from[HISTORY_NAME], to[HISTORY_NAME];

	history_name(from_s > HISTORY_OVERLAP_S ? from_s - HISTORY_OVERLAP_S : 0, from);
	history_name(to_s + HISTORY_OVERLAP_S, to);
	for (int i = 0; i < nr; i++) {
		/*
		 * The name of a file contains the time of its first block. Successive files overlap
		 * by at most HISTORY_OVERLAP_S.
		 */
		bool within = strcmp(names[i]->d_name, to) <= 0 &&
			      (i + 1 == nr || strcmp(names[i + 1]->d_name, from) >= 0);
		int fd = within && !rc ? openat(dir, names[i]->d_name,
						O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
				       : -1;

		/* The running exporter may have deleted the oldest file since scandirat(). */
		if (fd < 0 && within && !rc && errno != ENOENT)
			rc = -errno;
		if (fd >= 0) {
			rc = walk_file(fd, from_s, to_s, fn, arg);
			close(fd);
		}
	}
	for (int i = 0; i < nr; i++)
		free(names[i]);
	if (nr >= 0)
		free(names);
	return rc;
}

char *history_inflate(const char *packed, size_t size, size_t *ret_len)
{
	z_stream z = {.next_in = (unsigned char *)packed, .avail_in = (uInt)size};
	uint32_t raw;
	char *text;
	bool complete;

	/* A gzip member ends with the size of its uncompressed text. */
	memcpy(&raw, packed + size - sizeof(raw), sizeof(raw));
	raw = le32toh(raw);
	text = raw <= MAX_RAW ? malloc((size_t)raw + 1) : NULL;
	if (!text)
		return NULL;
	z.next_out = (unsigned char *)text;
	z.avail_out = raw;
	complete = inflateInit2(&z, 16 + MAX_WBITS) == Z_OK &&
		   inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in && !z.avail_out;
	inflateEnd(&z);
	if (!complete) {
		free(text);
		return NULL;
	}
	text[raw] = '\0';
	*ret_len = raw;
	return text;
}

char *history_unpack(int fd, const struct history_member *member, size_t *ret_len)
{
	char *packed = malloc(member->size), *text = NULL;

	if (packed && pread(fd, packed, member->size, (off_t)member->at) == (ssize_t)member->size)
		text = history_inflate(packed, member->size, ret_len);
	free(packed);
	return text;
}

static uint64_t number(const char *line, const char *key)
{
	const char *at = strstr(line, key), *end = strchr(line, '\n');

	return at && (!end || at < end) ? strtoull(at + strlen(key), NULL, 10) : 0;
}

uint64_t history_line_time(const char *line, uint64_t *ret_window_ns)
{
	*ret_window_ns = number(line, "\"window_ns\":");
	return number(line, "\"time_unix_ns\":");
}
