/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the experiment: calibrates, then measures wake-ups with increasing launch distances (a
 * sweep) on every measured core.
 */
#include "measure/wake/run.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "measure/wake/nic.h"
#include "host/cpu.h"

static bool still_here(struct wake_worker *w)
{
	int cpu = sched_getcpu();

	/* if CPU hotplug moved the worker thread, the timestamps belong to another core */
	if (cpu >= 0 && (unsigned int)cpu != w->cpu)
		w->moved = true;
	return !w->moved;
}

/*
 * Measures one wake-up of source timer. The core sets its own timer, so the hardware can begin to
 * wake the core before the timer expires.
 */
static void timer_point(struct wake_worker *worker, uint64_t distance_ns,
			struct wake_point *ret_point)
{
	struct wake_kpoint k;
	struct wake_raw raw = wake_raw_of(worker, WAKE_TIMER, distance_ns, &k);
	/* tests set a known delay and check that the measured latency contains this delay */
	uint32_t delay_ns = worker->plan->delay_ns;
	struct timespec until = clock_timespec(raw.launch_ns + delay_ns);

	worker->launch->delay_ns = delay_ns;
	wake_arm(worker, raw.launch_ns);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	raw.user_ns = clock_mono_ns();
	wake_disarm(worker, &k);
	wake_judge(&raw, ret_point);
}

/* Measures one wake-up with each requested source. */
static void run_points(struct wake_worker *w, uint64_t distance_ns)
{
	static void (*const measure[])(struct wake_worker *, uint64_t, struct wake_point *) = {
		[WAKE_TIMER] = timer_point,
		[WAKE_REMOTE] = wake_remote_point,
		[WAKE_NIC] = wake_nic_point,
	};
	struct wake_point point;

	for (size_t i = 0; i < ARRAY_SIZE(measure); i++) {
		if (!wake_has(w->plan->sources, i))
			continue;
		measure[i](w, distance_ns, &point);
		wake_depth_point(&w->depth, w->nr, &point);
		point.round = w->round;
		if (w->nr < w->max)
			w->points[w->nr++] = point;
		atomic_fetch_add(&w->done, 1);
	}
}

/* Measures all wake-ups of one launch distance. */
static int run_batch(struct wake_worker *w, uint64_t distance_ns)
{
	uint32_t points = w->plan->sweep.points;
	size_t first = w->nr;
	int rc = w->plan->nic ? wake_nic_batch_begin(w) : 0;

	for (uint32_t i = 0; i < points && !rc && !atomic_load(w->stop) && still_here(w); i++)
		run_points(w, distance_ns);
	return rc || !w->plan->nic ? rc : wake_nic_batch_end(w, first);
}

static void run_sweep(struct wake_worker *w)
{
	const struct wake_sweep *sweep = &w->plan->sweep;
	uint32_t steps = wake_sweep_steps(sweep);
	int rc = 0;

	for (uint32_t step = 0; step < steps && !rc && !atomic_load(w->stop) && !w->moved; step++)
		rc = run_batch(w, wake_sweep_distance(sweep, step));
}

static void *worker_main(void *arg)
{
	struct wake_worker *w = arg;
	uint64_t began;
	int rc;

	if (wake_pin(w->cpu, &w->err))
		return NULL;
	rc = wake_depth_begin(&w->depth, w->plan->root, w->cpu, w->max);
	if (rc) {
		err_set(&w->err, rc, "out of memory for the residency of %zu points", w->max);
		return NULL;
	}
	w->launch->worker = syscall(SYS_gettid);
	began = clock_mono_ns();
	run_sweep(w);
	w->sweep_ns += clock_mono_ns() - began;
	w->launch->worker = 0;
	return NULL;
}

static void *calibrate_main(void *arg)
{
	struct wake_worker *w = arg;

	if (!wake_pin(w->cpu, &w->err))
		wake_calibrate(w);
	return NULL;
}

/* Starts the worker threads of @cpus with the function @main, and waits until they have ended. */
static int run_workers(struct wake_run *run, const struct cpuset *cpus, void *(*main)(void *))
{
	int rc = 0;

	array_for_each(w, run->workers, run->nr_workers) {
		if (rc || !cpuset_has(cpus, w->cpu))
			continue;
		rc = -pthread_create(&w->thread, NULL, main, w);
		w->started = !rc;
	}
	if (rc) {
		err_set(&run->err, rc, "cannot start a thread: %s", strerror(-rc));
		atomic_store(&run->stop, true);
	}
	array_for_each(w, run->workers, run->nr_workers) {
		if (w->started)
			pthread_join(w->thread, NULL);
		w->started = false;
		if (w->err.code && !run->err.code)
			run->err = w->err;
	}
	return run->err.code;
}

static int run_pass(struct wake_run *run, const struct cpuset *cpus, unsigned int sender_cpu)
{
	struct wake_sender sender = {
		.cpu = sender_cpu,
		.targets = cpus,
		.workers = run->workers,
		.nr_workers = run->nr_workers,
		.run_stop = &run->stop,
	};
	int rc;

	if (!cpuset_count(cpus))
		return 0;
	if (!wake_has(run->plan.sources, WAKE_REMOTE))
		return run_workers(run, cpus, worker_main);
	array_for_each(w, run->workers, run->nr_workers)
		w->sender = &sender;
	run->sender_shares_package |= wake_sender_shares_package(run->plan.root, sender_cpu, cpus);
	rc = wake_sender_start(&sender, &run->err);
	if (rc)
		return rc;
	rc = run_workers(run, cpus, worker_main);
	wake_sender_stop(&sender);
	run->sender_moved |= sender.moved;
	if (sender.err.code && !rc) {
		run->err = sender.err;
		rc = sender.err.code;
	}
	return rc;
}

/* Source nic measures one core per pass, because the card interrupts one core at a time. */
static int run_nic(struct wake_run *run, const struct cpuset *online)
{
	int rc = 0;

	cpuset_for_each(cpu, &run->plan.cpus) {
		struct cpuset one = {0};

		cpuset_add(&one, cpu);
		if (!rc && !atomic_load(&run->stop))
			rc = wake_nic_aim(run->plan.nic, cpu, &run->err);
		if (!rc && !atomic_load(&run->stop))
			rc = run_pass(run, &one, wake_sender_choose(run->plan.root, online, &one));
	}
	return rc;
}

/*
 * Runs one or two passes over the measured cores. For source remote the sender must run on a core
 * that is not measured in the same pass. If all cores are measured, the first pass omits the
 * sender's core. The second pass measures the omitted core, with the sender on another core.
 */
static int run_passes(struct wake_run *run)
{
	struct cpuset online, rest = run->plan.cpus, last = {0};
	unsigned int sender, other;
	int rc = cpu_set(NULL, CPU_ONLINE, &online, &run->err);

	if (rc)
		return rc;
	if (run->plan.nic)
		return run_nic(run, &online);
	sender = wake_sender_choose(run->plan.root, &online, &run->plan.cpus);
	if (sender != CPUSET_MAX || !wake_has(run->plan.sources, WAKE_REMOTE))
		return run_pass(run, &run->plan.cpus, sender);
	sender = cpuset_next(&run->plan.cpus, 0);
	other = cpuset_next(&run->plan.cpus, sender + 1);
	cpuset_del(&rest, sender);
	cpuset_add(&last, sender);
	rc = run_pass(run, &rest, sender);
	if (!rc && !atomic_load(&run->stop))
		rc = run_pass(run, &last, other);
	return rc;
}

unsigned int wake_run_rounds(const struct wake_plan *plan)
{
	return plan->rounds ? plan->rounds->nr + 1 : 1;
}

static void run_rounds(struct wake_run *run)
{
	const struct wake_plan *plan = &run->plan;
	int rc = 0;

	for (unsigned int round = 0; round < wake_run_rounds(plan) && !rc; round++) {
		if (atomic_load(&run->stop))
			break;
		array_for_each(w, run->workers, run->nr_workers)
			w->round = round;
		if (plan->rounds)
			rc = wake_rounds_begin(plan->rounds, round, &run->err);
		rc = rc ?: run_passes(run);
	}
}

static void *control_main(void *arg)
{
	struct wake_run *run = arg;
	int rc = wake_probe_calibrate(run->probe, true, &run->err) ?:
		 run_workers(run, &run->plan.cpus, calibrate_main) ?:
		 wake_probe_calibrate(run->probe, false, &run->err);

	if (!rc && run->plan.sweep.points)
		run_rounds(run);
	atomic_store(&run->finished, true);
	return NULL;
}

int wake_run_open(struct wake_run *run, const struct wake_plan *plan, struct wake_probe *probe,
		  struct err *err)
{
	size_t per_worker = (size_t)wake_sweep_steps(&plan->sweep) * plan->sweep.points *
			    __builtin_popcount(plan->sources) * wake_run_rounds(plan);
	struct wake_worker *w;

	*run = (struct wake_run){.plan = *plan, .probe = probe};
	run->workers = calloc(cpuset_count(&plan->cpus), sizeof(*run->workers));
	if (!run->workers)
		return err_set(err, -ENOMEM, "out of memory");
	cpuset_for_each(cpu, &plan->cpus) {
		w = &run->workers[run->nr_workers++];
		w->plan = &run->plan;
		w->stop = &run->stop;
		w->cpu = cpu;
		w->slot = probe->slots ? &probe->slots[cpu] : NULL;
		w->launch = probe->launches ? &probe->launches[cpu] : NULL;
		w->max = per_worker;
		if (!per_worker)
			continue;
		w->points = malloc(per_worker * sizeof(*w->points));
		if (!w->points)
			return err_set(err, -ENOMEM, "out of memory for %zu points", per_worker);
		/* write to the array w->points now, to avoid page faults during the measurement */
		memset(w->points, 0, per_worker * sizeof(*w->points));
	}
	run->total = (uint64_t)run->nr_workers * per_worker;
	return 0;
}

int wake_run_start(struct wake_run *run, struct err *err)
{
	sigset_t all, was;
	int rc;

	/* block all signals, because a signal would end the sleep of a worker early */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	rc = pthread_create(&run->control, NULL, control_main, run);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (rc)
		return err_set(err, -rc, "cannot start a thread: %s", strerror(rc));
	run->started = true;
	return 0;
}

uint64_t wake_run_done(const struct wake_run *run)
{
	uint64_t done = 0;

	array_for_each(w, run->workers, run->nr_workers)
		done += atomic_load(&w->done);
	return done;
}

int wake_run_join(struct wake_run *run, bool stop, struct err *err)
{
	if (stop)
		atomic_store(&run->stop, true);
	if (run->started)
		pthread_join(run->control, NULL);
	run->started = false;
	if (run->err.code && err)
		*err = run->err;
	return run->err.code;
}

void wake_run_close(struct wake_run *run)
{
	wake_run_join(run, true, NULL);
	array_for_each(w, run->workers, run->nr_workers) {
		wake_depth_close(&w->depth);
		free(w->points);
	}
	free(run->workers);
	memset(run, 0, sizeof(*run));
}
