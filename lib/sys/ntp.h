/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate correction of the system clock. */
#ifndef SUBTICK_SYS_NTP_H
#define SUBTICK_SYS_NTP_H

/* How much faster CLOCK_MONOTONIC runs than the counter below it: 1e-6 is 1 ppm. 0 if unknown. */
double ntp_rate(void);

#endif
