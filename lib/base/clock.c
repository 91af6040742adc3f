/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads clocks, and parses and formats durations. */
#include "base/clock.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include "base/array.h"

#define READINGS 8

int64_t clock_offset_ns(clockid_t id, int64_t *ret_width)
{
	int64_t best = INT64_MAX, offset = 0;

	/*
	 * Preemption between `before` and `after` increases the error, so use the shortest attempt.
	 */
	for (int i = 0; i < READINGS; i++) {
		int64_t before = clock_mono_ns(), other = clock_ns(id), after = clock_mono_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		offset = other - (before + best / 2);
	}
	*ret_width = best;
	return offset;
}

uint64_t clock_at_ns(clockid_t id, uint64_t mono_ns)
{
	int64_t width;

	return mono_ns + clock_offset_ns(id, &width);
}

double ntp_rate(void)
{
	struct timex timex = {.modes = 0};
	long tick_us = 1000000 / sysconf(_SC_CLK_TCK);

	if (adjtimex(&timex) < 0 || !timex.tick)
		return 0.0;
	/* timex.freq is in ppm with 16 fractional bits. timex.tick is in microseconds. */
	return (double)timex.freq / 65536.0 / 1e6 +
	       (double)(timex.tick - tick_us) / (double)tick_us;
}

static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9},	  {"s", 1e9},	{"ms", 1e6},  {"us", 1e3},    {"µs", 1e3},
		     {"ns", 1.0}, {"m", 60e9}, {"h", 3.6e12}, {"d", 8.64e13}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return NAN;
}

bool decimal_parse(const char *text, double *ret_number, char **ret_end)
{
	/* strtod() also accepts " 1", "nan" and "0x1p3", which are not decimal numbers. */
	if ((!isdigit((unsigned char)text[0]) && text[0] != '.') || text[1] == 'x' ||
	    text[1] == 'X')
		return false;
	*ret_number = strtod(text, ret_end);
	return *ret_end > text;
}

bool duration_parse(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns)
{
	double ns;
	char *unit;

	if (!decimal_parse(text, &ns, &unit))
		return false;
	ns *= unit_ns(unit);
	if (!(ns >= (double)min_ns && ns <= (double)max_ns))
		return false;
	*ret_ns = (uint64_t)llround(ns);
	return true;
}

void duration_format(uint64_t ns, char *buf, size_t size)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	int unit = 0;

	for (; value >= 1e3 && unit < 3; unit++)
		value /= 1e3;
	snprintf(buf, size, "%g %s", value, units[unit]);
}
