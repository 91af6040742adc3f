/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs loops, failing system calls and sleeps. */
#include "gen/cpu_mix.h"

#include <stdint.h>
#include <time.h>

#include "base/clock.h"

static void loop(unsigned int turns)
{
	for (volatile unsigned int i = 0; i < turns; i++)
		;
}

/* An invalid time: the call enters the kernel and returns at once. */
static void call(unsigned int times)
{
	const struct timespec bad = {.tv_nsec = 2000000000};

	for (unsigned int i = 0; i < times; i++)
		nanosleep(&bad, NULL);
}

static void run(void *shared, void *arg)
{
	enum cpu_mix_kind kind = *(enum cpu_mix_kind *)arg;
	struct timespec delay;

	for (uint64_t turn = 0;; turn++) {
		switch (kind) {
		case CPU_MIX_USER:
			loop(200000);
			call(20);
			break;
		case CPU_MIX_SYSTEM:
			call(2000);
			loop(2000);
			break;
		case CPU_MIX_IDLE:
			loop(200000);
			/* 0.2 … 5 ms, so that idle ends at many phases of the tick. */
			delay = clock_timespec((200 + turn * 367 % 4800) * NSEC_PER_USEC);
			nanosleep(&delay, NULL);
			break;
		}
	}
}

int cpu_mix_start(struct gen_child *mix, enum cpu_mix_kind kind, int cpu, struct err *err)
{
	return gen_child_start(mix, cpu, sizeof(uint64_t), run, &kind, err);
}
