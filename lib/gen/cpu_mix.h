/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads that mix user, system and idle time, so that the columns of /proc/stat change. */
#ifndef SUBTICK_GEN_CPU_MIX_H
#define SUBTICK_GEN_CPU_MIX_H

#include "base/err.h"
#include "gen/child.h"

enum cpu_mix_kind {
	CPU_MIX_USER,	/* mostly an empty loop, some system calls that fail at once */
	CPU_MIX_SYSTEM, /* mostly such calls, some empty loops */
	CPU_MIX_IDLE,	/* an empty loop, and sleeps of changing lengths */
};

int cpu_mix_start(struct gen_child *mix, enum cpu_mix_kind kind, int cpu, struct err *err);

#endif
