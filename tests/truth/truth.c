/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Executes a known number of instructions, and checks that the guest runs in virtual time. */
#include "truth.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "live.h"

#define CALIBRATION 100000
#define ATTEMPTS    16
#define SETTLE_SWITCHES 100 /* QEMU's CPU switches that complete all interrupts */

#define NR_TURNS 2
#define TURN_NS \
	(20 * NSEC_PER_USEC) /* longest time for which QEMU runs one CPU before it switches */

static unsigned int instruction_ns;
static int turn_fds[NR_TURNS] = {-1, -1};
static double loop_ns;

static __attribute__((noinline)) void loop(uint64_t passes)
{
	for (; passes; passes--)
		__asm__ volatile("");
}

/*
 * Measures the duration of one pass of loop(). The shortest of several measurements counts, because
 * no interrupt lengthened the shortest measurement.
 */
static double measure_loop(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < ATTEMPTS; i++) {
		uint64_t begin = clock_mono_ns(), took;

		loop(CALIBRATION);
		took = clock_mono_ns() - begin;
		if (took < best)
			best = took;
	}
	return (double)best / CALIBRATION;
}

/*
 * Disables the lockup watchdog. Every 4 s the lockup watchdog runs a thread with a higher priority
 * than any task of a test.
 */
static void stop_watchdog(void)
{
	if (!live_write("/proc/sys/kernel/watchdog", "0") && errno != ENOENT)
		live_fail_all("cannot stop the watchdog: %s", strerror(errno));
}

void truth_begin(int processors)
{
	const char *text = getenv("SUBTICK_VIRTUAL_TIME");

	if (!text)
		live_skip_all("not in virtual time: tests/vm/run --truth boots such a guest");
	instruction_ns = atoi(text);
	if (sysconf(_SC_NPROCESSORS_ONLN) != processors)
		live_fail_all("needs %d processors, not %ld", processors,
			      sysconf(_SC_NPROCESSORS_ONLN));
	stop_watchdog();
	live_pin(0);
	loop_ns = measure_loop();
	/*
	 * The bounds of the tests require that one pass of the loop has two or three instructions.
	 */
	if (loop_ns < 2 * instruction_ns - 0.01 || loop_ns > 3 * instruction_ns + 0.01)
		live_fail_all("a pass of the loop takes %.4f ns where an instruction takes %u ns",
			      loop_ns, instruction_ns);
	loop_ns = round(loop_ns / instruction_ns) * instruction_ns;
}

unsigned int truth_instruction_ns(void)
{
	return instruction_ns;
}

double truth_loop_ns(void)
{
	return loop_ns;
}

void truth_burn(uint64_t ns)
{
	loop((uint64_t)((double)ns / loop_ns));
}

void truth_burn_in_turns(uint64_t ns)
{
	for (uint64_t left = ns; left; left -= ns) {
		ns = left < TURN_NS ? left : TURN_NS;
		truth_burn(ns);
		truth_switch_cpu();
	}
}

void truth_sleep_until(uint64_t mono_ns)
{
	struct timespec deadline = clock_timespec(mono_ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
		;
}

void truth_urgent(void)
{
	struct sched_param param = {.sched_priority = 50};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		live_fail_all("no real-time priority: %s", strerror(errno));
}

int truth_clock_start(int cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		live_fail_all("no timer on CPU %d: %s", cpu, strerror(errno));
	return fd;
}

void truth_settle(void)
{
	for (int i = 0; i < SETTLE_SWITCHES; i++)
		truth_switch_cpu();
}

/*
 * Starts a perf sampling timer on each CPU, so that QEMU often switches between the CPUs. A perf
 * sampling timer runs on its own CPU, and no process has to read its samples. QEMU switches to the
 * other CPU when a timer expires or is set, and begins with CPU 0. If both timers had the same
 * period, CPU 1 would run only for its own timer interrupts. Measured in QEMU 7.2 with one busy
 * loop on each CPU: with timer periods of 30 and 70 us, CPU 0 runs for a quarter of the time and
 * pauses for at most 135 us; with two periods of 50 us, CPU 0 runs for 97 % of the time. With
 * periods that have a large common divisor (30,000 and 70,000 ns) the two perf timers keep their
 * initial phase to each other. In 3 of 8 starts of the perf timers with periods of 30,000 and
 * 70,000 ns, CPU 0 ran only every 180 us, and `subtick audit` detected no tick. The periods in
 * period_ns have no large common divisor, so the two timers pass through all phases relative to
 * each other many times a second.
 */
void truth_turns_start(void)
{
	static const uint64_t period_ns[NR_TURNS] = {30011, 70003};

	/*
	 * Unless perf_cpu_time_max_percent is 0, the kernel lowers the sampling rate of perf if
	 * samples take long.
	 */
	if (!live_write("/proc/sys/kernel/perf_cpu_time_max_percent", "0"))
		live_fail_all("perf keeps its limit");
	for (int cpu = 0; cpu < NR_TURNS; cpu++)
		turn_fds[cpu] = truth_clock_start(cpu, period_ns[cpu]);
}

void truth_turns_stop(void)
{
	for (int cpu = 0; cpu < NR_TURNS; cpu++) {
		if (turn_fds[cpu] >= 0)
			close(turn_fds[cpu]);
		turn_fds[cpu] = -1;
	}
}
