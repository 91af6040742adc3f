/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Launch times and hardware timestamps of sent packets, and PTP clocks of network devices. */
#ifndef SUBTICK_SYS_TXTIME_H
#define SUBTICK_SYS_TXTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PTP_MAX_READINGS 25 /* PTP_MAX_SAMPLES of the kernel */

/* Methods of reading the PTP clock and the system clock together, best method first. */
enum ptp_method {
	PTP_PRECISE,  /* the hardware reads the PTP clock and the system clock at the same time */
	/* the driver reads the system clock directly before and after the PTP clock */
	PTP_EXTENDED,
	/* the kernel reads the system clock before and after the driver reads the PTP clock */
	PTP_BASIC,
};

const char *ptp_method_name(enum ptp_method method);

struct ptp_reading {
	int64_t before_ns; /* CLOCK_MONOTONIC before the PTP clock is read */
	int64_t device_ns;
	int64_t after_ns;
};

/*
 * PTP clock index of @device. Returns -ENODEV if the device does not exist, -EOPNOTSUPP if the
 * device has no PTP clock.
 */
int ptp_index(const char *device);
/* Lists the running programs that adjust clocks, such as "chronyd, phc2sys", or "". */
void ptp_disciplines(const char *root, char *buf, size_t size);
/* Opens /dev/ptpN and returns its descriptor, or -errno. */
int ptp_open(int index, struct err *err);
/*
 * Reads the PTP clock and the system clock several times. Returns the number of @readings that were
 * set, or -errno. PTP_PRECISE sets one element; after_ns − before_ns is the error of the
 * conversion from CLOCK_REALTIME to CLOCK_MONOTONIC.
 */
int ptp_read(int fd, struct ptp_reading readings[PTP_MAX_READINGS], enum ptp_method *ret_method);

/* Opens a packet socket on @ifindex with launch times in CLOCK_TAI. */
int txtime_open(int ifindex, int priority, struct err *err);
/* Queues one small packet with launch time @launch_tai_ns. */
int txtime_send(int fd, int ifindex, uint64_t launch_tai_ns);
/* Number of packets that missed their launch time and were dropped since the last call. */
int txtime_missed(int fd);

/* True if @device supports hardware transmit timestamps. */
bool txstamp_can(const char *device);
/* Returns the transmit timestamp mode of @device, a HWTSTAMP_TX_ number, or -errno. */
int txstamp_get(const char *device);
/* Sets only the transmit timestamp mode of @device. */
int txstamp_set(const char *device, int tx_type);

/* Requests a hardware timestamp of each packet that socket @fd sends. */
int txstamp_ask(int fd);
/*
 * Waits for the next hardware timestamp of a sent packet, in ns of the PTP clock. Polls instead of
 * blocking, because an idle CPU could let the package sleep. Returns -ETIME after @patience_ns.
 */
int txstamp_wait(int fd, uint64_t patience_ns, int64_t *ret_ns);

#endif
