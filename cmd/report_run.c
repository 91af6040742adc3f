/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs each measurement of a report in a separate process, so that measurements that load no core
 * can run at the same time. If one measurement fails, the other measurements continue. The report
 * embeds exactly the output of --json.
 */
#include "report_run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "commands.h"
#include "report/findings.h"
#include "report/report.h"
#include "run.h"
#include "host/file.h"
#include "view/view.h"

#define MAX_ARGS   12
#define MAX_OUTPUT (256u << 20)
/* Maximum size in bytes of the JSON in a report. A browser reads 64 MiB within seconds. */
#define MAX_WINDOWS (64u << 20)
/* Limits of the text in the HTML file for browsers without JavaScript. */
#define MAX_TEXTS 32
#define MAX_TEXT_BYTES (1 << 20)
#define POLL_NS	   (250 * NSEC_PER_MSEC)
/* Time after a stop signal in which a command can print its results. */
#define GRACE_NS   (10 * NSEC_PER_SEC)

/*
 * Commands in the order of the report. Commands of one step run at the same time. A command that
 * loads a core has its own step, because the load would disturb other measurements.
 */
static const struct collector {
	int step;
	/* true if the command runs only when --collect names it, because it loads cores */
	bool on_request;
	/* command and arguments; "%" stands for the duration in seconds */
	const char *args[MAX_ARGS];
} collectors[] = {
	{0, false, {"load", "--compare", "--softirq", "--bursts", "--json", "%", "1"}},
	{0, false, {"runq", "--blame", "--json", "%", "1"}},
	{0, false, {"noise", "--top", "8", "--json", "%", "1"}},
	{0, false, {"wake", "--source", "passive", "--json", "%", "1"}},
	{1, true, {"audit", "--budget", "20s", "--json"}},
	{2, true, {"crit", "--json"}},
	{3, false, {"doctor", "--json"}},
};

#define NR_COLLECTORS (ARRAY_SIZE(collectors))
#define NR_STEPS      4

const char *const report_collectors[] = {"load",  "runq", "noise",  "wake",
					 "audit", "crit", "doctor", NULL};

struct child {
	const struct collector *collector;
	pid_t pid; /* process id of the running command; 0 if the command does not run */
	int out, err;
	int status;
};

int gathered_miss(struct gathered *g, const char *command, const char *fmt, ...)
{
	struct html_missing *missing =
		grow((void *)g->doc.missing, g->doc.nr_missing, sizeof(*missing));
	va_list ap;
	char *why;
	int len;

	if (!missing)
		return -ENOMEM;
	g->doc.missing = missing;
	va_start(ap, fmt);
	len = vasprintf(&why, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	missing[g->doc.nr_missing++] = (struct html_missing){command, why};
	return 0;
}

int gathered_open(struct gathered *g, struct err *err)
{
	*g = (struct gathered){0};
	g->windows = open_memstream((char **)&g->doc.windows, &g->doc.windows_size);
	g->findings = open_memstream((char **)&g->doc.findings, &g->findings_size);
	g->text = open_memstream((char **)&g->doc.text, &g->text_size);
	return g->windows && g->findings && g->text ? 0 : err_set(err, -ENOMEM, "out of memory");
}

/* Writes a report as text, with a heading such as "subtick load, measured 2026-11-18 …". */
static void put_text(FILE *out, const struct report *report)
{
	struct view view = {.format = VIEW_TEXT, .out = out};
	time_t seconds = report->time_unix_ns / NSEC_PER_SEC;
	char when[40] = "";
	struct tm tm;

	if (seconds && gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), ", measured %F %T UTC", &tm);
	fprintf(out, "\nsubtick %s%s\n", report->command, when);
	view_write(&view, report);
}

static void put_findings(FILE *out, const struct report *report)
{
	const struct table *findings = findings_of(report);

	for (size_t row = 0; findings && row < findings->nr_rows; row++) {
		const char *next = table_str(findings, row, "next");

		fprintf(out, "%s.%s%s\n", table_str(findings, row, "finding") ?: "",
			next ? " Next: " : "", next ?: "");
	}
}

/* Embeds @report as JSON of subtick, because browsers may not be able to parse the input file. */
static int gathered_add(struct gathered *g, const struct report *report, struct err *err)
{
	struct view view = {.format = VIEW_JSON, .out = g->windows};

	fputs(g->nr_windows++ ? "," : "", g->windows);
	if (view_write(&view, report))
		return err_set(err, -ENOMEM, "out of memory");
	if (g->doc.windows_size > MAX_WINDOWS)
		return err_set(err, -EFBIG,
			       "more than %u MiB of JSON: make a report of fewer windows",
			       MAX_WINDOWS >> 20);
	g->measured |= strcmp(report->command, "doctor");
	if (g->nr_windows <= MAX_TEXTS && g->text_size < MAX_TEXT_BYTES) {
		put_findings(g->findings, report);
		put_text(g->text, report);
		g->nr_texts++;
	}
	return 0;
}

int gathered_read(struct gathered *g, const char *text, size_t size, struct err *err)
{
	struct report *report;
	size_t at = 0, used;
	int rc;

	while (!(rc = report_read_json(text + at, size - at, &report, &used, err))) {
		rc = gathered_add(g, report, err);
		report_free(report);
		if (rc)
			return rc;
		at += used;
	}
	return rc == -ENODATA ? 0 : rc;
}

/* Closes the memory streams that are open. Returns 0 or -errno. */
static int close_streams(struct gathered *g)
{
	FILE **const streams[] = {&g->windows, &g->findings, &g->text};
	int rc = 0;

	array_for_each(stream, streams, ARRAY_SIZE(streams)) {
		if (**stream && fclose(**stream))
			rc = -errno;
		**stream = NULL;
	}
	return rc;
}

int gathered_finish(struct gathered *g, struct err *err)
{
	int rc;

	if (g->nr_texts < g->nr_windows)
		fprintf(g->text, "\n%zu more windows are shown only with JavaScript\n",
			g->nr_windows - g->nr_texts);
	rc = close_streams(g);
	return rc ? err_set(err, rc, "out of memory") : 0;
}

void gathered_free(struct gathered *g)
{
	close_streams(g);
	array_for_each(missing, g->doc.missing, g->doc.nr_missing)
		free((char *)missing->why);
	free((void *)g->doc.missing);
	free((char *)g->doc.windows);
	free((char *)g->doc.findings);
	free((char *)g->doc.text);
}

/* Only async-signal-safe calls are allowed between fork and exec. */
static void child_exec(const struct child *child, const char *seconds, pid_t parent)
{
	const char *args[MAX_ARGS + 2] = {"subtick"};
	size_t nr = 1;

	for (const char *const *arg = child->collector->args; *arg; arg++)
		args[nr++] = strcmp(*arg, "%") ? *arg : seconds;
	/* The kernel sends SIGTERM to this child process when the parent process dies. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || dup2(child->out, STDOUT_FILENO) < 0 ||
	    dup2(child->err, STDERR_FILENO) < 0)
		_exit(127);
	execv("/proc/self/exe", (char *const *)args);
	_exit(127);
}

static int child_start(struct child *child, unsigned int seconds)
{
	pid_t parent = getpid();
	char text[16];

	snprintf(text, sizeof(text), "%u", seconds);
	/* A full pipe would block a child with much output; a memfd does not. */
	child->out = memfd_create("subtick-out", MFD_CLOEXEC);
	child->err = memfd_create("subtick-err", MFD_CLOEXEC);
	if (child->out < 0 || child->err < 0)
		return -errno;
	child->pid = fork();
	if (!child->pid)
		child_exec(child, text, parent);
	if (child->pid > 0)
		return 0;
	child->pid = 0;
	return -errno;
}

/* Removes "subtick load: " and line ends from the error message of a command. */
static void tidy(char *text, const char *name)
{
	char prefix[48];
	size_t length = snprintf(prefix, sizeof(prefix), "subtick %s: ", name);

	if (!strncmp(text, prefix, length))
		memmove(text, text + length, strlen(text + length) + 1);
	length = strlen(text);
	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	for (char *p = text; (p = strchr(p, '\n'));)
		*p = ' ';
}

static int child_collect(struct gathered *g, const struct child *child)
{
	const char *name = child->collector->args[0];
	size_t out_size = 0, err_size = 0, before = g->nr_windows;
	char *out = sys_read_fd(child->out, MAX_OUTPUT, &out_size);
	char *words = sys_read_fd(child->err, MAX_OUTPUT, &err_size);
	struct err err = {0};
	int rc = 0;

	if (words)
		tidy(words, name);
	if (!out || !words)
		rc = -ENOMEM;
	else if (gathered_read(g, out, out_size, &err))
		rc = gathered_miss(g, name, "its output could not be read: %s", err.what);
	else if (WIFSIGNALED(child->status))
		rc = gathered_miss(g, name, "killed by signal %d", WTERMSIG(child->status));
	else if (WEXITSTATUS(child->status) || g->nr_windows == before)
		rc = gathered_miss(g, name, "%s",
				   *words ? words : "it printed neither a result nor an error");
	free(out);
	free(words);
	return rc;
}

/* Reaps children that exited. Returns true if any child is still running. */
static bool children_reap(struct child *children, size_t nr)
{
	bool running = false;

	array_for_each(child, children, nr) {
		if (child->pid && waitpid(child->pid, &child->status, WNOHANG) == child->pid)
			child->pid = 0;
		running |= child->pid != 0;
	}
	return running;
}

static void children_kill(const struct child *children, size_t nr, int number)
{
	array_for_each(child, children, nr)
		if (child->pid)
			kill(child->pid, number);
}

/*
 * Expected duration in seconds of all steps from @step on. @list is the bit set of collectors that
 * run.
 */
static double seconds_from(int step, unsigned int seconds, uint32_t list)
{
	static const double more[NR_STEPS] = {2.0, 21.0, 5.0, 1.0};
	double sum = 0.0;
	int counted = -1;

	array_for_each(c, collectors, NR_COLLECTORS) {
		if (c->step < step || c->step == counted || !(list & 1u << (c - collectors)))
			continue;
		sum += more[c->step] + (c->step == 0 ? seconds : 0);
		counted = c->step;
	}
	return sum;
}

/* Expected durations in seconds: total_s of the current and later steps, later_s of later steps. */
struct progress {
	bool shown;
	double total_s, later_s;
};

static void show_progress(const struct child *children, size_t nr, uint64_t since_ns,
			  const struct progress *progress)
{
	double passed = (double)(clock_mono_ns() - since_ns) / NSEC_PER_SEC;
	double left = fmax(progress->total_s - passed, progress->later_s);

	fputs("\r\033[K", stderr);
	array_for_each(child, children, nr)
		if (child->pid)
			fprintf(stderr, "%s ", child->collector->args[0]);
	fprintf(stderr, "%.0f s, about %.0f s left", passed, ceil(left));
}

/* Waits for all children. After a stop signal, interrupts the children to get their results. */
static void children_wait(struct child *children, size_t nr, const struct progress *progress)
{
	uint64_t since = clock_mono_ns(), deadline = 0;

	while (children_reap(children, nr)) {
		if (progress->shown)
			show_progress(children, nr, since, progress);
		if (!run_wait(clock_mono_ns() + POLL_NS))
			continue;
		if (!deadline) {
			children_kill(children, nr, SIGINT);
			deadline = clock_mono_ns() + GRACE_NS;
		}
		if (clock_mono_ns() > deadline)
			children_kill(children, nr, SIGKILL);
		/* Limit the polling rate: run_wait() returns immediately after a stop signal. */
		usleep(POLL_NS / NSEC_PER_USEC);
	}
	if (progress->shown)
		fputs("\r\033[K", stderr);
}

static int run_step(struct gathered *g, int step, unsigned int seconds, uint32_t list,
		    const struct progress *progress)
{
	struct child children[NR_COLLECTORS] = {0};
	size_t nr = 0;
	int rc = 0;

	array_for_each(c, collectors, NR_COLLECTORS) {
		if (rc || c->step != step || !(list & 1u << (c - collectors)))
			continue;
		if (!command_exists(c->args[0])) {
			rc = gathered_miss(g, c->args[0], "this build has no such command");
		} else if (run_stopped()) {
			rc = gathered_miss(g, c->args[0], "the run was stopped before it began");
		} else {
			children[nr] = (struct child){.collector = c, .out = -1, .err = -1};
			rc = child_start(&children[nr++], seconds);
		}
	}
	if (rc)
		children_kill(children, nr, SIGTERM);
	children_wait(children, nr, progress);
	array_for_each(child, children, nr) {
		rc = rc ?: child_collect(g, child);
		fd_close(&child->out);
		fd_close(&child->err);
	}
	return rc;
}

int report_run(struct gathered *g, unsigned int seconds, uint32_t asked, bool progress)
{
	uint32_t list = asked;
	int rc = 0;

	for (size_t i = 0; i < NR_COLLECTORS && !asked; i++)
		list |= !collectors[i].on_request << i;
	for (int step = 0; step < NR_STEPS && !rc; step++) {
		struct progress now = {progress, seconds_from(step, seconds, list),
				       seconds_from(step + 1, seconds, list)};

		rc = run_step(g, step, seconds, list, &now);
	}
	return rc;
}
