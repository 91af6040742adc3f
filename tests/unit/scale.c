/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how numbers are printed: units, digits, and rounding into the next unit. */
#include "test.h"

#include <math.h>

#include "view/view.h"

struct scale_case {
	double x;
	const char *text;
};

#define CHECK(format, cases) check(format, cases, sizeof(cases) / sizeof((cases)[0]))

static void check(void (*format)(double, char *, size_t), const struct scale_case *cases, size_t nr)
{
	char buf[64];

	for (size_t i = 0; i < nr; i++) {
		format(cases[i].x, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].text);
	}
}

static void format_hz(double x, char *buf, size_t size)
{
	view_format_value(&(struct value){.kind = VALUE_F64, .f64 = x}, UNIT_HZ, buf, size);
}

static void format_bytes(double x, char *buf, size_t size)
{
	view_format_value(&(struct value){.kind = VALUE_F64, .f64 = x}, UNIT_BYTES, buf, size);
}

TEST(test_ns)
{
	static const struct scale_case cases[] = {
		{0, "0 ns"},	       {-0.0, "0 ns"},	     {1, "1 ns"},
		{250, "250 ns"},       {999, "999 ns"},	     {0.5, "0.50 ns"},
		{12.34, "12.3 ns"},    {123.4, "123 ns"},    {999.6, "1.00 us"},
		{1000, "1.00 us"},     {1230000, "1.23 ms"}, {9994, "9.99 us"},
		{9996, "10.0 us"},     {99940, "99.9 us"},   {99960, "100 us"},
		{999499, "999 us"},    {999500, "1.00 ms"},  {999499999, "999 ms"},
		{999500000, "1.00 s"}, {12.3e9, "12.3 s"},   {1e12, "1000 s"},
		{-1234, "-1.23 us"},   {-250, "-250 ns"},    {NAN, "-"},
		{INFINITY, "-"},       {-INFINITY, "-"},
	};

	CHECK(view_format_ns, cases);
}

TEST(test_ratio)
{
	static const struct scale_case coarse[] = {
		{0, "0.0%"},	   {1, "100.0%"},     {0.1234, "12.3%"},  {0.00049, "0.0%"},
		{-0.0004, "0.0%"}, {-0.25, "-25.0%"}, {0.9999, "100.0%"}, {NAN, "-"},
		{0.00051, "0.1%"}, {2.5, "250.0%"},
	};
	static const struct scale_case fine[] = {
		{0, "0.0%"},	    {1, "100.0%"},	 {0.0012, "0.1%"},
		{0.0005, "0.05%"},  {0.00005, "0.005%"}, {0.000004, "0.0004%"},
		{1e-9, "<0.0001%"}, {-1e-9, "<0.0001%"}, {-0.0005, "-0.05%"},
		{NAN, "-"},
	};

	CHECK(view_format_ratio, coarse);
	CHECK(view_format_ratio_fine, fine);
}

TEST(test_other_units)
{
	static const struct scale_case hz[] = {
		{0, "0 Hz"},
		{250, "250 Hz"},
		{62500000, "62.5 MHz"},
		{2.4e9, "2.40 GHz"},
	};
	static const struct scale_case bytes[] = {
		{0, "0 B"},	    {1000, "1000 B"},	   {1023, "1023 B"},
		{1024, "1.00 KiB"}, {1572864, "1.50 MiB"}, {1024.0 * 1023, "1023 KiB"},
	};

	CHECK(format_hz, hz);
	CHECK(format_bytes, bytes);
}

static void check_value(struct value value, enum unit unit, const char *text)
{
	char buf[64];

	view_format_value(&value, unit, buf, sizeof(buf));
	assert_string_equal(buf, text);
}

TEST(test_value)
{
	struct value null = {.kind = VALUE_NULL}, yes = {.kind = VALUE_BOOL, .flag = true};
	struct value nr = {.kind = VALUE_U64, .u64 = 12345}, x = {.kind = VALUE_F64, .f64 = 0.5};

	check_value(null, UNIT_NS, "-");
	check_value(null, UNIT_RATIO, "-");
	check_value(null, UNIT_BOOL, "-");
	check_value(yes, UNIT_BOOL, "yes");
	yes.flag = false;
	check_value(yes, UNIT_BOOL, "no");
	check_value(nr, UNIT_NS, "12.3 us");
	check_value(nr, UNIT_COUNT, "12345");
	check_value(nr, UNIT_ID, "12345");
	check_value(nr, UNIT_CYCLES, "12345");
	check_value(nr, UNIT_BYTES, "12.1 KiB");
	check_value(nr, UNIT_HZ, "12.3 kHz");
	check_value(x, UNIT_RATIO, "50.0%");
	check_value(x, UNIT_CYCLES, "0.5");
	nr.u64 = UINT64_MAX;
	check_value(nr, UNIT_COUNT, "18446744073709551615");
}

TEST(test_never_longer_than_buffer)
{
	char buf[9];

	for (size_t size = 1; size < sizeof(buf); size++) {
		memset(buf, '#', sizeof(buf));
		view_format_ns(1234567890123456.0, buf, size);
		assert_non_null(memchr(buf, '\0', size));
		assert_int_equal(buf[size], '#');
	}
}

TEST(test_whole)
{
	struct value value = {.kind = VALUE_F64, .f64 = 12345678901.5};

	assert_true(view_is_whole(&value, UNIT_NS));
	assert_false(view_is_whole(&value, UNIT_RATIO));
	value.f64 = 123.5;
	assert_false(view_is_whole(&value, UNIT_NS));
	value.f64 = 1e19;
	assert_false(view_is_whole(&value, UNIT_NS));
}

TEST_MAIN()
