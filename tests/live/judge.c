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
	/* text of the claim, from the attempt that decided the claim or from the last attempt */
	struct claim claims[JUDGE_MOST];
	int nr;
	char why[600]; /* disturbance of the last disturbed attempt */
};

static struct claim *add_claim(struct verdict *verdict, enum claim_kind kind, bool good,
			       const char *fmt, va_list ap)
{
	struct claim *claim = &verdict->claims[verdict->nr];

	if (verdict->nr == JUDGE_MOST)
		live_fail_all("more than %d claims in one verdict", JUDGE_MOST);
	verdict->nr++;
	claim->good = good;
	claim->kind = kind;
	vsnprintf(claim->text, sizeof(claim->text), fmt, ap);
	return claim;
}

void verdict_figure(struct verdict *verdict, bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_claim(verdict, CLAIM_FIGURE, good, fmt, ap);
	va_end(ap);
}

void verdict_count(struct verdict *verdict, bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_claim(verdict, CLAIM_COUNT, good, fmt, ap);
	va_end(ap);
}

void verdict_always(struct verdict *verdict, bool good, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_claim(verdict, CLAIM_ALWAYS, good, fmt, ap);
	va_end(ap);
}

void verdict_unknown(struct verdict *verdict, const char *why, const char *fmt, ...)
{
	struct claim *claim;
	va_list ap;

	va_start(ap, fmt);
	claim = add_claim(verdict, CLAIM_ALWAYS, true, fmt, ap);
	va_end(ap);
	snprintf(claim->unknown, sizeof(claim->unknown), "%s", why);
}

void verdict_disturbed(struct verdict *verdict, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict->disturbed, sizeof(verdict->disturbed), fmt, ap);
	va_end(ap);
}

/* Runs the measurement once. Returns true if the attempt was disturbed. */
static bool try_once(const struct judge_opts *opts, struct witness *witness,
		     struct verdict *verdict, char *why, size_t size)
{
	struct witness_seen seen;
	bool disturbed;
	char text[400];

	*verdict = (struct verdict){0};
	witness_begin(witness);
	opts->measure(opts->arg, verdict);
	witness_end(witness, &seen);
	witness_format(&seen, text, sizeof(text));
	live_note("witness, %s", text);
	disturbed = witness_disturbed(&opts->limits, &seen, why, size);
	if (!verdict->disturbed[0])
		return disturbed;
	snprintf(why + strlen(why), size - strlen(why), "%s%s", disturbed ? ", " : "",
		 verdict->disturbed);
	return true;
}

static bool is_emulated(const struct claim *claim)
{
	return claim->kind == CLAIM_FIGURE && live_emulated();
}

/* Returns the new state of a claim after an attempt. @state is the state before the attempt. */
static enum state decide_one(const struct claim *claim, enum state state, bool disturbed,
			     bool first)
{
	bool counts = claim->kind == CLAIM_ALWAYS || !disturbed;

	if (state == BROKEN || (!claim->good && counts))
		return BROKEN;
	return claim->good && (counts || first) ? HELD : state;
}

/* Applies the result of an attempt to all claims. Returns true if a claim is still undecided. */
static bool decide(struct claim_set *set, const struct verdict *verdict, bool disturbed, bool first)
{
	bool open = false;

	if (!first && verdict->nr != set->nr)
		live_fail_all("the tries of one test make %d and %d claims", set->nr, verdict->nr);
	set->nr = verdict->nr;
	for (int i = 0; i < verdict->nr; i++) {
		const struct claim *claim = &verdict->claims[i];
		enum state was = set->states[i];

		if (!is_emulated(claim))
			set->states[i] = decide_one(claim, was, disturbed, first);
		if (was == OPEN || set->states[i] != was)
			set->claims[i] = *claim;
		open = open || (set->states[i] == OPEN && !is_emulated(claim));
	}
	return open;
}

static bool any_broken(const struct claim_set *set)
{
	for (int i = 0; i < set->nr; i++)
		if (set->states[i] == BROKEN)
			return true;
	return false;
}

static void tell_try(const struct verdict *verdict, int number, int tries, const char *why)
{
	bool all_good = true;

	live_note("try %d of %d was disturbed: %s", number, tries, why);
	for (int i = 0; i < verdict->nr; i++)
		if (!verdict->claims[i].good && !is_emulated(&verdict->claims[i])) {
			live_note("  not so: %s", verdict->claims[i].text);
			all_good = false;
		}
	if (all_good)
		live_note("  all as promised");
}

static void print_all(const struct claim_set *set)
{
	for (int i = 0; i < set->nr; i++) {
		const struct claim *claim = &set->claims[i];

		if (is_emulated(claim))
			live_skip(claim->text, "ran, not judged: emulated");
		else if (claim->unknown[0])
			live_skip(claim->text, "not judged: %s", claim->unknown);
		else if (set->states[i] == OPEN)
			live_skip(claim->text, "not judged: no undisturbed try: %s", set->why);
		else
			live_ok(set->states[i] == HELD, "%s", claim->text);
	}
}

void judge(const struct judge_opts *opts)
{
	int tries = opts->tries ? opts->tries : JUDGE_TRIES;
	bool open = true;
	struct witness witness = {0};
	struct claim_set set = {0};
	struct verdict verdict;

	witness_open(&witness, opts->cpu, &opts->limits);
	for (int i = 0; i < tries && open && !any_broken(&set); i++) {
		char why[sizeof(set.why)] = "";
		bool disturbed;

		if (i)
			live_sleep_ms(PAUSE_MS);
		disturbed = try_once(opts, &witness, &verdict, why, sizeof(why));
		open = decide(&set, &verdict, disturbed, !i);
		if (!disturbed)
			continue;
		if (open || i)
			tell_try(&verdict, i + 1, tries, why);
		memcpy(set.why, why, sizeof(why));
	}
	witness_close(&witness);
	print_all(&set);
}
