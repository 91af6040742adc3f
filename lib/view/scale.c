/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Formats numbers for people: scaled, with unit, three significant digits. */
#include "view/view.h"

#include <inttypes.h>
#include <math.h>

#include "base/array.h"

struct scale {
	double factor;
	const char *unit;
};

/* "us", not "µs": it must be readable on a serial console. */
static const struct scale ns_scales[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
static const struct scale hz_scales[] = {{1, "Hz"}, {1e3, "kHz"}, {1e6, "MHz"}, {1e9, "GHz"}};
static const struct scale byte_scales[] = {
	{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}, {1099511627776, "TiB"}};

#define SCALES(x) {x, ARRAY_SIZE(x)}

static const struct {
	const struct scale *scales;
	size_t nr;
} units[UNIT_TABLE + 1] = {
	[UNIT_NS] = SCALES(ns_scales),
	[UNIT_HZ] = SCALES(hz_scales),
	[UNIT_BYTES] = SCALES(byte_scales),
};

/* The number of decimals for three significant digits of @abs. */
static int scale_decimals(double abs)
{
	if (abs >= 99.95)
		return 0;
	return abs >= 9.995 ? 1 : 2;
}

static void scale_format(double x, enum unit unit, char *buf, size_t size)
{
	const struct scale *scales = units[unit].scales;
	double abs = fabs(x);
	size_t i = 0;

	if (!isfinite(x)) {
		snprintf(buf, size, "-");
		return;
	}
	/* Use the next unit if rounding would give four digits. */
	while (i + 1 < units[unit].nr && abs / scales[i].factor >= 999.5 &&
	       (abs >= scales[i + 1].factor || scales[i + 1].factor == scales[i].factor * 1000))
		i++;
	/* A whole number of the smallest unit is exact: no decimals. */
	if (i == 0 && abs == floor(abs))
		snprintf(buf, size, "%.0f %s", abs > 0 ? x : 0, scales[i].unit);
	else
		snprintf(buf, size, "%.*f %s", scale_decimals(abs / scales[i].factor),
			 x / scales[i].factor, scales[i].unit);
}

void view_format_ns(double ns, char *buf, size_t size)
{
	scale_format(ns, UNIT_NS, buf, size);
}

void view_format_ratio(double ratio, char *buf, size_t size)
{
	double percent = ratio * 100;

	if (!isfinite(percent))
		snprintf(buf, size, "-");
	else /* No "-0.0%". */
		snprintf(buf, size, "%.1f%%", fabs(percent) < 0.05 ? 0.0 : percent);
}

void view_format_ratio_fine(double ratio, char *buf, size_t size)
{
	double abs = fabs(ratio * 100);

	if (!(abs > 0) || abs >= 0.095)
		view_format_ratio(ratio, buf, size);
	else if (abs < 0.00005)
		snprintf(buf, size, "<0.0001%%");
	else
		snprintf(buf, size, "%.*f%%",
			 abs < 0.00095	? 4
			 : abs < 0.0095 ? 3
					: 2,
			 ratio * 100);
}

bool view_is_whole(const struct value *value, enum unit unit)
{
	return value->kind == VALUE_F64 && fabs(value->f64) >= 1e6 && fabs(value->f64) < 9e18 &&
	       (unit == UNIT_NS || unit == UNIT_COUNT || unit == UNIT_CYCLES || unit == UNIT_HZ ||
		unit == UNIT_BYTES);
}

void view_format_value(const struct value *value, enum unit unit, char *buf, size_t size)
{
	double x = value->kind == VALUE_U64 ? (double)value->u64 : value->f64;

	if (value->kind == VALUE_BOOL)
		snprintf(buf, size, "%s", value->flag ? "yes" : "no");
	else if (value->kind != VALUE_U64 && value->kind != VALUE_F64)
		snprintf(buf, size, "-");
	else if (units[unit].nr)
		scale_format(x, unit, buf, size);
	else if (unit == UNIT_RATIO)
		view_format_ratio(x, buf, size);
	else if (value->kind == VALUE_U64)
		snprintf(buf, size, "%" PRIu64, value->u64);
	else
		snprintf(buf, size, "%.*f", fabs(x) < 1000 ? 1 : 0, x);
}
