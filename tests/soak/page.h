/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a page of /metrics into a list sorted by series, and compares two pages of one exporter. */
#ifndef SUBTICK_TESTS_SOAK_PAGE_H
#define SUBTICK_TESTS_SOAK_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct page_sample {
	const char *series; /* name and labels; points to the text of the page */
	size_t name_len, len;
	double value;
	bool counter;
};

struct page {
	char *text;
	struct page_sample *samples; /* samples of the page, sorted by series */
	size_t nr;
};

/* Reads the samples of a page in text format. Takes ownership of @text. */
void page_read(struct page *page, char *text);
void page_free(struct page *page);
/* Returns the value of a series, or 0 if the page lacks the series. */
double page_value(const struct page *page, const char *series);
/* Returns the sum of all samples whose name is @name. */
double page_sum(const struct page *page, const char *name);

struct page_faults {
	size_t fell; /* number of series of counters that decreased */
	/* number of vanished series of counters, except subtick_runqueue_*, whose series may end */
	size_t vanished;
	size_t sums; /* number of metrics whose sum over all series decreased */
};

/*
 * Compares the /metrics page @now with the earlier /metrics page @was. Adds the numbers of counters
 * that decreased or vanished to @faults, and prints these counters.
 */
void page_compare(const struct page *was, const struct page *now, struct page_faults *faults);

#endif
