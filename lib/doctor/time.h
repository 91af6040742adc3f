/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of clocks, ticks, idle states and guests. */
#ifndef SUBTICK_DOCTOR_TIME_H
#define SUBTICK_DOCTOR_TIME_H

#include "doctor/check.h"

void doctor_check_clocksource(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_accounting(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_hz(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_user_hz(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_nohz(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_preemption(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_cpuidle(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_virt(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_steal(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_container(const struct doctor *d, enum doctor_id id, struct doctor_row *row);

#endif
