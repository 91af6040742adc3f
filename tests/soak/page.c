/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorts the samples of a /metrics page and compares two pages. */
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Relative rounding error that is allowed in sums. A double has 15 significant decimal digits, and
 * sums of thousands of samples with a resolution of nanoseconds have fewer exact digits.
 */
#define ROUNDING 1e-6

static bool is_counter(const char *name, size_t len)
{
	static const char *const suffixes[] = {"_total", "_count", "_sum", "_bucket"};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t end = strlen(suffixes[i]);

		if (len > end && !strncmp(name + len - end, suffixes[i], end))
			return true;
	}
	return false;
}

static int compare_keys(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : a_len < b_len ? -1 : a_len > b_len;
}

static int by_series(const void *a, const void *b)
{
	const struct page_sample *left = a, *right = b;

	return compare_keys(left->series, left->len, right->series, right->len);
}

void page_read(struct page *page, char *text)
{
	size_t room = 0;

	*page = (struct page){.text = text};
	for (const char *line = text; *line;) {
		const char *end = line + strcspn(line, "\n"), *value = end;

		while (value > line && *value != ' ')
			value--;
		if (*line != '#' && value > line) {
			size_t name = strcspn(line, "{ ");

			if (page->nr == room) {
				room = room ? 2 * room : 1024;
				page->samples =
					reallocarray(page->samples, room, sizeof(*page->samples));
				if (!page->samples)
					abort();
			}
			page->samples[page->nr++] =
				(struct page_sample){.series = line,
						     .name_len = name,
						     .len = value - line,
						     .value = strtod(value, NULL),
						     .counter = is_counter(line, name)};
		}
		line = *end ? end + 1 : end;
	}
	qsort(page->samples, page->nr, sizeof(*page->samples), by_series);
}

void page_free(struct page *page)
{
	free(page->text);
	free(page->samples);
	*page = (struct page){0};
}

double page_value(const struct page *page, const char *series)
{
	struct page_sample key = {.series = series, .len = strlen(series)};
	const struct page_sample *found =
		page->nr ? bsearch(&key, page->samples, page->nr, sizeof(key), by_series) : NULL;

	return found ? found->value : 0.0;
}

static double sum_of(const struct page *page, const char *name, size_t len)
{
	double sum = 0.0;

	for (size_t i = 0; i < page->nr; i++)
		if (page->samples[i].name_len == len && !memcmp(page->samples[i].series, name, len))
			sum += page->samples[i].value;
	return sum;
}

double page_sum(const struct page *page, const char *name)
{
	return sum_of(page, name, strlen(name));
}

/* True if the series may end: it is about a cgroup, or about a pair of cgroups (blame). */
static bool may_end(const struct page_sample *sample)
{
	static const char runq[] = "subtick_runqueue_";

	return !strncmp(sample->series, runq, strlen(runq));
}

static void compare_sums(const struct page *was, const struct page *now, struct page_faults *faults)
{
	const char *last = "";
	size_t last_len = 0;

	for (size_t i = 0; i < was->nr; i++) {
		const struct page_sample *s = &was->samples[i];
		double before, after;

		if (!s->counter || (s->name_len == last_len && !memcmp(s->series, last, last_len)))
			continue;
		last = s->series;
		last_len = s->name_len;
		before = sum_of(was, last, last_len);
		after = sum_of(now, last, last_len);
		if (after < before - ROUNDING * (1.0 + before)) {
			printf("# the sum of %.*s fell from %.9f to %.9f\n", (int)last_len, last,
			       before, after);
			faults->sums++;
		}
	}
}

void page_compare(const struct page *was, const struct page *now, struct page_faults *faults)
{
	for (size_t i = 0, j = 0; i < was->nr; i++) {
		const struct page_sample *old = &was->samples[i];

		while (j < now->nr && by_series(&now->samples[j], old) < 0)
			j++;
		if (!old->counter)
			continue;
		if (j < now->nr && !by_series(&now->samples[j], old)) {
			if (now->samples[j].value >= old->value)
				continue;
			printf("# %.*s fell from %.9f to %.9f\n", (int)old->len, old->series,
			       old->value, now->samples[j].value);
			faults->fell++;
		} else if (!may_end(old)) {
			printf("# %.*s is gone\n", (int)old->len, old->series);
			faults->vanished++;
		}
	}
	compare_sums(was, now, faults);
}
