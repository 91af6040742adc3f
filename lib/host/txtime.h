/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Launch times and hardware timestamps of sent packets, and the device's PTP clock. */
#ifndef SUBTICK_SYS_TXTIME_H
#define SUBTICK_SYS_TXTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PTP_MAX_READINGS 25 /* PTP_MAX_SAMPLES of the kernel */

/* How the two clocks were read together, best first. */
enum ptp_method {
	PTP_PRECISE,  /* by the hardware itself */
	PTP_EXTENDED, /* system, card, system: only the card's register read in between */
	PTP_BASIC,    /* the same, with the driver's whole call in between */
};

const char *ptp_method_name(enum ptp_method method);

struct ptp_reading {
	int64_t before_ns; /* CLOCK_MONOTONIC */
	int64_t device_ns;
	int64_t after_ns;
};

/* The index of @device's clock; -ENODEV if there is no such device, -EOPNOTSUPP without a clock. */
int ptp_index(const char *device);
/*
 * Names the running programs that adjust clocks, such as "chronyd, phc2sys", each once; "" without
 * any. @root as in host/file.h.
 */
void ptp_disciplines(const char *root, char *buf, size_t size);
/* Opens /dev/ptpN. */
int ptp_open(int index, struct err *err);
/*
 * Reads both clocks several times. PTP_PRECISE gives one reading, whose width is that of our
 * conversion from CLOCK_REALTIME to CLOCK_MONOTONIC. Returns how many, or -errno.
 */
int ptp_read(int fd, struct ptp_reading readings[PTP_MAX_READINGS], enum ptp_method *ret_method);

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
/* The setting for received packets stays. 0 or -errno. */
int txstamp_set(const char *device, int tx_type);

/* Asks for a stamp of each packet that the socket @fd sends. 0 or -errno. */
int txstamp_ask(int fd);
/*
 * The next stamp, in ns of the card's clock. Spins, so that this core keeps its package awake; -ETIME if none
 * came within @patience_ns, or another -errno.
 */
int txstamp_wait(int fd, uint64_t patience_ns, int64_t *ret_ns);

#endif
