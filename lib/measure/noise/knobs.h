/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What would move a source away from a core. */
#ifndef SUBTICK_MEASURE_NOISE_KNOBS_H
#define SUBTICK_MEASURE_NOISE_KNOBS_H

#include "measure/noise/window.h"

/* One line for people; NULL: no setting is known. */
const char *noise_knob(const struct noise_source *source);

#endif
