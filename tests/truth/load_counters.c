/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the sources of `subtick load` that read a counter of unhalted cycles. The test compares the
 * busy time of each source with the test's own readings of the same counter.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "duty.h"
#include "instructions.h"
#include "live.h"
#include "host/perf.h"
#include "truth.h"

/*
 * PMU event of executed instructions, which stands for unhalted cycles in this test. One
 * instruction takes 16 ns in virtual time, so the event counts at 62.5 MHz, the rate of arm64's
 * generic counter. The event does not count while the core is halted.
 */
#define EVENT	  "r8"
#define WINDOW_MS 2000
#define BOUND	  0.001 /* allowed error of a busy share: 0.1 percentage points */

#define MOST_COUNTERS 40
#define NO_FIGURE     (1u << 31)

static const char *const names[] = {"perf-tsc", "perf-calibrated", "bpf-pmu"};

#define NR_SOURCES (sizeof(names) / sizeof(names[0]))

/*
 * Updates @load, and reads the instruction counter before and after the update. Returns the mean of
 * the two counter readings, which estimates the counter at the time of the update.
 */
static double update(struct subtick *load, int fd)
{
	uint64_t before = instructions_read(fd);

	live_update(load);
	return (double)(before + instructions_read(fd)) / 2.0;
}

static void check_load(struct subtick *const loads[NR_SOURCES], int fd, double duty,
		       uint64_t period_ms)
{
	struct truth_duty_opts opts = {
		.cpu = 0, .duty = duty, .period_ns = period_ms * NSEC_PER_MSEC};
	struct gen_child child = {0};
	double first[NR_SOURCES];

	if (duty > 0.0)
		truth_duty_start(&opts, &child);
	live_sleep_ms(50);
	for (size_t i = 0; i < NR_SOURCES; i++)
		first[i] = update(loads[i], fd);
	live_sleep_ms(WINDOW_MS);
	for (size_t i = 0; i < NR_SOURCES; i++) {
		double counted = update(loads[i], fd) - first[i], truth;
		struct live_split split;

		live_split(loads[i], 0, &split);
		truth = counted * truth_instruction_ns() / (double)split.window_ns;
		/* subtick sets the flag because the rate of a user's event is unknown. */
		live_ok(fabs(split.busy - truth) <= BOUND && split.flags == SUBTICK_NOT_CONSTANT,
			"%s, %.0f %% of %llu ms: busy %.3f %%, executed %.3f %%, flags %#x",
			names[i], duty * 100.0, (unsigned long long)period_ms, split.busy * 100.0,
			truth * 100.0, (unsigned int)split.flags);
	}
	gen_child_stop(&child);
}

/* Opens pinned events until the PMU has no free counter. Returns the number of opened events. */
static int take_all(int fds[MOST_COUNTERS])
{
	const struct perf_event other = {
		.name = "r1b", .types = {PERF_TYPE_RAW}, .nr_types = 1, .config = 0x1b};
	struct perf_count count;
	int nr = 0;

	while (nr < MOST_COUNTERS && (fds[nr] = perf_open_cpu(&other, 0, true)) >= 0 &&
	       !perf_read(fds[nr], &count))
		nr++;
	if (nr == MOST_COUNTERS || fds[nr] < 0)
		live_fail_all("%d events, and the PMU still has counters", nr);
	close(fds[nr]);
	return nr;
}

static uint32_t window_flags(struct subtick *load)
{
	struct live_split split;

	live_update(load);
	live_sleep_ms(100);
	live_update(load);
	live_split(load, 0, &split);
	return split.busy < 0.0 ? split.flags | NO_FIGURE : split.flags;
}

/*
 * While other programs use every hardware counter, busy time must be unavailable, not 0 %. Busy
 * time must be available again when these programs have closed their counters.
 */
static void check_taken(void)
{
	int fds[MOST_COUNTERS], nr = take_all(fds);
	struct subtick *load = live_source_event("perf-tsc", "r24", true);
	uint32_t flags = window_flags(load);

	live_ok(flags == (SUBTICK_READ_FAILED | SUBTICK_NOT_CONSTANT | NO_FIGURE),
		"%d events of others hold all counters: no figure, flags %#x", nr, flags);
	while (nr)
		close(fds[--nr]);
	flags = window_flags(load);
	/* The kernel reassigns a freed counter some milliseconds later. */
	flags &= ~SUBTICK_MULTIPLEXED;
	live_ok(flags == SUBTICK_NOT_CONSTANT, "they are gone: a figure again, flags %#x", flags);
	subtick_close(load);
}

int main(void)
{
	struct subtick *loads[NR_SOURCES];
	int fd;

	truth_begin(1);
	truth_urgent();
	fd = instructions_open(0);
	for (size_t i = 0; i < NR_SOURCES; i++)
		loads[i] = live_source_event(names[i], EVENT, true);
	check_load(loads, fd, 0.30, 10);
	check_load(loads, fd, 0.70, 4);
	check_load(loads, fd, 0.99, 20);
	check_load(loads, fd, 0.01, 33);
	check_load(loads, fd, 0.0, 0);
	check_taken();
	for (size_t i = 0; i < NR_SOURCES; i++)
		subtick_close(loads[i]);
	return live_done();
}
