/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/PID/stat. */
#include "sys/pidstat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/file.h"

int pidstat_parse(const char *text, struct pidstat *ret_stat)
{
	/* The name is in parentheses and may contain more of them: only the last one ends it. */
	const char *rest = strrchr(text, ')');
	struct pidstat stat = {.cpu = -1};
	int got;

	if (!rest)
		return -EINVAL;
	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime; */
	/* 23 more; processor */
	got = sscanf(rest + 1,
		     " %*c %d %d %*d %*d %*d %" SCNu32 " %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		     " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
		     &stat.parent, &stat.group, &stat.flags, &stat.user_ticks, &stat.system_ticks,
		     &stat.cpu);
	if (got < 5)
		return -EINVAL;
	*ret_stat = stat;
	return 0;
}

/* A descriptor shows what /proc calls the process that it stands for. */
static int pid_by_descriptor(pid_t pid, pid_t *ret_pid)
{
	char path[48], text[512];
	const char *line;
	int fd, rc;

	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	rc = sys_read_file(NULL, path, text, sizeof(text));
	close(fd);
	if (rc < 0)
		return rc;
	line = strstr(text, "\nPid:");
	return line && sscanf(line, " Pid: %d", ret_pid) == 1 && *ret_pid > 0 ? 0 : -ESRCH;
}

/* In a PID namespace of our own, /proc can still be the host's, where our numbers are strangers'. */
static int pid_in_proc(pid_t pid, pid_t *ret_pid)
{
	char self[16];
	ssize_t len = readlink("/proc/self", self, sizeof(self) - 1);

	if (len < 0)
		return -errno;
	self[len] = '\0';
	*ret_pid = pid;
	return atoi(self) == getpid() ? 0 : pid_by_descriptor(pid, ret_pid);
}

int pidstat_read(const char *root, pid_t pid, struct pidstat *ret_stat)
{
	char path[32], text[1024];
	int rc = root ? 0 : pid_in_proc(pid, &pid);

	if (rc)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	rc = sys_read_file(root, path, text, sizeof(text));
	return rc < 0 ? rc : pidstat_parse(text, ret_stat);
}
