/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides when a live test repeats its measurement, and whether a measured figure is right. Only
 * judge() repeats a measurement.
 */
#ifndef SUBTICK_TESTS_LIVE_JUDGE_H
#define SUBTICK_TESTS_LIVE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "witness.h"

/*
 * A live test has a function that measures once and adds claims with results. judge() repeats this
 * function by the following rule:
 *
 * - A claim that holds in the first attempt is ok, even if the attempt was disturbed.
 * - A claim that is false in an undisturbed attempt fails at once.
 * - A claim that is false in a disturbed attempt is printed as a comment, and the test tries again.
 *   After a disturbed attempt, only undisturbed attempts count for this claim.
 * - Without an undisturbed attempt the claim is "not judged" with the reason, and counts as
 *   skipped.
 * - Invariants are judged in every attempt, and one violation fails.
 * - Under emulation (SUBTICK_EMULATED=1) figures of time are "ran, not judged", but counts and
 *   invariants are judged.
 */

#define JUDGE_TRIES 6 /* default maximum number of attempts */
#define JUDGE_MOST  16

enum claim_kind {
	CLAIM_FIGURE, /* claim that fails if false in an undisturbed attempt without emulation */
	CLAIM_COUNT,  /* claim that fails if false in an undisturbed attempt */
	CLAIM_ALWAYS, /* claim that fails if false in any attempt */
};

struct claim {
	enum claim_kind kind;
	bool good;
	char unknown[120]; /* reason why this machine cannot judge the claim, or "" */
	char text[280];
};

struct verdict {
	struct claim claims[JUDGE_MOST];
	int nr;
	char disturbed[280]; /* disturbance that the measuring function found, or "" */
};

/*
 * Adds a claim about a figure that other work may disturb. Every attempt must add the same claims
 * in the same order.
 */
void verdict_figure(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Adds a claim about a count that other work may disturb but that does not depend on time. Claims
 * about counts are also judged on emulated machines.
 */
void verdict_count(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds an invariant, which must hold in every attempt on every machine. */
void verdict_always(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a claim that this machine cannot judge, with the reason. */
void verdict_unknown(struct verdict *verdict, const char *why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Reports a disturbance that only the test itself can detect. A test must not use subtick to detect
 * a disturbance.
 */
void verdict_disturbed(struct verdict *verdict, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

struct judge_opts {
	int cpu; /* measured core, or WITNESS_ALL_CPUS */
	struct witness_limits limits;
	int tries; /* maximum number of attempts; 0 means JUDGE_TRIES */
	void (*measure)(void *arg, struct verdict *ret_verdict);
	void *arg;
};

/* Repeats opts->measure by the rule at the top of this file, and prints one TAP line per claim. */
void judge(const struct judge_opts *opts);

#endif
