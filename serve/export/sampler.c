/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Thread that ends the measurement windows of all collectors once per interval. */
#include "serve/export/sampler.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/file.h"
#include "host/meminfo.h"
#include "serve/log.h"

/* Rounds between two calls of meminfo_trim(), which takes 1 ms with thousands of cgroups. */
#define TRIM_ROUNDS 16

static uint64_t interval(const struct sampler *s)
{
	uint64_t ns;

	pthread_mutex_lock(&s->store->lock);
	ns = s->config->interval_ns;
	pthread_mutex_unlock(&s->store->lock);
	return ns;
}

static void report_failure(struct collector *c, const struct err *err)
{
	if (!c->failing)
		log_line("%s: %s", c->ops->name, err->what);
	c->failing = true;
}

static void update_all(struct sampler *s)
{
	bool any = false;

	pthread_mutex_lock(&s->collectors->lock);
	array_for_each(c, s->collectors->list, CONFIG_NR_COLLECTORS) {
		struct err err = {0};

		if (!c->meter)
			continue;
		if (collector_update(c, s->store, &err)) {
			report_failure(c, &err);
			continue;
		}
		if (c->failing)
			log_line("%s works again", c->ops->name);
		c->failing = false;
		any = true;
	}
	pthread_mutex_unlock(&s->collectors->lock);
	if (++s->rounds % TRIM_ROUNDS == 0)
		meminfo_trim();
	atomic_store(&s->round_ns, clock_mono_ns());
	if (any)
		atomic_store(&s->window_ns, clock_mono_ns());
	eventfd_write(s->notify_fd, 1);
}

static void handle_event(struct sampler *s, struct collector *c)
{
	struct err err = {0};

	pthread_mutex_lock(&s->collectors->lock);
	if (c->meter->ops->event(c->meter, &err))
		report_failure(c, &err);
	pthread_mutex_unlock(&s->collectors->lock);
}

/*
 * Handles events of the meters until one interval after @from_ns. SIGHUP may change the interval
 * during the wait. Sets @ret_until_ns to the CLOCK_MONOTONIC time at the end of the interval.
 * Returns true if the thread must end.
 */
static bool wait_round(struct sampler *s, uint64_t from_ns, uint64_t *ret_until_ns)
{
	struct pollfd fds[1 + CONFIG_NR_COLLECTORS] = {{.fd = s->wake_fd, .events = POLLIN}};
	struct collector *owner[1 + CONFIG_NR_COLLECTORS] = {NULL};
	unsigned int nr = 1;

	array_for_each(c, s->collectors->list, CONFIG_NR_COLLECTORS) {
		if (!c->meter || !c->meter->ops->event_fd || c->meter->ops->event_fd(c->meter) < 0)
			continue;
		owner[nr] = c;
		fds[nr++] = (struct pollfd){.fd = c->meter->ops->event_fd(c->meter),
					    .events = POLLIN};
	}
	for (;;) {
		uint64_t now = clock_mono_ns(), until = from_ns + interval(s);
		eventfd_t count;
		struct timespec left;

		if (now >= until) {
			*ret_until_ns = until;
			return false;
		}
		left = clock_timespec(until - now);
		if (ppoll(fds, nr, &left, NULL) <= 0)
			continue;
		if (fds[0].revents && !eventfd_read(s->wake_fd, &count) &&
		    atomic_load(&s->stopping))
			return true;
		for (unsigned int i = 1; i < nr; i++)
			if (fds[i].revents)
				handle_event(s, owner[i]);
	}
}

static void *run(void *arg)
{
	struct sampler *s = arg;
	uint64_t from = clock_mono_ns();

	for (;;) {
		uint64_t until, now;

		if (wait_round(s, from, &until))
			return NULL;
		update_all(s);
		now = clock_mono_ns();
		/* After a suspend, start one window now instead of a burst of short windows. */
		from = now - until < interval(s) ? until : now;
	}
}

int sampler_open(struct sampler *s, struct err *err)
{
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0 || s->notify_fd < 0)
		return err_set(err, -errno, "cannot create an eventfd: %s", strerror(errno));
	return 0;
}

int sampler_start(struct sampler *s, struct err *err)
{
	sigset_t all, old;
	int rc;

	/* Block all signals in the new thread; the event loop's thread handles them. */
	s->start_ns = clock_mono_ns();
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	rc = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return err_set(err, -rc, "cannot start the measuring thread: %s", strerror(rc));
	s->started = true;
	return 0;
}

void sampler_wake(struct sampler *s)
{
	eventfd_write(s->wake_fd, 1);
}

void sampler_close(struct sampler *s)
{
	if (s->started) {
		atomic_store(&s->stopping, true);
		sampler_wake(s);
		pthread_join(s->thread, NULL);
	}
	s->started = false;
	fd_close(&s->wake_fd);
	fd_close(&s->notify_fd);
}

static bool is_fresh(const struct sampler *s, uint64_t at_ns)
{
	return clock_mono_ns() - at_ns < 3 * interval(s) + NSEC_PER_SEC;
}

bool sampler_alive(const struct sampler *s)
{
	uint64_t round = atomic_load(&s->round_ns);

	return is_fresh(s, round ? round : s->start_ns);
}

bool sampler_ready(const struct sampler *s)
{
	uint64_t window = atomic_load(&s->window_ns);

	return window && is_fresh(s, window);
}
