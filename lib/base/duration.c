/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses and formats durations. */
#include "base/duration.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"µs", 1e3}, {"ns", 1.0}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return units[i].ns;
	return NAN;
}

bool duration_parse(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns)
{
	char *end = NULL;
	double ns;

	/* strtod() also accepts " 1", "nan" and "0x1p3"; only decimal numbers are valid here. */
	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	if (text[1] == 'x' || text[1] == 'X')
		return false;
	ns = strtod(text, &end);
	ns *= unit_ns(end);
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
