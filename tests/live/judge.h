/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rule by which live tests judge figures. Only judge() repeats a measurement. */
#ifndef SUBTICK_TESTS_LIVE_JUDGE_H
#define SUBTICK_TESTS_LIVE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "witness.h"

/*
 * A test has a function that measures once and adds its claims, each with its result. The rule:
 *
 * - A claim that holds in the first try is ok, even if the try was disturbed.
 * - A wrong figure in an undisturbed try fails at once.
 * - A wrong figure in a disturbed try is printed as a comment, and the test tries again. From then
 *   on only undisturbed tries count, with good and bad results alike.
 * - Without an undisturbed try the claim is "not judged" with the reason, and counts as skipped.
 * - Invariants are judged in every try, and one violation fails.
 * - Under emulation (SUBTICK_EMULATED=1) figures of time are "ran, not judged". Counts and
 *   invariants are judged.
 */

#define JUDGE_TRIES 6 /* default number of tries */
#define JUDGE_MOST  16

enum claim_kind {
	CLAIM_FIGURE, /* wrong value fails if undisturbed and not emulated */
	CLAIM_COUNT,  /* wrong value fails if undisturbed */
	CLAIM_ALWAYS, /* wrong value always fails */
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
	char disturbed[280]; /* disturbance that the measuring function saw, or "" */
};

/* Adds a figure, which noise may disturb. Every try adds the same claims in the same order. */
void verdict_figure(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * A count that other work may disturb but that does not depend on time. Such a count is also judged
 * on emulated machines.
 */
void verdict_count(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds an invariant that holds in every try on every machine. */
void verdict_always(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a claim that this machine cannot judge, with the reason. */
void verdict_unknown(struct verdict *verdict, const char *why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Reports a disturbance that only the test can detect. The evidence must not come from subtick. */
void verdict_disturbed(struct verdict *verdict, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

struct judge_opts {
	int cpu; /* the measured core, or WITNESS_ALL_CPUS */
	struct witness_limits limits;
	int tries; /* 0 means JUDGE_TRIES */
	void (*measure)(void *arg, struct verdict *ret_verdict);
	void *arg;
};

/* Measures as often as the rule allows and prints one TAP line per claim. */
void judge(const struct judge_opts *opts);

#endif
