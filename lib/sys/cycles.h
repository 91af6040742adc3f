/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate of the cycle clock. */
#ifndef SUBTICK_SYS_CYCLES_H
#define SUBTICK_SYS_CYCLES_H

#include <stdint.h>

/*
 * The rate that the hardware reports, else measured with CLOCK_MONOTONIC over 20 ms. 0 without a
 * cycle clock. The error of the measurement is two clock reads in 20 ms, below 10 ppm.
 */
uint64_t cycles_hz(void);

#endif
