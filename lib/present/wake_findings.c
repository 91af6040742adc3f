/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds idle states that take longer to leave than claimed, or much time in all. */
#include "present/wake.h"

#include <math.h>
#include <string.h>

#include "base/cpuset.h"
#include "report/findings.h"

/* 10 ms per second of one core. A quiet core wakes some times a second, for 0.1 ms at most. */
#define LEAST 0.01
/* A median of fewer says little. */
#define LEAST_COUNT 20

static const struct finding_rule waits = {
	"wake_exit", LEAST, "subtick runq --idle-states: for whom, and which latency limit helps"};
static const struct finding_rule exceeds = {
	"wake_exceeds", 0.0, "subtick wake --each-state; cpupower idle-set -d N disables the state"};

/* One idle state on all cores of which the same can be said. */
struct alike {
	struct cpuset cpus;
	double worst_ns;
	uint64_t lost_ns, count;
};

/* Time that timers of the running system came late, on one core. */
static bool is_slow(const struct wake_window *w, const struct wake_state *s)
{
	return s->source == WAKE_PASSIVE && s->index &&
	       (double)s->sum_ns >= LEAST * (double)w->window_ns;
}

/* By its median, not its maximum: that it is so each time is what misleads the governor. */
static bool is_beyond_claim(const struct wake_window *w, const struct wake_state *s)
{
	return s->claimed_ns != WAKE_UNKNOWN && w->uncertainty_ns != WAKE_UNKNOWN &&
	       s->verdict == WAKE_EXCEEDS && s->summary.count >= LEAST_COUNT &&
	       s->summary.median_ns - (double)w->uncertainty_ns > (double)s->claimed_ns;
}

static bool said_before(const struct wake_window *w, size_t row,
			bool (*is)(const struct wake_window *, const struct wake_state *))
{
	for (size_t i = 0; i < row; i++)
		if (!strcmp(w->states[i].name, w->states[row].name) && is(w, &w->states[i]))
			return true;
	return false;
}

static struct alike gather(const struct wake_window *w, size_t row,
			   bool (*is)(const struct wake_window *, const struct wake_state *))
{
	struct alike alike = {0};

	for (size_t i = row; i < w->nr_states; i++) {
		const struct wake_state *s = &w->states[i];
		double over = s->summary.median_ns - (double)s->claimed_ns;

		if (strcmp(s->name, w->states[row].name) || !is(w, s))
			continue;
		cpuset_add(&alike.cpus, s->cpu);
		alike.worst_ns = fmax(alike.worst_ns, s->summary.median_ns);
		alike.count += s->summary.count;
		alike.lost_ns += is == is_slow ? s->sum_ns :
						 (uint64_t)(over * (double)s->summary.count);
	}
	return alike;
}

static void say(const struct wake_window *w, size_t row, struct report *report)
{
	const struct wake_state *s = &w->states[row];
	char rate[32], cpus[64];
	struct alike alike;

	if (is_slow(w, s) && !said_before(w, row, is_slow)) {
		alike = gather(w, row, is_slow);
		cpuset_format(&alike.cpus, cpus, sizeof(cpus));
		findings_add(report, &waits, alike.lost_ns,
			     "timers of CPU%s %s come %s late because of wake-ups from %s",
			     cpuset_count(&alike.cpus) > 1 ? "s" : "", cpus,
			     findings_rate(report, alike.lost_ns, rate, sizeof(rate)), s->name);
	}
	if (is_beyond_claim(w, s) && !said_before(w, row, is_beyond_claim)) {
		alike = gather(w, row, is_beyond_claim);
		cpuset_format(&alike.cpus, cpus, sizeof(cpus));
		findings_add(report, &exceeds, alike.lost_ns,
			     "CPU%s %s take%s %.3g us to leave %s (median); the driver claims %.3g us",
			     cpuset_count(&alike.cpus) > 1 ? "s" : "", cpus,
			     cpuset_count(&alike.cpus) > 1 ? " up to" : "s", alike.worst_ns / 1e3,
			     s->name, (double)s->claimed_ns / 1e3);
	}
}

void wake_findings(const struct wake_window *w, struct report *report)
{
	for (size_t i = 0; i < w->nr_states; i++)
		say(w, i, report);
}
