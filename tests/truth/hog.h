/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waits of a known schedule: a hog wakes a victim of lower priority on its own core, works for a
 * known time and sleeps. The victim waits until the hog sleeps. The hog and the victim take
 * timestamps.
 */
#ifndef SUBTICK_TESTS_TRUTH_HOG_H
#define SUBTICK_TESTS_TRUTH_HOG_H

#include <stdint.h>
#include <sys/types.h>

#include "waits.h"

#define HOG_MAX 64
/*
 * Uncertainty of a wait: the kernel instructions of a futex wake-up, the instructions between the
 * hog's last stamp and the victim's first stamp, and one tick.
 */
#define HOG_SLACK_NS 16000

struct hog {
	/* Set before hog_start(). */
	const char *hog, *victim; /* cgroups of the two tasks */
	int cpu, rounds;
	uint64_t begin_ns, period_ns;
	uint64_t burn_ns[HOG_MAX];

	uint32_t word;
	pid_t hog_pid, victim_pid;
	struct {
		uint64_t wake_ns, woken_ns, sleep_ns, run_ns;
	} stamp[HOG_MAX];
};

/* Allocated in memory that the tasks share. */
struct hog *hog_make(void);
/* The hog and the victim sleep until begin_ns, and after the last round until the test ends. */
void hog_start(struct hog *b);
void hog_stop(struct hog *b);

/* End of the schedule. */
uint64_t hog_end_ns(const struct hog *b);
/* Each round has one wait of the victim behind the hog. */
void hog_victim_waits(const struct hog *b, struct wait_known *waits);
/*
 * Each round has one wait of the hog on its idle core: at most from the timer to its first
 * timestamp.
 */
void hog_own_waits(const struct hog *b, struct wait_known *waits);

#endif
