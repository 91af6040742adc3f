/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates pinned threads and starts them at the same time. */
#include "measure/crit/pinned.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
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

struct pinned_thread {
	struct pinned_threads *threads;
	pthread_t thread;
	void *arg;
};

static void *thread_main(void *data)
{
	struct pinned_thread *self = data;
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

static int thread_start(struct pinned_thread *self, unsigned int cpu)
{
	size_t size = CPU_ALLOC_SIZE(CPUSET_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUSET_MAX);
	pthread_attr_t attr;
	int rc;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	pthread_attr_init(&attr);
	rc = pthread_attr_setaffinity_np(&attr, size, set);
	if (!rc)
		rc = pthread_create(&self->thread, &attr, thread_main, self);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return -rc;
}

/* Waits until every thread is ready, so that threads that were created late do not start late. */
static void gate_open(struct pinned_threads *threads, size_t nr)
{
	pthread_mutex_lock(&threads->lock);
	while (threads->waiting < nr)
		pthread_cond_wait(&threads->changed, &threads->lock);
	threads->gate = GATE_OPEN;
	pthread_cond_broadcast(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
}

static void gate_cancel(struct pinned_threads *threads)
{
	pthread_mutex_lock(&threads->lock);
	threads->gate = GATE_CANCELLED;
	pthread_cond_broadcast(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
}

/*
 * Not pthread_clockjoin_np(): ThreadSanitizer before LLVM 15 does not know it, and reports all that
 * a thread has written as a race.
 */
static void join(struct pinned_threads *threads, struct pinned_thread *list, size_t nr,
		 bool (*stopped)(void))
{
	pthread_mutex_lock(&threads->lock);
	while (threads->ended < nr) {
		struct timespec until = clock_timespec(clock_mono_ns() + STOP_POLL_NS);

		pthread_cond_timedwait(&threads->changed, &threads->lock, &until);
		if (stopped && stopped())
			atomic_store(&threads->stop, true);
	}
	pthread_mutex_unlock(&threads->lock);
	for (size_t i = 0; i < nr; i++)
		pthread_join(list[i].thread, NULL);
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

int pinned_run(const struct pinned_job *jobs, size_t nr,
	     void (*run)(void *arg, const atomic_bool *stop), bool (*stopped)(void),
	     struct err *err)
{
	struct pinned_threads threads = {.run = run};
	struct pinned_thread *list = calloc(nr, sizeof(*list));
	size_t started;
	int rc = 0;

	if (!list)
		return err_set(err, -ENOMEM, "out of memory");
	threads_init(&threads);
	for (started = 0; started < nr; started++) {
		list[started] =
			(struct pinned_thread){.threads = &threads, .arg = jobs[started].arg};
		rc = thread_start(&list[started], jobs[started].cpu);
		if (rc) {
			err_set(err, rc, "cannot run on CPU %u: %s%s", jobs[started].cpu,
				strerror(-rc), rc == -EINVAL ? " (is it online and allowed?)" : "");
			break;
		}
	}
	if (rc)
		gate_cancel(&threads);
	else
		gate_open(&threads, nr);
	join(&threads, list, started, stopped);
	pthread_cond_destroy(&threads.changed);
	pthread_mutex_destroy(&threads.lock);
	free(list);
	return rc;
}
