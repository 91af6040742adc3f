/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests that a trace contains each throttled interval of a busy task. The cgroup of the busy task
 * has a quota of 2 ms per 10 ms.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measure/trace/trace.h"
#include "pinned.h"
#include "runs.h"
#include "truth.h"

#define QUOTA_US  2000
#define PERIOD_US 10000
#define LENGTH_NS (100 * NSEC_PER_MSEC)
/* Minimum length of a throttled gap. Kernel threads cause only shorter gaps. */
#define HOLD_NS	  (100 * NSEC_PER_USEC)
/*
 * Maximum difference between a gap in the task's clock readings and the wait inside the gap: the
 * path from the last reading to the switch, and from the switch back to the next reading.
 */
#define SLACK_NS  20000
/* Time from the unthrottling in the kernel's period timer to the switch. */
#define END_NS	  5000

struct bound {
	uint64_t begin_ns;
	struct runs runs;
};

static void burn(void *shared)
{
	struct bound *bound = shared;

	runs_burn(&bound->runs, bound->begin_ns, bound->begin_ns + LENGTH_NS);
}

/*
 * Returns the length of the gap between two runs of the task that contains the wait from @from_ns
 * to @to_ns, or 0.
 */
static uint64_t gap_of(const struct bound *bound, uint64_t from_ns, uint64_t to_ns)
{
	for (int i = 0; i + 1 < bound->runs.nr; i++)
		if (bound->runs.run[i].to_ns <= from_ns && to_ns <= bound->runs.run[i + 1].from_ns)
			return bound->runs.run[i + 1].from_ns - bound->runs.run[i].to_ns;
	return 0;
}

/*
 * Returns the run time of other tasks between the end of the throttled interval and the end of the
 * wait, for example of a kernel thread that the kernel's period timer has woken.
 */
static uint64_t others_after(const struct trace_window *w, const struct trace_wait *wait)
{
	const struct trace_cpu *cpu = &w->cpu[wait->cpu];
	uint64_t end_ns = wait->from_ns + wait->throttled_ns, ns = 0;

	for (size_t at = trace_slice_at(cpu, end_ns);
	     at < cpu->nr_slices && cpu->slices[at].from_ns < wait->to_ns; at++) {
		const struct trace_slice *s = &cpu->slices[at];

		if (s->part == LOAD_PART_TASK || s->part == LOAD_PART_KSOFTIRQD)
			ns += s->to_ns - (s->from_ns > end_ns ? s->from_ns : end_ns);
	}
	return ns;
}

static void judge(const struct trace_window *w, const struct bound *bound, pid_t pid,
		  double cpu_stat_ns)
{
	int holds = 0, gaps = 0, wrong = 0;
	double throttled_ns = 0;

	for (int i = 0; i + 1 < bound->runs.nr; i++)
		gaps += bound->runs.run[i + 1].from_ns - bound->runs.run[i].to_ns > HOLD_NS;
	for (size_t i = 0; i < w->waits.nr; i++) {
		const struct trace_wait *wait = &w->waits.list[i];
		uint64_t wait_ns = wait->to_ns - wait->from_ns, gap;

		/*
		 * Skip waits at the start of the task, because the task may also be throttled
		 * before its first run.
		 */
		if (wait->pid != (uint32_t)pid || wait_ns < HOLD_NS ||
		    w->start_mono_ns + wait->to_ns < bound->begin_ns)
			continue;
		gap = gap_of(bound, w->start_mono_ns + wait->from_ns, w->start_mono_ns + wait->to_ns);
		holds++;
		throttled_ns += (double)wait->throttled_ns;
		if (wait->throttled && wait->throttled_ns <= wait_ns &&
		    wait->throttled_ns + others_after(w, wait) + END_NS >= wait_ns &&
		    wait_ns + SLACK_NS >= gap)
			continue;
		wrong++;
		live_note("held %llu of a wait of %llu ns, in a gap of %llu",
			  (unsigned long long)wait->throttled_ns, (unsigned long long)wait_ns,
			  (unsigned long long)gap);
	}
	live_ok(holds == gaps && holds >= 8, "%d holds in the trace, %d by the burner's own stamps", holds,
		gaps);
	live_ok(!wrong, "each has its length: %d do not", wrong);
	/* cpu.stat has a resolution of one microsecond. */
	live_ok(fabs(throttled_ns - cpu_stat_ns) <= 1000.0 * holds,
		"%.0f ns throttled, %.0f by cpu.stat", throttled_ns, cpu_stat_ns);
}

int main(void)
{
	struct bound *bound = pinned_share(sizeof(*bound));
	struct pinned_task task = {.run = burn};
	struct trace_opts opts = {0};
	const struct trace_window *w;
	struct trace *trace;
	struct err err = {0};
	double before_us;
	bool done;
	pid_t pid;

	truth_begin(1);
	cgroups_open();
	if (trace_open(&opts, &trace, &err))
		live_skip_all("%s", err.what);
	task.cgroup = cgroups_make("bound");
	if (!cgroups_quota(task.cgroup, QUOTA_US, PERIOD_US))
		live_fail_all("no CPU quota in this guest");
	trace_start(trace);
	/* Starting the task in its cgroup takes some tens of ms, and may use up the quota. */
	bound->begin_ns = clock_mono_ns() + NSEC_PER_SEC;
	pid = pinned_start(&task, bound);
	truth_sleep_until(bound->begin_ns - 10 * NSEC_PER_MSEC);
	before_us = cgroups_stat(task.cgroup, "cpu.stat", "throttled_usec");
	while (clock_mono_ns() < bound->begin_ns + LENGTH_NS + 20 * NSEC_PER_MSEC) {
		live_sleep_ms(10);
		trace_poll(trace, &done, &err);
	}
	if (live_ok(!trace_stop(trace, &w, &err), "the recording ends: %s", err.what))
		judge(w, bound, pid,
		      1e3 * (cgroups_stat(task.cgroup, "cpu.stat", "throttled_usec") - before_us));
	pinned_stop(pid);
	trace_close(trace);
	return live_done();
}
