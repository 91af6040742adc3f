/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declares sample reports with fixed figures, which the tests of the views print. */
#ifndef SUBTICK_TESTS_GOLDEN_SAMPLE_H
#define SUBTICK_TESTS_GOLDEN_SAMPLE_H

#include "report/report.h"

/* Report of load with two CPUs. The second CPU is offline and has only null values. */
struct report *sample_load(void);
/* Report of load with --compare, with nested keys and a softirq table. */
struct report *sample_compare(void);
struct report *sample_doctor(void);
/* Report of runq with histograms in table cells, and with names that attack terminal, parser and layout. */
struct report *sample_runq(void);
/* Report of try. The tried setting has an effect on /app and costs /batch CPU time. */
struct report *sample_try(void);
/* Report with fields and quality but without tables, with numbers at the limits of their types. */
struct report *sample_edges(void);
/*
 * Report of diff for two files with three windows of runq each. In the second file /app waits twice as long and /batch
 * the same time. /gone and /new are in one file only, and causes are only in the second file.
 */
struct report *sample_diff(void);
struct report *sample_diff_all(void);

#endif
