/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Open files of container runtimes, from a process that may open them to one that may not. */
#ifndef SUBTICK_SYS_RUNTIME_CHANNEL_H
#define SUBTICK_SYS_RUNTIME_CHANNEL_H

#include "sys/runtime_files.h"

struct runtime_message {
	unsigned int place; /* RUNTIME_NR_PLACES: everything that was there at the start was sent */
	char id[RUNTIME_ID_LEN + 1]; /* "" of a list */
	int fd;			     /* the receiver's; -1: that container is gone */
};

/* Waits for room. 0 or -errno: -EPIPE if nobody will receive. */
int runtime_channel_send(int channel, unsigned int place, const char *id, int fd);
/* 0, -EAGAIN if there is nothing, -EPIPE if there will be nothing, -EBADMSG. */
int runtime_channel_receive(int channel, struct runtime_message *ret_message);

#endif
