/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares two times of `subtick load` with perf's timestamps of idle entries, idle exits and
 * switches: the time in which both siblings of a core were busy, and the time in which tasks of two
 * cgroups ran simultaneously. Also compares the exporter's metric of the second time.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "scrape.h"
#include "truth.h"
#include "witness.h"

#define ROUNDS	    60
#define DISTANCE_NS (5 * NSEC_PER_MSEC)
#define FIRST	    2 /* first CPU of the tested core: CPUs 2 and 3 are siblings */
/*
 * Allowed error of an interval's length. Subtick stamps both ends of an interval some hundred ns
 * after perf, so the error is only the difference of the two delays.
 */
#define EDGE_NS	    100
/*
 * Allowed error of the time in which both siblings are idle. The window of a core begins and ends
 * some microseconds after the report's window, while both siblings are idle.
 */
#define ENDS_NS	    100000
#define PORT	    7828
/* A time slightly longer than a window of the exporter. */
#define SETTLE_MS 400
/*
 * In the exporter, fewer than 1000 instructions run between the timestamp of perf and the timestamp
 * of the BPF program that counts pairs of cgroups.
 */
#define SERVE_EDGE_NS 1000

struct shared {
	uint64_t begin_ns;
};

/*
 * Runs the busy intervals of one sibling. The start times and lengths of the intervals differ
 * between the two siblings.
 */
static void run(const struct shared *shared, uint64_t factor)
{
	for (uint64_t i = 0; i < ROUNDS; i++) {
		/*
		 * The two CPUs must never wake at the same time, because QEMU would stop one CPU
		 * between the timestamps of perf and of subtick's BPF program.
		 */
		uint64_t begin = (i * factor % 29 * 30 + factor) * 3 * NSEC_PER_USEC;

		truth_sleep_until(shared->begin_ns + i * DISTANCE_NS + begin);
		truth_burn_in_turns((1 + i * factor % 13) * 160 * NSEC_PER_USEC);
	}
}

static void run_first(void *shared)
{
	run(shared, 7);
}

static void run_second(void *shared)
{
	run(shared, 11);
}

static const char *const *events(void)
{
	/*
	 * On x86 the interrupt handler runs before the idle exit event, so interrupts are recorded
	 * too.
	 */
	static const char *const wanted[] = {
		"power/cpu_idle", "irq_vectors/local_timer_entry", "irq_vectors/reschedule_entry",
		"irq_vectors/call_function_single_entry", "irq_vectors/call_function_entry",
		"irq_vectors/irq_work_entry", "sched/sched_switch"};
	static const char *names[WITNESS_EVENTS + 1];
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (witness_has(wanted[i]))
			names[nr++] = wanted[i];
	return names;
}

/*
 * Sums the time with none, one and both siblings busy. Returns the number of changes between busy
 * and idle.
 */
static unsigned int integrate(const struct witness *w, uint64_t from_ns, uint64_t to_ns, double ns[3])
{
	uint64_t last_ns = from_ns;
	bool busy[2] = {0};
	unsigned int edges = 0;

	for (size_t i = 0; i <= w->nr_hits; i++) {
		const struct witness_hit *hit = i < w->nr_hits ? &w->hits[i] : NULL;
		uint64_t at_ns = !hit || hit->time_ns > to_ns ? to_ns : hit->time_ns;
		bool now;

		if (hit && (hit->cpu < FIRST || hit->cpu > FIRST + 1 ||
			    !strcmp(w->names[hit->event], "sched/sched_switch")))
			continue;
		if (at_ns > last_ns) {
			ns[busy[0] + busy[1]] += (double)(at_ns - last_ns);
			last_ns = at_ns;
		}
		if (!hit || at_ns == to_ns)
			break;
		now = strcmp(w->names[hit->event], "power/cpu_idle") ||
		      (uint32_t)witness_field(w, hit, "state") == UINT32_MAX;
		edges += busy[hit->cpu - FIRST] != now;
		busy[hit->cpu - FIRST] = now;
	}
	return edges;
}

/*
 * Sums the run time of each task (ns[0] and ns[1]) and the time in which both tasks ran (ns[2]).
 * Returns the number of switches.
 */
static unsigned int overlap(const struct witness *w, uint64_t from_ns, const pid_t pids[2], double ns[3])
{
	bool runs[2] = {0};
	uint64_t last_ns = 0;
	unsigned int nr = 0;

	for (size_t i = 0; i < w->nr_hits; i++) {
		const struct witness_hit *hit = &w->hits[i];
		double more = (double)(hit->time_ns - last_ns);

		if (hit->time_ns < from_ns || hit->cpu < FIRST || hit->cpu > FIRST + 1 ||
		    strcmp(w->names[hit->event], "sched/sched_switch"))
			continue;
		ns[0] += runs[0] ? more : 0;
		ns[1] += runs[1] ? more : 0;
		ns[2] += runs[0] && runs[1] ? more : 0;
		last_ns = hit->time_ns;
		runs[hit->cpu - FIRST] = witness_field(w, hit, "next_pid") == pids[hit->cpu - FIRST];
		nr++;
	}
	return nr;
}

static void judge_pair(json_t *root, const char *cgroup, const char *sibling, double shared_ns,
		       double run_ns, double bound)
{
	json_t *row, *found = NULL;
	size_t i;

	json_array_foreach(json_object_get(root, "cgroups"), i, row)
		if (!strcmp(json_string_value(json_object_get(row, "cgroup")), cgroup) &&
		    !strcmp(json_string_value(json_object_get(row, "sibling_cgroup")), sibling))
			found = row;
	live_ok(found != NULL, "%s shares a core with %s", cgroup, sibling);
	if (!found)
		return;
	live_ok(fabs(live_number(found, "shared_ns") - shared_ns) <= bound,
		"shared %.3f ms, by perf %.3f ms, bound %.3f", live_number(found, "shared_ns") / 1e6,
		shared_ns / 1e6, bound / 1e6);
	live_ok(fabs(live_number(found, "run_ns") - run_ns) <= bound,
		"ran %.3f ms, by perf %.3f ms, bound %.3f", live_number(found, "run_ns") / 1e6,
		run_ns / 1e6, bound / 1e6);
}

static void judge(json_t *root, const struct witness *w)
{
	static const char *const keys[] = {"none_busy_ratio", "one_busy_ratio", "all_busy_ratio"};
	uint64_t length_ns, end_ns = measured_window(root, &length_ns);
	json_t *core = live_row(root, "cores", "cpus", "2-3");
	double truth[3] = {0}, bound;
	unsigned int edges = integrate(w, end_ns - length_ns, end_ns, truth);

	live_ok(core && json_array_size(json_object_get(root, "cores")) == 2,
		"two cores, one with CPUs 2 and 3");
	if (!core)
		return;
	live_ok(edges >= 4 * ROUNDS - 4 && truth[2] > 20e6, "%u changes, both busy for %.3f ms", edges,
		truth[2] / 1e6);
	for (size_t i = 0; i < 3; i++) {
		double ns = live_number(core, keys[i]) * (double)length_ns;

		bound = edges * EDGE_NS + (i ? 0 : ENDS_NS);
		live_ok(fabs(ns - truth[i]) <= bound, "%s: %.3f ms, by perf %.3f ms, bound %.3f", keys[i],
			ns / 1e6, truth[i] / 1e6, bound / 1e6);
	}
	live_ok(live_number(core, "closure_error_ratio") < 0.001, "closure error %.6f",
		live_number(core, "closure_error_ratio"));
}

/* Starts the tasks of both siblings, which begin at shared->begin_ns. */
static void start(const struct pinned_task tasks[2], struct shared *shared, pid_t pids[2])
{
	shared->begin_ns = clock_mono_ns() + MEASURED_LEAD_NS;
	for (int i = 0; i < 2; i++)
		pids[i] = pinned_start(&tasks[i], shared);
}

static void stop(struct witness *witness, const pid_t pids[2])
{
	witness_free(witness);
	pinned_stop(pids[0]);
	pinned_stop(pids[1]);
}

static void measure_load(const struct pinned_task tasks[2], struct shared *shared)
{
	const char *const args[] = {"load", "--cores", "--cgroups", "--json", "3", "1", NULL};
	struct measured measured;
	struct witness witness;
	json_t *root;
	double ns[3] = {0}, bound;
	pid_t pids[2];

	witness_begin(&witness, events());
	live_sleep_ms(2000);
	start(tasks, shared, pids);
	measured_start(&measured, args);
	root = measured_end(&measured, shared->begin_ns, shared->begin_ns + ROUNDS * DISTANCE_NS);
	witness_end(&witness);
	judge(root, &witness);
	bound = overlap(&witness, shared->begin_ns, pids, ns) * EDGE_NS;
	judge_pair(root, tasks[0].cgroup, tasks[1].cgroup, ns[2], ns[0], bound);
	judge_pair(root, tasks[1].cgroup, tasks[0].cgroup, ns[2], ns[1], bound);
	json_decref(root);
	stop(&witness, pids);
}

static double series_ns(const char *text, const char *cgroup, const char *sibling)
{
	return 1e9 * scrape_value(text,
				  "subtick_core_pairs_seconds_total{cgroup=\"%s\",sibling=\"%s\"}",
				  cgroup, sibling);
}

/* Checks that the exporter's counters grow by the time in which the tasks of both cgroups ran. */
static void measure_serve(const struct pinned_task tasks[2], struct shared *shared)
{
	static const char *const args[] = {
		"serve",	"--listen", "127.0.0.1:7828", "--interval", "0.2s",
		"--core-pairs", "20",	    "--collect",      "load,runq",  NULL};
	struct measured serve;
	struct witness witness;
	double ns[3] = {0}, bound;
	char output[4096], *was, *now;
	pid_t pids[2];

	measured_start(&serve, args);
	scrape_wait(PORT);
	witness_begin(&witness, events());
	live_sleep_ms(2000);
	start(tasks, shared, pids);
	truth_sleep_until(shared->begin_ns - 100 * NSEC_PER_MSEC);
	was = scrape(PORT, "/metrics");
	truth_sleep_until(shared->begin_ns + ROUNDS * DISTANCE_NS);
	live_sleep_ms(SETTLE_MS);
	now = scrape(PORT, "/metrics");
	witness_end(&witness);
	live_stop(serve.pid, SIGTERM, serve.fd, output, sizeof(output));
	bound = overlap(&witness, shared->begin_ns, pids, ns) * SERVE_EDGE_NS;
	for (int i = 0; i < 2; i++) {
		const char *cgroup = tasks[i].cgroup, *sibling = tasks[!i].cgroup;
		double shared_ns =
			series_ns(now, cgroup, sibling) - series_ns(was, cgroup, sibling);

		live_ok(fabs(shared_ns - ns[2]) <= bound,
			"exporter: %s beside %s for %.3f ms, by perf %.3f ms, bound %.3f", cgroup,
			sibling, shared_ns / 1e6, ns[2] / 1e6, bound / 1e6);
	}
	free(was);
	free(now);
	stop(&witness, pids);
}

int main(void)
{
	struct pinned_task tasks[] = {{.cpu = FIRST, .run = run_first},
				      {.cpu = FIRST + 1, .run = run_second}};
	struct shared *shared = pinned_share(sizeof(*shared));

	truth_begin(4);
	cgroups_open();
	tasks[0].cgroup = cgroups_make("app");
	tasks[1].cgroup = cgroups_make("batch");
	measure_load(tasks, shared);
	measure_serve(tasks, shared);
	return live_done();
}
