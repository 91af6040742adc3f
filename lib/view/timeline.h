/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes timelines in the formats of other programs. */
#ifndef SUBTICK_VIEW_TIMELINE_H
#define SUBTICK_VIEW_TIMELINE_H

#include <stdio.h>

#include "report/timeline.h"

/* Each returns 0, -ENOMEM or the error of the stream. */
/* JSON Lines: one object per event; the events of one CPU follow those of another, then the holds. */
int timeline_lines(FILE *out, const struct timeline *timeline);
/* The JSON of chrome://tracing, which Perfetto and Speedscope open as well. */
int timeline_chrome(FILE *out, const struct timeline *timeline);
/* Perfetto's own format: events of ftrace, so that its tables of the scheduler are filled. */
int timeline_perfetto(FILE *out, const struct timeline *timeline);
/* A zoomable picture of the slices and waits as one page that needs nothing else. */
int timeline_html(FILE *out, const struct timeline *timeline);

#endif
