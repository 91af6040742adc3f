/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports with fixed figures, for the tests of the views. */
#ifndef SUBTICK_TESTS_GOLDEN_SAMPLE_H
#define SUBTICK_TESTS_GOLDEN_SAMPLE_H

#include "report/report.h"

/* Two CPUs; the second is offline and has only null. */
struct report *sample_load(void);
/* Report with --compare: nested keys, and a softirq table. */
struct report *sample_compare(void);
struct report *sample_doctor(void);
/* Histograms in cells, and names that attack terminal, parser and layout. */
struct report *sample_runq(void);
/* An experiment with an effect on /app that costs /batch CPU time. */
struct report *sample_try(void);
/* Fields and quality without any table; numbers at the limits of their types. */
struct report *sample_edges(void);
/*
 * Two files of three windows of runq: /app waits twice as long, /batch the same, /gone and /new are on
 * one side only, and causes are only in the second file.
 */
struct report *sample_diff(void);
struct report *sample_diff_all(void);

#endif
