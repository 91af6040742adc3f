/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packets that leave a network device at a set time. */
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

#endif
