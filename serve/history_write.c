/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the history on disk: appends blocks, truncates incomplete blocks, deletes old files. */
#include "serve/history_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"
#include "serve/log.h"

#define HOUR_S 3600
#define GZIP_HEAD sizeof(history_head.gzip)
/* The history may use 1 % of the time of one CPU, and temporarily DEBT_NS more. */
#define BUDGET_PART	100
#define DEBT_NS	    (20 * NSEC_PER_MSEC)

/*
 * Returns the end of the last complete block. Only the last block is verified, because a crash
 * cannot damage earlier blocks.
 */
static uint64_t complete_end(int fd, uint64_t size)
{
	struct history_member member, last;
	uint64_t at;
	size_t len;
	char *text;

	do {
		last.size = 0;
		for (at = 0; history_member_read(fd, at, &member) && member.size <= size - at;
		     at += member.size)
			last = member;
		text = last.size ? history_unpack(fd, &last, &len) : NULL;
		size = last.size ? last.at : 0;
		free(text);
	} while (!text && last.size);
	return at;
}

/* Opens or creates the history file f->name, and truncates an incomplete block at its end. */
static int file_open(struct history_files *f)
{
	struct stat st;

	fd_close(&f->fd);
	f->fd = openat(f->dir, f->name, HISTORY_OPEN, 0640);
	if (f->fd < 0 || fstat(f->fd, &st))
		return -errno;
	f->end = complete_end(f->fd, (uint64_t)st.st_size);
	if (f->end == (uint64_t)st.st_size)
		return 0;
	log_line("history: removed an incomplete block of %llu bytes from %s",
		 (unsigned long long)((uint64_t)st.st_size - f->end), f->name);
	return ftruncate(f->fd, (off_t)f->end) ? -errno : 0;
}

/*
 * Deletes the oldest files until at most @most bytes remain and none is older than age_ns, but
 * never the newest. Sets f->total to the size of the rest, and f->name to the newest file.
 */
static int prune(struct history_files *f, uint64_t most, uint64_t now_s)
{
	struct dirent **names;
	int nr = scandirat(f->dir, ".", &names, history_is_file, alphasort);
	uint64_t *sizes = nr > 0 ? calloc(nr, sizeof(*sizes)) : NULL;
	uint64_t age_s = f->keep->age_ns / NSEC_PER_SEC + HISTORY_OVERLAP_S;
	char oldest[HISTORY_NAME];
	struct stat st;

	if (nr < 0)
		return -errno;
	history_name(now_s > age_s ? now_s - age_s : 0, oldest);
	f->total = 0;
	for (int i = 0; i < nr && sizes; i++)
		f->total += sizes[i] = fstatat(f->dir, names[i]->d_name, &st, AT_SYMLINK_NOFOLLOW)
					       ? 0
					       : (uint64_t)st.st_size;
	for (int i = 0; i + 1 < nr && sizes; i++)
		if ((f->total > most || strcmp(names[i + 1]->d_name, oldest) <= 0) &&
		    !unlinkat(f->dir, names[i]->d_name, 0))
			f->total -= sizes[i];
	if (nr)
		strcpy(f->name, names[nr - 1]->d_name);
	for (int i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	free(sizes);
	return nr && !sizes ? -ENOMEM : 0;
}

/* Opens the file for the hour of @first_s, and reopens a file that another process changed. */
static int file_ready(struct history_files *f, uint32_t first_s)
{
	uint64_t most = f->keep->bytes / HISTORY_FILES;
	char hour[HISTORY_NAME];
	struct stat st;

	history_name(first_s / HOUR_S * HOUR_S, hour);
	if (strncmp(f->name, hour, sizeof("subtick-20261118T12") - 1) || f->end >= most) {
		prune(f, f->keep->bytes - most, first_s);
		history_name(first_s, f->name);
	} else if (f->fd >= 0 && !fstat(f->fd, &st) && st.st_nlink &&
		   (uint64_t)st.st_size == f->end) {
		return 0;
	}
	return file_open(f);
}

static int append(struct history_files *f, const struct history_block *b, const struct body *gz)
{
	struct history_head head = history_head;
	struct iovec parts[] = {{&head, sizeof(head)},
				{gz->data + GZIP_HEAD, gz->len - GZIP_HEAD}};
	size_t size = parts[0].iov_len + parts[1].iov_len;
	int rc = file_ready(f, b->first_s);
	ssize_t done;

	if (rc)
		return rc;
	head.size = htole32((uint32_t)size);
	head.first_s = htole32(b->first_s);
	head.last_s = htole32(b->last_s);
	memcpy(head.collector, b->collector, strnlen(b->collector, sizeof(head.collector)));
	done = writev(f->fd, parts, 2);
	if (done == (ssize_t)size) {
		f->end += size;
		f->total += size;
		return 0;
	}
	rc = done < 0 ? -errno : -ENOSPC;
	/*
	 * Remove the partly written block. If ftruncate() fails, the next file_ready() detects the
	 * wrong size and truncates the file.
	 */
	return ftruncate(f->fd, (off_t)f->end) ? -errno : rc;
}

static void block_write(struct history_files *f, struct history_block *b)
{
	struct body *gz = b->raw->failed ? NULL : body_of(true, b->raw->data, b->raw->len);
	int rc = gz ? append(f, b, gz) : -ENOMEM;

	body_put(gz);
	body_put(b->raw);
	if (rc)
		f->lost += b->windows;
	else
		f->written += b->windows;
	if (rc && !f->failing)
		log_line("history: cannot write %s: %s; windows are lost until this succeeds",
			 f->name, strerror(-rc));
	if (!rc && f->failing)
		log_line("history: writing works again; %llu windows were lost since the start",
			 (unsigned long long)f->lost);
	f->failing = rc;
	*b = (struct history_block){0};
}

void history_files_add(struct history_files *f, unsigned int index, const struct history_line *line)
{
	struct history_block *b = &f->blocks[index];
	uint32_t end_s = (uint32_t)(line->unix_ns / NSEC_PER_SEC);

	if (!b->raw)
		*b = (struct history_block){.raw = body_new(false, line->len),
					    .collector = line->collector,
					    .begun_ns = line->now_ns,
					    .first_s = end_s,
					    .last_s = end_s};
	if (!b->raw) {
		f->lost++;
		return;
	}
	body_append(b->raw, line->json, line->len);
	/* Windows may end in any order, because the system clock may have been set back. */
	b->first_s = end_s < b->first_s ? end_s : b->first_s;
	b->last_s = end_s > b->last_s ? end_s : b->last_s;
	b->windows++;
	if (b->raw->len >= HISTORY_BLOCK_RAW ||
	    line->now_ns + line->interval_ns - b->begun_ns >= HISTORY_BLOCK_NS)
		block_write(f, b);
}

int history_files_open(struct history_files *f, const char *path, uint32_t uid, uint32_t gid,
		       struct err *err)
{
	bool made = !mkdir(path, 0750);

	f->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0 || (made && !geteuid() && fchown(f->dir, uid, gid)))
		return err_set(err, -errno, "history: cannot open the directory %s: %s", path,
			       strerror(errno));
	if (flock(f->dir, LOCK_EX | LOCK_NB))
		return err_set(err, -errno, "history: another exporter writes to %s", path);
	return 0;
}

int history_files_start(struct history_files *f, const char *path, struct err *err)
{
	int rc = faccessat(f->dir, ".", R_OK | W_OK | X_OK, 0) ? -errno : 0;

	if (!rc)
		rc = prune(f, f->keep->bytes, clock_unix_ns() / NSEC_PER_SEC);
	if (!rc && f->name[0])
		rc = file_open(f);
	if (rc)
		return err_set(err, rc,
			       "history: the user of the exporter cannot write to %s: %s; chown the "
			       "directory and its files to that user",
			       path, strerror(-rc));
	f->credited_ns = clock_mono_ns();
	return 0;
}

void history_files_close(struct history_files *f)
{
	for (size_t i = 0; i < HISTORY_COLLECTORS; i++)
		if (f->blocks[i].raw)
			block_write(f, &f->blocks[i]);
	fd_close(&f->fd);
	fd_close(&f->dir);
}

bool history_files_within_budget(struct history_files *f, uint64_t now_ns)
{
	uint64_t credit_ns = (now_ns - f->credited_ns) / BUDGET_PART;

	f->debt_ns = f->debt_ns > credit_ns ? f->debt_ns - credit_ns : 0;
	f->credited_ns = now_ns;
	return f->debt_ns <= DEBT_NS;
}
