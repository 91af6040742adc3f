/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Creates and measures each incident, checks the first finding, applies the advice of the finding
 * and measures again.
 */
#include "incidents.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "truth.h"

/* Window length of the running subtick in seconds. A window contains 20 periods of a CPU quota. */
#define WINDOW "2"
#define NOTED  3

/*
 * A subtick process that runs during all incidents, because loading its BPF programs takes longer
 * than a window.
 */
static pid_t stream_pid;
static FILE *stream;

bool incidents_full(void)
{
	const char *text = getenv("SUBTICK_VM_INCIDENTS");

	return text && !strcmp(text, "full");
}

static void stream_stop(void)
{
	char rest[256];

	if (!stream_pid)
		return;
	kill(-stream_pid, SIGTERM);
	while (fread(rest, 1, sizeof(rest), stream))
		;
	fclose(stream);
	waitpid(stream_pid, NULL, 0);
	stream_pid = 0;
}

static json_t *stream_line(void)
{
	json_t *root = NULL;
	char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, stream) > 0)
		root = json_loads(line, 0, NULL);
	free(line);
	return root;
}

static void stream_start(void)
{
	int fd;

	if (stream_pid)
		return;
	stream_pid = live_start(ARGS(WINDOW, "--json"), &fd);
	stream = fdopen(fd, "r");
	/*
	 * Give subtick the highest nice priority. In the guest, the work of subtick takes eight
	 * times as long as on a real machine, and with an ordinary priority the waits of subtick
	 * would become findings.
	 */
	setpriority(PRIO_PROCESS, stream_pid, -20);
	/* The BPF programs are attached when the first window ends. */
	json_decref(stream_line());
}

static uint64_t real_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static json_t *measure_once(void)
{
	stream_stop();
	return live_json(ARGS("--once", "--json"));
}

/* Value of a counter in /proc/stat, or 0 if no line has the scanf() format @format. */
static double counter_of(const char *format)
{
	FILE *file = fopen("/proc/stat", "r");
	double value = 0.0;
	char line[4096];

	while (file && fgets(line, sizeof(line), file) && sscanf(line, format, &value) < 1)
		;
	if (file)
		fclose(file);
	return value;
}

/*
 * Returns the next window of subtick that begins at @since_ns or later. Sets @ret_rate to the
 * growth per second of the counter with format @counter, unless @counter is NULL. The counter is
 * read each time subtick prints a window, so the growth also covers one window.
 */
static json_t *measure(uint64_t since_ns, const char *counter, double *ret_rate)
{
	double before = 0.0, value;
	uint64_t before_ns = 0, now_ns;
	json_t *root = NULL;

	stream_start();
	do {
		json_decref(root);
		root = stream_line();
		now_ns = clock_mono_ns();
		value = counter ? counter_of(counter) : 0.0;
		if (counter)
			*ret_rate = (value - before) / ((double)(now_ns - before_ns) / 1e9);
		before = value;
		before_ns = now_ns;
	} while (root && live_number(root, "time_unix_ns") - live_number(root, "window_ns") <
				 (double)since_ns);
	return root;
}

static const char *text_of(json_t *finding, const char *key)
{
	return json_string_value(json_object_get(finding, key)) ?: "";
}

static bool matches(const struct incident *incident, json_t *finding)
{
	const char *victim = incident->victim ?: "/app";
	bool good = !strcmp(text_of(finding, "rule"), incident->rule) &&
		    (!*victim || !strcmp(text_of(finding, "victim"), victim)) &&
		    (!incident->culprit || strstr(text_of(finding, "culprit"), incident->culprit));

	for (int i = 0; i < INCIDENT_WORDS && incident->words[i]; i++)
		good = good && strstr(text_of(finding, "finding"), incident->words[i]);
	return good;
}

/* True if the figure of the finding is within 5 % of @rate, the rate by the kernel's counter. */
static bool has_figure(const struct incident *incident, json_t *finding, double rate)
{
	double figure = 0.0;

	if (!incident->figure)
		return true;
	sscanf(text_of(finding, "finding"), incident->figure, &figure);
	live_note("%s: %.1f per second by /proc/stat", incident->name, rate);
	return fabs(figure - rate) <= 0.05 * rate;
}

static void note(json_t *root)
{
	json_t *findings = json_object_get(root, "findings"), *row;
	size_t i;

	if (!root)
		live_note("subtick printed no JSON");
	json_array_foreach(findings, i, row)
	{
		char *text = i < NOTED ? json_dumps(row, JSON_PRESERVE_ORDER) : NULL;

		if (text)
			live_note("%zu. %s", i + 1, text);
		free(text);
	}
}

/* Applies the advice of a finding: writes VALUE of "PATH=VALUE" to PATH, or runs the command. */
static bool apply(json_t *finding)
{
	const char *setting = text_of(finding, "next_setting");
	const char *command = text_of(finding, "next_command"), *equal = strrchr(setting, '=');
	char path[512];

	if (!equal)
		return !system(command);
	snprintf(path, sizeof(path), "%.*s", (int)(equal - setting), setting);
	return live_write(path, equal + 1);
}

/*
 * Prints the result of a check. If @known is the reason of a known failure, a failure of the check
 * counts as skipped. If the check passes despite @known, the test fails, so that a developer
 * removes the reason.
 */
static bool judged(bool passed, const char *known, json_t *root, const char *name, const char *what)
{
	if (!known) {
		if (!live_ok(passed, "%s: %s", name, what))
			note(root);
	} else if (passed) {
		live_ok(false, "%s: now right, remove the mark \"%s\"", name, known);
	} else {
		live_skip(name, "not right yet: %s", known);
		note(root);
	}
	return passed;
}

/*
 * True if the incident continues after the advice. After a change of the scheduling policy, another
 * rule may report the incident. If the culprit is a task, a finding of another rule also counts if
 * it has the victim of @first, names the culprit and loses more than a tenth of the time in @first.
 * A smaller loss is allowed, because preempting a task with SCHED_IDLE also takes time.
 */
static bool goes_on(const struct incident *incident, json_t *first, json_t *finding)
{
	double before = json_number_value(json_object_get(first, "lost_ns"));
	double now = json_number_value(json_object_get(finding, "lost_ns"));

	return matches(incident, finding) ||
	       (incident->culprit && !strcmp(text_of(first, "cause"), "task") &&
		!strcmp(text_of(first, "victim"), text_of(finding, "victim")) &&
		strstr(text_of(finding, "finding"), incident->culprit) && now > 0.1 * before);
}

static void judge_advice(const struct incident *incident, json_t *first)
{
	const char *known = incident->stays;
	const char *setting = text_of(first, "next_setting"),
		   *command = text_of(first, "next_command");
	json_t *again = NULL, *row;
	bool ended = false;
	char what[512];
	size_t i;

	snprintf(what, sizeof(what), "ended by \"%s\"", *setting ? setting : command);
	if (!*setting && !*command) {
		if (!incident->unadvised || known)
			judged(incident->unadvised, known, NULL, incident->name, "has advice");
		return;
	}
	if (apply(first)) {
		again = incidents_full() ? measure_once() : measure(real_ns(), NULL, NULL);
		ended = json_is_array(json_object_get(again, "findings"));
	} else {
		live_note("cannot apply %s%s", setting, command);
	}
	json_array_foreach(json_object_get(again, "findings"), i, row) ended =
		ended && !goes_on(incident, first, row);
	judged(ended, known, again, incident->name, what);
	json_decref(again);
}

static void judge_named(const struct incident *incident)
{
	const char *known = incident->miss ?: cgroups_v2() ? NULL : incident->miss_v1;
	bool once = incidents_full() || incident->attached, good;
	json_t *root, *findings, *first;
	double rate = 0.0;
	char what[512];

	root = once ? measure_once() : measure(real_ns(), incident->counter, &rate);
	findings = json_object_get(root, "findings");
	first = json_array_get(findings, 0);
	snprintf(what, sizeof(what), "%s", first ? text_of(first, "finding") : "no finding");
	if (getenv("SUBTICK_VM_NOTES"))
		note(root);
	good = first && matches(incident, first) && (once || has_figure(incident, first, rate)) &&
	       !(incident->sole && json_array_size(findings) > 1);
	if (judged(good, known, root, incident->name, what) && !known)
		judge_advice(incident, first);
	json_decref(root);
}

static void judge_silent(const struct incident *incident)
{
	const char *known = incident->miss ?: cgroups_v2() ? NULL : incident->miss_v1;
	int windows = (incidents_full() ? incident->windows_full : incident->windows) ?: 1, nr = 0;
	json_t *root = NULL, *findings, *row;
	bool silent = true;
	char what[64];
	size_t i;

	for (; silent && nr < windows; nr++) {
		json_decref(root);
		root = measure(nr ? 0 : real_ns(), NULL, NULL);
		findings = json_object_get(root, "findings");
		/* A report without findings has the note "no finding: ". */
		silent = json_is_array(findings) &&
			 (json_array_size(findings) || live_has_note(root, "no finding: "));
		json_array_foreach(findings, i, row) silent =
			silent && incident->spared &&
			strcmp(text_of(row, "victim"), incident->spared) != 0;
	}
	snprintf(what, sizeof(what), "no finding%s%s (%d windows)", incident->spared ? " of " : "",
		 incident->spared ?: "", nr);
	judged(silent, known, root, incident->name, what);
	json_decref(root);
}

static void judge(const struct incident *incident)
{
	static bool alone;
	const char *lacking = incident->lacking ? incident->lacking() : NULL;

	if (lacking) {
		live_skip(incident->name, "%s", lacking);
		return;
	}
	if (incident->alone != alone) {
		stream_stop();
		alone = incident->alone;
		incident_cpus(alone ? 1 : 2);
	}
	if (!incident->rule || !(incidents_full() || incident->attached))
		stream_start();
	incident_begin(incident);
	if (incident->rule)
		judge_named(incident);
	else
		judge_silent(incident);
	incident_end(incident);
}

/* True if option --test names the incident, or if @runs is true and option --test is missing. */
static bool selected(const struct incident *incident, bool runs)
{
	const char *only = getenv("SUBTICK_VM_ONLY");
	char padded[1024], word[128];

	if (!only || !*only)
		return runs;
	snprintf(padded, sizeof(padded), ",%s,", only);
	snprintf(word, sizeof(word), ",%s,", incident->name);
	return strstr(padded, word);
}

/* Runs the incidents of @list that are selected. Returns their number. */
static unsigned int judge_list(const struct incident *list, unsigned int nr, bool runs)
{
	unsigned int judged = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (selected(&list[i], runs)) {
			judge(&list[i]);
			judged++;
		}
	return judged;
}

int main(void)
{
	unsigned int nr;

	truth_begin(2);
	cgroups_open();
	setlinebuf(stdout);
	nr = judge_list(incidents, nr_incidents, true);
	nr += judge_list(full_incidents, nr_full_incidents, incidents_full());
	stream_stop();
	if (!nr)
		live_fail_all("no incident has the name %s", getenv("SUBTICK_VM_ONLY"));
	return live_done();
}
