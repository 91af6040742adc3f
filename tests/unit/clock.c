/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests durations, and the measured offset between two clocks while the reader is preempted. */
#include "test.h"

#include <limits.h>

#include "base/clock.h"

enum {
	READING_NS = 20,
	AWAY_NS = 2000000,
	NR_READINGS = 64, /* maximum number of clock readings per test */
	NR_LOST = 7,	  /* preempted readings of both clocks, of eight attempts */
};

static const int64_t ahead_ns[] = {
	[CLOCK_REALTIME] = 1700000000000000000,
	[CLOCK_BOOTTIME] = 86400000000123,
};
static uint64_t now_ns;
static unsigned int nr_readings, away_after, away_every;

/* Simulates a clock whose reader is preempted before some readings. */
int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	now_ns += READING_NS;
	if (nr_readings == away_after ||
	    (away_every && nr_readings / away_every < NR_LOST && nr_readings % away_every == 1))
		now_ns += AWAY_NS;
	nr_readings++;
	*ts = clock_timespec(now_ns + (id == CLOCK_MONOTONIC ? 0 : ahead_ns[id]));
	return 0;
}

static void begin(unsigned int after, unsigned int every)
{
	now_ns = 5000000000;
	nr_readings = 0;
	away_after = after;
	away_every = every;
}

static void check_offset(clockid_t id)
{
	int64_t width, offset = clock_offset_ns(id, &width);

	assert_int_equal(offset, ahead_ns[id]);
	assert_int_equal(width, 2 * READING_NS);
}

/* A wrong clock offset would shift a recording relative to other recordings of the machine. */
TEST(a_lost_core_is_not_in_the_offset)
{
	for (unsigned int after = 0; after < NR_READINGS; after++) {
		begin(after, 0);
		check_offset(CLOCK_REALTIME);
		begin(after, 0);
		assert_int_equal(clock_at_ns(CLOCK_REALTIME, 77), 77 + ahead_ns[CLOCK_REALTIME]);
		begin(after, 0);
		assert_int_equal(clock_at_ns(CLOCK_BOOTTIME, 77), 77 + ahead_ns[CLOCK_BOOTTIME]);
	}
	begin(UINT_MAX, 3);
	check_offset(CLOCK_BOOTTIME);
}

#define NONE UINT64_MAX

static uint64_t parsed(const char *text)
{
	uint64_t ns = NONE;

	if (!duration_parse(text, 1, 86400000000000ULL, &ns))
		assert_int_equal(ns, NONE);
	return ns;
}

TEST(test_units)
{
	assert_int_equal(parsed("2"), 2000000000);
	assert_int_equal(parsed("0.5"), 500000000);
	assert_int_equal(parsed(".5s"), 500000000);
	assert_int_equal(parsed("200ms"), 200000000);
	assert_int_equal(parsed("100us"), 100000);
	assert_int_equal(parsed("100µs"), 100000);
	assert_int_equal(parsed("7ns"), 7);
	assert_int_equal(parsed("5m"), 300 * 1000000000ULL);
	assert_int_equal(parsed("1.5h"), 5400 * 1000000000ULL);
	assert_int_equal(parsed("1d"), 86400 * 1000000000ULL);
}

TEST(test_refused)
{
	static const char *const bad[] = {"",	  " 1",	    "1 ",  "-1",  "+1", "nan", "inf",  "0x10",
					  "0X1p3", "1min", "1sec", "1M",  "s",	"0",   "0ns", "86401",
					  "1e30", "..5",   "1.5.2"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parsed(bad[i]) != NONE)
			fail_msg("\"%s\" was taken", bad[i]);
}

TEST_MAIN()
