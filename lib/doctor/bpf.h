/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks of privileges, BPF and trace events. */
#ifndef SUBTICK_DOCTOR_BPF_H
#define SUBTICK_DOCTOR_BPF_H

#include "doctor/check.h"

void doctor_check_kernel(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_config(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_privileges(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_net_admin(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_lockdown(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_btf(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_bpf(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_jit(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_unprivileged(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_bpf_stats(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_events(const struct doctor *d, enum doctor_id id, struct doctor_row *row);
void doctor_check_crit(const struct doctor *d, enum doctor_id id, struct doctor_row *row);

#endif
