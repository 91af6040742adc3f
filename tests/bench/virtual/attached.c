/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts commands, waits until their BPF programs are attached, and stops the commands. */
#include "cost.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORDS 32
#define POLL_MS	  500
/*
 * A command counts as attached after QUIET_POLLS successive polls in which the command used at most
 * one tick of CPU time per poll.
 */
#define QUIET_POLLS 6
#define MAX_POLLS   1200
#define SAYS	    "/tmp/cost-says"

static void become(char *command)
{
	char *words[MAX_WORDS + 1], *word;
	int null = open("/dev/null", O_RDWR), says;
	size_t nr = 0;

	says = open(SAYS, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(null, 0);
	dup2(null, 1);
	dup2(says, 2);
	while (nr < MAX_WORDS && (word = strsep(&command, " ")))
		if (*word)
			words[nr++] = word;
	words[nr] = NULL;
	if (nr)
		execvp(words[0], words);
	dprintf(2, "cannot be started: %s\n", strerror(errno));
	_exit(127);
}

/*
 * CPU time in ticks of a process, including its threads and the children that the process has
 * waited for.
 */
static uint64_t ticks_of(pid_t pid)
{
	char path[32], line[512], *rest;
	uint64_t user = 0, system = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (file && fgets(line, sizeof(line), file) && (rest = strrchr(line, ')')))
		sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		       &user, &system);
	if (file)
		fclose(file);
	return user + system;
}

/* Writes the last line of a command's stderr to @why. */
static void last_words(char *why, size_t size)
{
	char line[256];
	FILE *file = fopen(SAYS, "re");

	snprintf(why, size, "ended at once, without a word");
	while (file && fgets(line, sizeof(line), file))
		if (line[strspn(line, " \n")]) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(why, size, "%.200s", line);
		}
	if (file)
		fclose(file);
}

static int wait_quiet(pid_t pid, char *why, size_t size)
{
	uint64_t before = UINT64_MAX, now;
	int quiet = 0;

	for (int i = 0; i < MAX_POLLS; i++) {
		cost_sleep_ms(POLL_MS);
		if (waitpid(pid, NULL, WNOHANG) == pid) {
			last_words(why, size);
			return -ECHILD;
		}
		now = ticks_of(pid);
		/*
		 * Allow one tick of CPU time per poll, because an exporter without scrapes also
		 * reads its counters each second.
		 */
		quiet = now <= before + 1 && before != UINT64_MAX ? quiet + 1 : 0;
		before = now;
		if (quiet >= QUIET_POLLS)
			return 0;
	}
	snprintf(why, size, "still busy after %d s", MAX_POLLS * POLL_MS / 1000);
	return -ETIMEDOUT;
}

int cost_attached_start(struct cost_attached *attached, const char *line, char *why, size_t size)
{
	char text[1024], *rest = text, *end;
	int rc = 0;

	snprintf(text, sizeof(text), "%s", line);
	while (!rc && rest && attached->nr < COST_MAX_COMMANDS) {
		pid_t pid;

		end = strstr(rest, " & ");
		if (end)
			*end = '\0';
		pid = fork();
		if (!pid)
			become(rest);
		attached->pids[attached->nr++] = pid;
		rc = wait_quiet(pid, why, size);
		if (rc == -ECHILD)
			attached->nr--;
		rest = end ? end + 3 : NULL;
	}
	if (rc)
		cost_attached_stop(attached);
	return rc;
}

void cost_attached_stop(struct cost_attached *attached)
{
	for (size_t i = 0; i < attached->nr; i++) {
		int polls = 0;

		kill(attached->pids[i], SIGINT);
		while (waitpid(attached->pids[i], NULL, WNOHANG) == 0) {
			cost_sleep_ms(POLL_MS);
			if (++polls == 20)
				kill(attached->pids[i], SIGKILL);
		}
	}
	attached->nr = 0;
	/*
	 * Wait, because the kernel frees a BPF program some time after the last process that uses
	 * the program has exited.
	 */
	cost_sleep_ms(2000);
}
