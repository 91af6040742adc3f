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
	"wake_exit", "idle", LEAST, "subtick runq --idle-states: for whom, and which latency limit helps"};
static const struct finding_rule exceeds = {
	"wake_exceeds", "idle", 0.0, "subtick wake --each-state; cpupower idle-set -d N disables the state"};

typedef bool (*state_filter)(const struct wake_window *w, const struct wake_state *s);

/* One idle state on all cores where it passes the same filter. */
struct alike {
	char cpus[64];
	bool several; /* cores */
	double worst_ns;
	uint64_t lost_ns;
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

/* False if @row does not pass the filter, or an earlier row of the same state did. */
static bool gather(const struct wake_window *w, size_t row, state_filter is,
		   struct alike *ret_alike)
{
	struct cpuset cpus = {0};

	if (!is(w, &w->states[row]))
		return false;
	*ret_alike = (struct alike){0};
	for (size_t i = 0; i < w->nr_states; i++) {
		const struct wake_state *s = &w->states[i];
		double over = s->summary.median_ns - (double)s->claimed_ns;

		if (strcmp(s->name, w->states[row].name) || !is(w, s))
			continue;
		if (i < row)
			return false;
		cpuset_add(&cpus, s->cpu);
		ret_alike->worst_ns = fmax(ret_alike->worst_ns, s->summary.median_ns);
		ret_alike->lost_ns += is == is_slow ? s->sum_ns :
						      (uint64_t)(over * (double)s->summary.count);
	}
	cpuset_format(&cpus, ret_alike->cpus, sizeof(ret_alike->cpus));
	ret_alike->several = cpuset_count(&cpus) > 1;
	return true;
}

static void add_findings(const struct wake_window *w, size_t row, struct report *report)
{
	const struct wake_state *s = &w->states[row];
	struct alike alike;
	char rate[32];

	if (gather(w, row, is_slow, &alike))
		findings_add(report, FINDING(&waits, alike.lost_ns),
			     "timers of CPU%s %s come late because of wake-ups from %s: %s",
			     alike.several ? "s" : "", alike.cpus, s->name,
			     findings_rate(report, alike.lost_ns, rate, sizeof(rate)));
	if (gather(w, row, is_beyond_claim, &alike))
		findings_add(report, FINDING(&exceeds, alike.lost_ns),
			     "CPU%s %s take%s %.3g us to leave %s (median); the driver claims %.3g us",
			     alike.several ? "s" : "", alike.cpus,
			     alike.several ? " up to" : "s", alike.worst_ns / 1e3, s->name,
			     (double)s->claimed_ns / 1e3);
}

void wake_findings(const struct wake_window *w, struct report *report)
{
	for (size_t i = 0; i < w->nr_states; i++)
		add_findings(w, i, report);
}
