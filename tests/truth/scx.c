/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the waits in `subtick runq` and in a trace with perf's switch events. In the first run
 * of the test, the tasks use the fair class. In each later run, the test enables a scheduler of
 * scx.bpf.c before or inside the window.
 */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measure/trace/trace.h"
#include "measured.h"
#include "pinned.h"
#include "scx_load.h"
#include "seen.h"
#include "stats/trace.h"
#include "truth.h"
#include "witness.h"

#define NR_CPUS	  2
#define NR_TASKS  5
#define NR_GROUPS 2
#define ROUNDS	  24
#define LEAD_NS	  (3 * MEASURED_LEAD_NS)
/*
 * Allowed difference per wait. Each end of a wait is stamped by perf and by a BPF program, one
 * after the other.
 */
#define APART_NS 1200
/*
 * Allowed difference per wait while both cores are busy: QEMU may switch to the other core between
 * two BPF programs on one event. truth_turns_start() limits the time until QEMU switches back.
 */
#define TURN_NS 135000
/*
 * Allowed difference per wait for source sched_info, which reads the run-queue clock. The kernel
 * updates the run-queue clock before calling the sched_ext scheduler, so a measured wait excludes
 * the scheduler's BPF programs and the time to lock the other run queue.
 */
#define DISPATCH_NS 2000
/*
 * Maximum missing wait time per core if a scheduler is enabled or disabled inside the window.
 * Enabling a scheduler delays switches, and run-queue clocks can lag by a tick during the delay.
 */
#define TICK_NS	   (4 * NSEC_PER_MSEC)
#define POINTS	   0.001
#define PF_KTHREAD 0x200000 /* flag of kernel threads in /proc/PID/stat */

/* If cpu is -1, the task may run on both cores. */
static const struct {
	int group, cpu;
	uint64_t period_ns, burn_ns;
} roles[NR_TASKS] = {
	{0, -1, 3 * NSEC_PER_MSEC, 700 * NSEC_PER_USEC},
	{0, -1, 3 * NSEC_PER_MSEC, 500 * NSEC_PER_USEC},
	{1, -1, 5 * NSEC_PER_MSEC, 900 * NSEC_PER_USEC},
	{1, 1, 4 * NSEC_PER_MSEC, 600 * NSEC_PER_USEC},
	/* The last task of roles[] is busy for longer than SCX_SLICE_NS and is preempted. */
	{1, 0, 20 * NSEC_PER_MSEC, 6 * NSEC_PER_MSEC},
};

struct plan {
	bool one_core;
	uint64_t begin_ns;
	uint32_t started, done;
};

static void task_run(void *shared)
{
	struct plan *plan = shared;
	unsigned int i = __atomic_fetch_add(&plan->started, 1, __ATOMIC_SEQ_CST);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		if (plan->one_core ? !cpu : roles[i].cpu < 0 || roles[i].cpu == cpu)
			CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(1);
	for (int round = 0; round < ROUNDS; round++) {
		truth_sleep_until(plan->begin_ns + round * roles[i].period_ns);
		truth_burn(roles[i].burn_ns / (plan->one_core && i < NR_TASKS - 1 ? 2 : 1));
	}
	__atomic_fetch_add(&plan->done, 1, __ATOMIC_SEQ_CST);
}

/* One run of the five tasks of roles[], with all measurements of this run. */
struct run {
	const char *name, *source;
	const char *scheduler; /* sched_ext scheduler at the end of the window, or NULL */
	const char *const *groups;
	bool one_core; /* true: all tasks share CPU 0; false: roles[] has each task's CPUs */
	bool middle;   /* true: the scheduler is enabled and disabled inside the window */
	bool beside;   /* `subtick load` and `subtick noise` measure at the same time */
	struct plan *plan;
	struct seen seen[NR_TASKS];
	const struct trace_window *trace;
	json_t *runq, *load;
};

/* True if the task is a kernel thread. Returns false if the task has exited. */
static bool is_kernel_thread(int64_t pid)
{
	unsigned long flags = 0;
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %lu", &flags) != 1)
		flags = 0;
	fclose(file);
	return flags & PF_KTHREAD;
}

/*
 * Compares the runs of kernel threads that `subtick noise` reports with perf's switch events in the
 * same window.
 */
static void judge_noise(const struct run *run, json_t *noise, const struct witness *w)
{
	uint64_t length_ns, end_ns = measured_window(noise, &length_ns);
	uint64_t from_ns = end_ns - length_ns;
	uint64_t since_ns[NR_CPUS] = {0};
	double count = 0.0, ns = 0.0, interrupts_ns = 0.0, runs = 0.0, run_ns = 0.0;
	json_t *row;
	size_t i;

	for (i = 0; i < w->nr_hits && w->hits[i].time_ns <= end_ns; i++) {
		const struct witness_hit *hit = &w->hits[i];
		uint64_t *since = &since_ns[hit->cpu];
		int64_t next;

		if (hit->event)
			continue;
		if (*since && hit->time_ns >= from_ns) {
			runs++;
			run_ns += (double)(hit->time_ns - (*since > from_ns ? *since : from_ns));
		}
		next = witness_field(w, hit, "next_pid");
		*since = next && is_kernel_thread(next) ? hit->time_ns : 0;
	}
	json_array_foreach(json_object_get(noise, "sources"), i, row)
	{
		if (strcmp(json_string_value(json_object_get(row, "kind")), "kthread"))
			continue;
		count += live_number(row, "count");
		ns += live_number(row, "sum_ns");
	}
	json_array_foreach(json_object_get(noise, "cores"), i, row)
	{
		interrupts_ns +=
			(live_number(row, "hardirq_ratio") + live_number(row, "softirqs_ratio")) *
			(double)length_ns;
	}
	live_ok(runs >= ROUNDS && fabs(count - runs) <= NR_CPUS,
		"%s: noise: %.0f runs of kernel threads, %.0f by the switches", run->name, count,
		runs);
	/* The measured time of a run excludes the interrupts in the run. */
	live_ok(ns <= run_ns + APART_NS * runs && ns >= run_ns - interrupts_ns - APART_NS * runs,
		"%s: noise: %.0f ns in kernel threads, %.0f by the switches, %.0f in interrupts",
		run->name, ns, run_ns, interrupts_ns);
}

static double quality(const struct run *run, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "quality.%s", key);
	return live_number(run->runq, path);
}

static void judge_group(const struct run *run, int group)
{
	const char *cgroup = run->groups[group];
	json_t *row = measured_group(run->runq, cgroup);
	double count = live_number(row, "count"), sum = live_number(row, "sum_ns");
	double apart = !run->one_core		       ? TURN_NS
		       : strcmp(run->source, "wakeup") ? DISPATCH_NS
						       : APART_NS;
	uint64_t waits = 0, ns = 0, missed = 0, missed_ns = 0;

	for (int i = 0; i < NR_TASKS; i++) {
		if (roles[i].group != group)
			continue;
		waits += run->seen[i].count;
		ns += run->seen[i].sum_ns;
		missed += run->seen[i].missed;
		missed_ns += run->seen[i].missed * run->seen[i].max_ns;
	}
	if (run->middle)
		missed_ns += NR_CPUS * TICK_NS;
	/* Source wakeup takes its own timestamps and does not read the run-queue clock. */
	if (!strcmp(run->source, "wakeup"))
		missed = missed_ns = 0;
	live_ok(waits >= ROUNDS && count == (double)(waits - missed),
		"%s: group %d: %.0f waits and %llu reported as lost, %llu by the switches",
		run->name, group, count, (unsigned long long)missed, (unsigned long long)waits);
	live_ok(sum - (double)ns <= apart * count &&
			(double)ns - sum <= apart * count + (double)missed_ns,
		"%s: group %d: %.0f ns, %llu by the switches, %.0f ns apart per wait", run->name,
		group, sum, (unsigned long long)ns, (sum - (double)ns) / count);
	if (!live_ok(measured_causes(row) == sum && measured_blame(run->runq, cgroup, NULL) == sum,
		     "%s: group %d: causes and blame make the whole", run->name, group))
		measured_note_blame(run->runq);
	live_note("%s: group %d: migrated %.0f, preempted %.0f of %.0f ns", run->name, group,
		  live_number(row, "causes.migrated_ns"), live_number(row, "causes.preempted_ns"),
		  sum);
}

/*
 * Checks the avoidable wait time: waits of tasks that may use both cores, while the other core was
 * idle.
 */
static void judge_avoidable(const struct run *run)
{
	struct trace_spans idle[NR_CPUS] = {0}, spans = {0};
	const struct trace_window *w = run->trace;
	json_t *row = measured_group(run->runq, run->groups[0]);
	double counted = live_number(row, "avoidable_ns");
	struct cpuset both = {0};
	uint64_t ns = 0;

	for (int cpu = 0; cpu < NR_CPUS; cpu++) {
		cpuset_add(&both, cpu);
		if (trace_find_idle(&w->cpu[cpu].core, &idle[cpu]))
			abort();
	}
	for (size_t i = 0; i < w->waits.nr; i++) {
		struct trace_wait wait = w->waits.list[i];

		if (wait.pid != (uint32_t)run->seen[0].pid &&
		    wait.pid != (uint32_t)run->seen[1].pid)
			continue;
		if (trace_find_avoidable(idle, NR_CPUS, &both, &spans, &wait))
			abort();
		ns += wait.avoidable.ns;
	}
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		free(idle[cpu].list);
	free(spans.list);
	live_ok(fabs(counted - (double)ns) <= TURN_NS * live_number(row, "count"),
		"%s: avoidable %.0f ns, %llu in the trace", run->name, counted,
		(unsigned long long)ns);
}

static void judge_trace(const struct run *run)
{
	double apart = run->one_core ? APART_NS : TURN_NS;

	for (int i = 0; i < NR_TASKS; i++) {
		const struct seen *seen = &run->seen[i];
		uint64_t count = 0, ns = 0;

		for (size_t j = 0; j < run->trace->waits.nr; j++) {
			const struct trace_wait *wait = &run->trace->waits.list[j];

			if (wait->pid != (uint32_t)seen->pid)
				continue;
			count++;
			ns += wait->to_ns - wait->from_ns;
		}
		live_ok(count == seen->count &&
				fabs((double)ns - (double)seen->sum_ns) <= apart * (double)count,
			"%s: task %d: %llu waits in the trace, %llu by the switches, %.0f ns apart "
			"per wait",
			run->name, i, (unsigned long long)count, (unsigned long long)seen->count,
			((double)ns - (double)seen->sum_ns) / (double)count);
	}
}

/* Compares the CPU time of each task in `subtick load` with the kernel's accounting. */
static void judge_load(const struct run *run)
{
	double window = live_number(run->load, "window_ns");

	for (int i = 0; i < NR_TASKS; i++) {
		const struct seen *seen = &run->seen[i];
		double ran = (double)(seen->is.ran_ns - seen->was.ran_ns) / window, share = 0.0;
		json_t *row;
		size_t j;

		json_array_foreach(json_object_get(run->load, "tasks"), j,
				   row) if (live_number(row, "pid") == seen->pid) share +=
			live_number(row, "task_share_ratio");
		live_ok(fabs(share - ran) <= POINTS,
			"%s: load: task %d has %.3f %% of a core, %.3f by schedstat", run->name, i,
			share * 100.0, ran * 100.0);
	}
}

/*
 * Checks the number of waits that the kernel's accounting omits, for example the wait of a task
 * that is preempted on its way to sleep. Source sched_info counts each omitted wait in the field
 * unknown_start_total.
 */
static void judge_dispatches(struct run *run)
{
	uint64_t missed = 0;

	for (int i = 0; i < NR_TASKS; i++) {
		struct seen *seen = &run->seen[i];

		seen->missed = seen->count - (seen->is.dispatches - seen->was.dispatches);
		missed += seen->missed;
	}
	live_ok(missed <= ROUNDS / 4 && (!strcmp(run->source, "wakeup") ||
					 (double)missed <= quality(run, "unknown_start_total")),
		"%s: schedstat lacks %llu waits, runq reports %.0f unknown starts", run->name,
		(unsigned long long)missed, quality(run, "unknown_start_total"));
}

static void judge(struct run *run)
{
	const char *named = json_string_value(json_object_get(run->runq, "scheduler"));

	judge_dispatches(run);
	for (int i = 0; i < NR_GROUPS; i++)
		judge_group(run, i);
	judge_trace(run);
	if (run->load)
		judge_load(run);
	if (!run->one_core)
		judge_avoidable(run);
	live_ok(fabs(quality(run, "schedstat_ratio") - 1.0) <= 0.0005 &&
			!quality(run, "negative_total") && !quality(run, "table_full_total") &&
			!quality(run, "blame_full_total") &&
			!quality(run, "recursion_misses_total"),
		"%s: nothing lost, schedstat_ratio %.6f", run->name,
		quality(run, "schedstat_ratio"));
	if (run->middle)
		live_ok(!named &&
				live_has_note(run->runq, "was enabled or disabled in this window"),
			"%s: a note has the change", run->name);
	else
		live_ok(run->scheduler
				? named && !strcmp(named, run->scheduler) &&
					  live_has_note(run->runq,
							"throttled is quota of the fair class")
				: !named && !live_has_note(run->runq, "sched_ext"),
			"%s: the scheduler is %s", run->name, named ? named : "not named");
}

static void end_run(struct run *run)
{
	for (int i = 0; i < NR_TASKS; i++)
		pinned_stop(run->seen[i].pid);
	json_decref(run->runq);
	json_decref(run->load);
}

static void measure(struct run *run)
{
	struct measured runq, beside, noise;
	json_t *noises = NULL;
	struct trace_opts opts = {0};
	struct witness witness;
	struct trace *trace;
	struct err err = {0};
	uint64_t end_ns;
	bool done;

	run->plan = pinned_share(sizeof(*run->plan));
	run->plan->one_core = run->one_core;
	/*
	 * The test opens its perf events before subtick's BPF programs are attached, so the waits
	 * in perf's record exclude the time of subtick's BPF programs.
	 */
	witness_begin(&witness, seen_events);
	if (trace_open(&opts, &trace, &err))
		live_fail_all("%s", err.what);
	run->plan->begin_ns = clock_mono_ns() + LEAD_NS;
	for (int i = 0; i < NR_TASKS; i++) {
		struct pinned_task task = {.cgroup = run->groups[roles[i].group], .run = task_run};

		run->seen[i].pid = pinned_start(&task, run->plan);
		run->seen[i].was = pinned_schedstat(run->seen[i].pid);
	}
	measured_start(&runq, ARGS("runq", "--json", "--blame", "--source", run->source,
				   run->one_core ? "--causes" : "--avoidable", "6", "1"));
	if (run->beside) {
		measured_start(&beside, ARGS("load", "--json", "--tasks", "30", "5", "1"));
		measured_start(&noise, ARGS("noise", "--json", "5", "1"));
	}
	live_pin(1);
	truth_sleep_until(run->plan->begin_ns - 10 * NSEC_PER_MSEC);
	trace_start(trace);
	if (!run->one_core)
		truth_turns_start();
	if (run->middle) {
		truth_sleep_until(run->plan->begin_ns + 10 * NSEC_PER_MSEC);
		scx_enable();
		truth_sleep_until(run->plan->begin_ns + 60 * NSEC_PER_MSEC);
		live_ok(!__atomic_load_n(&run->plan->done, __ATOMIC_SEQ_CST),
			"%s: all tasks run when the scheduler is disabled", run->name);
		scx_disable();
	}
	while (__atomic_load_n(&run->plan->done, __ATOMIC_SEQ_CST) < NR_TASKS) {
		live_sleep_ms(10);
		trace_poll(trace, &done, &err);
	}
	end_ns = clock_mono_ns();
	truth_turns_stop();
	if (trace_stop(trace, &run->trace, &err))
		live_fail_all("the recording fails: %s", err.what);
	run->runq = measured_end(&runq, run->plan->begin_ns, end_ns);
	if (run->beside) {
		run->load = measured_end(&beside, run->plan->begin_ns, end_ns);
		noises = measured_end(&noise, run->plan->begin_ns, end_ns);
	}
	witness_end(&witness);
	if (run->beside)
		judge_noise(run, noises, &witness);
	json_decref(noises);
	seen_fill(run->seen, NR_TASKS, &witness, run->plan->begin_ns - 10 * NSEC_PER_MSEC);
	witness_free(&witness);
	for (int i = 0; i < NR_TASKS; i++)
		run->seen[i].is = pinned_schedstat(run->seen[i].pid);
	judge(run);
	end_run(run);
	trace_close(trace);
}

/*
 * Number of rounds of `subtick try`, original and changed rounds together, and length of a round.
 */
#define TRY_ROUNDS 12
#define TRY_MS	   60
#define SLEEP_MS   6
#define BURN_MS	   2

/*
 * Runs a busy task of group 1, which repeatedly wakes a sleeping task of group 0 on its own core,
 * so that the woken task waits.
 */
static void burn_on(void *shared)
{
	for (;;) {
		live_sleep_ms(SLEEP_MS);
		pinned_wake(shared);
		truth_burn(BURN_MS * NSEC_PER_MSEC);
	}
}

static void sleep_on(void *shared)
{
	for (uint32_t i = 1;; i++)
		pinned_wait(shared, i);
}

static bool doctor_names(const char *scheduler)
{
	json_t *root = live_json(ARGS("doctor", "--json"));
	bool named = strstr(live_text(live_row(root, "checks", "check", "sched_ext"), "detail"),
			    scheduler);

	json_decref(root);
	return named;
}

/*
 * Compares the rounds of `subtick try` with perf's switches during the whole experiment, which took
 * @length_ns. The schedulers of scx.bpf.c ignore weights, so original and changed rounds have equal
 * waits.
 */
static void judge_try(const char *scheduler, const char *cgroup, const struct seen *seen,
		      uint64_t length_ns, json_t *root)
{
	static const char *const keys[] = {"effects.0.original_ns", "effects.0.changed_ns"};
	double share = TRY_ROUNDS * TRY_MS * 1e6 / (double)length_ns, waits = 0.0;
	json_t *row;
	size_t i;

	for (i = 0; i < 2; i++) {
		double ns = live_number(root, keys[i]);

		live_ok(ns >= (double)seen->min_ns - DISPATCH_NS &&
				ns <= (double)seen->max_ns + DISPATCH_NS,
			"%s: try: %s is %.0f, by the switches %llu to %llu", scheduler, keys[i], ns,
			(unsigned long long)seen->min_ns, (unsigned long long)seen->max_ns);
	}
	json_array_foreach(json_object_get(root, "pairs"), i, row)
	{
		if (!strcmp(json_string_value(json_object_get(row, "cgroup")), cgroup))
			waits += live_number(row, "original_count") + live_number(row, "changed_count");
	}
	live_ok(waits >= (double)seen->count * share - TRY_ROUNDS &&
			waits <= TRY_ROUNDS * (TRY_MS / (double)(SLEEP_MS + BURN_MS) + 1),
		"%s: try: %.0f waits in %.3f of the experiment, which has %llu by the switches",
		scheduler, waits, share, (unsigned long long)seen->count);
}

/* Runs commands under @scheduler. The output of each command must contain the scheduler's name. */
static void judge_commands(const char *scheduler, const char *const groups[NR_GROUPS])
{
	struct pinned_task burner = {.cgroup = groups[1], .cpu = 1, .run = burn_on};
	struct pinned_task sleeper = {.cgroup = groups[0], .cpu = 1, .run = sleep_on};
	uint32_t *word = pinned_share(sizeof(*word));
	pid_t pids[] = {pinned_start(&sleeper, word), pinned_start(&burner, word)};
	struct seen seen = {.pid = pids[0]};
	struct witness witness;
	uint64_t begin_ns;
	char set[256];
	json_t *root;
	const char *named;

	live_ok(doctor_names(scheduler), "%s: doctor names it", scheduler);
	root = live_json(ARGS("--json", "1", "1"));
	named = json_string_value(json_object_get(root, "scheduler"));
	live_ok(named && !strcmp(named, scheduler) && live_has_note(root, "decides which"),
		"%s: the overview names it", scheduler);
	json_decref(root);
	snprintf(set, sizeof(set), "%s/cpu.weight=50", groups[1]);
	witness_begin(&witness, seen_events);
	begin_ns = clock_mono_ns();
	root = live_json(ARGS("try", "--json", "--set", set, "--watch", groups[0], "--rounds", "6",
			      "--each", "60ms", "--settle", "10ms", "--seed", "1"));
	witness_end(&witness);
	seen_fill(&seen, 1, &witness, begin_ns);
	judge_try(scheduler, groups[0], &seen, clock_mono_ns() - begin_ns, root);
	witness_free(&witness);
	json_decref(root);
	pinned_stop(pids[0]);
	pinned_stop(pids[1]);
}

int main(void)
{
	const char *groups[NR_GROUPS];
	double throttled;

	truth_begin(NR_CPUS);
	cgroups_open();
	groups[0] = cgroups_make("left");
	groups[1] = cgroups_make("right");
	scx_load(SCX_FIFO);
	measure(&(struct run){
		.name = "fair class", .source = "sched_info", .groups = groups, .one_core = true});
	measure(&(struct run){.name = "fifo inside the window",
			      .source = "sched_info",
			      .groups = groups,
			      .middle = true});
	scx_load(SCX_FIFO);
	scx_enable();
	/*
	 * The tasks of groups[1] exceed their quota of 2 ms per 10 ms, because the scheduler
	 * ignores quotas.
	 */
	cgroups_quota(groups[1], 2000, 10000);
	throttled = cgroups_stat(groups[1], "cpu.stat", "nr_throttled");
	measure(&(struct run){.name = "fifo",
			      .source = "sched_info",
			      .scheduler = scx_names[SCX_FIFO],
			      .groups = groups,
			      .one_core = true,
			      .beside = true});
	live_ok(cgroups_stat(groups[1], "cpu.stat", "nr_throttled") == throttled,
		"fifo: the kernel enforces no quota");
	cgroups_quota(groups[1], 10000, 10000);
	scx_disable();

	scx_load(SCX_GROUPS);
	measure(&(struct run){.name = "groups inside the window",
			      .source = "sched_info",
			      .groups = groups,
			      .one_core = true,
			      .middle = true});
	scx_load(SCX_GROUPS);
	scx_enable();
	measure(&(struct run){.name = "groups, source wakeup",
			      .source = "wakeup",
			      .scheduler = scx_names[SCX_GROUPS],
			      .groups = groups});
	judge_commands(scx_names[SCX_GROUPS], groups);
	scx_disable();
	return live_done();
}
