/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Siblings that are busy at the same time, compared with perf's stamps of idle entries and exits.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "live.h"
#include "measured.h"
#include "pinned.h"
#include "truth.h"
#include "witness.h"

#define ROUNDS	    60
#define DISTANCE_NS (5 * NSEC_PER_MSEC)
#define FIRST	    2 /* CPUs 2 and 3 are siblings of one core */
/*
 * The program stamps each idle entry and exit some hundred ns after perf. An interval has this delay at
 * both ends, so that only the difference remains.
 */
#define EDGE_NS	    100
/* The window of the core begins and ends some µs after the window of the report, while both sleep. */
#define ENDS_NS	    100000

struct shared {
	uint64_t begin_ns;
};

/*
 * Rounds of one CPU. Their starts and lengths are not synchronous with the rounds of the other CPU.
 */
static void run(const struct shared *shared, uint64_t factor)
{
	for (uint64_t i = 0; i < ROUNDS; i++) {
		/*
		 * The two CPUs never wake at the same time. The emulator would stop one of them in
		 * the middle of its event, between the stamps of perf and of the program.
		 */
		uint64_t begin = (i * factor % 29 * 30 + factor) * 3 * NSEC_PER_USEC;

		truth_sleep_until(shared->begin_ns + i * DISTANCE_NS + begin);
		truth_burn((1 + i * factor % 13) * 160 * NSEC_PER_USEC);
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
	/* x86: the handler comes before the idle exit. */
	static const char *const wanted[] = {
		"power/cpu_idle", "irq_vectors/local_timer_entry", "irq_vectors/reschedule_entry",
		"irq_vectors/call_function_single_entry", "irq_vectors/call_function_entry",
		"irq_vectors/irq_work_entry"};
	static const char *names[WITNESS_EVENTS + 1];
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (witness_has(wanted[i]))
			names[nr++] = wanted[i];
	return names;
}

/* Time by number of busy siblings, and the number of changes. */
static unsigned int integrate(const struct witness *w, uint64_t from_ns, uint64_t to_ns, double ns[3])
{
	uint64_t last_ns = from_ns;
	bool busy[2] = {0};
	unsigned int edges = 0;

	for (size_t i = 0; i <= w->nr_hits; i++) {
		const struct witness_hit *hit = i < w->nr_hits ? &w->hits[i] : NULL;
		uint64_t at_ns = !hit || hit->time_ns > to_ns ? to_ns : hit->time_ns;
		bool now;

		if (hit && (hit->cpu < FIRST || hit->cpu > FIRST + 1))
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

static void judge(json_t *root, const struct witness *w)
{
	static const char *const keys[] = {"none_busy_ratio", "one_busy_ratio", "all_busy_ratio"};
	uint64_t length_ns, end_ns = measured_window(root, &length_ns);
	json_t *row, *core = NULL;
	double truth[3] = {0}, bound;
	unsigned int edges = integrate(w, end_ns - length_ns, end_ns, truth);
	size_t i;

	json_array_foreach(json_object_get(root, "cores"), i, row)
		if (!strcmp(json_string_value(json_object_get(row, "cpus")), "2-3"))
			core = row;
	live_ok(core && json_array_size(json_object_get(root, "cores")) == 2,
		"two cores, one with CPUs 2 and 3");
	if (!core)
		return;
	live_ok(edges >= 4 * ROUNDS - 4 && truth[2] > 20e6, "%u changes, both busy for %.3f ms", edges,
		truth[2] / 1e6);
	for (i = 0; i < 3; i++) {
		double ns = live_number(core, keys[i]) * (double)length_ns;

		bound = edges * EDGE_NS + (i ? 0 : ENDS_NS);
		live_ok(fabs(ns - truth[i]) <= bound, "%s: %.3f ms, by perf %.3f ms, bound %.3f", keys[i],
			ns / 1e6, truth[i] / 1e6, bound / 1e6);
	}
	live_ok(live_number(core, "closure_error_ratio") < 0.001, "closure error %.6f",
		live_number(core, "closure_error_ratio"));
}

int main(void)
{
	const char *const args[] = {"load", "--cores", "--json", "3", "1", NULL};
	struct pinned_task first = {.cpu = FIRST, .run = run_first};
	struct pinned_task second = {.cpu = FIRST + 1, .run = run_second};
	struct shared *shared = pinned_share(sizeof(*shared));
	struct measured measured;
	struct witness witness;
	json_t *root;
	pid_t pids[2];

	truth_begin(4);
	witness_begin(&witness, events());
	live_sleep_ms(2000);
	shared->begin_ns = clock_mono_ns() + MEASURED_LEAD_NS;
	pids[0] = pinned_start(&first, shared);
	pids[1] = pinned_start(&second, shared);
	measured_start(&measured, args);
	root = measured_end(&measured, shared->begin_ns, shared->begin_ns + ROUNDS * DISTANCE_NS);
	witness_end(&witness);
	judge(root, &witness);
	json_decref(root);
	witness_free(&witness);
	pinned_stop(pids[0]);
	pinned_stop(pids[1]);
	return live_done();
}
