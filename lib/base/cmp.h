/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Comparison for qsort() and bsearch(). */
#ifndef SUBTICK_BASE_CMP_H
#define SUBTICK_BASE_CMP_H

/* -1, 0 or 1. `CMP(a, b) ?: CMP(c, d)` compares by a second field where the first is equal. */
#define CMP(a, b) (((a) > (b)) - ((a) < (b)))

#endif
