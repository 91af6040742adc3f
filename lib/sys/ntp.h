/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the system's clock is being steered. */
#ifndef SUBTICK_SYS_NTP_H
#define SUBTICK_SYS_NTP_H

/* What CLOCK_MONOTONIC gains on the counter below it, as a share: 1e-6 is 1 ppm. 0 if unknown. */
double ntp_rate(void);

#endif
