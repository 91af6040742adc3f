/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads randomly damaged files of earlier runs, as `audit --resume` and `wake --against` do. */
#include "report_rows.h"

#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/audit_rows.h"
#include "report/report.h"
#include "view/svg/plots.h"

#define ROUNDS 1000

static uint32_t random_state = 1;

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* Text values that often cause errors in parsers and in divisions. */
static const char *const words[] = {"0",    "-1",   "1e308", "-1e-308", "9007199254740993", "18446744073709551615",
				    "null", "true", "\"\"",  "[]",	"{}",		    "\"\\u001b[2J\"",
				    "[{}]", "1.5",  ",",     "\"delays\""};

/* Replaces the value after a random colon, mostly by another valid JSON value. */
static char *replace_value(const char *text)
{
	const char *at = text + next_random() % strlen(text), *end;
	char *out;

	at = strchr(at, ':') ?: strchr(text, ':');
	end = at + 1 + strcspn(at + 1, ",}]");
	if (asprintf(&out, "%.*s%s%s", (int)(at + 1 - text), text,
		     words[next_random() % (sizeof(words) / sizeof(words[0]))], end) < 0)
		fail();
	return out;
}

static char *damage(const char *text)
{
	size_t len = strlen(text), at = next_random() % len, more = next_random() % 40;
	char *out;

	if (at + more > len)
		more = len - at;
	switch (next_random() % 3) {
	case 0:
		out = strdup(text);
		out[at] = (char)(1 + next_random() % 255);
		return out;
	case 1:
		if (asprintf(&out, "%.*s%s", (int)at, text, text + at + more) < 0)
			fail();
		return out;
	default:
		if (asprintf(&out, "%.*s%s", (int)(at + more), text, text + at) < 0)
			fail();
		return out;
	}
}

static char *mutated(const char *text)
{
	char *out = strdup(text), *next;

	for (uint32_t nr = 1 + next_random() % 4; nr && *out; nr--) {
		next = next_random() % 3 ? replace_value(out) : damage(out);
		free(out);
		out = next;
		if (!strchr(out, ':'))
			break;
	}
	return out;
}

/* Checks that a report of the rows from audit_rows_resume() can be written and read again. */
static void check_rows(const struct audit_rows *rows, const struct audit_opts *opts)
{
	struct audit_findings findings = {.user_hz = 100};
	struct audit_delays delays = {.rows = rows->earlier, .nr = opts->nr_earlier, .truth = "bpf"};
	struct report *report, *again;
	char *text;
	size_t used;

	for (size_t i = 0; i < delays.nr; i++)
		audit_delay_derive(&delays.rows[i]);
	assert_int_equal(audit_delays_report(opts, &findings, &delays, false, &report, NULL), 0);
	text = text_of((struct view){.format = VIEW_JSON}, report);
	assert_int_equal(report_read_json(text, strlen(text), &again, &used, NULL), 0);
	report_free(again);
	report_free(report);
	free(text);
}

TEST(test_resume)
{
	struct audit_opts opts = {.iterations = 1000};
	struct audit_findings findings = {.user_hz = 100};
	struct audit_delay rows[3] = {
		{.complete = true, .iterations = 1000, .real_ns = 1000000, .rusage_user_ns = 500000},
		{.complete = true, .delay_ns = 1000, .iterations = 1000, .real_ns = 60000000},
		{.delay_ns = 20000, .iterations = 500, .real_ns = 1},
	};
	struct audit_delays delays;
	struct report *report;
	char *text, path[64];
	size_t accepted = 0;
	int fd = memfd_create("resume", MFD_CLOEXEC);

	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	audit_delays_plan(&opts, &delays);
	delays.rows = rows;
	delays.nr = 3;
	assert_int_equal(audit_delays_report(&opts, &findings, &delays, false, &report, NULL), 0);
	text = text_of((struct view){.format = VIEW_JSON}, report);
	report_free(report);
	for (int i = 0; i <= ROUNDS; i++) {
		/* The file is undamaged in round 0, and is damaged in all other rounds. */
		char *changed = i ? mutated(text) : strdup(text);
		struct audit_rows resumed = {.resume = path};
		struct audit_opts with = opts;
		struct err err = {0};

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, changed, strlen(changed), 0), strlen(changed));
		if (!audit_rows_resume(&resumed, &with, &err)) {
			check_rows(&resumed, &with);
			accepted++;
		} else {
			assert_true(i && err.code < 0 && strstr(err.what, "--resume"));
		}
		audit_rows_free(&resumed);
		free(changed);
	}
	/*
	 * At least 5 % of the damaged files must be accepted, else the code after the parser is not
	 * tested.
	 */
	assert_true(accepted > ROUNDS / 20);
	close(fd);
	free(text);
}

#define POINT(cpu, distance, latency, state)                                                       \
	"{\"point\":0,\"cpu\":" #cpu ",\"source\":\"timer\",\"launch_ns\":16135809754280,"          \
	"\"distance_ns\":" #distance ",\"silent_ns\":" #distance ",\"latency_ns\":" #latency                 \
	",\"irq_ns\":14296,\"timer_ns\":19229,\"switch_ns\":null,\"user_ns\":186719,\"index\":1,"   \
	"\"name\":\"" state "\",\"order\":1,\"rejected\":null,\"forced\":null,\"entered\":null,"    \
	"\"package_slept\":null}"

TEST(test_against)
{
	static const char text[] =
		"{\"schema\":\"subtick.wake.points/1\",\"time_unix_ns\":1,\"window_ns\":2,\"source\":null,"
		"\"machine\":{\"host\":\"vm\",\"kernel\":\"6.18\",\"arch\":\"aarch64\",\"cpu_model\":\"x\","
		"\"microcode\":null},\"points\":[" POINT(0, 1000000, 3000, "C1") ","
		POINT(0, 2000000, 90000, "C6") "," POINT(1, 3000000, 4000, "C1")
		"],\"distribution\":[{\"cpu\":0,\"le_ns\":5000,\"count\":2},"
		"{\"cpu\":0,\"le_ns\":100000,\"count\":1}],\"quality\":{},\"notes\":[]}";
	struct report *points, *earlier;
	size_t used, drawn = 0;

	assert_int_equal(report_read_json(text, strlen(text), &points, &used, NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		char *changed = mutated(text), *svg = NULL;
		size_t size;
		FILE *out;

		if (report_read_json(changed, strlen(changed), &earlier, &used, NULL)) {
			free(changed);
			continue;
		}
		out = open_memstream(&svg, &size);
		if (!strcmp(earlier->command, "wake.points") && report_find(earlier, "points"))
			drawn += !wake_plot(out, points, earlier);
		fclose(out);
		assert_null(strstr(svg, "nan"));
		assert_null(strstr(svg, "inf\""));
		free(svg);
		report_free(earlier);
		free(changed);
	}
	assert_true(drawn > ROUNDS / 20);
	report_free(points);
}

TEST_MAIN()
