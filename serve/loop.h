/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event loop: epoll, and a function for each descriptor. */
#ifndef SUBTICK_SERVE_LOOP_H
#define SUBTICK_SERVE_LOOP_H

#include <stdint.h>
#include <sys/epoll.h>

struct source {
	int fd;		 /* -1: closed */
	uint32_t events; /* EPOLLIN, EPOLLOUT; 0: not in the epoll set */
	void (*ready)(void *arg);
	void *arg;
};

/* Changes the events that the loop waits for; 0: none, not even errors. 0 or -errno. */
int source_want(int loop, struct source *source, uint32_t events);
void source_close(struct source *source);
/*
 * Waits until a source is ready or, unless @until_ns is 0, until that time of CLOCK_MONOTONIC; calls
 * the functions of ready sources. Each of them may close any source, but the memory of a source must
 * stay valid until loop_step() returns. 0 or -errno.
 */
int loop_step(int loop, uint64_t until_ns);

#endif
