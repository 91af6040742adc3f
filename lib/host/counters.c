/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens, shares, reads and reopens hardware counters. */
#include "host/counters.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slot {
	int fd; /* descriptor of the perf event; -1 if not open */
	uint32_t generation;
	bool pinned;
};

struct counters {
	struct counters *next;
	struct perf_event event;
	unsigned int users, nr_cpus;
	struct slot *slots;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct counters *all;

/*
 * Opens c->event on @cpu and reads its count. If no hardware counter is free, opening a pinned
 * event succeeds, but reading the event fails.
 */
static int try_open(const struct counters *c, unsigned int cpu, bool pinned, struct perf_count *ret)
{
	int fd = perf_open_cpu(&c->event, cpu, pinned), rc;

	if (fd < 0)
		return fd;
	rc = perf_read(fd, ret);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

/* Opens the event as a pinned event if a hardware counter is free, else as a multiplexed event. */
static int open_slot(struct counters *c, unsigned int cpu, struct perf_count *ret)
{
	struct slot *slot = &c->slots[cpu];
	int fd;

	if (slot->fd >= 0)
		close(slot->fd);
	slot->generation++;
	fd = try_open(c, cpu, true, ret);
	slot->pinned = fd != -EBUSY;
	if (!slot->pinned)
		fd = try_open(c, cpu, false, ret);
	slot->fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

static struct counters *find(const struct perf_event *event, unsigned int nr_cpus)
{
	for (struct counters *c = all; c; c = c->next)
		if (c->nr_cpus == nr_cpus && c->event.config == event->config &&
		    c->event.nr_types == event->nr_types &&
		    !memcmp(c->event.types, event->types, event->nr_types * sizeof(event->types[0])))
			return c;
	return NULL;
}

static void release(struct counters *c)
{
	for (unsigned int cpu = 0; c->slots && cpu < c->nr_cpus; cpu++)
		if (c->slots[cpu].fd >= 0)
			close(c->slots[cpu].fd);
	free(c->slots);
	free(c);
}

static int open_all(const struct perf_event *event, unsigned int nr_cpus,
		    const struct cpuset *online, struct counters **ret, struct err *err)
{
	struct counters *c = calloc(1, sizeof(*c));
	unsigned int opened = 0, failed_cpu = 0;
	int last = -ENODEV;
	struct perf_count count;

	if (c)
		c->slots = calloc(nr_cpus, sizeof(*c->slots));
	if (!c || !c->slots) {
		free(c);
		return err_set(err, -ENOMEM, "out of memory");
	}
	c->event = *event;
	c->nr_cpus = nr_cpus;
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		int rc;

		c->slots[cpu].fd = -1;
		if (!cpuset_has(online, cpu))
			continue;
		rc = open_slot(c, cpu, &count);
		opened += !rc;
		last = rc ?: last;
		failed_cpu = rc ? cpu : failed_cpu;
	}
	if (!opened) {
		release(c);
		return perf_fail(err, last, event, failed_cpu);
	}
	*ret = c;
	return 0;
}

int counters_open(const struct perf_event *event, unsigned int nr_cpus, const struct cpuset *online,
		  struct counters **ret_counters, struct err *err)
{
	struct counters *c;
	int rc = 0;

	pthread_mutex_lock(&lock);
	c = find(event, nr_cpus);
	if (!c) {
		rc = open_all(event, nr_cpus, online, &c, err);
		if (!rc) {
			c->next = all;
			all = c;
		}
	}
	if (!rc) {
		c->users++;
		*ret_counters = c;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void counters_close(struct counters *c)
{
	struct counters **at = &all;

	if (!c)
		return;
	pthread_mutex_lock(&lock);
	if (!--c->users) {
		while (*at != c)
			at = &(*at)->next;
		*at = c->next;
		release(c);
	}
	pthread_mutex_unlock(&lock);
}

static void describe(const struct slot *slot, struct counter *ret)
{
	ret->generation = slot->generation;
	ret->pinned = slot->pinned;
}

int counters_read(struct counters *c, unsigned int cpu, struct counter *ret_counter)
{
	struct slot *slot = &c->slots[cpu];
	int rc;

	pthread_mutex_lock(&lock);
	rc = slot->fd >= 0 ? perf_read(slot->fd, &ret_counter->count) : -EBADF;
	if (rc)
		rc = open_slot(c, cpu, &ret_counter->count);
	describe(slot, ret_counter);
	pthread_mutex_unlock(&lock);
	return rc;
}

int counters_renew(struct counters *c, unsigned int cpu, uint32_t generation)
{
	struct perf_count count;
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (c->slots[cpu].generation == generation)
		rc = open_slot(c, cpu, &count);
	pthread_mutex_unlock(&lock);
	return rc;
}

int counters_fd(struct counters *c, unsigned int cpu, struct counter *ret_counter)
{
	int fd;

	pthread_mutex_lock(&lock);
	fd = c->slots[cpu].fd;
	describe(&c->slots[cpu], ret_counter);
	pthread_mutex_unlock(&lock);
	return fd;
}
