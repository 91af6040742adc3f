/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes of the history on disk: file names, and the gzip header of a block. */
#ifndef SUBTICK_SERVE_HISTORY_FORMAT_H
#define SUBTICK_SERVE_HISTORY_FORMAT_H

#include <dirent.h>
#include <endian.h>
#include <fnmatch.h>
#include <stdint.h>
#include <time.h>

#define HISTORY_NAME 40

/* Gzip header (RFC 1952) with the extra field "ST" of 20 bytes. Numbers are little-endian. */
struct history_head {
	unsigned char gzip[10], extra[6];
	uint32_t size, first_s, last_s;
	char collector[8]; /* '\0'-padded */
} __attribute__((packed));

/* Constant part of the header: all members before size. */
static const struct history_head history_head = {
	.gzip = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 4, 255},
	.extra = {24, 0, 'S', 'T', 20, 0},
};
_Static_assert(sizeof(struct history_head) == 36, "10 + 2 + 4 + 20 bytes");

/* Formats a file name such as subtick-20261118T120000Z.jsonl.gz. */
static inline void history_name(uint64_t unix_s, char ret_name[HISTORY_NAME])
{
	time_t seconds = unix_s < INT32_MAX * 2ULL ? (time_t)unix_s : (time_t)(INT32_MAX * 2ULL);
	struct tm tm = {0};

	gmtime_r(&seconds, &tm);
	strftime(ret_name, HISTORY_NAME, "subtick-%Y%m%dT%H%M%SZ.jsonl.gz", &tm);
}

static inline int history_is_file(const struct dirent *entry)
{
	return !fnmatch("subtick-????????T??????Z.jsonl.gz", entry->d_name, 0);
}

#endif
