/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates pinned threads and starts them at the same time. */
#include "measure/crit/pinned.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpuset.h"

#define STOP_POLL_NS (50 * NSEC_PER_MSEC)

enum gate {
	GATE_SHUT,
	GATE_OPEN,
	GATE_CANCELLED,
};

struct pinned_threads {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum gate gate;
	size_t waiting, ended;
	atomic_bool stop;
	void (*run)(void *arg, const atomic_bool *stop);
};

static void *thread_main(void *data)
{
	struct pinned_job *self = data;
	struct pinned_threads *threads = self->threads;
	enum gate gate;

	pthread_mutex_lock(&threads->lock);
	threads->waiting++;
	pthread_cond_broadcast(&threads->changed);
	while (threads->gate == GATE_SHUT)
		pthread_cond_wait(&threads->changed, &threads->lock);
	gate = threads->gate;
	pthread_mutex_unlock(&threads->lock);
	if (gate == GATE_OPEN)
		threads->run(self->arg, &threads->stop);
	pthread_mutex_lock(&threads->lock);
	threads->ended++;
	pthread_cond_broadcast(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
	return NULL;
}

static int thread_start(struct pinned_job *self, struct err *err)
{
	size_t size = CPU_ALLOC_SIZE(CPUSET_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUSET_MAX);
	pthread_attr_t attr;
	int rc;

	if (!set)
		return err_set(err, -ENOMEM, "out of memory");
	CPU_ZERO_S(size, set);
	CPU_SET_S(self->cpu, size, set);
	pthread_attr_init(&attr);
	rc = pthread_attr_setaffinity_np(&attr, size, set);
	if (!rc)
		rc = pthread_create(&self->thread, &attr, thread_main, self);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return rc ? err_set(err, -rc, "cannot run on CPU %u: %s%s", self->cpu, strerror(rc),
			    rc == EINVAL ? " (is it online and allowed?)" : "")
		  : 0;
}

static void threads_init(struct pinned_threads *threads)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&threads->lock, NULL);
	pthread_cond_init(&threads->changed, &attr);
	pthread_condattr_destroy(&attr);
}

int pinned_run(struct pinned_job *jobs, size_t nr, void (*run)(void *arg, const atomic_bool *stop),
	       bool (*stopped)(void), struct err *err)
{
	struct pinned_threads threads = {.run = run};
	size_t started = 0;
	int rc = 0;

	threads_init(&threads);
	pthread_mutex_lock(&threads.lock);
	for (size_t i = 0; i < nr && !rc; i++) {
		jobs[i].threads = &threads;
		rc = thread_start(&jobs[i], err);
		started += !rc;
	}
	/* Wait until all threads are ready, so that all threads start at the same time. */
	while (threads.waiting < started)
		pthread_cond_wait(&threads.changed, &threads.lock);
	threads.gate = rc ? GATE_CANCELLED : GATE_OPEN;
	pthread_cond_broadcast(&threads.changed);
	/*
	 * Do not use pthread_clockjoin_np(): ThreadSanitizer before LLVM 15 does not support it and
	 * reports false races.
	 */
	while (threads.ended < started) {
		struct timespec until = clock_timespec(clock_mono_ns() + STOP_POLL_NS);

		pthread_cond_timedwait(&threads.changed, &threads.lock, &until);
		if (stopped && stopped())
			atomic_store(&threads.stop, true);
	}
	pthread_mutex_unlock(&threads.lock);
	for (size_t i = 0; i < started; i++)
		pthread_join(jobs[i].thread, NULL);
	pthread_cond_destroy(&threads.changed);
	pthread_mutex_destroy(&threads.lock);
	return rc;
}
