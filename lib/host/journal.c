/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes the journal of changed settings, and restores the settings from the journal. */
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
/* maximum size of the journal in bytes, enough for ten idle states of each of 20,000 CPUs */
#define JOURNAL_MAX   (16 << 20)
#define NETLINK	    "netlink"
#define TXSTAMP	    "txstamp"
#define LOCK_TRIES  50
#define LOCK_RETRY_NS (20 * NSEC_PER_MSEC)

/* Sends an rtnetlink message in hexadecimal. Returns 0 if the device no longer exists. */
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

/* Restores a mode such as "eth0 0". Returns 0 if the device no longer exists. */
static int play_txstamp(const char *value)
{
	char device[IFNAMSIZ];
	int tx_type, rc;

	if (sscanf(value, "%15s %d", device, &tx_type) != 2)
		return -EINVAL;
	rc = txstamp_set(device, tx_type);
	return rc == -ENODEV ? 0 : rc;
}

/* Journal lines may restore only files below /sys and /proc/irq. */
static bool is_allowed(const char *path)
{
	return (!strncmp(path, "/sys/", 5) || !strncmp(path, "/proc/irq/", 10)) &&
	       !strstr(path, "..");
}

/*
 * Restores one file. @value is the original value, or in lines of journal_trial()
 * "original<TAB>value that subtick wrote".
 */
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
	/* The file vanished with its device, driver or cgroup: nothing to restore. */
	return rc == -ENOENT || rc == -ENODEV ? 0 : rc;
}

/*
 * Restores the files of lines "path<TAB>value" except @keep, the last line first. A line without
 * newline was truncated by a crash before its file was changed. Empties the journal if there were
 * no failures. Returns the number of failures.
 */
static unsigned int play(const char *root, int fd, const char *keep, unsigned int *ret_done)
{
	size_t size;
	char *text = sys_read_fd(fd, JOURNAL_MAX, &size), *end, *path, *tab;
	unsigned int failed = 0, done = 0;

	if (!text)
		return 1;
	while ((end = strrchr(text, '\n'))) {
		*end = '\0';
		path = strrchr(text, '\n');
		path = path ? path + 1 : text;
		tab = strchr(path, '\t');
		if (!tab)
			continue;
		*tab = '\0';
		if (keep && !strcmp(path, keep))
			continue;
		if (play_line(root, path, tab + 1))
			failed++;
		else
			done++;
	}
	free(text);
	if (!failed && !ftruncate(fd, 0))
		fsync(fd);
	if (ret_done)
		*ret_done = done;
	return failed;
}

static int open_file(const char *root, char *path, size_t size)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char dir[PATH_MAX];
	int rc = sys_path(root, JOURNAL_DIR, dir, sizeof(dir)) ?: sys_path(root, JOURNAL, path, size);
	int fd;

	if (rc)
		return rc;
	if (mkdir(dir, 0755) && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	/* The guard inherits the lock, which belongs to the open file description. */
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

	return play(journal->root, journal->fd, NULL, NULL) ? -EIO : 0;
}

int journal_open(struct journal *journal, const char *root, struct err *err)
{
	struct timespec delay = clock_timespec(LOCK_RETRY_NS);
	unsigned int failed;
	int rc = -EAGAIN;

	*journal = (struct journal){.fd = -1};
	if (root && strlen(root) >= sizeof(journal->root))
		return err_set(err, -ENAMETOOLONG, "root %s is too long", root);
	snprintf(journal->root, sizeof(journal->root), "%s", root ? root : "");
	/* The guard of a process that was just killed may still hold the lock. */
	for (int i = 0; i < LOCK_TRIES && rc == -EAGAIN; i++) {
		if (i)
			nanosleep(&delay, NULL);
		rc = open_file(root, journal->path, sizeof(journal->path));
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
	failed = play(root, journal->fd, NULL, NULL);
	rc = failed ? -EIO : guard_start(&journal->guard, journal->fd, undo_journal, journal);
	if (!rc)
		return 0;
	close(journal->fd);
	journal->fd = -1;
	if (failed)
		return err_set(err, rc,
			       "cannot restore %u settings of an earlier run: restore the settings "
			       "in %s by hand, then remove this file",
			       failed, journal->path);
	return err_set(err, rc, "cannot start the process that restores settings: %s",
		       strerror(-rc));
}

static void journal_cut(struct journal *journal, off_t end)
{
	if (!ftruncate(journal->fd, end))
		fdatasync(journal->fd);
}

/* Appends a line and syncs the journal, before the caller changes the setting. */
static int journal_add(struct journal *journal, const char *line, size_t len, struct err *err)
{
	off_t end = lseek(journal->fd, 0, SEEK_END);

	if (end >= 0 && end + (off_t)len <= JOURNAL_MAX &&
	    write(journal->fd, line, len) == (ssize_t)len && !fdatasync(journal->fd))
		return 0;
	if (end >= 0)
		journal_cut(journal, end);
	return err_set(err, -EIO, "cannot write the journal %s", journal->path);
}

int journal_set(struct journal *journal, const char *path, const char *value, struct err *err)
{
	char was[JOURNAL_VALUE], line[PATH_MAX + JOURNAL_VALUE];
	off_t end = lseek(journal->fd, 0, SEEK_END);
	int len, rc;

	rc = sys_read_file(journal->root, path, was, sizeof(was));
	if (rc < 0)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	if (!strcmp(was, value))
		return 0;
	len = snprintf(line, sizeof(line), "%s\t%s\n", path, was);
	if (len >= (int)sizeof(line))
		return err_set(err, -ENAMETOOLONG, "%s is too long", path);
	rc = journal_add(journal, line, len, err);
	if (rc)
		return rc;
	rc = sys_write_file(journal->root, path, value);
	if (!rc)
		return 0;
	/* The file refused the new value, so the line of the file is removed from the journal. */
	journal_cut(journal, end);
	return err_set(err, rc, "cannot write %s to %s: %s", value, path, strerror(-rc));
}

int journal_trial(struct journal *journal, const char *path, const char *value, char *ret_was,
		  char *ret_now, struct err *err)
{
	char line[PATH_MAX + 2 * JOURNAL_VALUE];
	off_t end = lseek(journal->fd, 0, SEEK_END);
	int rc;

	if (!is_allowed(path))
		return err_set(err, -EPERM, "%s is not below /sys or /proc/irq", path);
	rc = sys_read_file(journal->root, path, ret_was, JOURNAL_VALUE);
	if (rc < 0)
		return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	if (strpbrk(ret_was, "\t\n"))
		return err_set(err, -EINVAL, "%s is not a setting: it has several lines", path);
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
	rc = snprintf(line, sizeof(line), "%s\t%s\t%s\n", path, ret_was, ret_now);
	return journal_add(journal, line, rc, err);
}

int journal_netlink(struct journal *journal, const struct nlmsghdr *undo, struct err *err)
{
	char line[2 * sizeof(struct rtnl_request) + 16];
	size_t len = sprintf(line, NETLINK "\t");

	if (undo->nlmsg_len > sizeof(struct rtnl_request))
		return err_set(err, -E2BIG,
			       "the old queueing discipline has too many options to restore it: "
			       "delete it first (tc qdisc del dev DEVICE root)");
	for (size_t i = 0; i < undo->nlmsg_len; i++)
		len += sprintf(line + len, "%02x", ((const unsigned char *)undo)[i]);
	line[len++] = '\n';
	return journal_add(journal, line, len, err);
}

int journal_txstamp(struct journal *journal, const char *device, int tx_type, struct err *err)
{
	char line[64];
	int len = snprintf(line, sizeof(line), TXSTAMP "\t%s %d\n", device, tx_type);

	return journal_add(journal, line, len, err);
}

void journal_close(struct journal *journal)
{
	if (journal->fd < 0)
		return;
	journal->failed = play(journal->root, journal->fd, journal->keep, NULL);
	/* End the guard without undo, because its undo would fail for the same files. */
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

	/* Check the journal first, because open_file() would create a missing journal. */
	if (sys_path(root, JOURNAL, path, sizeof(path)) || stat(path, &st) || !st.st_size)
		return 0;
	fd = open_file(root, path, sizeof(path));
	if (fd < 0)
		return fd;
	failed = play(root, fd, NULL, &done);
	close(fd);
	return failed ? -EIO : (int)done;
}
