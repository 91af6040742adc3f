/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Computes moments in one pass. */
#include "stats/moments.h"

#include <math.h>

void moments_add(struct moments *m, double value)
{
	double delta = value - m->mean;

	m->count++;
	m->mean += delta / (double)m->count;
	m->m2 += delta * (value - m->mean);
	if (m->count == 1 || value < m->min)
		m->min = value;
	if (m->count == 1 || value > m->max)
		m->max = value;
}

double moments_stddev(const struct moments *m)
{
	return m->count < 2 ? 0.0 : sqrt(m->m2 / (double)(m->count - 1));
}
