/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* busy against the number of instructions that the core executed, at every duty, period and phase. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "duty.h"
#include "live.h"
#include "subtick/cpu_load.h"
#include "truth.h"

#define WINDOW_MS 100 /* and at least so many periods: */
#define PERIODS	  5
#define BOUND	  0.001 /* a tenth of a point */
#define CLOSURE	  1e-3	/* an interrupt between the clock and the slot is in one of them */
/*
 * Instructions per idle cycle between the stamp of the way into idle and the halt, and between the
 * halt and the stamp of the way out: docs/methods/load.md lists them. Counted as idle, yet executed.
 */
#define OUTSIDE 366

static int instructions_open(int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.pinned = 1,
	};
	struct utsname name;
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		return fd;
	uname(&name);
	if (strcmp(name.machine, "aarch64"))
		live_skip_all("QEMU counts no instructions for a guest on %s", name.machine);
	live_fail_all("no instruction counter on CPU %d: %s", cpu, strerror(errno));
}

static uint64_t instructions(int fd)
{
	uint64_t value = 0;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		live_fail_all("the instruction counter cannot be read");
	return value;
}

/* The parts make the whole, to the rounding of a float. */
static bool closes(const struct cpu_load_split *split)
{
	double sum = (double)split->busy + split->poll_idle + split->idle + split->unknown;
	double parts = (double)split->task + split->hardirq + split->softirq_on_idle +
		       split->softirq_on_task + split->ksoftirqd + split->idle_loop;

	return fabs(sum - 1.0) < 1e-6 && fabs(parts - split->busy) < 1e-6 &&
	       split->closure_error < CLOSURE && !split->flags;
}

/* False if the window does not close; what it says of busy is a result of its own. */
static bool check_point(struct cpu_load *bpf, int fd, const struct truth_duty_opts *opts,
			const char *phase)
{
	struct gen_child child = {0};
	const struct truth_duty *books = truth_duty_start(opts, &child);
	struct cpu_load_split split;
	uint64_t first, last, cycles;
	unsigned int window_ms = PERIODS * (unsigned int)(opts->period_ns / NSEC_PER_MSEC);
	double truth, low, outside;

	/* Both ends are read in the same order, so that the way from one to the other cancels. */
	live_sleep_ms(50);
	cycles = books->cycles;
	first = instructions(fd);
	cpu_load_update(bpf);
	live_sleep_ms(window_ms > WINDOW_MS ? window_ms : WINDOW_MS);
	last = instructions(fd);
	cpu_load_update(bpf);
	cycles = books->cycles - cycles;
	cpu_load_get_split(bpf, opts->cpu, &split);
	gen_child_stop(&child);
	truth = (double)(last - first) * truth_instruction_ns() / (double)split.window_ns;
	/* Each cycle of the load ends with one of the core. */
	outside = (double)(cycles * OUTSIDE * truth_instruction_ns()) / (double)split.window_ns;
	low = truth - split.busy;
	live_ok(fabs(low - outside) <= BOUND && (outside > BOUND || fabs(low) <= BOUND),
		"duty %.0f %% of %.1f ms, %s: busy %.3f %%, executed %.3f %%: %.3f points low, "
		"of which %llu idle cycles explain %.3f",
		opts->duty * 100.0, (double)opts->period_ns / 1e6, phase, split.busy * 100.0,
		truth * 100.0, low * 100.0, (unsigned long long)cycles, outside * 100.0);
	if (closes(&split))
		return true;
	live_note("busy %.7f, idle %.7f, closure error %.7f, flags %#x", split.busy, split.idle,
		  split.closure_error, split.flags);
	return false;
}

int main(void)
{
	static const double duties[] = {0.01, 0.30, 0.70, 0.99};
	static const uint64_t periods_us[] = {100, 1000, 4000, 20000};
	struct cpu_load *bpf;
	int fd, open = 0;

	truth_begin(1);
	fd = instructions_open(0);
	bpf = live_source("bpf", true);
	for (int p = 0; p < 4; p++)
		for (int d = 0; d < 4; d++) {
			struct truth_duty_opts opts = {
				.cpu = 0,
				.duty = duties[d],
				.period_ns = periods_us[p] * NSEC_PER_USEC,
			};

			/* The tick is every 4 or 1 ms, so each period is locked to it or it to the period. */
			open += !check_point(bpf, fd, &opts, "at random");
			opts.locked = true;
			open += !check_point(bpf, fd, &opts, "with the tick");
			if (d == 0 || d == 3)
				continue;
			opts.phase_ns = opts.period_ns / 5;
			open += !check_point(bpf, fd, &opts, "a fifth after the tick");
		}
	live_ok(!open, "busy, idle and the parts make the whole: not so in %d windows", open);
	cpu_load_destroy(bpf);
	return live_done();
}
