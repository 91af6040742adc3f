/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A page of /metrics as a sorted list, and rules for two successive pages. */
#ifndef SUBTICK_TESTS_SOAK_PAGE_H
#define SUBTICK_TESTS_SOAK_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct page_sample {
	const char *series; /* name and labels, in the text */
	size_t name_len, len;
	double value;
	bool counter;
};

struct page {
	char *text;
	struct page_sample *samples; /* sorted by series */
	size_t nr;
};

/* Takes ownership of @text. */
void page_read(struct page *page, char *text);
void page_free(struct page *page);
/* Value of a series, or 0. */
double page_value(const struct page *page, const char *series);
/* Sum of all samples with that name. */
double page_sum(const struct page *page, const char *name);

struct page_faults {
	size_t fell;	 /* counters that fell */
	/* number of counters that vanished, except those of cgroups, whose series may end */
	size_t vanished;
	size_t sums;	 /* number of counters whose sum over all series decreased */
};

/*
 * Compares the page @now with the earlier page @was, adds the violations to the counts, and prints
 * them.
 */
void page_compare(const struct page *was, const struct page *now, struct page_faults *faults);

#endif
