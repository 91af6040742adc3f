/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the counters of the exporter before, between and after two known bursts of waits with
 * the output of `subtick load` and `subtick runq`.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cgroups.h"
#include "hog.h"
#include "live.h"
#include "measured.h"
#include "scrape.h"
#include "truth.h"
#include "waits.h"

#define PORT	  7828
#define LE	  "100us,1ms,2ms,3ms"
#define ROUNDS_A  8
#define ROUNDS_B  16
#define PERIOD_NS (10 * NSEC_PER_MSEC)
/*
 * A time slightly longer than a window of the exporter, after which the counters have been updated.
 */
#define SETTLE_MS 400
/*
 * Allowed difference per switch. The kernel accounts run times at a run-queue clock update, and
 * subtick at the tracepoint of the switch, less than 1000 instructions later. Each round has three
 * switches, and other tasks add at most OTHERS switches.
 */
#define SWITCH_NS 1000
#define OTHERS	  60

static const char *const serve_args[] = {
	"serve", "--listen", "127.0.0.1:7828", "--interval", "0.2s",
	"--le",	 LE,	     "--collect",      "load,runq",  NULL};
static const char *const load_args[] = {"load", "--json", "-C", "1", "0.1", "45", NULL};
static const char *const runq_args[] = {"runq", "--json", "--blame", "--le", LE, "4.5", "1", NULL};

/* A metrics page of the exporter and the kernel's accounting, read at the same point in time. */
struct snapshot {
	char *text;
	uint64_t ran_ns; /* run time of tasks on CPU 1, by the kernel's accounting */
};

static uint64_t cpu_ran_ns(int cpu)
{
	char line[512], name[16];
	uint64_t ran = 0;
	FILE *file = fopen("/proc/schedstat", "re");

	snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line, "%*s %*u %*u %*u %*u %*u %*u %" SCNu64, &ran) != 1)
			ran = 0;
	if (!file || !ran)
		live_fail_all("the kernel has no accounting of CPU %d", cpu);
	fclose(file);
	return ran;
}

/* Takes a snapshot of all counters while CPU 1 is idle. */
static struct snapshot look(void)
{
	return (struct snapshot){.text = scrape(PORT, "/metrics"), .ran_ns = cpu_ran_ns(1)};
}

static double context_ns(const struct snapshot *m, const char *context)
{
	return 1e9 * scrape_value(m->text, "subtick_cpu_seconds_total{cpu=\"1\",context=\"%s\"}",
				  context);
}

static double contexts_ns(const struct snapshot *m)
{
	static const char *const contexts[] = {
		"task",	     "hardirq", "softirq_on_idle", "softirq_on_task", "ksoftirqd",
		"idle_loop", "steal",	"unknown",	   "poll_idle",	      "idle"};
	double sum = 0.0;

	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++)
		sum += context_ns(m, contexts[i]);
	return sum;
}

static double updated_ns(const struct snapshot *m, const char *collector)
{
	return 1e9 * scrape_value(m->text,
				  "subtick_collector_last_update_seconds{collector=\"%s\"}",
				  collector);
}

static double waits_of(const struct snapshot *m, const char *what, const char *cgroup)
{
	return scrape_value(m->text, "subtick_runqueue_latency_seconds_%s{cgroup=\"%s\"}", what,
			    cgroup);
}

static double cause_ns(const struct snapshot *m, const char *cause, const char *cgroup)
{
	return 1e9 *
	       scrape_value(m->text,
			    "subtick_runqueue_cause_seconds_total{cgroup=\"%s\",cause=\"%s\"}",
			    cgroup, cause);
}

static double blame_ns(const struct snapshot *m, const struct hog *b)
{
	return 1e9 *
	       scrape_value(m->text,
			    "subtick_runqueue_blame_seconds_total{victim=\"%s\",culprit=\"%s\"}",
			    b->victim, b->hog);
}

static struct hog *burst(const char *hog, const char *victim, int rounds, uint64_t begin_ns)
{
	struct hog *b = hog_make();

	b->hog = hog;
	b->victim = victim;
	b->cpu = 1;
	b->rounds = rounds;
	b->begin_ns = begin_ns;
	b->period_ns = PERIOD_NS;
	/* Busy times are chosen so that no wait is close to a histogram boundary. */
	for (int i = 0; i < rounds; i++)
		b->burn_ns[i] = (i % 4 * 1000 + 500) * NSEC_PER_USEC;
	hog_start(b);
	return b;
}

/*
 * Compares the counter increments of one burst with the timestamps of its tasks and with the
 * kernel's accounting.
 */
static void judge_burst(const char *name, const struct hog *b, const struct snapshot *was,
			const struct snapshot *now)
{
	double count = waits_of(now, "count", b->victim) - waits_of(was, "count", b->victim);
	double sum = 1e9 * (waits_of(now, "sum", b->victim) - waits_of(was, "sum", b->victim));
	double cause =
		cause_ns(now, "other_group", b->victim) - cause_ns(was, "other_group", b->victim);
	double task = context_ns(now, "task") - context_ns(was, "task");
	double irq = context_ns(now, "hardirq") - context_ns(was, "hardirq") +
		     context_ns(now, "softirq_on_task") - context_ns(was, "softirq_on_task");
	double ran = (double)(now->ran_ns - was->ran_ns);
	double edges = SWITCH_NS * (3.0 * b->rounds + OTHERS);
	struct wait_known waits[HOG_MAX];
	uint64_t low, high;

	hog_victim_waits(b, waits);
	low = waits_low(waits, b->rounds);
	high = waits_high(waits, b->rounds);
	live_ok(count == b->rounds, "%s: %.0f waits, %d by the schedule", name, count, b->rounds);
	live_ok(sum >= (double)low && sum <= (double)high,
		"%s: %.0f ns waited, by stamps %llu to %llu", name, sum, (unsigned long long)low,
		(unsigned long long)high);
	live_ok(fabs(blame_ns(now, b) - blame_ns(was, b) - sum) < 1.0 && fabs(cause - sum) < 1.0,
		"%s: all of it behind another group, blamed on the hog", name);
	/* The kernel's accounting charges interrupt time to the interrupted task. */
	live_ok(ran >= task - edges && ran <= task + irq + edges,
		"%s: tasks had CPU 1 for %.0f ns, interrupts for %.0f; %.0f by the kernel's "
		"accounting",
		name, task, irq, ran);
}

static void judge_runq(const struct hog *b, const struct snapshot *was, const struct snapshot *now,
		       json_t *root)
{
	json_t *group = measured_group(root, b->victim), *le = json_object_get(group, "le"), *row;
	double count = waits_of(now, "count", b->victim) - waits_of(was, "count", b->victim);
	double sum = 1e9 * (waits_of(now, "sum", b->victim) - waits_of(was, "sum", b->victim));
	double allowed = 2.0 * SWITCH_NS * (3.0 * count / 16 + 1);
	static const char *const edges[] = {"0.0001", "0.001", "0.002", "0.003"};
	size_t i, right = 0;
	char what[64];

	live_ok(live_number(group, "count") == count, "runq: %.0f waits, %.0f by the command",
		count, live_number(group, "count"));
	/*
	 * At one of 16 switches, each BPF program of subtick reads CLOCK_MONOTONIC instead of the
	 * run-queue clock.
	 */
	live_ok(fabs(live_number(group, "sum_ns") - sum) <= allowed,
		"runq: %.0f ns waited, %.0f by the command, allowed %.0f", sum,
		live_number(group, "sum_ns"), allowed);
	json_array_foreach(le, i, row)
	{
		if (i >= sizeof(edges) / sizeof(edges[0]))
			break;
		snprintf(what, sizeof(what), "subtick_runqueue_latency_seconds_bucket");
		right += live_number(row, "count") ==
			 scrape_value(now->text, "%s{cgroup=\"%s\",le=\"%s\"}", what, b->victim,
				      edges[i]) -
				 scrape_value(was->text, "%s{cgroup=\"%s\",le=\"%s\"}", what,
					      b->victim, edges[i]);
	}
	live_ok(right == 4, "runq: %zu of 4 buckets hold as many as the command's", right);
}

/*
 * Compares the task time of the exporter with the windows of `subtick load`. The first and the last
 * window of `subtick load` lie only partly between @was and @now. The task time of these windows
 * between @was and @now is unknown.
 */
static void judge_load(const struct snapshot *was, const struct snapshot *now, json_t *lines)
{
	double task = context_ns(now, "task") - context_ns(was, "task"), inside = 0.0, ends = 0.0;
	double from = updated_ns(was, "load"), to = updated_ns(now, "load"), length, ran;
	json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		double end = live_number(line, "time_unix_ns");

		length = live_number(line, "window_ns");
		ran = live_number(line, "cpus.0.task_ratio") * length;
		if (end - length >= from && end <= to)
			inside += ran;
		else if (end > from && end - length < to)
			ends += ran;
	}
	live_ok(task >= inside * 0.998 && task <= (inside + ends) * 1.002,
		"load: tasks had CPU 1 for %.0f ns, by the command for %.0f and up to %.0f at the "
		"ends",
		task, inside, ends);
	/* A double resolves the time of day to a quarter of a microsecond. */
	length = contexts_ns(now) - contexts_ns(was);
	live_ok(fabs(length - (to - from)) <= 5000.0,
		"load: the contexts of CPU 1 sum to %.0f ns, the windows to %.0f", length,
		to - from);
}

/* Sets the clock of the guest. No counter of the exporter may decrease or disappear. */
static void judge_step(int seconds)
{
	char *was = scrape(PORT, "/metrics"), *now;
	struct timespec wall;
	size_t fell, nr;

	clock_gettime(CLOCK_REALTIME, &wall);
	wall.tv_sec += seconds;
	if (clock_settime(CLOCK_REALTIME, &wall))
		live_fail_all("cannot set the clock of the guest: %s", strerror(errno));
	live_sleep_ms(SETTLE_MS);
	now = scrape(PORT, "/metrics");
	fell = scrape_fell(was, now, &nr);
	live_ok(nr > 50 && !fell, "the clock is set by %+d s: %zu of %zu counters fell", seconds,
		fell, nr);
	free(was);
	free(now);
}

int main(void)
{
	struct measured serve, load, runq;
	struct snapshot before, between, after;
	json_t *load_lines, *runq_root;
	struct hog *a, *b;
	const char *hog, *victim;
	char output[4096];
	uint64_t begin;

	truth_begin(2);
	cgroups_open();
	hog = cgroups_make("hog");
	victim = cgroups_make("victim");
	measured_start(&serve, serve_args);
	scrape_wait(PORT);
	begin = clock_mono_ns() + 2 * MEASURED_LEAD_NS;
	a = burst(hog, victim, ROUNDS_A, begin);
	b = burst(hog, victim, ROUNDS_B, begin + NSEC_PER_SEC);
	measured_start(&load, load_args);
	measured_start(&runq, runq_args);
	truth_sleep_until(begin - 100 * NSEC_PER_MSEC);
	before = look();
	truth_sleep_until(hog_end_ns(a));
	live_sleep_ms(SETTLE_MS);
	between = look();
	truth_sleep_until(hog_end_ns(b));
	live_sleep_ms(SETTLE_MS);
	after = look();
	load_lines = measured_lines(&load);
	runq_root = measured_end(&runq, begin, hog_end_ns(b));
	judge_step(-3);
	judge_step(3700);
	judge_step(-7200);
	live_stop(serve.pid, SIGTERM, serve.fd, output, sizeof(output));
	judge_burst("first burst", a, &before, &between);
	judge_burst("second burst", b, &between, &after);
	judge_runq(b, &before, &after, runq_root);
	judge_load(&before, &after, load_lines);
	hog_stop(a);
	hog_stop(b);
	return live_done();
}
