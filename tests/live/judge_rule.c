/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* judge() with scripted tries: the result of each sequence of good, bad and disturbed tries. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge.h"
#include "live.h"

/*
 * One letter per try: g good figure, b bad figure, i broken invariant, c wrong count, u cannot be
 * judged. An upper-case letter means that the try was disturbed.
 */
struct script {
	const char *tries;
	int at;
};

static void measure(void *arg, struct verdict *verdict)
{
	struct script *script = arg;
	char letter = script->tries[script->at];

	if (!letter) {
		live_note("one try too many");
		_exit(3);
	}
	script->at++;
	if (tolower(letter) == 'u')
		verdict_unknown(verdict, "no means", "the figure");
	else
		verdict_figure(verdict, tolower(letter) != 'b', "the figure");
	verdict_count(verdict, tolower(letter) != 'c', "the count");
	verdict_always(verdict, tolower(letter) != 'i', "the invariant");
}

static bool witness(void *arg, char *why, size_t size)
{
	const struct script *script = arg;

	snprintf(why, size, "somebody else");
	return isupper(script->tries[script->at - 1]);
}

/*
 * Runs a test with this script. Returns the exit code of the test, its output and the number of
 * tries.
 */
static int play(const char *tries, bool emulated, char *text, size_t size, int *ret_tries)
{
	int pipes[2], status = 0;
	size_t len = 0;
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	if (pipe(pipes))
		abort();
	pid = fork();
	if (!pid) {
		struct script script = {.tries = tries};
		struct judge_opts opts = {
			.measure = measure, .arg = &script, .fake_witness = witness};

		dup2(pipes[1], STDOUT_FILENO);
		if (emulated)
			setenv("SUBTICK_EMULATED", "1", 1);
		else
			unsetenv("SUBTICK_EMULATED");
		judge(&opts);
		printf("tries=%d\n", script.at);
		exit(live_done());
	}
	close(pipes[1]);
	while (len < size - 1 && (got = read(pipes[0], text + len, size - 1 - len)) > 0)
		len += got;
	text[len] = '\0';
	close(pipes[0]);
	waitpid(pid, &status, 0);
	*ret_tries = strstr(text, "tries=") ? atoi(strstr(text, "tries=") + 6) : -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Result of the line with @claim: "ok", "not ok" or the reason of a skip. */
static const char *result_of(const char *text, const char *claim)
{
	static char result[300];
	char line[600];

	for (const char *at = text; at && *at;
	     at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		if (line[0] == '#' || !strstr(line, claim))
			continue;
		if (strstr(line, "# SKIP "))
			snprintf(result, sizeof(result), "%s", strstr(line, "# SKIP ") + 7);
		else
			snprintf(result, sizeof(result), "%s", line[0] == 'n' ? "not ok" : "ok");
		return result;
	}
	return "no line";
}

static const struct {
	const char *tries;
	bool emulated;
	int took;
	const char *figure, *count, *invariant;
	const char *says;
} cases[] = {
	{"g", false, 1, "ok", "ok", "ok", "good at once"},
	{"G", false, 1, "ok", "ok", "ok",
	 "good at once, though disturbed: nobody has chosen the try"},
	{"b", false, 1, "not ok", "ok", "ok", "bad and undisturbed fails at the first try"},
	{"Bg", false, 2, "ok", "ok", "ok", "bad and disturbed, then good"},
	{"Bb", false, 2, "not ok", "ok", "ok", "bad and disturbed, then bad and undisturbed"},
	{"BGg", false, 3, "ok", "ok", "ok", "a disturbed try does not decide by being good"},
	{"BGb", false, 3, "not ok", "ok", "ok", "nor does it hide the bad one after it"},
	{"BBBBBB", false, 6, "not judged: no undisturbed try: somebody else", "ok", "ok",
	 "disturbed all the time: not judged"},
	{"BGGGGG", false, 6, "not judged: no undisturbed try: somebody else", "ok", "ok",
	 "never green by luck"},
	{"i", false, 1, "ok", "ok", "not ok", "a broken invariant fails"},
	{"I", false, 1, "ok", "ok", "not ok", "and no disturbance excuses it"},
	{"BI", false, 2, "not judged: no undisturbed try: somebody else", "ok", "not ok",
	 "nor that an earlier try kept it"},
	{"u", false, 1, "not judged: no means", "ok", "ok", "no means to judge: not judged"},
	{"g", true, 1, "ran, not judged: emulated", "ok", "ok",
	 "emulated: good is not judged either"},
	{"b", true, 1, "ran, not judged: emulated", "ok", "ok", "emulated: bad, once, not judged"},
	{"i", true, 1, "ran, not judged: emulated", "ok", "not ok",
	 "emulated: invariants are judged"},
	{"c", false, 1, "ok", "not ok", "ok", "a wrong count fails"},
	{"Cg", false, 2, "ok", "ok", "ok", "a wrong count in a disturbed try does not"},
	{"c", true, 1, "ran, not judged: emulated", "not ok", "ok", "emulated: counts are judged"},
	{"Cc", true, 2, "ran, not judged: emulated", "not ok", "ok", "emulated: by the same rule"},
	{"CCg", true, 3, "ran, not judged: emulated", "ok", "ok", "emulated: undisturbed tries"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[8192], figure[300], count[300], invariant[300];
		int took, code = play(cases[i].tries, cases[i].emulated, text, sizeof(text), &took);
		bool fails = !strcmp(cases[i].figure, "not ok") ||
			     !strcmp(cases[i].count, "not ok") ||
			     !strcmp(cases[i].invariant, "not ok");

		snprintf(figure, sizeof(figure), "%s", result_of(text, "the figure"));
		snprintf(count, sizeof(count), "%s", result_of(text, "the count"));
		snprintf(invariant, sizeof(invariant), "%s", result_of(text, "the invariant"));
		live_ok(took == cases[i].took && code == fails &&
				!strcmp(figure, cases[i].figure) &&
				!strcmp(count, cases[i].count) &&
				!strcmp(invariant, cases[i].invariant),
			"%s (%s): %d tries, \"%s\", \"%s\", \"%s\", exit code %d", cases[i].says,
			cases[i].tries, took, figure, count, invariant, code);
		/* The output has each try that was ignored, with its disturbance. */
		if (cases[i].took > 1)
			live_ok(strstr(text, "# try 1 of 6 was disturbed: somebody else") &&
					strstr(text, "#   not so: the "),
				"%s: the attempt is printed", cases[i].tries);
	}
	return live_done();
}
