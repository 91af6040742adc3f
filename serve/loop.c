/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits for descriptors with epoll. */
#include "loop.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"

/* Sources per wait; epoll takes ready sources in turn. */
#define BATCH 64

int source_want(int loop, struct source *source, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = source};
	int how = !events ? EPOLL_CTL_DEL : source->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (events == source->events)
		return 0;
	if (epoll_ctl(loop, how, source->fd, &event))
		return -errno;
	source->events = events;
	return 0;
}

void source_close(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	source->fd = -1;
	source->events = 0;
}

static int wait_ms(uint64_t until_ns)
{
	uint64_t now_ns = clock_mono_ns(), ms;

	if (!until_ns)
		return -1;
	/* Rounded up: else the loop would spin in the last millisecond. */
	ms = until_ns > now_ns ? (until_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;
	return ms < 60000 ? (int)ms : 60000;
}

int loop_step(int loop, uint64_t until_ns)
{
	struct epoll_event events[BATCH];
	int nr = epoll_wait(loop, events, BATCH, wait_ms(until_ns));

	if (nr < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < nr; i++) {
		struct source *source = events[i].data.ptr;

		if (source->fd >= 0)
			source->ready(source->arg);
	}
	return 0;
}
