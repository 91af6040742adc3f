/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes the axes of plots, with ends and ticks at round numbers and with scaled units. */
#include "view/svg/svg.h"

#include <math.h>

#include "base/array.h"

struct axis_unit {
	enum unit unit;
	double scale;
	const char *name;
};

/* Scales of axis labels. The scales of each enum unit are in ascending order. */
static const struct axis_unit units[] = {
	{UNIT_NS, 1, "ns"},	    {UNIT_NS, 1e3, "µs"},      {UNIT_NS, 1e6, "ms"},
	{UNIT_NS, 1e9, "s"},	    {UNIT_RATIO, 0.01, "%"},   {UNIT_HZ, 1, "Hz"},
	{UNIT_HZ, 1e3, "kHz"},	    {UNIT_HZ, 1e6, "MHz"},     {UNIT_HZ, 1e9, "GHz"},
	{UNIT_BYTES, 1, "B"},	    {UNIT_BYTES, 1024, "KiB"}, {UNIT_BYTES, 1048576, "MiB"},
	{UNIT_CYCLES, 1, "cycles"},
};

static void choose_unit(struct svg_axis *axis, enum unit unit, double largest)
{
	array_for_each(u, units, ARRAY_SIZE(units)) {
		/* A larger unit is used if the axis reaches at least 2 in the larger unit. */
		if (u->unit == unit && (!axis->unit[0] || largest >= 2.0 * u->scale)) {
			axis->scale = u->scale;
			axis->unit = u->name;
		}
	}
}

/* Returns the smallest step of 1, 2 or 5 times a power of ten that is at least @rough. */
static double round_step(double rough)
{
	double power = pow(10.0, floor(log10(rough))), lead = rough / power;

	/* The tolerance of 1e-9 keeps a rounding error from choosing the next larger tick step. */
	return power * (lead <= 1.0 + 1e-9   ? 1.0
			: lead <= 2.0 + 1e-9 ? 2.0
			: lead <= 5.0 + 1e-9 ? 5.0
					     : 10.0);
}

static void linear_ticks(struct svg_axis *axis)
{
	double low = axis->low / axis->scale, high = axis->high / axis->scale;
	double step = round_step((high - low) / 8.0);
	double first = floor(low / step + 1e-9), last = ceil(high / step - 1e-9);

	axis->low = first * step * axis->scale;
	axis->high = last * step * axis->scale;
	axis->decimals = step < 1.0 ? (int)ceil(-log10(step) - 1e-9) : 0;
	for (double i = first; i <= last && axis->nr_ticks < SVG_MAX_TICKS; i++)
		axis->tick[axis->nr_ticks++] = i * step * axis->scale;
}

/* Sets one tick per decade, or fewer if SVG_MAX_TICKS requires it. */
static void log_ticks(struct svg_axis *axis)
{
	double low = axis->low / axis->scale, high = axis->high / axis->scale;
	int first = (int)floor(log10(low) + 1e-9), last = (int)ceil(log10(high) - 1e-9), step = 1;

	if (last == first)
		last++;
	while ((last - first) / step + 1 > SVG_MAX_TICKS)
		step++;
	axis->low = pow(10.0, first) * axis->scale;
	axis->high = pow(10.0, last) * axis->scale;
	axis->decimals = -1;
	for (int i = first; i <= last; i += step)
		axis->tick[axis->nr_ticks++] = pow(10.0, i) * axis->scale;
}

void svg_axis_init(struct svg_axis *axis, enum unit unit, bool log, double low, double high)
{
	*axis = (struct svg_axis){.log = log, .low = low, .high = high, .kind = unit};
	if (!(axis->high > axis->low)) {
		double half = axis->low != 0.0 ? fabs(axis->low) / 2.0 : 1.0;

		axis->low -= half;
		axis->high += half;
	}
	axis->scale = 1.0;
	axis->unit = "";
	/* On a logarithmic axis each tick has its own unit, to avoid labels such as "0.0001". */
	if (!log || (unit != UNIT_NS && unit != UNIT_HZ))
		choose_unit(axis, unit, fmax(fabs(axis->low), fabs(axis->high)));
	if (log)
		log_ticks(axis);
	else
		linear_ticks(axis);
}

double svg_axis_pixel(const struct svg_axis *axis, double value)
{
	double share = axis->log ? log(value / axis->low) / log(axis->high / axis->low)
				 : (value - axis->low) / (axis->high - axis->low);

	return axis->at + axis->length * share;
}

void svg_axis_label(const struct svg_axis *axis, double tick, char *buf, size_t size)
{
	double shown = tick / axis->scale;
	const struct axis_unit *best = NULL;

	array_for_each(u, units, axis->log && !axis->unit[0] ? ARRAY_SIZE(units) : 0)
		if (u->unit == axis->kind && (!best || tick >= u->scale * (1.0 - 1e-9)))
			best = u;
	if (best)
		snprintf(buf, size, "%g %s", tick / best->scale, best->name);
	else if (axis->decimals < 0)
		snprintf(buf, size, "%g", shown);
	else /* Small negative values are shown as "0", not "-0". */
		snprintf(buf, size, "%.*f", axis->decimals,
			 fabs(shown) < 0.5 * pow(10.0, -axis->decimals) ? 0.0 : shown);
}
