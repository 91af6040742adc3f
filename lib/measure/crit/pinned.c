/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pinned threads behind a gate. */
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

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum gate gate;
	size_t waiting;
	volatile bool stop;
	void (*run)(void *arg, const volatile bool *stop);
};

struct member {
	struct crew *crew;
	pthread_t thread;
	void *arg;
};

static void *member_main(void *data)
{
	struct member *member = data;
	struct crew *crew = member->crew;
	enum gate gate;

	pthread_mutex_lock(&crew->lock);
	crew->waiting++;
	pthread_cond_broadcast(&crew->changed);
	while (crew->gate == GATE_SHUT)
		pthread_cond_wait(&crew->changed, &crew->lock);
	gate = crew->gate;
	pthread_mutex_unlock(&crew->lock);
	if (gate == GATE_OPEN)
		crew->run(member->arg, &crew->stop);
	return NULL;
}

static int member_start(struct member *member, unsigned int cpu)
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
		rc = pthread_create(&member->thread, &attr, member_main, member);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return -rc;
}

/* Opens only once every thread has arrived, so that none starts late for having been created late. */
static void gate_open(struct crew *crew, size_t nr)
{
	pthread_mutex_lock(&crew->lock);
	while (crew->waiting < nr)
		pthread_cond_wait(&crew->changed, &crew->lock);
	crew->gate = GATE_OPEN;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
}

static void gate_cancel(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->gate = GATE_CANCELLED;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
}

static void join(struct crew *crew, struct member *members, size_t nr, bool (*stopped)(void))
{
	for (size_t i = 0; i < nr; i++) {
		for (;;) {
			struct timespec until = clock_timespec(clock_unix_ns() + STOP_POLL_NS);

			if (pthread_timedjoin_np(members[i].thread, NULL, &until) != ETIMEDOUT)
				break;
			if (stopped && stopped())
				crew->stop = true;
		}
	}
}

int pinned_run(const struct pinned_job *jobs, size_t nr,
	     void (*run)(void *arg, const volatile bool *stop), bool (*stopped)(void),
	     struct err *err)
{
	struct crew crew = {.run = run};
	struct member *members = calloc(nr, sizeof(*members));
	size_t started;
	int rc = 0;

	if (!members)
		return err_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&crew.lock, NULL);
	pthread_cond_init(&crew.changed, NULL);
	for (started = 0; started < nr; started++) {
		members[started] = (struct member){.crew = &crew, .arg = jobs[started].arg};
		rc = member_start(&members[started], jobs[started].cpu);
		if (rc) {
			err_set(err, rc, "cannot run on CPU %u: %s%s", jobs[started].cpu,
				strerror(-rc), rc == -EINVAL ? " (is it online and allowed?)" : "");
			break;
		}
	}
	if (rc)
		gate_cancel(&crew);
	else
		gate_open(&crew, nr);
	join(&crew, members, started, stopped);
	pthread_cond_destroy(&crew.changed);
	pthread_mutex_destroy(&crew.lock);
	free(members);
	return rc;
}
