/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the sets of columns that audit ticks watches; plots select rows by them. */
#ifndef SUBTICK_REPORT_AUDIT_SETS_H
#define SUBTICK_REPORT_AUDIT_SETS_H

#define SET_TWO_MODES_BUSY "user+system: user, nice, system"
#define SET_TWO_MODES_ALL  "user+system: all"
#define SET_WITH_IDLE_BUSY "user+idle: user, nice, system"
#define SET_WITH_IDLE_ALL  "user+idle: all"
#define SET_SOFTIRQS	   "user+softirq: irq, softirq"

#endif
