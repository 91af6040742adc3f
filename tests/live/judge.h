/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides when a live test repeats its measurement, and whether a count is right. Live
 * tests judge no times, because tests/truth judges times, in virtual time.
 */
#ifndef SUBTICK_TESTS_LIVE_JUDGE_H
#define SUBTICK_TESTS_LIVE_JUDGE_H

#include <stdbool.h>

/*
 * A live test has a function that measures once and adds claims with results. If the machine may
 * have changed a count, the function marks the attempt as disturbed. judge() repeats the function
 * by the following rule:
 *
 * - A count that is right in the first attempt is ok, even if the attempt was disturbed.
 * - A count that is wrong in an undisturbed attempt fails at once.
 * - A count that is wrong in a disturbed attempt is printed as a comment, and the test tries again.
 *   Later disturbed attempts do not count for this claim.
 * - Without an undisturbed attempt the claim is "not judged" with the reason, and counts as
 *   skipped.
 * - Invariants are judged in every attempt, and one violation fails.
 */

#define JUDGE_TRIES 6 /* maximum number of attempts */
#define JUDGE_MOST  16

struct claim {
	bool always; /* invariant: fails if false in any attempt */
	bool good;
	char text[280];
};

struct verdict {
	struct claim claims[JUDGE_MOST];
	int nr;
	char disturbed[280]; /* disturbance that the measuring function found, or "" */
};

/*
 * Adds a claim about a count that other work may disturb. Every attempt must add the same claims in
 * the same order.
 */
void verdict_count(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds an invariant, which must hold in every attempt. */
void verdict_always(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A test must not detect the disturbance by the figures of subtick that the test judges. */
void verdict_disturbed(struct verdict *verdict, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Repeats @measure by the rule at the top of this file, and prints one TAP line per claim. */
void judge(void (*measure)(void *arg, struct verdict *ret_verdict), void *arg);

#endif
