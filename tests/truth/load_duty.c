/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the busy time of `subtick load` with the number of executed instructions, at several
 * duty cycles and periods, at random times and in phase with the tick.
 */
#include <math.h>
#include <stdbool.h>

#include "base/clock.h"
#include "duty.h"
#include "instructions.h"
#include "live.h"
#include "truth.h"

#define WINDOW_MS 100 /* minimum window length; a window also has at least PERIODS periods */
#define PERIODS	  5
#define BOUND	  0.001 /* allowed error of the busy share: 0.1 percentage points */
#define ROUNDING  1e-6
/*
 * Largest difference between the sum of a core's contexts and the window, as share of the window.
 * An interrupt between the read of the clock and the read of the counters makes the sum differ from
 * the window.
 */
#define CLOSURE	  1e-3
/*
 * Number of instructions per idle period that subtick counts as idle time although the core
 * executes them: between the stamp of the idle entry and the halt, and between the halt and the
 * stamp of the idle exit. docs/methods/load.md lists the numbers.
 */
#define OUTSIDE 375

/*
 * Returns the larger error of two sums: all shares of the window should sum to 1, and the parts of
 * the busy share should sum to the busy share.
 */
static double open_share(const struct live_split *split)
{
	double sum = (double)split->busy + split->poll_idle + split->idle + split->unknown;
	double parts = (double)split->task + split->hardirq + split->softirq_on_idle +
		       split->softirq_on_task + split->ksoftirqd + split->idle_loop;

	return fmax(fabs(sum - 1.0), fabs(parts - split->busy));
}

static void check_point(struct subtick *bpf, int fd, const struct truth_duty_opts *opts,
			const char *phase)
{
	struct gen_child child = {0};
	const struct truth_duty *duty = truth_duty_start(opts, &child);
	struct live_split split;
	uint64_t first, last, cycles;
	unsigned int window_ms = PERIODS * (unsigned int)(opts->period_ns / NSEC_PER_MSEC);
	double truth, low, outside;

	/*
	 * The test reads the instruction counter first and subtick's source second at the start and
	 * at the end of the window, so that the delay between the two reads cancels.
	 */
	live_sleep_ms(50);
	cycles = duty->cycles;
	first = instructions_read(fd);
	live_update(bpf);
	live_sleep_ms(window_ms > WINDOW_MS ? window_ms : WINDOW_MS);
	last = instructions_read(fd);
	live_update(bpf);
	cycles = duty->cycles - cycles;
	live_split(bpf, opts->cpu, &split);
	gen_child_stop(&child);
	truth = (double)(last - first) * truth_instruction_ns() / (double)split.window_ns;
	/* In each period of the load, the core has one idle period. */
	outside = (double)(cycles * OUTSIDE * truth_instruction_ns()) / (double)split.window_ns;
	low = truth - split.busy;
	live_ok(fabs(low - outside) <= BOUND && (outside > BOUND || fabs(low) <= BOUND),
		"duty %.0f %% of %.1f ms, %s: busy %.3f %%, executed %.3f %%: %.3f points low, "
		"of which %llu idle cycles explain %.3f",
		opts->duty * 100.0, (double)opts->period_ns / 1e6, phase, split.busy * 100.0,
		truth * 100.0, low * 100.0, (unsigned long long)cycles, outside * 100.0);
	if (open_share(&split) > ROUNDING || split.closure_error > CLOSURE || split.flags)
		live_ok(false,
			"and its parts make the whole: off by %.9f, closure error %.7f, flags %#x",
			open_share(&split), split.closure_error, (unsigned int)split.flags);
}

int main(void)
{
	static const double duties[] = {0.01, 0.30, 0.70, 0.99};
	static const uint64_t periods_us[] = {100, 1000, 4000, 20000};
	struct subtick *bpf;
	int fd;

	truth_begin(1);
	truth_urgent();
	fd = instructions_open(0);
	bpf = live_source("bpf", true);
	for (int p = 0; p < 4; p++)
		for (int d = 0; d < 4; d++) {
			struct truth_duty_opts opts = {
				.cpu = 0,
				.duty = duties[d],
				.period_ns = periods_us[p] * NSEC_PER_USEC,
			};

			/*
			 * Start busy intervals at random times. With a fixed start, all would have
			 * the same distance from a tick, because the tick period (4 or 1 ms) is a
			 * multiple or a divisor of the load's period.
			 */
			check_point(bpf, fd, &opts, "at random");
			opts.locked = true;
			check_point(bpf, fd, &opts, "with the tick");
			if (d == 0 || d == 3)
				continue;
			opts.phase_ns = opts.period_ns / 5;
			check_point(bpf, fd, &opts, "a fifth after the tick");
		}
	subtick_close(bpf);
	return live_done();
}
