/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waits of known length. A hog task wakes a victim task of lower priority on the core of the hog,
 * works for a known time and then sleeps. The victim waits until the hog sleeps. Both tasks take
 * timestamps.
 */
#ifndef SUBTICK_TESTS_TRUTH_HOG_H
#define SUBTICK_TESTS_TRUTH_HOG_H

#include <stdint.h>
#include <sys/types.h>

#include "waits.h"

#define HOG_MAX 64
/*
 * Largest difference between the bounds of a wait: the time of the hog's wake-up call, the time
 * from the hog's last stamp to the victim's stamp, and one tick.
 */
#define HOG_SLACK_NS 16000

struct hog {
	/* The caller sets the fields up to burn_ns before it calls hog_start(). */
	const char *hog, *victim; /* cgroups of the hog and the victim */
	int cpu, rounds;
	uint64_t begin_ns, period_ns;
	uint64_t burn_ns[HOG_MAX];

	uint32_t word;
	pid_t hog_pid, victim_pid;
	struct {
		uint64_t wake_ns, woken_ns, sleep_ns, run_ns;
	} stamp[HOG_MAX];
};

/* Allocates struct hog in memory that the test and both tasks share. */
struct hog *hog_make(void);
/*
 * Starts the hog and the victim. The hog and the victim sleep until begin_ns, and sleep again from
 * the last round to the end of the test.
 */
void hog_start(struct hog *b);
void hog_stop(struct hog *b);

/* Returns the time at which the last round of the hog and the victim ends. */
uint64_t hog_end_ns(const struct hog *b);
/* Lists the waits of the victim. In each round the victim waits once for the hog's core. */
void hog_victim_waits(const struct hog *b, struct wait_known *waits);
/*
 * Lists the waits of the hog. In each round the hog wakes up on its idle core and waits once. A
 * wait of the hog is at most the time from the timer's expiry to the hog's first timestamp.
 */
void hog_own_waits(const struct hog *b, struct wait_known *waits);

#endif
