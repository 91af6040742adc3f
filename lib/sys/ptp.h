/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A network card's hardware clock beside CLOCK_MONOTONIC. */
#ifndef SUBTICK_SYS_PTP_H
#define SUBTICK_SYS_PTP_H

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
 * any. @root as in sys/file.h.
 */
void ptp_disciplines(const char *root, char *buf, size_t size);
/* Opens /dev/ptpN. */
int ptp_open(int index, struct err *err);
/*
 * Reads both clocks several times. PTP_PRECISE gives one reading, whose width is that of our
 * conversion from CLOCK_REALTIME to CLOCK_MONOTONIC. Returns how many, or -errno.
 */
int ptp_read(int fd, struct ptp_reading readings[PTP_MAX_READINGS], enum ptp_method *ret_method);

#endif
