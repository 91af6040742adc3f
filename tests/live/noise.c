/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares `subtick noise` with the kernel's interrupt counts. Checks which tasks `subtick noise`
 * reports as interrupted, and that the reported times sum to the length of the window.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "gen/loads.h"
#include "interrupts.h"
#include "judge.h"
#include "live.h"
#include "measure/noise/noise.h"
#include "runq_window.h"

#define READS 20

static struct interrupts_around around;

/* Keeps its core busy, so that every interrupt of the core interrupts this task. */
static void spin(void *shared, void *arg)
{
	for (;;)
		;
}

static uint64_t sum_of_hits(const struct noise_window *w, enum noise_class class)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->nr_hits; i++)
		count += w->hits[i].count[class];
	return count;
}

static void say_hits(const char *what, uint64_t count, uint64_t hits, bool softirqs)
{
	uint64_t apart = interrupts_between_tables(&around, softirqs);

	live_ok(count <= hits + apart && hits <= count + apart,
		"%llu %s hit %llu times, up to %llu came between two readings",
		(unsigned long long)count, what, (unsigned long long)hits,
		(unsigned long long)apart);
}

/*
 * Checks that each interrupt and each softirq is charged to an interrupted task. subtick reads its
 * tables one after the other, so an interrupt between two reads may be in only one table.
 */
static void check_hits(const struct noise_window *w, const char *group)
{
	uint64_t hardirqs = 0, softirqs = 0;
	const struct noise_hit *hit = NULL;

	for (size_t i = 0; i < w->nr_sources; i++) {
		if (w->sources[i].kind <= NOISE_KIND_VECTOR)
			hardirqs += w->sources[i].count;
		else if (w->sources[i].kind == NOISE_KIND_SOFTIRQ)
			softirqs += w->sources[i].count;
	}
	say_hits("interrupts", hardirqs, sum_of_hits(w, NOISE_HARDIRQ), false);
	say_hits("softirqs", softirqs, sum_of_hits(w, NOISE_SOFTIRQ), true);
	for (size_t i = 0; i < w->nr_hits; i++)
		if (!strcmp(w->hits[i].cgroup, group))
			hit = &w->hits[i];
	live_ok(hit && hit->count[NOISE_HARDIRQ] > 0, "%s was hit by %llu interrupts", group,
		hit ? (unsigned long long)hit->count[NOISE_HARDIRQ] : 0ULL);
}

/*
 * Checks that every received IPI has a sender. Two IPIs that are sent before the interrupt is
 * handled are received as one. One IPI may be in flight at each end of the window.
 */
static void check_senders(const struct noise_window *w)
{
	static const char *const names[] = {"Rescheduling interrupts", "Function call interrupts"};

	if (!w->has_senders) {
		live_skip("every IPI has a sender",
			  "this kernel does not report the sender of an IPI");
		return;
	}
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		uint64_t sent = 0, received = 0;

		for (size_t i = 0; i < w->senders.nr; i++)
			if (!strcmp(w->senders.list[i].name, names[n]))
				sent += w->senders.list[i].count;
		for (size_t i = 0; i < w->nr_sources; i++)
			if (!strcmp(w->sources[i].name, names[n]))
				received += w->sources[i].count;
		live_ok(received <= sent + 2 * w->nr_cores && !w->noise_losses.sends,
			"%s: %llu received, %llu sent", names[n], (unsigned long long)received,
			(unsigned long long)sent);
	}
}

/*
 * Opens a perf counter on @cpu. Reading the counter from another core sends a function-call IPI.
 * Returns -1 on failure.
 */
static int counter_open(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};

	return syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Calls read() READS times on the perf counter. Returns the number of successful calls. */
static unsigned int counter_read(int fd)
{
	unsigned int done = 0;
	uint64_t value;

	for (int i = 0; fd >= 0 && i < READS; i++)
		done += read(fd, &value, sizeof(value)) == sizeof(value);
	return done;
}

/*
 * Checks that every function-call IPI has a function. The functions that `subtick noise` reports
 * must include __perf_event_read(), which reads the perf counter of this test.
 */
static void check_calls(const struct noise_window *w, uint32_t from, uint32_t to, unsigned int reads)
{
	uint64_t sent = 0, calls = 0, of_reads = 0;

	if (!w->calls_known) {
		live_skip("functions behind IPIs", "this kernel does not tell which are called");
		return;
	}
	for (size_t i = 0; i < w->senders.nr; i++)
		if (!strcmp(w->senders.list[i].name, "Function call interrupts"))
			sent += w->senders.list[i].count;
	for (size_t i = 0; i < w->calls.nr; i++) {
		calls += w->calls.list[i].count;
		if (w->calls.list[i].cpu == to && w->calls.list[i].from_cpu == from &&
		    !strcmp(w->calls.list[i].name, "__perf_event_read"))
			of_reads += w->calls.list[i].count;
	}
	live_ok(sent <= calls + 2 * w->nr_cores, "%llu functions called by %llu IPIs",
		(unsigned long long)calls, (unsigned long long)sent);
	if (!reads)
		live_skip("a known number of function calls", "perf has no counter on CPU %u", to);
	else
		live_ok(of_reads >= reads, "%llu calls of __perf_event_read from CPU %u on CPU %u, %u "
			"were ours", (unsigned long long)of_reads, from, to, reads);
}

static void check_window(const struct noise_window *w)
{
	for (size_t i = 0; i < w->nr_cores; i++) {
		const struct noise_core *core = &w->cores[i];

		if (core->flags & LOAD_NO_FIGURE)
			continue;
		live_figure(core->closure_error_ratio < 0.005,
			    "CPU %u: sources, tasks and idle are the window, to %.4f %%", core->cpu,
			    core->closure_error_ratio * 100.0);
	}
	live_ok(!w->noise_losses.sources && !w->noise_losses.victims, "%llu sources and %llu victims lost",
		(unsigned long long)w->noise_losses.sources,
		(unsigned long long)w->noise_losses.victims);
}

struct machine {
	int measured, other;
	const char *group;
	bool checked; /* true if an attempt has checked everything except the interrupt counts */
};

static struct meter *open_meter(void)
{
	struct noise_opts opts = {.senders = true};
	struct meter *meter;
	struct err err = {0};
	int rc = noise_open(&opts, &meter, &err);

	if (rc && err.unsupported) {
		opts.senders = false;
		rc = noise_open(&opts, &meter, &err);
	}
	if (rc)
		live_fail_all("%s", err.what);
	return meter;
}

/* Compares the interrupt counts of every measured core with the kernel's counts. */
static void say_counts(const struct noise_window *w, struct verdict *verdict)
{
	struct interrupts_compared all = {0}, one;

	for (size_t i = 0; i < w->nr_cores; i++) {
		if (w->cores[i].flags & LOAD_NO_FIGURE)
			continue;
		interrupts_compare(&around, w, w->cores[i].cpu, &one);
		all.lines += one.lines;
		if (one.less[0])
			memcpy(all.less, one.less, sizeof(one.less));
		if (one.more[0])
			memcpy(all.more, one.more, sizeof(one.more));
	}
	verdict_count(verdict, !all.less[0],
		      "none of %u lines and IPIs has less than /proc/interrupts %s", all.lines,
		      all.less);
	verdict_always(verdict, all.lines && !all.more[0],
		       "none of %u lines and IPIs has more than /proc/interrupts %s", all.lines,
		       all.more);
}

static void measure(void *arg, struct verdict *verdict)
{
	struct machine *machine = arg;
	struct meter *meter = open_meter();
	int fd = counter_open(machine->measured);
	struct load_stat init = load_init_schedstat();
	const struct noise_window *w;
	struct err err = {0};
	unsigned int reads;
	int rc;

	rc = meter->ops->start(meter, &err);
	/* Begin the window with read(), which is shorter than start(). */
	interrupts_read(&around.before_begin);
	rc = rc ? rc : meter->ops->read(meter, &err);
	interrupts_read(&around.after_begin);
	live_sleep_ms(500);
	reads = counter_read(fd);
	interrupts_read(&around.before_end);
	rc = rc ? rc : meter->ops->read(meter, &err);
	interrupts_read(&around.after_end);
	close(fd);
	if (rc)
		live_fail_all("%s", err.what);
	w = noise_window(meter);
	say_counts(w, verdict);
	if (load_init_ran(&init))
		verdict_disturbed(verdict, LOAD_INIT_RAN);
	if (!machine->checked) {
		check_hits(w, machine->group);
		check_senders(w);
		check_calls(w, machine->other, machine->measured, reads);
		check_window(w);
	}
	machine->checked = true;
	meter->ops->close(meter);
}

int main(void)
{
	struct machine machine = {0};
	struct gen_child child = {0};
	struct err err = {0};

	live_needs(ARGS("noise", "0.01", "1"));
	cgroups_open();
	machine.group = cgroups_make("noise");
	live_two_cpus(&machine.measured, &machine.other);
	live_pin(machine.other);
	if (gen_child_start(&child, machine.measured, 64, spin, NULL, &err))
		live_fail_all("%s", err.what);
	cgroups_enter(machine.group, child.pid);
	judge(measure, &machine);
	gen_child_stop(&child);
	return live_done();
}
