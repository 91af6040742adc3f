/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every view does around its output: numbers with a decimal point, errors of the stream. */
#ifndef SUBTICK_VIEW_OUTPUT_H
#define SUBTICK_VIEW_OUTPUT_H

#include <locale.h>
#include <stdio.h>

struct output {
	FILE *out;
	locale_t posix, old;
};

/* Until output_end() this thread writes numbers as in C. */
int output_begin(struct output *output, FILE *out);
/* Flushes. Returns @rc, or if that is 0 the error of the stream. */
int output_end(struct output *output, int rc);

#endif
