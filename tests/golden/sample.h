/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declares sample reports with fixed figures, which the tests of the views print. */
#ifndef SUBTICK_TESTS_GOLDEN_SAMPLE_H
#define SUBTICK_TESTS_GOLDEN_SAMPLE_H

#include "report/report.h"

/* Report of `subtick load` with two CPUs, of which the second is offline. */
struct report *sample_load(void);
/* Report of `subtick load --compare`, with nested keys and a softirq table. */
struct report *sample_compare(void);
struct report *sample_doctor(void);
/* Report of `subtick runq` with histograms and hostile names. */
struct report *sample_runq(void);
/* Report of `subtick try`: /app waits for less time and /batch gets less CPU time. */
struct report *sample_try(void);
/* Report with fields and quality but without tables, with numbers at the limits of their types. */
struct report *sample_edges(void);
/*
 * Report of `subtick diff` for two files, each with three windows of `subtick runq`. In the second
 * file, cgroup /app waits twice as long as in the first file, and /batch waits for the same time.
 * Cgroup /gone is only in the first file, and cgroup /new only in the second file. Only the second
 * compared file has the causes of waits.
 */
struct report *sample_diff(void);
struct report *sample_diff_all(void);

#endif
