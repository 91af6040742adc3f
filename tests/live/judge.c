/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Repeats the measurement of a test and decides the result of each claim. */
#include "judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "live.h"

#define PAUSE_MS 500

enum state {
	OPEN,
	HELD,
	BROKEN,
};

/* State of each claim of a test after the completed attempts. */
struct claim_set {
	enum state states[JUDGE_MOST];
	/* texts from the attempt that decided the claim, else from the last attempt */
	struct claim claims[JUDGE_MOST];
	int nr;
	char why[280]; /* disturbance of the last disturbed attempt */
};

static void add_claim(struct verdict *verdict, bool always, bool good, const char *fmt, va_list ap)
{
	struct claim *claim = &verdict->claims[verdict->nr];

	if (verdict->nr == JUDGE_MOST)
		live_fail_all("more than %d claims in one verdict", JUDGE_MOST);
	verdict->nr++;
	claim->good = good;
	claim->always = always;
	vsnprintf(claim->text, sizeof(claim->text), fmt, ap);
}

void verdict_count(struct verdict *verdict, bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_claim(verdict, false, good, fmt, ap);
	va_end(ap);
}

void verdict_always(struct verdict *verdict, bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_claim(verdict, true, good, fmt, ap);
	va_end(ap);
}

void verdict_disturbed(struct verdict *verdict, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict->disturbed, sizeof(verdict->disturbed), fmt, ap);
	va_end(ap);
}

/* Returns the new state of a claim after an attempt. @state is the state before the attempt. */
static enum state decide_one(const struct claim *claim, enum state state, bool disturbed,
			     bool first)
{
	bool counts = claim->always || !disturbed;

	if (state == BROKEN || (!claim->good && counts))
		return BROKEN;
	return claim->good && (counts || first) ? HELD : state;
}

/*
 * Decides claims by one attempt of the test. Returns true if the test needs another attempt: a
 * claim is undecided, and none has failed.
 */
static bool decide(struct claim_set *set, const struct verdict *verdict, bool first)
{
	bool disturbed = verdict->disturbed[0], open = false, broken = false;

	if (!first && verdict->nr != set->nr)
		live_fail_all("the tries of one test make %d and %d claims", set->nr, verdict->nr);
	set->nr = verdict->nr;
	for (int i = 0; i < verdict->nr; i++) {
		const struct claim *claim = &verdict->claims[i];
		enum state was = set->states[i];

		set->states[i] = decide_one(claim, was, disturbed, first);
		if (was == OPEN || set->states[i] != was)
			set->claims[i] = *claim;
		open = open || set->states[i] == OPEN;
		broken = broken || set->states[i] == BROKEN;
		if (disturbed && !claim->good)
			live_note("not so, but the try was disturbed (%s): %s", verdict->disturbed,
				  claim->text);
	}
	if (disturbed)
		memcpy(set->why, verdict->disturbed, sizeof(set->why));
	return open && !broken;
}

void judge(void (*measure)(void *arg, struct verdict *ret_verdict), void *arg)
{
	struct claim_set set = {0};
	struct verdict verdict;
	bool open = true;

	for (int i = 0; i < JUDGE_TRIES && open; i++) {
		if (i)
			live_sleep_ms(PAUSE_MS);
		verdict = (struct verdict){0};
		measure(arg, &verdict);
		open = decide(&set, &verdict, !i);
	}
	for (int i = 0; i < set.nr; i++) {
		if (set.states[i] == OPEN)
			live_skip(set.claims[i].text, "not judged: no undisturbed try: %s",
				  set.why);
		else
			live_ok(set.states[i] == HELD, "%s", set.claims[i].text);
	}
}
