/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sleeps until a given time on a given core, again and again. */
#include "canary.h"

#include <sched.h>
#include <time.h>

#include "base/clock.h"

#define LEAST_NS (15 * NSEC_PER_MSEC)
#define RANGE_NS (20 * NSEC_PER_MSEC)
#define KEPT	 8192 /* three minutes */

struct shared {
	uint64_t asked;	 /* how many wake-ups have come */
	uint64_t due_ns; /* when the next one is due */
	uint64_t late_ns[KEPT];
};

static void run(void *memory, void *arg)
{
	const struct sched_param first = {.sched_priority = 1};
	uint64_t random = clock_mono_ns() | 1, due, now;
	struct shared *shared = memory;
	struct timespec until;

	sched_setscheduler(0, SCHED_FIFO, &first);
	for (;;) {
		random = random * 6364136223846793005ULL + 1442695040888963407ULL;
		due = clock_mono_ns() + LEAST_NS + (random >> 33) % RANGE_NS;
		__atomic_store_n(&shared->due_ns, due, __ATOMIC_RELAXED);
		until = clock_timespec(due);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		now = clock_mono_ns();
		shared->late_ns[shared->asked % KEPT] = now > due ? now - due : 0;
		__atomic_store_n(&shared->asked, shared->asked + 1, __ATOMIC_RELEASE);
	}
}

int canary_start(struct canary *canary, int cpu, struct err *err)
{
	return gen_child_start(&canary->child, cpu, sizeof(struct shared), run, NULL, err);
}

uint64_t canary_mark(const struct canary *canary)
{
	const struct shared *shared = canary->child.shared;

	return __atomic_load_n(&shared->asked, __ATOMIC_ACQUIRE);
}

uint64_t canary_late_ns(const struct canary *canary, uint64_t mark)
{
	const struct shared *shared = canary->child.shared;
	uint64_t end = canary_mark(canary), now = clock_mono_ns(), most = 0;
	uint64_t due = __atomic_load_n(&shared->due_ns, __ATOMIC_ACQUIRE);

	/*
	 * Reads the clock before the mark, so that a delay of the reader does not count as delay of
	 * the canary.
	 */
	if (due && now > due && end == canary_mark(canary))
		most = now - due;
	if (end - mark > KEPT)
		mark = end - KEPT;
	for (; mark < end; mark++)
		if (shared->late_ns[mark % KEPT] > most)
			most = shared->late_ns[mark % KEPT];
	return most;
}

void canary_stop(struct canary *canary)
{
	gen_child_stop(&canary->child);
}
