/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one rule by which live tests judge a figure, and the only place that tries one again. */
#ifndef SUBTICK_TESTS_LIVE_JUDGE_H
#define SUBTICK_TESTS_LIVE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "witness.h"

/*
 * A test gives a function that measures once and says, claim by claim, what is promised and
 * whether it held. The rule:
 *
 * - A claim that holds at the first try is ok, disturbed or not: nobody has chosen the try.
 * - A figure that is wrong while the witness saw no disturbance fails at once.
 * - A figure that is wrong while the witness saw one is printed as a comment and tried again. From
 *   then on only undisturbed tries count, whether good or bad: the witness chooses the try, never
 *   the outcome.
 * - If there is no undisturbed try, the claim is "not judged", with the reason, and is a skip.
 * - What no disturbance excuses (an invariant, an exact count) is judged in every try, and one
 *   violation fails.
 * - Under emulation (SUBTICK_EMULATED=1) time is nobody's: figures are "ran, not judged". Counts
 *   and what no disturbance excuses are judged as everywhere.
 */

#define JUDGE_TRIES 6 /* unless the test says otherwise */
#define JUDGE_MOST  16

enum claim_kind {
	CLAIM_FIGURE, /* noise and emulation may be to blame */
	CLAIM_COUNT,  /* noise may be, emulation not */
	CLAIM_ALWAYS, /* neither */
};

struct claim {
	enum claim_kind kind;
	bool good;
	char unknown[120]; /* why it cannot be judged here at all; "" if it can */
	char text[280];
};

struct verdict {
	struct claim claims[JUDGE_MOST];
	int nr;
	char disturbed[280]; /* seen by the measuring function itself; "" if nothing */
};

/* A figure: noise may be to blame. The same claims in the same order in each try. */
void verdict_figure(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * A count that other work may disturb but that does not depend on time. It is also judged on
 * emulated machines.
 */
void verdict_count(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* What must hold in any try on any machine. */
void verdict_always(struct verdict *verdict, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A claim that this machine gives no means to judge: "not judged", with the reason. */
void verdict_unknown(struct verdict *verdict, const char *why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Evidence of a disturbance that only the test can see. Not by subtick's own figures: it must owe
 * nothing to what is judged.
 */
void verdict_disturbed(struct verdict *verdict, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

struct judge_opts {
	int cpu; /* the core in question, WITNESS_ALL_CPUS if it is all of them */
	struct witness_limits limits;
	int tries; /* 0: JUDGE_TRIES */
	void (*measure)(void *arg, struct verdict *ret_verdict);
	void *arg;
	/* Instead of the real witness: for the tests of this rule. */
	bool (*fake_witness)(void *arg, char *ret_why, size_t size);
};

enum judged {
	JUDGED_OK,
	JUDGED_FAILED,
	NOT_JUDGED, /* some claim at least, and none failed */
};

/* Measures as often as the rule allows and prints one TAP line per claim. */
enum judged judge(const struct judge_opts *opts);

#endif
