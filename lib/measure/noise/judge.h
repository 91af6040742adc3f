/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits on the noise of a core: their text form, and the verdict. */
#ifndef SUBTICK_MEASURE_NOISE_JUDGE_H
#define SUBTICK_MEASURE_NOISE_JUDGE_H

#include "measure/noise/window.h"

#define NOISE_LIMITS_FORM "max=TIME, rate=NUMBER/s or share=PERCENT%, such as max=50us,share=0.1%"

extern const struct noise_limits noise_no_limits;
/* Of --isolated without limits of the user's own. */
extern const struct noise_limits noise_isolated_limits;

/* One of NOISE_LIMITS_FORM; false, and @limits as it was, if @word is none. */
bool noise_limit_parse(const char *word, struct noise_limits *limits);
bool noise_exceeds(const struct noise_core *core, const struct noise_limits *limits);

#endif
