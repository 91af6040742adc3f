/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The duty-cycle generator. */
#include "gen/duty.h"

#include <time.h>

#include "base/clock.h"

/* Two copies, and which one is complete: the reader never waits for the writer. */
struct shared {
	uint64_t version; /* even; usage[version / 2 % 2] is complete */
	struct duty_usage usage[2];
	struct duty_sleep sleeps[]; /* DUTY_SLEEPS of them, if asked for */
};

static void publish(struct shared *shared, const struct duty_usage *usage)
{
	uint64_t next = __atomic_load_n(&shared->version, __ATOMIC_RELAXED) + 2;

	shared->usage[next / 2 % 2] = *usage;
	__atomic_store_n(&shared->version, next, __ATOMIC_RELEASE);
}

/* xorshift64: good enough, as the burns only must not be synchronous with anything. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t burn_until(uint64_t end)
{
	uint64_t now;

	do
		now = clock_mono_ns();
	while (now < end);
	return now;
}

static void run(void *memory, void *arg)
{
	const struct duty_opts *opts = arg;
	struct shared *shared = memory;
	struct duty_usage usage = {0};
	uint64_t burn_ns = opts->duty * (double)opts->period_ns;
	uint64_t slack_ns = opts->period_ns - burn_ns;
	uint64_t phase_ns = opts->locked ? opts->phase_ns : 0;
	uint64_t random = clock_mono_ns() | 1;
	uint64_t period = clock_mono_ns() / opts->period_ns + 1;

	for (;; period++) {
		uint64_t begin = period * opts->period_ns, call, due = 0, woke;
		struct timespec deadline;

		begin += opts->locked ? opts->phase_ns
			 : slack_ns   ? next_random(&random) % slack_ns
				      : 0;
		call = clock_mono_ns();
		if (call < begin) {
			deadline = clock_timespec(begin);
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
			due = begin;
		}
		woke = clock_mono_ns();
		if (opts->log)
			shared->sleeps[usage.cycles % DUTY_SLEEPS] = (struct duty_sleep){
				.call_ns = call, .due_ns = due, .woke_ns = woke};
		/* A late wake-up does not shorten the burn. */
		usage.at_ns = burn_until(woke + burn_ns);
		usage.burn_ns += usage.at_ns - woke;
		usage.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		usage.cycles++;
		publish(shared, &usage);
		/*
		 * If we are late, skip periods instead of catching up. Periods of a locked burn
		 * begin at its phase, so a burn past the end of a multiple of the period is not
		 * late.
		 */
		if ((usage.at_ns - phase_ns) / opts->period_ns > period)
			period = (usage.at_ns - phase_ns) / opts->period_ns;
	}
}

int duty_start(struct gen_child *duty, const struct duty_opts *opts, struct err *err)
{
	size_t log = opts->log ? DUTY_SLEEPS * sizeof(struct duty_sleep) : 0;
	struct duty_opts own = *opts;

	return gen_child_start(duty, opts->cpu, sizeof(struct shared) + log, run, &own, err);
}

bool duty_read(const struct gen_child *duty, struct duty_usage *ret_usage)
{
	const struct shared *shared = duty->shared;
	uint64_t before, after;

	do {
		before = __atomic_load_n(&shared->version, __ATOMIC_ACQUIRE);
		*ret_usage = shared->usage[before / 2 % 2];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&shared->version, __ATOMIC_RELAXED);
	} while (after > before);
	return after != 0;
}

struct duty_sleep duty_sleep(const struct gen_child *duty, uint64_t cycle)
{
	const struct shared *shared = duty->shared;

	return shared->sleeps[(cycle - 1) % DUTY_SLEEPS];
}
