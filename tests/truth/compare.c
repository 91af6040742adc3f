/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares two versions of subtick. Two exporters of each version measure the same events, attached
 * in the order subtick-old, subtick, subtick-old, subtick. Prints their counts for the schedules of
 * runq and judges the differences. A program sees an event after the programs that were attached
 * before it. Two exporters of one version differ by the time of the programs attached before them.
 * The two versions must not differ by more.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "runq_schedules.h"
#include "scrape.h"
#include "truth.h"

#define FIRST_PORT   7831
#define NR_EXPORTERS 4
#define INTERVAL_NS  NSEC_PER_SEC
#define AROUND_NS    (50 * NSEC_PER_MSEC)
#define SLEEPS	     1000
#define PERIOD_NS    NSEC_PER_MSEC
#define NR_FIGURES   96
/*
 * Allowed difference of any time per wait: less than half of one switch program. Two versions that
 * measure the lag of the run queue's clock at the same switches differ by 107 ns.
 */
#define PROGRAM_NS 150

static const struct runq_schedule *const schedules[] = {&runq_waits, &runq_preempt, &runq_share,
							&runq_quota, &runq_kthread};
#define NR_SCHEDULES (sizeof(schedules) / sizeof(schedules[0]))

/* An exporter, and its metrics page at the start and at the end. */
struct exporter {
	const char *name;
	struct measured measured;
	int port;
	char *begin, *end;
};

/* Growth of a counter in each exporter, summed over the series that differ in other labels. */
struct figure {
	char name[96];
	double grown[NR_EXPORTERS];
};

static void start(struct exporter *e, const char *name, const char *collect, int port)
{
	char address[32];
	const char *const args[] = {"serve", "--config",  "/dev/null", "--listen",
				    address, "--collect", collect,     NULL};

	*e = (struct exporter){.name = name, .port = port};
	snprintf(address, sizeof(address), "127.0.0.1:%d", port);
	setenv("SUBTICK", name, 1);
	measured_start(&e->measured, args);
	unsetenv("SUBTICK");
	scrape_wait(port);
}

/*
 * Ends a window of all exporters at the same time. SIGHUP makes an exporter read the clock. An
 * exporter that was stopped for longer than its interval immediately ends one window.
 */
static void align(struct exporter e[NR_EXPORTERS])
{
	static const int signals[] = {SIGCONT, SIGHUP};

	for (int i = 0; i < NR_EXPORTERS; i++)
		kill(e[i].measured.pid, SIGSTOP);
	live_sleep_ms(2 * INTERVAL_NS / NSEC_PER_MSEC + 500);
	for (int which = 0; which < 2; which++)
		for (int i = 0; i < NR_EXPORTERS; i++)
			kill(e[i].measured.pid, signals[which]);
	live_sleep_ms(400);
}

/* All tasks sleep before the first schedule begins, as in the test runq. */
static void run_schedules(void)
{
	struct {
		void *state;
		uint64_t begin_ns, end_ns;
	} runs[NR_SCHEDULES];
	uint64_t at = clock_mono_ns() + NSEC_PER_SEC;

	for (size_t i = 0; i < NR_SCHEDULES; i++) {
		runs[i].begin_ns = at + AROUND_NS;
		runs[i].state = schedules[i]->start(runs[i].begin_ns, &runs[i].end_ns);
		at = runs[i].end_ns + AROUND_NS;
	}
	for (size_t i = 0; i < NR_SCHEDULES; i++) {
		truth_sleep_until(runs[i].begin_ns - AROUND_NS / 2);
		if (schedules[i]->enter)
			schedules[i]->enter(runs[i].state);
		truth_sleep_until(runs[i].end_ns);
		if (schedules[i]->leave)
			schedules[i]->leave(runs[i].state);
	}
}

/* Sleeps and wakes up on an idle core, so each wait is an idle exit. */
static void sleeper_run(void *shared)
{
	const uint64_t *begin_ns = shared;

	for (int i = 0; i < SLEEPS; i++) {
		truth_sleep_until(*begin_ns + i * PERIOD_NS);
		truth_burn(20 * NSEC_PER_USEC);
	}
}

static pid_t run_sleeper(void)
{
	uint64_t *begin_ns = pinned_share(sizeof(*begin_ns));
	struct pinned_task task = {.cgroup = cgroups_make("sleeper"), .run = sleeper_run};
	pid_t pid;

	*begin_ns = clock_mono_ns() + NSEC_PER_SEC;
	pid = pinned_start(&task, begin_ns);
	truth_sleep_until(*begin_ns + (SLEEPS + 10) * PERIOD_NS);
	return pid;
}

/*
 * Copies the value of label @name from the line of a series, or "" if the series lacks the label.
 */
static void label_of(const char *line, const char *name, char *buf, size_t size)
{
	size_t len = strlen(name);

	buf[0] = '\0';
	for (const char *at = line; len && at < line + strcspn(line, "\n"); at++)
		if (!strncmp(at, name, len) && !strncmp(at + len, "=\"", 2))
			snprintf(buf, size, "%.*s", (int)strcspn(at + len + 2, "\""), at + len + 2);
}

/* Metric families to compare, each with the label that distinguishes its figures. */
static const struct {
	const char *family, *label;
} compared[] = {
	{"subtick_runqueue_latency_seconds_count", "cgroup"},
	{"subtick_runqueue_latency_seconds_sum", "cgroup"},
	{"subtick_runqueue_cause_seconds_total", "cause"},
	{"subtick_runqueue_blame_seconds_total", ""},
	{"subtick_cpu_seconds_total", "context"},
	{"subtick_softirq_runs_total", "vec"},
	{"subtick_softirq_seconds_total", "vec"},
	{"subtick_idle_wake_latency_seconds_count", ""},
	{"subtick_idle_wake_latency_seconds_sum", ""},
	{"subtick_losses_total", "kind"},
};

static struct figure *figure_of(struct figure *figures, const char *series)
{
	size_t family = strcspn(series, "{ ");
	char label[64], name[sizeof(figures->name)];

	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++) {
		if (strlen(compared[i].family) != family ||
		    strncmp(series, compared[i].family, family))
			continue;
		label_of(series, "cgroup", label, sizeof(label));
		/*
		 * Leaves out the root cgroup, because the exporters belong to it and run while the
		 * windows are ended one after another.
		 */
		if (!strcmp(label, "/"))
			return NULL;
		label_of(series, compared[i].label, label, sizeof(label));
		snprintf(name, sizeof(name), "%s %s", compared[i].family + strlen("subtick_"),
			 label);
		for (int n = 0; n < NR_FIGURES; n++, figures++) {
			if (!figures->name[0])
				snprintf(figures->name, sizeof(name), "%s", name);
			if (!strcmp(figures->name, name))
				return figures;
		}
		live_fail_all("more than %d figures", NR_FIGURES);
	}
	return NULL;
}

static void add_page(struct figure *figures, const struct exporter *e, int which)
{
	for (const char *line = e->end; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *end = line + strcspn(line, "\n"), *value = end;
		struct figure *figure = *line == '#' ? NULL : figure_of(figures, line);

		if (!figure)
			continue;
		while (*value != ' ')
			value--;
		figure->grown[which] += strtod(value, NULL) -
					scrape_value(e->begin, "%.*s", (int)(value - line), line);
	}
}

/*
 * Difference between the versions. The mean of exporters 1 and 3 is compared with exporter 2, and
 * the mean of exporters 2 and 4 with exporter 3. A difference that grows with the order of
 * attachment cancels.
 */
static double difference(const double grown[NR_EXPORTERS])
{
	return (grown[1] - (grown[0] + grown[2]) / 2.0 + (grown[1] + grown[3]) / 2.0 - grown[2]) /
	       2.0;
}

/* True if the figure is a number of events, false if it is a time. */
static bool is_number(const char *name)
{
	return strstr(name, "_count") || strstr(name, "_runs_") || strstr(name, "losses");
}

static void judge(const char *collect, const struct figure *figures)
{
	double waits = 0.0, largest = 0.0;
	const char *what = "";

	for (int i = 0; i < NR_FIGURES && figures[i].name[0]; i++) {
		const double *grown = figures[i].grown, shift = fabs(difference(grown));

		live_note("%s: %s: %.9g %.9g %.9g %.9g, version %+.9f", collect, figures[i].name,
			  grown[0], grown[1], grown[2], grown[3], difference(grown));
		if (is_number(figures[i].name)) {
			live_ok(grown[0] == grown[1] && grown[1] == grown[2] &&
					grown[2] == grown[3],
				"%s: all count the same %s: %.0f", collect, figures[i].name,
				grown[0]);
		} else if (shift > largest) {
			largest = shift;
			what = figures[i].name;
		}
		if (!strncmp(figures[i].name, "runqueue_latency_seconds_count",
			     strlen("runqueue_latency_seconds_count")))
			waits += grown[0];
	}
	live_ok(waits > 1000 && largest * 1e9 <= waits * PROGRAM_NS,
		"%s: the versions differ by at most %d ns for each of %.0f waits: %.0f ns (%s)",
		collect, PROGRAM_NS, waits, largest * 1e9 / waits, what);
}

static void compare(const char *collect, int port)
{
	static const char *const names[NR_EXPORTERS] = {"subtick-old", "subtick", "subtick-old",
							"subtick"};
	struct figure figures[NR_FIGURES] = {0};
	struct exporter e[NR_EXPORTERS];
	char output[4096];
	pid_t sleeper;

	for (int i = 0; i < NR_EXPORTERS; i++)
		start(&e[i], names[i], collect, port + i);
	/* The last exporter listens before its first window begins. */
	live_sleep_ms(3 * INTERVAL_NS / NSEC_PER_MSEC);
	align(e);
	for (int i = 0; i < NR_EXPORTERS; i++)
		e[i].begin = scrape(e[i].port, "/metrics");
	run_schedules();
	sleeper = run_sleeper();
	align(e);
	for (int i = 0; i < NR_EXPORTERS; i++)
		e[i].end = scrape(e[i].port, "/metrics");
	for (int i = 0; i < NR_EXPORTERS; i++) {
		live_stop(e[i].measured.pid, SIGTERM, e[i].measured.fd, output, sizeof(output));
		add_page(figures, &e[i], i);
		free(e[i].begin);
		free(e[i].end);
	}
	live_note("%s: the kernel's run_delay of the sleeper is %llu ns", collect,
		  (unsigned long long)pinned_schedstat(sleeper).waited_ns);
	judge(collect, figures);
}

int main(void)
{
	truth_begin(1);
	cgroups_open();
	compare("load,runq,wake", FIRST_PORT);
	compare("runq", FIRST_PORT + NR_EXPORTERS);
	return live_done();
}
