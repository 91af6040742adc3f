/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes and plays back the journal of changed settings. */
#include "host/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"
#include "host/qdisc.h"
#include "host/txtime.h"

#define JOURNAL_DIR "/run/subtick"
#define JOURNAL	    JOURNAL_DIR "/restore"
#define JOURNAL_MAX   (16 << 20) /* enough for ten idle states of 20,000 CPUs */
#define NETLINK	    "netlink"
#define TXSTAMP	    "txstamp"
#define LOCK_TRIES  50
#define LOCK_RETRY_NS (20 * NSEC_PER_MSEC)

/* Sends an rtnetlink message, given in hexadecimal. A missing device is no error. */
static int play_netlink(const char *hex)
{
	struct rtnl_request request = {0};
	size_t len = strlen(hex) / 2;
	int rc;

	if (len < sizeof(request.head) || len > sizeof(request))
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		if (sscanf(hex + 2 * i, "%2hhx", (unsigned char *)&request + i) != 1)
			return -EINVAL;
	if (request.head.nlmsg_len != len)
		return -EINVAL;
	rc = rtnl_talk(&request.head);
	return rc == -ENODEV || rc == -ENOENT ? 0 : rc;
}

/* "eth0 0": how the device stamped what it sends. A missing device is no error. */
static int play_txstamp(const char *value)
{
	char device[IFNAMSIZ];
	int tx_type, rc;

	if (sscanf(value, "%15s %d", device, &tx_type) != 2)
		return -EINVAL;
	rc = txstamp_set(device, tx_type);
	return rc == -ENODEV ? 0 : rc;
}

/* The directories whose files we ever change. */
static bool is_allowed(const char *path)
{
	return (!strncmp(path, "/sys/", 5) || !strncmp(path, "/proc/irq/", 10)) &&
	       !strstr(path, "..");
}

/* @value is the old value. With a tab and our value after it, it applies only to our value. */
static int play_line(const char *root, const char *path, char *value)
{
	char now[JOURNAL_VALUE], *ours;
	int rc;

	if (!strcmp(path, NETLINK))
		return play_netlink(value);
	if (!strcmp(path, TXSTAMP))
		return play_txstamp(value);
	if (!is_allowed(path))
		return -EPERM;
	ours = strchr(value, '\t');
	if (ours) {
		*ours++ = '\0';
		rc = sys_read_file(root, path, now, sizeof(now));
		if (rc >= 0 && strcmp(now, ours))
			return 0;
	}
	rc = sys_write_file(root, path, value);
	/* The device, driver or cgroup is gone, and our change with it. */
	return rc == -ENOENT || rc == -ENODEV ? 0 : rc;
}

/*
 * Restores lines "path<TAB>value", the last one first, so that a file that was changed twice gets
 * its first value. A line that a crash cut off has no newline, and its file was not changed yet.
 * Leaves the file @keep alone, which may be NULL. The journal stays if something could not be
 * restored, for a person to read. Returns the number of failures.
 */
static unsigned int play(const char *root, int fd, const char *keep, unsigned int *ret_done)
{
	size_t size;
	char *text = sys_read_fd(fd, JOURNAL_MAX, &size), *end, *line, *tab;
	unsigned int failed = 0;

	*ret_done = 0;
	if (!text)
		return 1;
	end = strrchr(text, '\n');
	while (end) {
		*end = '\0';
		line = strrchr(text, '\n');
		tab = strchr(line ? line + 1 : text, '\t');
		if (tab) {
			const char *path = line ? line + 1 : text;

			*tab = '\0';
			if (keep && !strcmp(path, keep))
				;
			else if (play_line(root, path, tab + 1))
				failed++;
			else
				++*ret_done;
		}
		end = line;
	}
	free(text);
	if (!failed && !ftruncate(fd, 0))
		fsync(fd);
	return failed;
}

static int open_file(const char *root, char *path, size_t size)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char dir[PATH_MAX];
	int rc, fd;

	rc = sys_path(root, JOURNAL_DIR, dir, sizeof(dir));
	if (!rc)
		rc = sys_path(root, JOURNAL, path, size);
	if (rc)
		return rc;
	if (mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	/* A lock of the open file, not of the process: the guard keeps it when we die. */
	if (fcntl(fd, F_OFD_SETLK, &lock)) {
		rc = errno == EACCES ? -EAGAIN : -errno;
		close(fd);
		return rc;
	}
	return fd;
}

static int undo_journal(const void *arg)
{
	const struct journal *journal = arg;
	unsigned int done;

	return play(journal->root, journal->fd, NULL, &done) ? -EIO : 0;
}

int journal_open(struct journal *journal, const char *root, struct err *err)
{
	struct timespec delay = clock_timespec(LOCK_RETRY_NS);
	unsigned int failed, done;
	int rc = 0;

	*journal = (struct journal){.fd = -1};
	if (root && strlen(root) >= sizeof(journal->root))
		return err_set(err, -ENAMETOOLONG, "root %s is too long", root);
	snprintf(journal->root, sizeof(journal->root), "%s", root ? root : "");
	/* The guard of a run that was just killed may still be restoring. */
	for (int i = 0; i < LOCK_TRIES; i++) {
		rc = open_file(root, journal->path, sizeof(journal->path));
		if (rc != -EAGAIN)
			break;
		nanosleep(&delay, NULL);
	}
	if (rc == -EACCES || rc == -EPERM || rc == -EROFS)
		return err_unsupported(err, rc, "run as root, with " JOURNAL_DIR " writable",
				       "cannot write the journal %s: %s", journal->path,
				       strerror(-rc));
	if (rc == -EAGAIN)
		return err_set(err, -EBUSY,
			       "another subtick is running with changed settings (%s is locked): "
			       "wait until it ends",
			       journal->path);
	if (rc < 0)
		return err_set(err, rc, "cannot write the journal %s: %s", journal->path,
			       strerror(-rc));
	journal->fd = rc;
	failed = play(root, journal->fd, NULL, &done);
	rc = failed ? -EIO : guard_start(&journal->guard, journal->fd, undo_journal, journal);
	if (!rc)
		return 0;
	close(journal->fd);
	journal->fd = -1;
	if (failed)
		return err_set(err, rc,
			       "cannot restore %u settings of an earlier run: restore those "
			       "listed in %s, then remove that file",
			       failed, journal->path);
	return err_set(err, rc, "cannot start the process that restores settings: %s",
		       strerror(-rc));
}

static void journal_cut(struct journal *journal, off_t end)
{
	if (!ftruncate(journal->fd, end))
		fdatasync(journal->fd);
}

/*
 * The line is on disk before the change. After a crash in between, the file is restored to the
 * value that it still has. *@ret_end is the journal's end before the line.
 */
static int journal_add(struct journal *journal, const char *line, size_t len, off_t *ret_end,
		       struct err *err)
{
	off_t end = lseek(journal->fd, 0, SEEK_END);

	if (end < 0 || end + (off_t)len > JOURNAL_MAX ||
	    write(journal->fd, line, len) != (ssize_t)len || fdatasync(journal->fd)) {
		if (end >= 0)
			journal_cut(journal, end);
		return err_set(err, -EIO, "cannot write the journal %s", journal->path);
	}
	*ret_end = end;
	return 0;
}

int journal_set(struct journal *journal, const char *path, const char *value, struct err *err)
{
	char was[JOURNAL_VALUE], line[PATH_MAX + JOURNAL_VALUE];
	int len, rc;
	off_t end;

	rc = sys_read_file(journal->root, path, was, sizeof(was));
	if (rc < 0)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	if (!strcmp(was, value))
		return 0;
	len = snprintf(line, sizeof(line), "%s\t%s\n", path, was);
	if (len >= (int)sizeof(line))
		return err_set(err, -ENAMETOOLONG, "%s is too long", path);
	rc = journal_add(journal, line, len, &end, err);
	if (rc)
		return rc;
	rc = sys_write_file(journal->root, path, value);
	if (rc) {
		/* Drop the line: the file would refuse its old value as well, every time. */
		journal_cut(journal, end);
		return err_set(err, rc, "cannot write %s to %s: %s", value, path, strerror(-rc));
	}
	return 0;
}

static int trial_line(struct journal *journal, const char *path, const char *was,
		      const char *now, struct err *err)
{
	char *line;
	off_t end;
	int len = asprintf(&line, "%s\t%s\t%s\n", path, was, now), rc;

	if (len < 0)
		return err_set(err, -ENOMEM, "out of memory");
	rc = journal_add(journal, line, len, &end, err);
	free(line);
	return rc;
}

int journal_trial(struct journal *journal, const char *path, const char *value, char *ret_was,
		  char *ret_now, struct err *err)
{
	off_t end = lseek(journal->fd, 0, SEEK_END);
	int rc;

	if (!is_allowed(path))
		return err_set(err, -EPERM, "%s is not below /sys or /proc/irq", path);
	rc = sys_read_file(journal->root, path, ret_was, JOURNAL_VALUE);
	if (rc < 0)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	if (strpbrk(ret_was, "\t\n"))
		return err_set(err, -EINVAL, "%s has more than one line: it is no setting", path);
	rc = journal_set(journal, path, value, err);
	if (rc == -EINVAL || rc == -ERANGE || rc == -EOVERFLOW)
		return err_set(err, rc, "the kernel refuses %s for %s: out of range", value, path);
	if (rc == -EACCES || rc == -EPERM || rc == -EROFS)
		return err_unsupported(err, rc, "run as root, with the file system writable",
				       "no permission to write %s: %s", path, strerror(-rc));
	if (rc)
		return rc;
	rc = sys_read_file(journal->root, path, ret_now, JOURNAL_VALUE);
	if (rc >= 0)
		rc = sys_write_file(journal->root, path, ret_was);
	if (rc)
		return err_set(err, rc, "cannot restore %s: %s", path, strerror(-rc));
	journal_cut(journal, end);
	if (!strcmp(ret_was, ret_now))
		return err_set(err, -EALREADY, "%s is %s already: nothing would change", path,
			       ret_was);
	return trial_line(journal, path, ret_was, ret_now, err);
}

int journal_netlink(struct journal *journal, const struct nlmsghdr *undo, struct err *err)
{
	char line[2 * sizeof(struct rtnl_request) + 16];
	size_t len = sprintf(line, NETLINK "\t");
	off_t end;

	if (undo->nlmsg_len > sizeof(struct rtnl_request))
		return err_set(err, -E2BIG,
			       "the old queueing discipline has too many options to restore it: "
			       "delete it first (tc qdisc del dev DEVICE root)");
	for (size_t i = 0; i < undo->nlmsg_len; i++)
		len += sprintf(line + len, "%02x", ((const unsigned char *)undo)[i]);
	line[len++] = '\n';
	return journal_add(journal, line, len, &end, err);
}

int journal_txstamp(struct journal *journal, const char *device, int tx_type, struct err *err)
{
	char line[64];
	int len = snprintf(line, sizeof(line), TXSTAMP "\t%s %d\n", device, tx_type);
	off_t end;

	return journal_add(journal, line, len, &end, err);
}

void journal_close(struct journal *journal)
{
	unsigned int done;

	if (journal->fd < 0)
		return;
	journal->failed = play(journal->root, journal->fd, journal->keep, &done);
	/* The guard could not restore the failed ones either: they stay in the journal. */
	guard_dismiss(&journal->guard);
	close(journal->fd);
	journal->fd = -1;
}

int journal_replay(const char *root)
{
	unsigned int done, failed;
	char path[PATH_MAX];
	struct stat st;
	int fd;

	/* Nothing to restore: do not create the journal. */
	if (sys_path(root, JOURNAL, path, sizeof(path)) || stat(path, &st) || !st.st_size)
		return 0;
	fd = open_file(root, path, sizeof(path));
	if (fd < 0)
		return fd;
	failed = play(root, fd, NULL, &done);
	close(fd);
	return failed ? -EIO : (int)done;
}
