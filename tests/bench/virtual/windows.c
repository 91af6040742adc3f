/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures on CPU 0 the instructions of an operation on CPU 1. The two processors of the guest run
 * alternately on one host thread, and the guest's clock counts the instructions of both processors.
 * In each window CPU 0 executes a constant number of instructions. All instructions of a window
 * beyond the constant number of CPU 0 are the work of CPU 1.
 */
#include "cost.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/arch.h"
#include "base/clock.h"

#define WARM_UP 30
#define WINDOWS 120
#define WINDOWS_LONG 2000
/* Passes per window. One pass is a busy loop of LOOPS iterations, about 4000 instructions. */
#define PASSES 25
#define LOOPS  2000
/*
 * Period of the operations of the workload idle in ns. PERIOD_NS is longer than a window, so that a
 * window has at most one operation.
 */
#define PERIOD_NS 230000
/*
 * Number of measuring rounds of the workload interrupt. The figure of a workload is the lowest
 * number of instructions on which two rounds agree.
 */
#define ROUNDS	      8
#define ROUNDS_BESIDE 3 /* number of rounds of the workloads idle and wakeup */
/*
 * Number of windows and of warm-up windows in a round of the workload interrupt. A round has many
 * warm-up windows, because an idle core stops its tick only after some milliseconds.
 */
#define ROUND_WINDOWS 30
#define ROUND_WARM_UP 60
#define BETWEEN_MS    1730
/*
 * Period in jiffies after which the first three levels of the kernel's timer wheel are at their
 * first slot again. At the end of a period of WHEEL_JIFFIES, the fourth level of the timer wheel is
 * at one of eight slots. The number of levels that the kernel searches twice depends on the slot of
 * the fourth level. ROUNDS rounds go through all eight slots of the fourth level.
 */
#define WHEEL_JIFFIES 4096

/* Makes QEMU switch from the calling processor of the guest to the other processor. */
static inline void hand_over(void)
{
#if defined(__x86_64__)
	__asm__ volatile("pause" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#endif
}

struct source {
	int fd;
	pid_t pid;
	/*
	 * Function that starts the operation once per window, or NULL if a timer starts the
	 * operation every PERIOD_NS.
	 */
	void (*kick)(struct source *source);
};

/*
 * Executes one window and returns its instructions. QEMU runs CPU 1 after each pass of the busy
 * loop of CPU 0.
 */
static __attribute__((noinline)) uint64_t window(struct source *source)
{
	uint64_t begin = arch_cycles();

	if (source->kick)
		source->kick(source);
	for (unsigned int nr = 0; nr < PASSES; nr++) {
		for (unsigned int i = 0; i < LOOPS; i++)
			__asm__ volatile("" ::: "memory");
		hand_over();
	}
	return arch_cycles() - begin;
}

/*
 * Returns the instructions of a window while CPU 1 sleeps. While CPU 1 sleeps, attached BPF
 * programs do not change the instructions of a window, because no traced event happens.
 */
static double quiet_window(void)
{
	static double took[WINDOWS], quiet;
	struct source none = {0};

	if (quiet <= 0) {
		for (int i = 0; i < WINDOWS; i++)
			took[i] = (double)window(&none);
		quiet = cost_figure_of(took, WINDOWS, COST_REACH).typical;
	}
	return quiet;
}

/*
 * Computes the figure of a workload from several windows. Windows without an operation are skipped.
 */
static int measure_windows(struct source *source, int warm_up, int windows,
			   struct cost_figure *ret_figure)
{
	static double took[WINDOWS_LONG];
	double quiet = quiet_window();
	size_t nr = 0;

	for (int i = -warm_up; i < windows; i++) {
		double more = (double)window(source) - quiet;

		if (i >= 0 && more > 0)
			took[nr++] = more;
	}
	if ((int)nr < windows / 4)
		return -ENODATA;
	*ret_figure = cost_figure_of(took, nr, COST_REACH);
	return 0;
}

static void kick_counter(struct source *source)
{
	uint64_t value;

	if (read(source->fd, &value, sizeof(value)) < 0)
		source->fd = -1;
}

/*
 * Returns the lowest figure that two rounds agree on, or the lowest figure if no two rounds agree.
 */
static const struct cost_figure *lowest_of_two(const struct cost_figure *rounds, int nr)
{
	const struct cost_figure *found = NULL, *lowest = &rounds[0];

	for (int i = 0; i < nr; i++) {
		if (rounds[i].typical < lowest->typical)
			lowest = &rounds[i];
		for (int j = 0; j < i; j++)
			if (fabs(rounds[j].typical - rounds[i].typical) < 2 &&
			    (!found || rounds[i].typical < found->typical))
				found = &rounds[i];
	}
	return found ? found : lowest;
}

static unsigned long jiffies_now(void)
{
	FILE *file = fopen("/proc/timer_list", "re");
	unsigned long jiffies = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "jiffies: %lu", &jiffies) == 1)
			break;
	if (file)
		fclose(file);
	return jiffies;
}

/*
 * Waits until the first three levels of the kernel's timer wheel are at their first slots. At idle
 * entry the kernel searches each level of its timer wheel from the current slot to the last slot.
 * If the current slot of a level of the timer wheel is not the first slot, the kernel then searches
 * the earlier slots of the level, which takes 11 more instructions. The sleep of this function
 * assumes 1000 jiffies per second, which is the maximum of the kernel. On a kernel with fewer than
 * 1000 jiffies per second, the sleep of this function is too short and is repeated.
 */
static void wait_for_wheel(void)
{
	unsigned long past;

	while ((past = jiffies_now() % WHEEL_JIFFIES) > 1)
		cost_sleep_ms(WHEEL_JIFFIES - past);
}

/*
 * Workload interrupt: CPU 0 reads a counter of CPU 1. An operation of the workload interrupt is a
 * system call, an interrupt, and the return to idle, without a wake-up. At idle entry CPU 1 checks
 * its timers, and the check of each timer takes 11 to 15 instructions. If a timer is due within a
 * tick, the idle entry of CPU 1 takes about 500 instructions less.
 */
int cost_run_interrupt(struct cost_figure *ret_figure)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	struct source source = {.kick = kick_counter};
	struct cost_figure rounds[ROUNDS];
	int rc = 0;

	source.fd = (int)syscall(SYS_perf_event_open, &attr, -1, 1, -1, PERF_FLAG_FD_CLOEXEC);
	if (source.fd < 0)
		return -errno;
	for (int i = 0; !rc && i < ROUNDS; i++) {
		cost_sleep_ms(BETWEEN_MS);
		wait_for_wheel();
		rc = measure_windows(&source, ROUND_WARM_UP, ROUND_WINDOWS, &rounds[i]);
	}
	if (!rc)
		*ret_figure = *lowest_of_two(rounds, ROUNDS);
	if (source.fd < 0)
		return -EIO;
	close(source.fd);
	return rc;
}

static pid_t on_cpu1(void (*body)(int fd), int fd)
{
	pid_t pid = fork();

	if (!pid) {
		cost_pin(1);
		body(fd);
		_exit(0);
	}
	return pid;
}

static void sleeper(int fd)
{
	uint64_t next = clock_mono_ns();

	(void)fd;
	for (;;) {
		struct timespec due = clock_timespec(next += PERIOD_NS);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
}

static void reader(int fd)
{
	uint64_t value;

	while (read(fd, &value, sizeof(value)) == sizeof(value))
		;
}

static void kick_reader(struct source *source)
{
	uint64_t one = 1;

	if (write(source->fd, &one, sizeof(one)) < 0)
		source->fd = -1;
}

static int run_beside_once(struct source *source, void (*body)(int fd), struct cost_figure *ret_figure)
{
	int rc;

	/* First measure a window without an operation, while CPU 1 sleeps. */
	quiet_window();
	source->pid = on_cpu1(body, source->fd);
	if (source->pid < 0)
		return -errno;
	cost_sleep_ms(100);
	rc = measure_windows(source, WARM_UP, cost_long ? WINDOWS_LONG : WINDOWS, ret_figure);
	kill(source->pid, SIGKILL);
	waitpid(source->pid, NULL, 0);
	return source->fd < 0 ? -EIO : rc;
}

static int run_beside(struct source *source, void (*body)(int fd), struct cost_figure *ret_figure)
{
	struct cost_figure rounds[ROUNDS_BESIDE];
	int rc = 0;

	for (int i = 0; !rc && i < ROUNDS_BESIDE; i++) {
		if (i)
			cost_sleep_ms(BETWEEN_MS);
		rc = run_beside_once(source, body, &rounds[i]);
	}
	if (!rc)
		*ret_figure = *lowest_of_two(rounds, ROUNDS_BESIDE);
	return rc;
}

/*
 * Workload idle: a task on CPU 1 sleeps until the next period of PERIOD_NS ends. An operation of
 * the workload idle is a timer interrupt, a wake-up, the switch from idle to the task, and the
 * switch back to idle.
 */
int cost_run_idle(struct cost_figure *ret_figure)
{
	struct source source = {0};

	return run_beside(&source, sleeper, ret_figure);
}

/*
 * Workload wakeup: CPU 0 wakes a task on CPU 1. An operation of the workload wakeup is a system
 * call, an interrupt, the switch from idle to the task, and the switch back to idle.
 */
int cost_run_wakeup(struct cost_figure *ret_figure)
{
	struct source source = {.fd = eventfd(0, EFD_CLOEXEC), .kick = kick_reader};
	int rc = source.fd < 0 ? -errno : run_beside(&source, reader, ret_figure);

	if (source.fd >= 0)
		close(source.fd);
	return rc;
}
