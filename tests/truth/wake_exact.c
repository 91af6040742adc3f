/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the corrected latency in the output of `subtick wake`. The test computes the true latency
 * of a wake-up from two times: the expiry of a timer, and the timestamp that a BPF program of the
 * test takes at the first event of the waking core. In virtual time a wake-up takes the same time
 * in every run, so a run without subtick gives the expected value.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "idle_log.h"
#include "live.h"
#include "truth.h"

#define POINTS_FILE "/tmp/points.json"
#define SLEEPS	    60
/*
 * Only the SLEEPS_USED shortest delays are used, because other work of the kernel delays or
 * prevents the event of some of the SLEEPS sleeps.
 */
#define SLEEPS_USED 50
#define POINTS	    "100"
#define SLEEP_NS    NSEC_PER_MSEC
/*
 * Number of empty BPF programs, and of clock readings, that the test adds to compute the cost of
 * one.
 */
#define MORE 8
/*
 * Period of the counter of QEMU's arm64 machine, which runs at 62.5 MHz. A timer of the guest
 * expires only at a step of the 62.5 MHz counter.
 */
#define STEP_NS 16

/* Bounds of the time from the expiry of a timer to an event of the core. */
struct bounds {
	double low_ns, high_ns;
};

static int compare_u64(const void *a, const void *b)
{
	return CMP(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Returns the first timestamp of the log at or after @ns, or 0. */
static uint64_t first_from(const struct idle_log *log, uint64_t ns)
{
	uint64_t count = idle_log_count(log);

	for (uint64_t i = count > 64 ? count - 64 : 0; i < count; i++)
		if (idle_log_stamp(log, i) >= ns)
			return idle_log_stamp(log, i);
	return 0;
}

/*
 * Measures the time from the timer expiry to the timestamp of @event, over several sleeps of the
 * test. Attaches @empties empty BPF programs to @event, and takes the last of @reads clock readings
 * as timestamp.
 */
static bool stamps(enum idle_log_event event, int empties, int reads, struct bounds *ret_bounds)
{
	uint64_t delay_ns[SLEEPS];
	int empty[MORE], seen = 0, rc;
	struct idle_log log;
	struct err err = {0};

	for (int i = 0; i < empties; i++)
		empty[i] = idle_log_empty(event);
	rc = idle_log_open_at(&log, 0, event, reads, &err);
	for (int i = 0; i < SLEEPS && !rc; i++) {
		uint64_t expiry = clock_mono_ns() + SLEEP_NS, stamp;

		truth_sleep_until(expiry);
		stamp = first_from(&log, expiry);
		/* The core was not idle when the timer expired, so the core had no idle exit. */
		if (!stamp)
			continue;
		delay_ns[seen++] = stamp - expiry;
	}
	if (!rc)
		idle_log_close(&log);
	for (int i = 0; i < empties; i++)
		close(empty[i]);
	if (rc && rc != -ENOENT)
		live_fail_all("%s", err.what);
	if (rc)
		return false;
	if (seen < SLEEPS_USED)
		live_fail_all("%d of %d sleeps end with the event", seen, SLEEPS);
	qsort(delay_ns, seen, sizeof(*delay_ns), compare_u64);
	*ret_bounds = (struct bounds){(double)delay_ns[0], (double)delay_ns[SLEEPS_USED - 1]};
	return true;
}

/*
 * Computes bounds for the time from the timer expiry to @event, from the timestamps of @event. The
 * BPF timestamp is later than the event by at most one program call and one clock reading.
 */
static bool way_to(enum idle_log_event event, struct bounds *ret_bounds)
{
	struct bounds one, after_empty, after_reads;
	double call_ns, read_ns;

	if (!stamps(event, 0, 1, &one))
		return false;
	stamps(event, MORE, 1, &after_empty);
	stamps(event, 0, 1 + MORE, &after_reads);
	call_ns = (after_empty.high_ns - one.low_ns) / MORE;
	read_ns = (after_reads.high_ns - one.low_ns) / MORE;
	live_note(
		"stamps %.0f to %.0f ns after the expiry; an empty program takes %.1f ns, reading "
		"the clock %.1f",
		one.low_ns, one.high_ns, call_ns, read_ns);
	*ret_bounds = (struct bounds){one.low_ns - call_ns - read_ns, one.high_ns};
	return true;
}

/*
 * Returns the bounds for the first event of the waking core. The first event is the idle exit, or
 * the timer interrupt if its handler runs before the idle exit event.
 */
static struct bounds reference(void)
{
	struct bounds exit = {0}, irq = {0};

	way_to(IDLE_LOG_EXIT, &exit);
	if (way_to(IDLE_LOG_TIMER_IRQ, &irq) && irq.high_ns < exit.high_ns)
		exit = irq;
	return exit;
}

static void judge_latencies(const struct bounds *b)
{
	const char *const args[] = {"wake",   "--source", "timer",     "-C",	 "0",
				    "--from", "1ms",	  "--to",      "1ms",	 "-n",
				    POINTS,   "--points", POINTS_FILE, "--json", NULL};
	double low = INFINITY, high = -INFINITY;
	json_error_t error;
	json_t *run = live_json(args), *file = json_load_file(POINTS_FILE, 0, &error), *point;
	size_t i, taken = 0, right = 0;

	json_array_foreach(json_object_get(file, "points"), i, point)
	{
		double latency = live_number(point, "latency_ns");

		if (isnan(latency))
			continue;
		taken++;
		low = fmin(low, latency);
		high = fmax(high, latency);
		right += latency >= b->low_ns - STEP_NS && latency <= b->high_ns + STEP_NS;
	}
	live_note("overhead %.0f ns was subtracted, uncertainty %.0f ns",
		  live_number(run, "overhead_ns"), live_number(run, "uncertainty_ns"));
	live_ok(taken >= 90, "%zu points count", taken);
	/* Other work of the kernel delays subtick's wake-ups as often as the sleeps of stamps(). */
	live_ok(right * SLEEPS >= taken * SLEEPS_USED,
		"%zu of %zu latencies, %.0f to %.0f ns, are within %.0f to %.0f ns of the expiry",
		right, taken, low, high, b->low_ns - STEP_NS, b->high_ns + STEP_NS);
	json_decref(run);
	json_decref(file);
	unlink(POINTS_FILE);
}

int main(void)
{
	struct bounds bounds;

	truth_begin(1);
	truth_urgent();
	bounds = reference();
	judge_latencies(&bounds);
	return live_done();
}
