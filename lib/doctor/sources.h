/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of the files, counters and kernel options that sources read. */
#ifndef SUBTICK_DOCTOR_SOURCES_H
#define SUBTICK_DOCTOR_SOURCES_H

#include "doctor/check.h"

void doctor_check_paranoid(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_pmu(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_tracefs(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_proc_stat(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_schedstat(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_cgroup(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_feature(const struct doctor *d, enum doctor_id id, struct doctor_row *row);

#endif
