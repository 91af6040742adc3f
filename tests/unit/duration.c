/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Durations in text form, the same in options and settings. */
#include "test.h"

#include "base/clock.h"

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
