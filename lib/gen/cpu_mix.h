/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mixtures of user, system and idle time, to make the columns of /proc/stat move. */
#ifndef SUBTICK_GEN_CPU_MIX_H
#define SUBTICK_GEN_CPU_MIX_H

#include "base/err.h"
#include "gen/child.h"

enum cpu_mix_kind {
	CPU_MIX_USER,   /* an empty loop, now and then a system call that fails at once */
	CPU_MIX_SYSTEM, /* mostly such calls, now and then an empty loop */
	CPU_MIX_IDLE,   /* an empty loop and real sleeps, of changing lengths */
};

struct cpu_mix {
	struct gen_child child;
};

int cpu_mix_start(struct cpu_mix *mix, enum cpu_mix_kind kind, int cpu, struct err *err);
void cpu_mix_stop(struct cpu_mix *mix);

#endif
