/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the estimated lag of a run queue's clock from readings of two drifting clocks. */
#include "test.h"
#include "tests/random.h"

#include <linux/types.h>

typedef __u64 u64;
typedef __s64 s64;

#define __noinline __attribute__((noinline))

#include "bpf/runq_clock.bpf.h"

#define US 1000LL
#define MS 1000000LL
#define S  1000000000LL

/* Simulates a core whose clock drifts from CLOCK_MONOTONIC by @ppm. */
struct core {
	struct runq_clock clock;
	double ppm;
	u64 mono, boot_ns;
	s64 set_ns; /* sum of the clock steps of the run queue's clock */
};

static uint64_t random_state = 1;

static u64 next_random(u64 below)
{
	return xorshift64(&random_state) % below;
}

static void core_start(struct core *core, double ppm, double known_ppm)
{
	*core = (struct core){.ppm = ppm, .mono = 123456 * (u64)S, .boot_ns = 777 * MS};
	core->clock = (struct runq_clock){.off = RUNQ_CLOCK_UNSET,
					  .at = core->mono,
					  .low_late = RUNQ_CLOCK_UNSET,
					  .drift = (s64)(known_ppm * 1e-6 * 0x1p32)};
}

static u64 run_queue_clock(const struct core *core, u64 mono)
{
	return (u64)((s64)mono - core->boot_ns -
		     (s64)((double)(mono - 123456 * (u64)S) * core->ppm * 1e-6) + core->set_ns);
}

/*
 * Simulates a context switch @past ns after the previous context switch. The kernel updates the run
 * queue's clock @late ns before the code path to the tracepoint begins. The code path to the
 * tracepoint takes 200 to 900 ns. Returns the error of the estimated lag.
 */
static s64 look(struct core *core, u64 past, u64 late)
{
	u64 way = 200 + next_random(700), found;

	core->mono += past + late;
	found = clock_late(&core->clock, core->mono + way,
			   run_queue_clock(core, core->mono - late));
	core->mono += way;
	return (s64)found - (s64)late;
}

/* The run queue's clock lags at each odd switch, as at wake-ups that preempt a busy task. */
static s64 worst_of(struct core *core, int looks, u64 past)
{
	s64 worst = 0;

	for (int i = 0; i < looks; i++) {
		u64 late = i % 2 ? next_random(3 * MS) : 0;
		s64 off = look(core, 1 + next_random(past), late);

		/*
		 * The code path from the clock update to the tracepoint may take 700 ns longer than
		 * the shortest path, so the estimate may be 700 ns too high.
		 */
		if (off > 700)
			off -= 700;
		else if (off > 0)
			off = 0;
		if ((off < 0 ? -off : off) > worst)
			worst = off < 0 ? -off : off;
	}
	return worst;
}

TEST(test_exact_without_drift)
{
	struct core core;

	core_start(&core, 0.0, 0.0);
	for (int i = 0; i < 100; i++)
		look(&core, MS, 0);
	assert_true(worst_of(&core, 100000, MS) < 700);
}

TEST(test_drift_is_learned)
{
	static const double rates[] = {-400.0, -30.0, 12.5, 480.0};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct core core;

		core_start(&core, rates[i], 0.0);
		worst_of(&core, 40000, MS);
		/* With a known drift the error is below 5 us after a second of idle. */
		assert_true(worst_of(&core, 200, S) < 5 * US);
	}
}

TEST(test_known_drift_from_the_start)
{
	struct core core;

	core_start(&core, 35.0, 35.0);
	look(&core, MS, 0);
	/* The shortest path to the tracepoint is found within a few readings. */
	assert_true(worst_of(&core, 200, 100 * MS) < US);
}

TEST(test_first_look_is_not_late)
{
	struct core core;

	core_start(&core, 0.0, 0.0);
	/*
	 * Before the first reading without lag, the estimated lag may be too low but never too
	 * high.
	 */
	assert_true(look(&core, MS, 50 * US) == -50 * US);
	/* The next reading of a clock without lag corrects the estimated lag. */
	look(&core, MS, 0);
	assert_true(look(&core, MS, 50 * US) > -US);
}

TEST(test_long_silence)
{
	struct core core;

	core_start(&core, 30.0, 29.0);
	worst_of(&core, 1000, MS);
	/*
	 * The core does not switch for two days. The drift of the clocks in two days must not count
	 * as lag.
	 */
	assert_true(look(&core, 2 * 86400 * S, 2 * US) <= 0);
	look(&core, MS, 0);
	assert_true(worst_of(&core, 100, MS) < US);
}

TEST(test_clock_that_is_set)
{
	struct core core;

	core_start(&core, 0.0, 0.0);
	worst_of(&core, 1000, MS);
	/* A clock step of an hour, forwards or backwards, is detected immediately. */
	core.set_ns -= 3600 * S;
	assert_true(look(&core, MS, 0) <= 0);
	core.set_ns += 7200 * S;
	assert_true(look(&core, MS, 0) <= 0);
	assert_true(worst_of(&core, 1000, MS) < US);
	/* A clock step of 10 ms, as after a suspend, is counted as lag until the next estimate. */
	core.set_ns -= 10 * MS;
	for (int i = 0; i < 3000; i++)
		look(&core, MS, 0);
	assert_true(worst_of(&core, 1000, MS) < US);
}

TEST_MAIN()
