/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A core exceeds a limit if its figure is above it. */
#include "measure/noise/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duration.h"

const struct noise_limits noise_no_limits = {UINT64_MAX, NAN, NAN};
const struct noise_limits noise_isolated_limits = {50 * NSEC_PER_USEC, 10.0, 0.001};

/* A number of 0 or more, followed by exactly @unit. */
static bool number(const char *text, const char *unit, double most, double *ret)
{
	char *end;
	double got = strtod(text, &end);

	if (end == text || strcmp(end, unit) || !(got >= 0.0 && got <= most))
		return false;
	*ret = got;
	return true;
}

bool noise_limit_parse(const char *word, struct noise_limits *limits)
{
	double percent;

	if (!strncmp(word, "max=", 4))
		return duration_parse(word + 4, 0, 60 * NSEC_PER_SEC, &limits->max_ns);
	if (!strncmp(word, "rate=", 5))
		return number(word + 5, "/s", 1e9, &limits->rate_hz);
	if (strncmp(word, "share=", 6) || !number(word + 6, "%", 100.0, &percent))
		return false;
	limits->share_ratio = percent / 100.0;
	return true;
}

/* Comparisons with NaN are false: no limit. */
bool noise_exceeds(const struct noise_core *core, const struct noise_limits *limits)
{
	if (core->flags & LOAD_NO_FIGURE)
		return false;
	return core->longest_ns > limits->max_ns || noise_rate(core) > limits->rate_hz ||
	       noise_share(core) > limits->share_ratio;
}
