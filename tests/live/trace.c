/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick trace`: a recording that ends when a percentile of a cgroup exceeds a limit, tick
 * events, and avoidable waits.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cgroups.h"
#include "live.h"
#include "measure/trace/trace.h"
#include "runq_window.h"

#define LIMIT_NS 200000.0
#define LIMIT	 "200us"

/*
 * Counts the waits of task @pid that ended in the window whose percentile ended the recording.
 * @ret_long is the number of counted waits of at least LIMIT_NS.
 */
static void count_waits(json_t *root, pid_t pid, double *ret_waits, double *ret_long)
{
	double at = live_number(root, "event_at_ns"), window = live_number(root, "event_window_ns");
	json_t *wait;
	size_t i;

	*ret_waits = *ret_long = 0;
	json_array_foreach(json_object_get(root, "waits"), i, wait) {
		double end = live_number(wait, "at_ns");

		if (live_number(wait, "pid") != pid || end > at || end < at - window)
			continue;
		*ret_waits += 1;
		*ret_long += live_number(wait, "wait_ns") >= LIMIT_NS;
	}
}

/*
 * Two busy tasks share a core, so one task waits while the other task runs for a time slice. A time
 * slice of the scheduler is longer than LIMIT.
 */
static void check_percentile(const char *cgroup, pid_t victim)
{
	char event[512];
	json_t *root;
	double waits, too_long, of_waits, of_long;

	snprintf(event, sizeof(event), "p90=" LIMIT ":%s", cgroup);
	root = live_json(ARGS("trace", "--json", "--top", "0", "--on", event, "--for", "60s"));
	waits = live_number(root, "event_waits_total");
	too_long = live_number(root, "event_long_total");
	live_ok(!strcmp(live_text(root, "event"), "percentile") &&
			!strcmp(live_text(root, "event_cgroup"), cgroup),
		"p90 of %s ends the recording: \"%s\" of %s", cgroup, live_text(root, "event"),
		live_text(root, "event_cgroup"));
	live_ok(waits >= 10 && too_long * 10 > waits, "more than a tenth of the waits are long: %.0f of %.0f",
		too_long, waits);
	count_waits(root, victim, &of_waits, &of_long);
	/*
	 * At each end of the window, one wait may end between the read of the clock and the read of
	 * the counters.
	 */
	live_ok(fabs(of_waits - waits) <= 2 && fabs(of_long - too_long) <= 2,
		"and the recording has them: %.0f of %.0f", of_long, of_waits);
	json_decref(root);
}

static void check_no_event(const char *what, const char *percentile, const char *cgroup)
{
	char event[512];
	json_t *root;

	snprintf(event, sizeof(event), "%s:%s", percentile, cgroup);
	root = live_json(ARGS("trace", "--json", "--on", event, "--over", "100ms", "--for", "1s"));
	live_ok(root && !json_object_get(root, "event"), "%s ends nothing", what);
	json_decref(root);
}

/* Checks that each tick event is inside an interrupt, and that a busy core has ticks. */
static void check_ticks(int cpu)
{
	struct trace_opts opts = {.tick = true};
	const struct trace_window *w;
	int depth = 0, outside = 0;
	struct trace *trace;
	struct err err = {0};
	bool done, seen = false;

	if (trace_open(&opts, &trace, &err)) {
		live_ok(err.unsupported, "ticks: refused with the reason: %s", err.what);
		return;
	}
	trace_start(trace);
	for (int i = 0; i < 50 && !trace_poll(trace, &done, &err); i++)
		live_sleep_ms(10);
	if (trace_stop(trace, &w, &err))
		live_fail_all("%s", err.what);
	for (size_t i = 0; i < w->cpu[cpu].core.nr_edges; i++) {
		enum trace_kind kind = trace_edge_kind(&w->cpu[cpu].core.edges[i]);

		if (kind >= TRACE_IRQ_ENTER && kind <= TRACE_VECTOR_ENTER) {
			depth++;
			seen = true;
		}
		depth -= kind == TRACE_IRQ_LEAVE && depth;
		/*
		 * A recording may begin inside an interrupt, so ticks before the first interrupt
		 * entry are ignored.
		 */
		outside += kind == TRACE_TICK && seen && !depth;
	}
	live_ok(!outside, "each tick is in an interrupt: %d are not", outside);
	live_figure(trace_ticks(&w->cpu[cpu]) >= 25, "a busy core has %llu ticks in half a second",
		    (unsigned long long)trace_ticks(&w->cpu[cpu]));
	trace_close(trace);
}

static void check_frequency(void)
{
	if (access("/sys/devices/system/cpu/cpu0/cpufreq", F_OK))
		live_refused("frequencies that nobody sets", ARGS("trace", "--frequency"), 77,
			     "no cpufreq driver");
	else
		live_needs(ARGS("trace", "--frequency", "--for", "10ms"));
}

/* A pinned task cannot run on another CPU, so none of its waits may be reported as avoidable. */
static void check_pinned(pid_t pid)
{
	json_t *root = live_json(ARGS("trace", "--json", "--top", "0", "--for", "300ms")), *wait;
	double waits = 0, avoidable = 0, unknown = 0, sum = 0, of_all = 0;
	size_t i;

	json_array_foreach(json_object_get(root, "waits"), i, wait) {
		double ns = live_number(wait, "avoidable_ns");

		of_all += isnan(ns) ? 0 : ns;
		sum += live_number(wait, "wait_ns");
		if (live_number(wait, "pid") != pid)
			continue;
		waits++;
		unknown += isnan(ns);
		avoidable += isnan(ns) ? 0 : ns;
	}
	live_ok(waits > 0 && unknown == 0 && avoidable == 0,
		"a pinned burner: %.0f waits, none avoidable (%.0f ns), none unknown (%.0f)", waits,
		avoidable, unknown);
	live_ok(of_all == live_number(root, "avoidable_ns") && of_all <= sum,
		"avoidable waits of all tasks: %.0f ns of %.0f, and %.0f in the report", of_all, sum,
		live_number(root, "avoidable_ns"));
	json_decref(root);
}

int main(void)
{
	const char *group, *inner;
	int cpu, other;
	pid_t victim;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs(ARGS("trace", "--for", "1ms"));
	live_refused("a cgroup that does not exist", ARGS("trace", "--on", "p99=5ms:/no/such"), 1,
		     "no cgroup /no/such");
	group = cgroups_make("group");
	inner = cgroups_make("group/inner");
	live_pin(other);
	check_frequency();
	load_burner(cgroups_make("other"), cpu);
	check_ticks(cpu);
	victim = load_burner(inner, cpu);
	check_percentile(group, victim);
	check_pinned(victim);
	check_no_event("a percentile below its limit", "p50=60s", group);
	load_kill(victim);
	check_no_event("a cgroup without waits", "p50=1ns", group);
	return live_done();
}
