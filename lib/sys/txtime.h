/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packets that leave a network device at a set time; hardware timestamps of when they left. */
#ifndef SUBTICK_SYS_TXTIME_H
#define SUBTICK_SYS_TXTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Opens a packet socket on @ifindex whose packets carry a launch time of CLOCK_TAI. */
int txtime_open(int ifindex, int priority, struct err *err);
/* Queues one small packet; it leaves at @launch_tai_ns. */
int txtime_send(int fd, int ifindex, uint64_t launch_tai_ns);
/* How many packets since the last call were dropped because they missed their launch time. */
int txtime_missed(int fd);

/* Whether @device says that it stamps what it sends. */
bool txstamp_can(const char *device);
/* Whether it does so now: a HWTSTAMP_TX_… number, or -errno. */
int txstamp_get(const char *device);
/* What it does with received packets stays as it is. 0 or -errno. */
int txstamp_set(const char *device, int tx_type);

/* Asks for a stamp of each packet that the socket @fd sends. 0 or -errno. */
int txstamp_ask(int fd);
/*
 * The next stamp, in ns of the card's clock. Spins, so that this core keeps its package awake; -ETIME if none
 * came within @patience_ns, or another -errno.
 */
int txstamp_wait(int fd, uint64_t patience_ns, int64_t *ret_ns);

#endif
