/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * History of measurement windows on disk. A history file is a sequence of gzip members, so zcat
 * prints the file. Each member is a block: JSON lines of one collector. The gzip header has the
 * size and the times of the block, so readers can skip blocks.
 */
#ifndef SUBTICK_SERVE_HISTORY_FILE_H
#define SUBTICK_SERVE_HISTORY_FILE_H

#include <dirent.h>
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
 * Maximum overlap of successive files in seconds. Files overlap, because blocks of different
 * collectors end at different times.
 */
#define HISTORY_OVERLAP_S 60
/* A file has at most 1/16 of the size limit of --keep, so deleting the oldest file loses little. */
#define HISTORY_FILES 16
#define HISTORY_COLLECTORS 8
/* Flags of open() for appending blocks. The seccomp filter requires all flags except O_CLOEXEC. */
#define HISTORY_OPEN (O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC)

#define HISTORY_NAME 40

/* Gzip header (RFC 1952) whose extra field "ST" has 20 bytes. Numbers are little-endian. */
struct history_head {
	unsigned char gzip[10], extra[6];
	uint32_t size, first_s, last_s;
	char collector[8]; /* name of the collector, padded with NULs */
} __attribute__((packed));

/* Constant part of the gzip header: all members of struct history_head before size. */
extern const struct history_head history_head;

/*
 * Limits of the history (--keep). If the age of the oldest file or the total size exceeds its
 * limit, the oldest file is deleted.
 */
struct history_keep {
	uint64_t age_ns, bytes;
};

struct history_member {
	uint64_t at;   /* offset of the block in the file, in bytes */
	uint32_t size; /* size of the whole gzip member in bytes */
	/* earliest and latest Unix time at which a window of the block ended */
	uint32_t first_s, last_s;
	char collector[9];
};

/* Measurement windows of one collector that are not yet written to a file. */
struct history_block {
	struct body *raw; /* JSON lines of the windows; NULL if there are no windows */
	const char *collector;
	uint64_t begun_ns; /* CLOCK_MONOTONIC time at which the block's first window was added */
	uint32_t first_s, last_s, windows;
};

struct history_files {
	const struct history_keep *keep;
	int dir; /* descriptor of the directory; -1 if there is no history on disk */
	int fd;	 /* descriptor of the file to which blocks are appended; -1 if no file is open */
	char name[HISTORY_NAME];
	uint64_t end;	/* size of the open history file, which ends with a complete gzip member */
	uint64_t total; /* total size of all history files in bytes */
	struct history_block blocks[HISTORY_COLLECTORS];
	/* numbers of windows that were written, lost, and skipped */
	uint64_t written, lost, left_out;
	bool failing; /* true after a failed write to a history file; the failure is logged once */
	/*
	 * debt_ns: CPU time used above the budget; windows are skipped while debt_ns exceeds
	 * DEBT_NS. credited_ns: CLOCK_MONOTONIC time at which the budget was last subtracted.
	 */
	uint64_t debt_ns, credited_ns;
};

/*
 * Opens and locks the directory; call it before privileges are dropped. A missing directory is
 * created for user @uid. history_files_start(), after privileges are dropped, checks permissions
 * and truncates an incomplete block of the newest file.
 */
int history_files_open(struct history_files *files, const char *path, uint32_t uid, uint32_t gid,
		       struct err *err);
int history_files_start(struct history_files *files, const char *path, struct err *err);
/* Writes all blocks that are not yet written, and closes the files. */
void history_files_close(struct history_files *files);

/*
 * True if the budget of 1 % of one CPU allows another round of windows. The caller adds the CPU
 * time of each round to debt_ns.
 */
bool history_files_within_budget(struct history_files *files, uint64_t now_ns);
/* One measurement window as a line of JSON. */
struct history_line {
	const char *collector; /* name of the collector; must outlive the struct history_files */
	const char *json;      /* the window as JSON, with a line feed at the end */
	size_t len;
	uint64_t unix_ns;	   /* Unix time in ns at the end of the window */
	/* current CLOCK_MONOTONIC time, and time until the next window ends */
	uint64_t now_ns, interval_ns;
};

void history_files_add(struct history_files *files, unsigned int index,
		       const struct history_line *line);

/* Formats a file name such as subtick-20261118T120000Z.jsonl.gz. */
void history_name(uint64_t unix_s, char ret_name[HISTORY_NAME]);
/* scandir() filter that selects history files. */
int history_is_file(const struct dirent *entry);

/* Callback for each block. history_walk() stops at a nonzero result and returns it. */
typedef int history_member_fn(void *arg, int fd, const struct history_member *member);
/* Calls @fn for blocks with windows between @from_s and @to_s, oldest file first. */
int history_walk(int dir, uint64_t from_s, uint64_t to_s, history_member_fn *fn, void *arg);
/*
 * Decompresses a block into a NUL-terminated text that the caller frees. Returns NULL if out of
 * memory, or if the block is damaged.
 */
char *history_unpack(int fd, const struct history_member *member, size_t *ret_len);
/* Decompresses one gzip member in memory, with the same result as history_unpack(). */
char *history_inflate(const char *packed, size_t size, size_t *ret_len);
/*
 * Returns the Unix time in ns at which the window of a JSON line ended, and sets @ret_window_ns to
 * the length of the window. Returns 0 if the line is not a window.
 */
uint64_t history_line_time(const char *line, uint64_t *ret_window_ns);
/* Reads the header of the gzip member at offset @at. Returns false if there is no gzip member. */
bool history_member_read(int fd, uint64_t at, struct history_member *ret_member);

#endif
