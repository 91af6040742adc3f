/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests avoidable waits, during which another core is idle. The hog is a task with a high priority.
 * Two tasks of lower priority wait behind the hog. One of the two waiting tasks may use both cores,
 * and the other waiting task is pinned. The counters of `subtick runq` must equal the sums of a
 * trace.
 */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measure/trace/trace.h"
#include "measured.h"
#include "pinned.h"
#include "stats/trace.h"
#include "truth.h"

#define NR_CPUS	  2
#define ROUNDS	  16
#define PERIOD_NS (10 * NSEC_PER_MSEC)
/*
 * Allowed difference per wait. Each end of a wait and of an idle period is stamped by two BPF
 * programs (runq and trace) that run one after the other.
 */
#define APART_NS 2400

struct plan {
	uint64_t begin_ns;
};

/* Sleeps until @at_ns after the start of round @i. */
static void await(const struct plan *plan, int i, uint64_t at_ns)
{
	truth_sleep_until(plan->begin_ns + i * PERIOD_NS + at_ns);
}

/*
 * Keeps CPU 0 busy while the unpinned task wakes up, so that the kernel places the unpinned task on
 * CPU 1.
 */
static void blocker_run(void *shared)
{
	for (int i = 0; i < ROUNDS; i++) {
		await(shared, i, 0);
		truth_burn(600 * NSEC_PER_USEC);
	}
}

static void free_run(void *shared)
{
	cpu_set_t both;

	CPU_ZERO(&both);
	CPU_SET(0, &both);
	CPU_SET(1, &both);
	if (sched_setaffinity(0, sizeof(both), &both))
		_exit(1);
	for (int i = 0; i < ROUNDS; i++) {
		await(shared, i, 200 * NSEC_PER_USEC);
		truth_burn(3 * NSEC_PER_MSEC);
	}
}

static void pinned_run(void *shared)
{
	for (int i = 0; i < ROUNDS; i++) {
		await(shared, i, 1200 * NSEC_PER_USEC);
		truth_burn(10 * NSEC_PER_USEC);
	}
}

/* Runs the hog on CPU 1 with the highest priority, so that the two waiting tasks wait. */
static void hog_run(void *shared)
{
	for (int i = 0; i < ROUNDS; i++) {
		await(shared, i, NSEC_PER_MSEC);
		truth_burn((400 + 100 * (uint64_t)i) * NSEC_PER_USEC);
	}
}

/*
 * Sums the avoidable wait time of @pid in the trace: the wait time during which another CPU of the
 * set @allowed was idle. Stores the number of waits in @ret_waits.
 */
static uint64_t by_trace(const struct trace_window *w, pid_t pid, const struct cpuset *allowed,
			 uint64_t *ret_waits)
{
	struct trace_spans idle[NR_CPUS] = {0}, spans = {0};
	uint64_t ns = 0;

	*ret_waits = 0;
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		if (trace_find_idle(&w->cpu[cpu].core, &idle[cpu]))
			live_fail_all("out of memory");
	for (size_t i = 0; i < w->waits.nr; i++) {
		struct trace_wait wait = w->waits.list[i];

		if (wait.pid != (uint32_t)pid)
			continue;
		if (trace_find_avoidable(idle, NR_CPUS, allowed, &spans, &wait))
			live_fail_all("out of memory");
		ns += wait.avoidable.ns;
		(*ret_waits)++;
	}
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		free(idle[cpu].list);
	free(spans.list);
	return ns;
}

static void judge(const char *who, const char *cgroup, const char *key, json_t *root, uint64_t ns,
		  uint64_t waits)
{
	double counted = measured_figure(root, cgroup, key);

	live_ok(fabs(counted - (double)ns) <= (double)(APART_NS * waits),
		"%s: %s is %.0f in runq, %llu in the trace, in %llu waits", who, key, counted,
		(unsigned long long)ns, (unsigned long long)waits);
}

int main(void)
{
	static const char *const args[] = {"runq", "--json", "--avoidable", "5", "1", NULL};
	struct pinned_task task = {.cpu = 1, .run = free_run};
	struct plan *plan = pinned_share(sizeof(*plan));
	const char *free_group, *pinned_group, *hog_group;
	pid_t free_pid, pinned_pid, hog_pid, blocker_pid;
	const struct trace_window *w;
	struct cpuset both = {0};
	struct trace_opts opts = {0};
	struct measured runq;
	struct trace *trace;
	struct err err = {0};
	uint64_t ns, waits;
	bool done;
	json_t *root;

	truth_begin(NR_CPUS);
	cgroups_open();
	free_group = cgroups_make("free");
	pinned_group = cgroups_make("pinned");
	hog_group = cgroups_make("hog");
	cpuset_add(&both, 0);
	cpuset_add(&both, 1);
	if (trace_open(&opts, &trace, &err))
		live_skip_all("%s", err.what);
	trace_start(trace);
	measured_start(&runq, args);
	truth_sleep_until(clock_mono_ns() + 2 * MEASURED_LEAD_NS);
	plan->begin_ns = clock_mono_ns() + 200 * NSEC_PER_MSEC;
	task.cgroup = free_group;
	free_pid = pinned_start(&task, plan);
	task = (struct pinned_task){.cpu = 1, .cgroup = pinned_group, .run = pinned_run};
	pinned_pid = pinned_start(&task, plan);
	task = (struct pinned_task){.cpu = 1, .cgroup = hog_group, .priority = 20, .run = hog_run};
	hog_pid = pinned_start(&task, plan);
	task = (struct pinned_task){.cpu = 0, .cgroup = hog_group, .priority = 20, .run = blocker_run};
	blocker_pid = pinned_start(&task, plan);
	while (clock_mono_ns() < plan->begin_ns + ROUNDS * PERIOD_NS) {
		live_sleep_ms(10);
		trace_poll(trace, &done, &err);
	}
	if (!live_ok(!trace_stop(trace, &w, &err), "the recording ends: %s", err.what))
		return live_done();
	root = measured_end(&runq, plan->begin_ns, plan->begin_ns + ROUNDS * PERIOD_NS);

	ns = by_trace(w, free_pid, &both, &waits);
	live_ok(ns > 2 * NSEC_PER_MSEC && waits >= ROUNDS,
		"both cores allowed: %llu ns avoidable, in %llu waits",
		(unsigned long long)ns, (unsigned long long)waits);
	judge("both cores allowed", free_group, "avoidable_ns", root, ns, waits);
	judge("both cores allowed", free_group, "avoidable_most_ns", root, ns, waits);
	judge("both cores allowed", free_group, "excluded_ns", root, 0, waits);

	judge("pinned", pinned_group, "avoidable_most_ns", root, 0, 0);
	ns = by_trace(w, pinned_pid, &both, &waits);
	live_ok(ns > 2 * NSEC_PER_MSEC, "pinned: the excluded core was idle for %llu ns of its waits",
		(unsigned long long)ns);
	judge("pinned", pinned_group, "excluded_ns", root, ns, waits);
	json_decref(root);
	pinned_stop(free_pid);
	pinned_stop(pinned_pid);
	pinned_stop(hog_pid);
	pinned_stop(blocker_pid);
	trace_close(trace);
	return live_done();
}
