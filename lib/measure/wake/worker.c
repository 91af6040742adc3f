/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pins worker threads, arms launches, and measures the cost of the timestamps on each core. */
#include "measure/wake/worker.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/cpu.h"

#define STAMP_POINTS 200
/*
 * Minimum and maximum sleep of the worker during the calibration. The sleep time is doubled if the
 * core did not go idle, and halved if it went idle.
 */
#define STAMP_SLEEP_NS	    (100 * NSEC_PER_USEC)
#define STAMP_SLEEP_MOST_NS (2 * NSEC_PER_MSEC)
/* Maximum time for calibrating a core that other tasks keep busy. */
#define CALIBRATE_LIMIT_NS NSEC_PER_SEC
#define BUSY_POINTS	   200
#define BUSY_LAUNCH_NS	   (60 * NSEC_PER_USEC)
/*
 * Minimum and maximum time for which the worker spins after a launch. The spin time doubles after
 * each launch during which no timer handler ran.
 */
#define BUSY_AFTER_NS	   (40 * NSEC_PER_USEC)
#define BUSY_AFTER_MOST_NS (5 * NSEC_PER_MSEC)
#define BUSY_BLIND	   8
#define CLOCK_READS	   2000

int wake_pin(unsigned int cpu, struct err *err)
{
	struct sched_param priority = {.sched_priority = 1};
	int rc = affinity_pin(0, cpu);

	prctl(PR_SET_TIMERSLACK, 1UL);
	/* if permitted, let no other task run between the wake-up and user code */
	sched_setscheduler(0, SCHED_FIFO, &priority);
	return rc ? err_set(err, rc, "cannot run on CPU %u: %s", cpu, strerror(-rc)) : 0;
}

struct wake_raw wake_raw_of(const struct wake_worker *worker, enum wake_source source,
			    uint64_t distance_ns, struct wake_kpoint *k)
{
	return (struct wake_raw){
		.source = source,
		.k = k,
		.launch_ns = clock_mono_ns() + distance_ns,
		.distance_ns = distance_ns,
		.overhead_ns = worker->calibration.stamp.median_ns,
	};
}

void wake_arm(struct wake_worker *worker, uint64_t launch_ns)
{
	volatile __u64 *launch = &worker->launch->launch_ns;

	*launch = 0;
	/* compiler barriers suffice, because the BPF programs run on the worker's core */
	atomic_signal_fence(memory_order_seq_cst);
	memset(&worker->slot->point, 0, sizeof(worker->slot->point));
	atomic_signal_fence(memory_order_seq_cst);
	*launch = launch_ns;
}

void wake_disarm(struct wake_worker *worker, struct wake_kpoint *ret_point)
{
	volatile __u64 *launch = &worker->launch->launch_ns;

	*launch = 0;
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(ret_point, &worker->slot->point, sizeof(*ret_point));
}

static void clock_cost(struct wake_calibration *c)
{
	double cost[CLOCK_READS], step = INFINITY;
	struct wake_overhead median;
	uint64_t was = clock_mono_ns();

	for (int i = 0; i < CLOCK_READS; i++) {
		uint64_t now = clock_mono_ns();

		cost[i] = now - was;
		if (cost[i] > 0.0 && cost[i] < step)
			step = cost[i];
		was = now;
	}
	wake_overhead(cost, CLOCK_READS, &median);
	c->clock_read_ns = median.median_ns;
	c->clock_step_ns = isinf(step) ? 0 : step;
}

/*
 * Measures the cost of a timestamp: the time between two BPF programs that run one after the other
 * on each idle exit.
 */
static void stamp_cost(struct wake_worker *w)
{
	uint64_t until = clock_mono_ns() + CALIBRATE_LIMIT_NS, sleep_ns = STAMP_SLEEP_NS;
	double cost[STAMP_POINTS];
	size_t nr = 0;

	while (nr < STAMP_POINTS && clock_mono_ns() < until && !atomic_load(w->stop)) {
		struct timespec sleep = clock_timespec(sleep_ns);

		*(volatile __u64 *)&w->slot->win.calibrate_cost_ns = 0;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &sleep, NULL);
		/* the BPF programs set calibrate_cost_ns only if the core went idle */
		cost[nr] = *(volatile __u64 *)&w->slot->win.calibrate_cost_ns;
		if (cost[nr] > 0.0) {
			nr++;
			sleep_ns = sleep_ns > STAMP_SLEEP_NS ? sleep_ns / 2 : STAMP_SLEEP_NS;
		} else if (sleep_ns < STAMP_SLEEP_MOST_NS) {
			sleep_ns *= 2;
		}
	}
	wake_calibrate_stamp(cost, nr, STAMP_POINTS, &w->calibration);
}

/*
 * Measures the interrupt latency of a busy core, which spins in user code until after the launch.
 * Under PREEMPT_RT the timer handler runs in a thread with the worker's real-time priority. If no
 * timer handler ran after the first launches, the worker lowers its own priority, so that this
 * thread can run.
 */
static void busy_points(struct wake_worker *w)
{
	double latency[BUSY_POINTS];
	uint64_t until = clock_mono_ns() + CALIBRATE_LIMIT_NS, after = BUSY_AFTER_NS;
	struct sched_param none = {0}, priority = {0};
	struct wake_kpoint k;
	size_t nr = 0, blind = 0;
	int policy = sched_getscheduler(0);
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

	if (fd < 0) {
		err_set(&w->err, -errno, "cannot create a timer: %s", strerror(errno));
		return;
	}
	sched_getparam(0, &priority);
	for (int i = 0; i < BUSY_POINTS && clock_mono_ns() < until && !atomic_load(w->stop); i++) {
		uint64_t launch = clock_mono_ns() + BUSY_LAUNCH_NS;
		struct itimerspec at = {.it_value = clock_timespec(launch)};

		wake_arm(w, launch);
		timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
		while (clock_mono_ns() < launch + after)
			;
		wake_disarm(w, &k);
		if (!k.expire_ns) {
			if (after < BUSY_AFTER_MOST_NS)
				after *= 2;
			if (++blind == BUSY_BLIND && !nr)
				sched_setscheduler(0, SCHED_OTHER, &none);
			continue;
		}
		/*
		 * skip the launch if the core went idle or an interrupt occurred before the launch
		 */
		if (k.tai_ns || !k.ti_ns || k.expire_irqs != 1)
			continue;
		latency[nr++] = (double)(int64_t)(k.ti_ns - launch);
	}
	close(fd);
	sched_setscheduler(0, policy, &priority);
	wake_summarize(latency, nr, &w->calibration.busy);
}

void wake_calibrate(struct wake_worker *worker)
{
	clock_cost(&worker->calibration);
	stamp_cost(worker);
	busy_points(worker);
}
