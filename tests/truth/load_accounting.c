/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares busy time and task time of `subtick load` with the kernel's idle time and the kernel's
 * run times of tasks.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "duty.h"
#include "live.h"
#include "host/file.h"
#include "truth.h"

#define MEASURED  1   /* number of the measured CPU */
#define WINDOW_MS 100 /* minimum window length; a window also has at least PERIODS periods */
#define PERIODS	  5
#define LONG_MS	  5000
#define BOUND	  0.001 /* allowed difference between two CPU time shares: 0.1 percentage points */
/*
 * allowed difference between the two uncorrected busy shares, if the correction by BETWEEN_* is at
 * most BOUND
 */
#define RAW_BOUND 0.003
/*
 * Largest difference between the sum of a core's contexts and the window, as share of the window.
 * An interrupt between the read of the clock and the read of the counters makes the sum differ from
 * the window.
 */
#define CLOSURE	  1e-3
/*
 * Number of instructions per idle period that the kernel counts as idle time and subtick as busy
 * time. The kernel's idle time lasts from the start of the idle loop to the first interrupt after
 * the halt. Subtick's idle time begins just before the halt.
 */
#define BETWEEN_ARM64 605
#define BETWEEN_X86   145

struct sources {
	struct subtick *bpf, *sched, *tasks;
};

struct accounting {
	struct live_split split;
	double not_idle; /* busy share of the window: 1 minus the share of the kernel's idle time */
	double sched, tasks;
	uint64_t cycles;
};

static uint64_t field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		live_fail_all("/proc/timer_list has no %s", name);
	return strtoull(strchr(at, ':') + 1, NULL, 10);
}

/*
 * Returns the kernel's idle time of @cpu. The caller runs on @cpu, so no idle period is open and
 * the returned idle time is complete.
 */
static uint64_t idle_ns(int cpu)
{
	static char text[1 << 18];
	char name[24];
	const char *at;

	if (sys_read_file(NULL, "/proc/timer_list", text, sizeof(text)) < 0)
		live_fail_all("/proc/timer_list cannot be read");
	snprintf(name, sizeof(name), "\ncpu: %d\n", cpu);
	at = strstr(text, name);
	if (!at)
		live_fail_all("/proc/timer_list has no CPU %d", cpu);
	return field(at, ".idle_sleeptime") + field(at, ".iowait_sleeptime");
}

static void update(const struct sources *s)
{
	/* Sleep, because the kernel accounts a task's run time when the task leaves the core. */
	truth_sleep_until(clock_mono_ns() + 20 * NSEC_PER_USEC);
	live_update(s->sched);
	live_update(s->tasks);
	live_update(s->bpf);
}

static void measure(const struct sources *s, const struct truth_duty_opts *opts,
		    struct accounting *ret_accounting)
{
	struct gen_child child = {0};
	const struct truth_duty *load = truth_duty_start(opts, &child);
	unsigned int window_ms = PERIODS * (unsigned int)(opts->period_ns / NSEC_PER_MSEC);
	struct live_split other;
	uint64_t idle, cycles;

	/*
	 * Read subtick's sources and the kernel's idle time in the same order at both ends of the
	 * window, so that the delays between the reads cancel.
	 */
	live_sleep_ms(50);
	cycles = load->cycles;
	update(s);
	idle = idle_ns(opts->cpu);
	live_sleep_ms(window_ms > WINDOW_MS ? window_ms : WINDOW_MS);
	ret_accounting->cycles = load->cycles - cycles;
	update(s);
	idle = idle_ns(opts->cpu) - idle;
	gen_child_stop(&child);
	live_split(s->bpf, opts->cpu, &ret_accounting->split);
	live_split(s->sched, opts->cpu, &other);
	ret_accounting->sched = other.busy;
	live_split(s->tasks, opts->cpu, &other);
	ret_accounting->tasks = other.busy;
	ret_accounting->not_idle = 1.0 - (double)idle / (double)ret_accounting->split.window_ns;
}

static void check_point(const struct sources *s, const struct truth_duty_opts *opts,
			unsigned int between)
{
	struct live_split *split;
	double more, known, tasks, rest;
	struct accounting b;
	char what[80];

	measure(s, opts, &b);
	split = &b.split;
	snprintf(what, sizeof(what), "duty %.0f %% of %.1f ms, %s", opts->duty * 100.0,
		 (double)opts->period_ns / 1e6, opts->locked ? "with the tick" : "at random");
	more = split->busy - b.not_idle;
	known = (double)(b.cycles * between * truth_instruction_ns()) / (double)split->window_ns;
	live_ok(fabs(more - known) <= BOUND && (known > BOUND || fabs(more) <= RAW_BOUND),
		"%s: busy %.3f %%, by the kernel's idle time %.3f %%: %.3f points more, of which "
		"%llu idle cycles explain %.3f",
		what, split->busy * 100.0, b.not_idle * 100.0, more * 100.0,
		(unsigned long long)b.cycles, known * 100.0);
	/*
	 * If a task wakes up on an idle core, the scheduler charges the task from the start of the
	 * interrupt that woke the core. The scheduler also charges each interrupt to the
	 * interrupted task.
	 */
	tasks = split->task + split->softirq_on_task + split->ksoftirqd;
	rest = split->hardirq + split->softirq_on_idle + split->idle_loop;
	live_ok(b.sched >= tasks - BOUND && b.sched <= tasks + rest + BOUND &&
			b.tasks >= tasks - BOUND && b.tasks <= tasks + split->hardirq + BOUND,
		"%s: tasks %.3f %%, by schedstat %.3f %%, by task clocks %.3f %%, interrupts and "
		"idle loop %.3f %%",
		what, tasks * 100.0, b.sched * 100.0, b.tasks * 100.0, rest * 100.0);
	if (split->closure_error > CLOSURE || split->flags)
		live_ok(false, "%s: closure error %.7f, flags %#x", what, split->closure_error,
			(unsigned int)split->flags);
}

/* Checks source procidle, which reads idle times from /proc/stat in units of 10 ms. */
static void check_procidle(void)
{
	struct truth_duty_opts opts = {
		.cpu = MEASURED, .duty = 0.05, .period_ns = 20 * NSEC_PER_MSEC};
	struct subtick *load = live_source("procidle", true);
	struct gen_child child = {0};
	struct live_split split;
	double not_idle, unit;
	uint64_t idle;

	truth_duty_start(&opts, &child);
	live_sleep_ms(50);
	live_update(load);
	idle = idle_ns(MEASURED);
	live_sleep_ms(LONG_MS);
	live_update(load);
	idle = idle_ns(MEASURED) - idle;
	gen_child_stop(&child);
	live_split(load, MEASURED, &split);
	not_idle = 1.0 - (double)idle / (double)split.window_ns;
	unit = 10.0 * NSEC_PER_MSEC / (double)split.window_ns;
	live_ok(fabs(split.busy - not_idle) <= unit + BOUND,
		"procidle: busy %.3f %%, by the kernel's idle time %.3f %%, and a unit is %.3f %%",
		split.busy * 100.0, not_idle * 100.0, unit * 100.0);
	subtick_close(load);
}

int main(void)
{
	static const double duties[] = {0.01, 0.30, 0.70, 0.99};
	static const uint64_t periods_us[] = {100, 1000, 4000, 20000};
	unsigned int between;
	struct utsname name;
	struct sources s;

	truth_begin(2);
	uname(&name);
	between = strcmp(name.machine, "aarch64") ? BETWEEN_X86 : BETWEEN_ARM64;
	/* Run on the measured core, because QEMU runs only one of two busy processors at a time. */
	live_pin(MEASURED);
	truth_urgent();
	s.bpf = live_source("bpf", true);
	s.sched = live_source("schedstat", true);
	s.tasks = live_source("taskclock", true);
	for (int p = 0; p < 4; p++)
		for (int d = 0; d < 4; d++) {
			struct truth_duty_opts opts = {
				.cpu = MEASURED,
				.duty = duties[d],
				.period_ns = periods_us[p] * NSEC_PER_USEC,
				.locked = (p + d) % 2,
			};

			check_point(&s, &opts, between);
		}
	check_procidle();
	subtick_close(s.tasks);
	subtick_close(s.sched);
	subtick_close(s.bpf);
	return live_done();
}
