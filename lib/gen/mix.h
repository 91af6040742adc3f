/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mixtures of user, system and idle time, to make the columns of /proc/stat move. */
#ifndef SUBTICK_GEN_MIX_H
#define SUBTICK_GEN_MIX_H

#include "base/err.h"
#include "gen/child.h"

enum mix_kind {
	MIX_USER,   /* an empty loop, now and then a system call that fails at once */
	MIX_SYSTEM, /* mostly such calls, now and then an empty loop */
	MIX_IDLE,   /* an empty loop and real sleeps, of changing lengths */
};

struct mix {
	struct gen_child child;
};

int mix_start(struct mix *mix, enum mix_kind kind, int cpu, struct err *err);
void mix_stop(struct mix *mix);

#endif
