/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows on disk. A file is a sequence of gzip members, so zcat prints the whole file. Each member
 * is a block: JSON lines of one collector, in order of time. The extra field of the gzip header has
 * the size and the times of the block, so that readers can skip blocks without decompression.
 */
#ifndef SUBTICK_SERVE_HISTORY_FILE_H
#define SUBTICK_SERVE_HISTORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/http/body.h"

#define HISTORY_DIR "/var/lib/subtick/history"
/* Maximum time and size of a block. SIGKILL loses at most one block per collector. */
#define HISTORY_BLOCK_NS  (10ULL * 1000000000)
#define HISTORY_BLOCK_RAW (256u << 10)
/*
 * Upper bound of the overlap of two files in seconds: blocks of different collectors end at
 * different times.
 */
#define HISTORY_OVERLAP_S 60
/*
 * A file has at most 1/16 of the size limit of --keep, so that deleting the oldest file loses
 * little.
 */
#define HISTORY_FILES 16
#define HISTORY_COLLECTORS 8
/* open() flags for appending blocks. The seccomp filter allows exactly these flags. */
#define HISTORY_OPEN (O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC)

/* Limits of --keep; both apply. */
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
	struct body *raw; /* NULL: no windows */
	const char *collector;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	uint32_t first_s, last_s, windows;
};

struct history_files {
	const struct history_keep *keep;
	int dir; /* -1: no history on disk */
	int fd;	 /* file that blocks are appended to; -1: none */
	char name[40];
	uint64_t end;	/* size of the open file, which ends with a complete member */
	uint64_t total; /* bytes of all files */
	struct history_block blocks[HISTORY_COLLECTORS];
	/* numbers of windows; left_out: skipped to save CPU time */
	uint64_t written, lost, left_out;
	bool failing; /* the last write failed; logged once */
	/* CPU time above the budget. Windows are skipped while the debt exceeds a limit. */
	uint64_t debt_ns, paid_ns; /* paid_ns: CLOCK_MONOTONIC of the last payment */
};

/*
 * Opens and locks the directory with privileges. A missing directory is created for @uid. Call
 * history_files_start() after the privileges are dropped: it checks the permissions of the new user
 * and truncates an incomplete block of the newest file.
 */
int history_files_open(struct history_files *files, const char *path, uint32_t uid, uint32_t gid,
		       struct err *err);
int history_files_start(struct history_files *files, const char *path, struct err *err);
/* Writes all pending blocks and closes the files. */
void history_files_close(struct history_files *files);

/*
 * True if the budget of 1 % of a CPU allows one more round. history_files_spend() charges the CPU
 * time of a round.
 */
bool history_files_afford(struct history_files *files, uint64_t now_ns);
void history_files_spend(struct history_files *files, uint64_t cpu_ns);
/* One window as a line of JSON. */
struct history_line {
	const char *collector; /* must outlive the files */
	const char *json;      /* including the line feed */
	size_t len;
	uint64_t unix_ns;	   /* end of the window */
	uint64_t now_ns, interval_ns; /* CLOCK_MONOTONIC, and the time until the next window ends */
};

void history_files_add(struct history_files *files, unsigned int index,
		       const struct history_line *line);

/* Called for a block. A nonzero return value ends the walk and is its result. */
typedef int history_member_fn(void *arg, int fd, const struct history_member *member);
/* Calls @fn for each block with windows between @from_s and @to_s, oldest file first. */
int history_walk(int dir, uint64_t from_s, uint64_t to_s, history_member_fn *fn, void *arg);
/*
 * Decompresses a block; the caller frees the text, which is NUL-terminated. NULL without memory, or
 * if the block is damaged.
 */
char *history_unpack(int fd, const struct history_member *member, size_t *ret_len);
/* Decompresses one gzip member in memory, with the same result as history_unpack(). */
char *history_inflate(const char *packed, size_t size, size_t *ret_len);
/*
 * Unix time in ns at which the window of a line ended, and the length of the window. 0 if the line
 * is no window.
 */
uint64_t history_line_time(const char *line, uint64_t *ret_window_ns);
/* Reads the header of the member at offset @at. False if there is no member. */
bool history_member_read(int fd, uint64_t at, struct history_member *ret_member);

#endif
