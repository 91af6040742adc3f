/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes timelines in the formats of other programs. */
#ifndef SUBTICK_VIEW_TIMELINE_H
#define SUBTICK_VIEW_TIMELINE_H

#include <stdio.h>

#include "report/timeline.h"

/* Each returns 0, -ENOMEM or the error of the stream. */
/* JSON Lines with one object per event, sorted by CPU, then one object per hold. */
int timeline_lines(FILE *out, const struct timeline *timeline);
/* JSON format of chrome://tracing, which Perfetto and Speedscope also open. */
int timeline_chrome(FILE *out, const struct timeline *timeline);
/* Perfetto's binary format with ftrace events, which fill Perfetto's scheduler tables. */
int timeline_perfetto(FILE *out, const struct timeline *timeline);
/* Self-contained HTML page with a zoomable picture of slices and waits. */
int timeline_html(FILE *out, const struct timeline *timeline);

#endif
