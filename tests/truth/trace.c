/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares a recording of `subtick trace` with measurements of the same time: core times with
 * `subtick load`, waits with `subtick runq` and with the timestamps of a hog and a victim task, and
 * idle periods with `subtick wake`.
 */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "hog.h"
#include "live.h"
#include "measure/load/sources.h"
#include "measure/trace/trace.h"
#include "measure/wake/wake.h"
#include "measured.h"
#include "host/cpu.h"
#include "truth.h"
#include "waits.h"

#define CPU	  1
#define NR_CPUS	  2
#define ROUNDS	  40
#define PERIOD_NS (6 * NSEC_PER_MSEC)
#define WINDOW	  "4"
/*
 * Largest difference between the timestamps of two BPF programs on one event: the time of a program
 * and its call.
 */
#define APART_NS  1200
#define POINTS	  0.001

static const char *const runq_args[] = {"runq",	    "--json", "--per", "task",
					"--source", "wakeup", WINDOW, "1", NULL};

static const struct trace_task_sum *task_of(const struct trace_window *w, pid_t pid)
{
	for (size_t i = 0; i < w->nr_tasks; i++)
		if (w->tasks[i].pid == (uint32_t)pid)
			return &w->tasks[i];
	return NULL;
}

static json_t *row_of(json_t *root, pid_t pid)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "groups"), i, row)
		if (live_number(row, "pid") == pid)
			return row;
	return NULL;
}

static void judge_task(const char *who, const struct trace_window *w, json_t *root, pid_t pid,
		       const struct wait_known *known)
{
	const struct trace_task_sum *task = task_of(w, pid);
	json_t *row = row_of(root, pid);
	double count = live_number(row, "count"), sum = live_number(row, "sum_ns");

	if (!live_ok(task && row, "%s: is in the trace and in runq", who))
		return;
	/*
	 * There may be more than ROUNDS waits, because the hog and the victim also wait when they
	 * start.
	 */
	live_ok((double)task->waits == count && task->waits >= ROUNDS,
		"%s: %llu waits in the trace, %.0f in runq, %d by schedule", who,
		(unsigned long long)task->waits, count, ROUNDS);
	live_ok(fabs((double)task->wait_ns - sum) <= APART_NS * count,
		"%s: %llu ns in the trace, %.0f in runq: %.0f ns apart per wait", who,
		(unsigned long long)task->wait_ns, sum, fabs((double)task->wait_ns - sum) / count);
	live_ok(task->wait_ns >= waits_low(known, ROUNDS),
		"%s: no less than the %llu ns by its own stamps", who,
		(unsigned long long)waits_low(known, ROUNDS));
}

/* Checks that each wait of the victim is behind the hog that woke it. */
static void judge_chains(const struct trace_window *w, const struct hog *schedule)
{
	int behind = 0, found = 0;

	for (size_t i = 0; i < w->waits.nr; i++) {
		const struct trace_wait *wait = &w->waits.list[i];
		struct trace_chain chain;

		if (wait->pid != (uint32_t)schedule->victim_pid ||
		    w->start_mono_ns + wait->from_ns < schedule->begin_ns)
			continue;
		trace_wait_chain(w, wait, &chain);
		found++;
		behind += wait->woken && wait->waker == (uint32_t)schedule->hog_pid &&
			  wait->waker_cpu == CPU && chain.culprit == (uint32_t)schedule->hog_pid;
	}
	live_ok(found >= ROUNDS && behind >= ROUNDS,
		"%d of %d waits of the victim: woken by the hog, and behind it", behind, found);
}

static void judge_load(const struct trace_window *w, const struct load_sample *before,
		       const struct load_sample *after)
{
	const struct trace_cpu *cpu = &w->cpu[CPU];
	double window = (double)(cpu->core.to_ns - cpu->core.from_ns);

	live_ok(!cpu->lost && !cpu->replay.odd_edges && !cpu->core.nr_gaps,
		"nothing lost in %zu edges", cpu->core.nr_edges);
	for (int part = 0; part < LOAD_NR_PARTS; part++) {
		double by_load = (double)(after[CPU].part_ns[part] - before[CPU].part_ns[part]);
		double by_trace = (double)cpu->replay.part_ns[part];

		/*
		 * Skip idle time: the core is halted at the ends of the windows, and the windows of
		 * `subtick trace` and `subtick load` end at different times.
		 */
		if (part == LOAD_PART_IDLE)
			continue;
		live_ok(fabs(by_load - by_trace) <= POINTS * window,
			"%s: %.0f ns in the trace, %.0f in load: %.4f points apart",
			load_part_name(part), by_trace, by_load,
			100 * fabs(by_load - by_trace) / window);
	}
}

/* Starts source passive of `subtick wake`, which counts an idle period at the next idle entry. */
static struct meter *wake_begin(struct err *err)
{
	struct wake_opts opts = {.sources = 1U << WAKE_PASSIVE, .bare = true};
	struct meter *wake;

	cpuset_add(&opts.cpus, CPU);
	if (wake_open(&opts, &wake, err) || wake->ops->start(wake, err))
		live_skip_all("%s", err->what);
	/* Cause an idle period: `subtick wake` counts only the idle periods after the first one. */
	affinity_pin(0, CPU);
	affinity_pin(0, 0);
	return wake;
}

/* Clock readings just before and just after the end of a window of `subtick wake`. */
struct end_times {
	uint64_t before_ns, after_ns;
};

static struct end_times wake_window_ends(struct meter *wake)
{
	struct end_times times = {.before_ns = clock_mono_ns()};
	struct err err = {0};

	live_ok(!wake->ops->read(wake, &err), "wake ends a window: %s", err.what);
	times.after_ns = clock_mono_ns();
	return times;
}

static uint64_t idles_between(const struct trace_window *w, uint64_t from_ns, uint64_t to_ns)
{
	const struct trace_core *core = &w->cpu[CPU].core;
	uint64_t idles = 0;

	for (size_t i = 0; i < core->nr_edges; i++) {
		uint64_t ns = w->start_mono_ns + trace_edge_ns(&core->edges[i]);

		idles += trace_edge_kind(&core->edges[i]) == TRACE_IDLE_ENTER && ns > from_ns && ns <= to_ns;
	}
	return idles;
}

/*
 * Compares the number of idle entries in the trace and in `subtick wake`. An idle entry at the
 * boundary of two windows may count in either of the two windows.
 */
static void judge_wake(const struct trace_window *w, const struct wake_window *wake,
		       struct end_times from, struct end_times to)
{
	uint64_t surely = idles_between(w, from.after_ns, to.before_ns);
	uint64_t perhaps = idles_between(w, from.before_ns, to.after_ns);

	live_ok(wake->asked >= surely && wake->asked <= perhaps && surely >= ROUNDS,
		"%llu to %llu times idle again in the trace, %llu in wake, of which %llu by a timer",
		(unsigned long long)surely, (unsigned long long)perhaps,
		(unsigned long long)wake->asked, (unsigned long long)wake->taken);
}

static struct hog *plan(void)
{
	struct hog *schedule = hog_make();

	schedule->cpu = CPU;
	schedule->rounds = ROUNDS;
	schedule->period_ns = PERIOD_NS;
	schedule->begin_ns = clock_mono_ns() + 500 * NSEC_PER_MSEC;
	for (int i = 0; i < ROUNDS; i++)
		schedule->burn_ns[i] = (uint64_t)i * 70 * NSEC_PER_USEC;
	return schedule;
}

int main(void)
{
	struct load_source_opts load_opts = {.nr_cpus = NR_CPUS};
	struct load_sample before[NR_CPUS], after[NR_CPUS];
	struct trace_opts opts = {0};
	const struct trace_window *w;
	struct wait_known known[HOG_MAX];
	struct load_source *load;
	struct measured runq;
	struct meter *wake;
	struct trace *trace;
	struct hog *schedule;
	struct err err = {0};
	struct end_times wake_from, wake_to;
	bool done;
	json_t *root;

	truth_begin(NR_CPUS);
	if (load_source_open("bpf", &load_opts, &load, &err) || trace_open(&opts, &trace, &err))
		live_skip_all("%s", err.what);
	wake = wake_begin(&err);
	trace_start(trace);
	load_source_bpf.sample(load, before);
	measured_start(&runq, runq_args);
	truth_sleep_until(clock_mono_ns() + MEASURED_LEAD_NS);
	wake_from = wake_window_ends(wake);
	schedule = plan();
	hog_start(schedule);
	while (clock_mono_ns() < hog_end_ns(schedule)) {
		live_sleep_ms(10);
		trace_poll(trace, &done, &err);
	}
	live_sleep_ms(100);
	load_source_bpf.sample(load, after);
	wake_to = wake_window_ends(wake);
	if (!live_ok(!trace_stop(trace, &w, &err), "the recording ends: %s", err.what))
		return live_done();
	root = measured_end(&runq, schedule->begin_ns, hog_end_ns(schedule));
	judge_load(w, before, after);
	hog_victim_waits(schedule, known);
	judge_task("victim", w, root, schedule->victim_pid, known);
	hog_own_waits(schedule, known);
	judge_task("hog", w, root, schedule->hog_pid, known);
	judge_chains(w, schedule);
	judge_wake(w, wake_window(wake), wake_from, wake_to);
	wake->ops->close(wake);
	hog_stop(schedule);
	trace_close(trace);
	load_source_close(load);
	return live_done();
}
