/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints TAP output and runs the program under test. */
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "measure/load/sources.h"

#ifndef SUBTICK_PATH
#define SUBTICK_PATH "subtick"
#endif

#define WATCH_MS 300

static int nr_tests, nr_failed;

/* Prints the arguments of a variadic function after @fmt, and ends the line. */
#define PRINT_LINE(fmt)            \
	do {                       \
		va_list ap;        \
		va_start(ap, fmt); \
		vprintf(fmt, ap);  \
		va_end(ap);        \
		printf("\n");      \
		fflush(stdout);    \
	} while (0)

bool live_ok(bool passed, const char *fmt, ...)
{
	printf("%sok %d - ", passed ? "" : "not ", ++nr_tests);
	PRINT_LINE(fmt);
	nr_failed += !passed;
	return passed;
}

void live_figure(bool good, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (live_emulated())
		live_skip(text, "ran, not judged: emulated");
	else
		live_ok(good, "%s", text);
}

void live_skip(const char *what, const char *fmt, ...)
{
	printf("ok %d - %s # SKIP ", ++nr_tests, what);
	PRINT_LINE(fmt);
}

void live_note(const char *fmt, ...)
{
	printf("# ");
	PRINT_LINE(fmt);
}

void live_skip_all(const char *fmt, ...)
{
	printf("1..0 # SKIP ");
	PRINT_LINE(fmt);
	exit(77);
}

void live_fail_all(const char *fmt, ...)
{
	printf("not ok %d - ", ++nr_tests);
	PRINT_LINE(fmt);
	nr_failed++;
	exit(live_done());
}

int live_done(void)
{
	printf("1..%d\n", nr_tests);
	return nr_failed || !nr_tests;
}

bool live_emulated(void)
{
	const char *value = getenv("SUBTICK_EMULATED");

	return value && !strcmp(value, "1");
}

bool live_realtime(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

uint64_t live_period(uint64_t period)
{
	return live_emulated() ? period * 20 : period;
}

unsigned int live_quota_us(unsigned int quota_us, unsigned int period_us)
{
	return live_emulated() ? period_us / 2 : quota_us;
}

int live_times(int times)
{
	return live_emulated() ? times / 10 : times;
}

/*
 * Reads stdout and stderr of the child until both are closed, so that a full pipe never blocks the
 * child.
 */
static void drain(int fds[2], char *text[2])
{
	struct pollfd polls[2] = {{.fd = fds[0], .events = POLLIN},
				  {.fd = fds[1], .events = POLLIN}};
	size_t len[2] = {0, 0};

	while (polls[0].fd >= 0 || polls[1].fd >= 0) {
		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < 2; i++) {
			ssize_t got;

			if (polls[i].fd < 0 || !polls[i].revents)
				continue;
			text[i] = realloc(text[i], len[i] + 65537);
			got = read(polls[i].fd, text[i] + len[i], 65536);
			if (got > 0)
				len[i] += got;
			else
				polls[i].fd = -1;
			text[i][len[i]] = '\0';
		}
	}
}

/* The pipe ends other than @out and @err are close-on-exec. */
static pid_t launch(const char *const args[], bool own_group, int out, int err)
{
	const char *program = getenv("SUBTICK");
	const char *argv[32] = {program && *program ? program : SUBTICK_PATH};
	pid_t pid;

	for (int i = 0; args[i] && i < 30; i++)
		argv[i + 1] = args[i];
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	if (own_group)
		setpgid(0, 0);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

void live_run(const char *const args[], struct live_run *ret_run)
{
	int out[2], err[2], status = 0;
	char *text[2] = {strdup(""), strdup("")};
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		abort();
	pid = launch(args, false, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	drain((int[2]){out[0], err[0]}, text);
	close(out[0]);
	close(err[0]);
	waitpid(pid, &status, 0);
	*ret_run = (struct live_run){
		.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
		.out = text[0],
		.err = text[1],
	};
}

pid_t live_start(const char *const args[], int *ret_fd)
{
	int out[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC))
		abort();
	pid = launch(args, true, out[1], STDERR_FILENO);
	/*
	 * Parent and child both call setpgid(), so that the process group exists before the parent
	 * sends a signal to the group.
	 */
	setpgid(pid, pid);
	close(out[1]);
	*ret_fd = out[0];
	return pid;
}

int live_stop(pid_t pid, int number, int fd, char *buf, size_t size)
{
	size_t len = 0;
	int status = 0;
	ssize_t got;

	if (number)
		kill(-pid, number);
	while (len < size - 1 && (got = read(fd, buf + len, size - 1 - len)) > 0)
		len += got;
	buf[len] = '\0';
	close(fd);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void live_run_free(struct live_run *run)
{
	free(run->out);
	free(run->err);
}

void live_refused(const char *what, const char *const args[], int code, const char *says)
{
	struct live_run run;
	bool right;

	live_run(args, &run);
	/*
	 * Read the output in a separate statement before strtok() changes the output, because the
	 * evaluation order of arguments is unspecified.
	 */
	right = run.exit_code == code && strstr(run.err, says) && !*run.out;
	live_ok(right, "%s: exit %d, one clear line (%s)", what, run.exit_code,
		strtok(run.err, "\n") ?: "");
	live_run_free(&run);
}

void live_needs(const char *const args[])
{
	struct live_run run;

	live_run(args, &run);
	run.err[strcspn(run.err, "\n")] = '\0';
	if (run.exit_code == 77)
		live_skip_all("%s", run.err);
	if (run.exit_code)
		live_fail_all("subtick %s exits with %d: %s", args[0], run.exit_code, run.err);
	live_run_free(&run);
}

json_t *live_json(const char *const args[])
{
	struct live_run run;
	json_error_t error;
	json_t *root = NULL;

	live_run(args, &run);
	if (run.exit_code)
		live_note("exit %d: %s", run.exit_code, run.err);
	else
		root = json_loads(run.out, JSON_DISABLE_EOF_CHECK, &error);
	live_run_free(&run);
	return root;
}

double live_number(json_t *root, const char *path)
{
	char part[64];

	while (root && *path) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(part))
			return NAN;
		memcpy(part, path, len);
		part[len] = '\0';
		root = json_is_array(root) ? json_array_get(root, atoi(part))
					   : json_object_get(root, part);
		path += len + (path[len] == '.');
	}
	return json_is_number(root) ? json_number_value(root) : NAN;
}

const char *live_text(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key)) ?: "";
}

json_t *live_row(const json_t *root, const char *table, const char *key, const char *text)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, table), i, row)
	{
		if (!strcmp(live_text(row, key), text))
			return row;
	}
	return NULL;
}

bool live_has_note(json_t *root, const char *words)
{
	json_t *note;
	size_t i;

	json_array_foreach(json_object_get(root, "notes"), i, note)
	{
		if (strstr(json_string_value(note), words))
			return true;
	}
	return false;
}

/*
 * Returns the idle and iowait time of one CPU from /proc/stat, in ticks of 10 ms. Returns -1 if
 * /proc/stat has no line for the CPU.
 */
static long long idle_ticks(int cpu)
{
	long long idle = -1, iowait = 0, one, two;
	char line[512], name[16];
	FILE *stat = fopen("/proc/stat", "re");

	snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (stat && fgets(line, sizeof(line), stat))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line, "%*s %*d %*d %*d %lld %lld", &one, &two) == 2) {
			idle = one;
			iowait = two;
		}
	if (stat)
		fclose(stat);
	return idle < 0 ? -1 : idle + iowait;
}

/* Measures the idle time of each CPU in @cpus during a short sleep, in ticks. */
static void watch_idle(const int *cpus, int nr, long long *ret_ticks)
{
	for (int i = 0; i < nr; i++)
		ret_ticks[i] = -idle_ticks(cpus[i]);
	live_sleep_ms(WATCH_MS);
	for (int i = 0; i < nr; i++)
		ret_ticks[i] += idle_ticks(cpus[i]);
}

void live_idle_ok(int cpu, bool good, const char *fmt, ...)
{
	long long ticks;
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!good)
		watch_idle(&cpu, 1, &ticks);
	if (good || ticks > WATCH_MS / 20)
		live_ok(good, "%s", text);
	else
		live_skip(text, "not judged: CPU %d is busy", cpu);
}

bool live_two_cpus(int *ret_measured, int *ret_other)
{
	static int cpus[CPU_SETSIZE];
	static long long ticks[CPU_SETSIZE];
	int nr = 0, best = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return false;
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
		if (CPU_ISSET(cpu, &set))
			cpus[nr++] = cpu;
	if (nr < 2)
		return false;
	watch_idle(cpus, nr, ticks);
	/* Ignore differences of up to five ticks (50 ms), which are random. */
	for (int i = 1; i < nr; i++)
		if (ticks[i] > ticks[best] + 5)
			best = i;
	*ret_measured = cpus[best];
	*ret_other = cpus[best ? 0 : 1];
	return true;
}

void live_first(void)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
		live_note("no real-time priority for the reader: %s", strerror(errno));
}

void live_pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

void live_sleep_ms(unsigned int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

struct subtick *live_source_event(const char *name, const char *event, bool needed)
{
	struct subtick_load_opts opts = {.size = sizeof(opts), .source = 1, .event = event};
	const struct load_source_ops *const *source = load_sources();
	struct subtick *load;

	for (; strcmp((*source)->name, name); source++)
		opts.source++;
	if (!subtick_load_open(&load, &opts))
		return load;
	if (needed)
		live_fail_all("%s: %s", name, subtick_error());
	return NULL;
}

struct subtick *live_source(const char *name, bool needed)
{
	return live_source_event(name, NULL, needed);
}

void live_update(struct subtick *load)
{
	const struct subtick_window *window;

	if (subtick_read(load, &window))
		live_fail_all("%s", subtick_error());
}

void live_split(const struct subtick *load, int cpu, struct live_split *ret_split)
{
	const struct {
		enum subtick_key key;
		double *to;
	} shares[] = {
		{SUBTICK_BUSY_RATIO, &ret_split->busy},
		{SUBTICK_TASK_RATIO, &ret_split->task},
		{SUBTICK_HARDIRQ_RATIO, &ret_split->hardirq},
		{SUBTICK_SOFTIRQ_ON_IDLE_RATIO, &ret_split->softirq_on_idle},
		{SUBTICK_SOFTIRQ_ON_TASK_RATIO, &ret_split->softirq_on_task},
		{SUBTICK_KSOFTIRQD_RATIO, &ret_split->ksoftirqd},
		{SUBTICK_IDLE_LOOP_RATIO, &ret_split->idle_loop},
		{SUBTICK_POLL_IDLE_RATIO, &ret_split->poll_idle},
		{SUBTICK_IDLE_RATIO, &ret_split->idle},
		{SUBTICK_UNKNOWN_RATIO, &ret_split->unknown},
		{SUBTICK_CLOSURE_ERROR_RATIO, &ret_split->closure_error},
	};

	*ret_split = (struct live_split){0};
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		if (subtick_double(&load->window, SUBTICK_CPUS, cpu, shares[i].key, shares[i].to))
			*shares[i].to = -1.0;
	subtick_u64(&load->window, SUBTICK_CPUS, cpu, SUBTICK_WINDOW_NS, &ret_split->window_ns);
	subtick_u64(&load->window, SUBTICK_CPUS, cpu, SUBTICK_FLAGS, &ret_split->flags);
}

bool live_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return written;
}

bool live_schedstat(pid_t pid, struct live_schedstat *ret_stat)
{
	char path[64];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "re");
	good = file && fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ret_stat->ran_ns,
			      &ret_stat->waited_ns, &ret_stat->dispatches) == 3;
	if (file)
		fclose(file);
	return good;
}
