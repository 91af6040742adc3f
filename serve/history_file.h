/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows on disk. A file is a sequence of gzip members, so zcat prints all of it. A member is a block:
 * JSON lines of one collector, in the order of time. The extra field of its header has the size and the
 * times of the block, so a reader finds a moment without decompressing what comes before.
 */
#ifndef SUBTICK_SERVE_HISTORY_FILE_H
#define SUBTICK_SERVE_HISTORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/http/body.h"

#define HISTORY_DIR "/var/lib/subtick/history"
/* A block ends after this time or size, whichever is first. kill -9 loses at most this much. */
#define HISTORY_BLOCK_NS  (10ULL * 1000000000)
#define HISTORY_BLOCK_RAW (256u << 10)
/* Upper bound of how much windows of two files overlap in time: blocks of collectors end in turn. */
#define HISTORY_OVERLAP_S 60
/* A file has at most this part of --keep's size, so that deleting the oldest one frees little. */
#define HISTORY_FILES 16
#define HISTORY_COLLECTORS 8
/* open() flags of a file that blocks are appended to. The seccomp filter compares them. */
#define HISTORY_OPEN (O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC)

/* Limits of --keep. Both apply. */
struct history_keep {
	uint64_t age_ns, bytes;
};

struct history_member {
	uint64_t at;		   /* offset in the file */
	uint32_t size;		   /* bytes of the whole member */
	uint32_t first_s, last_s; /* Unix time when its first and its last window ended */
	char collector[9];
};

/* Windows of one collector that are not written yet. */
struct history_block {
	struct body *raw; /* NULL: none */
	const char *collector;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	uint32_t first_s, last_s, windows;
};

struct history_files {
	const struct history_keep *keep;
	int dir; /* -1: no history on disk */
	int fd;	 /* the file that is written; -1: none */
	char name[40];
	uint64_t end;	/* its size: it ends with a complete member */
	uint64_t total; /* bytes of all files */
	struct history_block blocks[HISTORY_COLLECTORS];
	uint64_t written, lost, left_out; /* windows; left_out: the history would have cost too much CPU time */
	bool failing; /* the last write failed, and that was logged */
	/* CPU time above the budget. Windows are left out while it is above a limit. */
	uint64_t debt_ns, paid_ns; /* paid_ns: CLOCK_MONOTONIC of the last payment */
};

/*
 * Opens the directory and locks it; makes it if it is missing, for @uid. Call it with privileges, and
 * history_files_start() after they are dropped: it checks the permissions of the new user and cuts an
 * incomplete block off the newest file.
 */
int history_files_open(struct history_files *files, const char *path, uint32_t uid, uint32_t gid,
		       struct err *err);
int history_files_start(struct history_files *files, const char *path, struct err *err);
/* Writes all blocks. */
void history_files_close(struct history_files *files);

/*
 * True if the history has CPU time left for one more round of windows: it takes at most 1 % of a core.
 * history_files_spend() adds the time of a round.
 */
bool history_files_afford(struct history_files *files, uint64_t now_ns);
void history_files_spend(struct history_files *files, uint64_t cpu_ns);
/* A line of JSON, and the window that it has. */
struct history_line {
	const char *collector; /* must outlive the files */
	const char *json;      /* with its line feed */
	size_t len;
	uint64_t unix_ns;	   /* end of the window */
	uint64_t now_ns, interval_ns; /* CLOCK_MONOTONIC, and when the next window will end after that */
};

void history_files_add(struct history_files *files, unsigned int index,
		       const struct history_line *line);

/* Reading. @fn returns 0, or an error that ends the walk and is returned. */
typedef int history_member_fn(void *arg, int fd, const struct history_member *member);
/* Calls @fn for each block that has windows of @from_s to @to_s, oldest file first. */
int history_walk(int dir, uint64_t from_s, uint64_t to_s, history_member_fn *fn, void *arg);
/* Lines of a block, '\0'-terminated, to free. NULL without memory, or if its checksum is wrong. */
char *history_unpack(int fd, const struct history_member *member, size_t *ret_len);
/* Text of one gzip member in memory, '\0'-terminated, to free. NULL as history_unpack(). */
char *history_inflate(const char *packed, size_t size, size_t *ret_len);
/* End of the window of a line, Unix time; *ret_window_ns is its length. 0: not a window. */
uint64_t history_line_time(const char *line, uint64_t *ret_window_ns);
/* Reads the header of the member at @at; false if there is none. */
bool history_member_read(int fd, uint64_t at, struct history_member *ret_member);

#endif
