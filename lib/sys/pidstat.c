/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/PID/stat. */
#include "sys/pidstat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
		     " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		     " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d",
		     &stat.parent, &stat.group, &stat.flags, &stat.user_ticks, &stat.system_ticks,
		     &stat.cpu);
	if (got < 5)
		return -EINVAL;
	*ret_stat = stat;
	return 0;
}

int pidstat_read(const char *root, pid_t pid, struct pidstat *ret_stat)
{
	char path[32], text[1024];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	rc = sys_read_file(root, path, text, sizeof(text));
	return rc < 0 ? rc : pidstat_parse(text, ret_stat);
}
