/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A page of /metrics as a sorted list, and what must not happen between two of them. */
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
	struct page_sample *samples; /* by series */
	size_t nr;
};

/* Takes over @text. */
void page_read(struct page *page, char *text);
void page_free(struct page *page);
/* 0 if there is none. */
double page_value(const struct page *page, const char *series);
/* The sum of all samples of that name. */
double page_sum(const struct page *page, const char *name);

struct page_faults {
	size_t fell;	 /* counters that are lower */
	size_t vanished; /* counters that are missing, but for those of cgroups, which end */
	size_t sums;	 /* sums over all series of a counter that are lower */
};

/* Adds what went wrong from @was to @now, and prints it. */
void page_compare(const struct page *was, const struct page *now, struct page_faults *faults);

#endif
