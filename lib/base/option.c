/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the values of options, checks their ranges, and suggests names for mistyped words. */
#include "base/option.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "base/clock.h"

static void *member(const struct opt *opt, void *base)
{
	return (char *)base + opt->offset;
}

int opt_flag(const struct opt *opt, const char *value, void *base, struct err *err)
{
	bool yes = !value || !strcmp(value, "yes");

	if (!yes && strcmp(value, "no"))
		return err_set(err, -EINVAL, "expected yes or no");
	*(bool *)member(opt, base) = yes;
	return 0;
}

int opt_index(const char *const *words, const char *value)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(value, words[i]))
			return i;
	return -EINVAL;
}

/* Sets an error such as "expected some of a, b and c". */
static int expected_words(const struct opt *opt, const char *some, const char *last,
			  struct err *err)
{
	char list[200] = "";
	size_t len = 0;

	for (const char *const *word = opt->words; *word && len < sizeof(list); word++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s",
				word == opt->words ? "" : word[1] ? ", " : last, *word);
	return err_set(err, -EINVAL, "expected %s%s", some, list);
}

int opt_text(const struct opt *opt, const char *value, void *base, struct err *err)
{
	if (opt->words && opt_index(opt->words, value) < 0)
		return expected_words(opt, "", " or ", err);
	*(const char **)member(opt, base) = value;
	return 0;
}

int opt_string(const struct opt *opt, const char *value, void *base, struct err *err)
{
	char **at = member(opt, base), *copy = strdup(value);

	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	free(*at);
	*at = copy;
	return 0;
}

int opt_cpus(const struct opt *opt, const char *value, void *base, struct err *err)
{
	struct cpuset cpus;

	if (cpuset_parse(value, &cpus) || !cpuset_count(&cpus))
		return err_set(err, -EINVAL, "expected a list of CPUs such as 0,2-5");
	*(struct cpuset *)member(opt, base) = cpus;
	return 0;
}

int opt_whole(const char *text, uint64_t min, uint64_t max, uint64_t *ret_number, struct err *err)
{
	unsigned long long got;
	char *end;

	errno = 0;
	got = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || got < min || got > max)
		return err_set(err, -EINVAL, "expected a whole number from %llu to %llu",
			       (unsigned long long)min, (unsigned long long)max);
	*ret_number = got;
	return 0;
}

int opt_u32(const struct opt *opt, const char *value, void *base, struct err *err)
{
	uint64_t number;
	int rc = opt_whole(value, opt->min, opt->max, &number, err);

	if (!rc)
		*(uint32_t *)member(opt, base) = number;
	return rc;
}

int opt_u64(const struct opt *opt, const char *value, void *base, struct err *err)
{
	return opt_whole(value, opt->min, opt->max, member(opt, base), err);
}

int opt_duration(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns,
		 struct err *err)
{
	char low[32], high[32];

	if (duration_parse(text, min_ns, max_ns, ret_ns))
		return 0;
	duration_format(min_ns, low, sizeof(low));
	duration_format(max_ns, high, sizeof(high));
	return err_set(err, -EINVAL, "expected a time from %s to %s, such as 0.5, 200ms or 1s", low,
		       high);
}

int opt_time(const struct opt *opt, const char *value, void *base, struct err *err)
{
	return opt_duration(value, opt->min, opt->max, member(opt, base), err);
}

bool opt_decimal(const char *text, const char *unit, double min, double max, double *ret_number)
{
	double number;
	char *end;

	if (!decimal_parse(text, &number, &end) || strcmp(end, unit) ||
	    !(number >= min && number <= max))
		return false;
	*ret_number = number;
	return true;
}

int opt_ratio(const struct opt *opt, const char *value, void *base, struct err *err)
{
	const char *unit = opt->arg[0] == 'N' ? opt->arg + 1 : "";
	double scale = *unit ? 100.0 : 1.0, number;

	if (!opt_decimal(value, unit, 0.0, HUGE_VAL, &number) ||
	    !(number / scale >= opt->min && number / scale <= opt->max))
		return err_set(err, -EINVAL, "expected a number from %g%s to %g%s, such as 5%s",
			       opt->min * scale, unit, opt->max * scale, unit, unit);
	*(double *)member(opt, base) = number / scale;
	return 0;
}

int opt_word(const struct opt *opt, const char *value, void *base, struct err *err)
{
	int index = opt_index(opt->words, value);

	if (index < 0)
		return expected_words(opt, "", " or ", err);
	*(unsigned int *)member(opt, base) = index;
	return 0;
}

static int add_word(const struct opt *opt, const char *word, void *base, struct err *err)
{
	int index = opt_index(opt->words, word);

	if (index < 0)
		return expected_words(opt, "some of ", " and ", err);
	*(uint32_t *)member(opt, base) |= 1u << index;
	return 0;
}

int opt_set(const struct opt *opt, const char *value, void *base, struct err *err)
{
	*(uint32_t *)member(opt, base) = 0;
	return opt_each(opt, value, base, err, add_word);
}

int opt_each(const struct opt *opt, const char *value, void *base, struct err *err, opt_parse *fn)
{
	char *list = strdup(value), *rest = list, *word;
	int rc = list ? 0 : err_set(err, -ENOMEM, "out of memory");

	while (!rc && (word = strsep(&rest, ",")))
		rc = fn(opt, word, base, err);
	free(list);
	return rc;
}

int opt_store(const struct opt *opt, const char *value, void *base, struct err *err)
{
	int rc;

	if (opt->arg && !*value)
		return err_set(err, -EINVAL, "%s needs a value: %s", opt->name, opt->arg);
	rc = opt->parse(opt, value, base, err);
	if (rc >= 0)
		return rc;
	if (rc == -EINVAL && opt->expected)
		err_set(err, rc, "expected %s", opt->expected);
	return err_prefix(err, "%s%s%.80s", opt->name, value ? " " : "", value ? value : "");
}

bool opt_same(const struct opt *opt, const void *a, const void *b)
{
	const void *x = (const char *)a + opt->offset, *y = (const char *)b + opt->offset;
	const char *old, *fresh;

	if (opt->same)
		return opt->same(a, b);
	if (opt->parse != opt_string)
		return !memcmp(x, y, opt->size);
	old = *(char *const *)x;
	fresh = *(char *const *)y;
	return old && fresh ? !strcmp(old, fresh) : old == fresh;
}

const struct opt *opt_find(const struct opt *table, const char *name, size_t len)
{
	for (; table->name; table++)
		if (strlen(table->name) == len && !strncmp(table->name, name, len))
			return table;
	return NULL;
}

#define WORD_MAX 32 /* maximum length of a word that gets a suggestion */

/* Edit distance: the minimum number of inserted, removed, replaced or swapped characters. */
static unsigned int distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int rows[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_len; i++)
		for (size_t j = 0; j <= b_len; j++) {
			unsigned int least = i + j;

			if (i && j) {
				least = MIN(rows[i - 1][j], rows[i][j - 1]) + 1;
				least = MIN(least, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			}
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				least = MIN(least, rows[i - 2][j - 2] + 1);
			rows[i][j] = least;
		}
	return rows[a_len][b_len];
}

void opt_nearest(struct opt_nearest *nearest, const char *word, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	unsigned int d;

	if (!len || len > WORD_MAX || name_len > WORD_MAX)
		return;
	/* A word that is a prefix of a name has distance 0. */
	d = len > 1 && !strncmp(word, name, len) ? 0 : distance(word, len, name, name_len);
	/* A name is suggested only if at most a third of the characters are wrong. */
	if (d > (len > name_len ? len : name_len) / 3 || (nearest->name && d >= nearest->distance))
		return;
	*nearest = (struct opt_nearest){name, d};
}

void opt_plain(struct err *err)
{
	char *dashes;

	while ((dashes = strstr(err->what, "--")))
		memmove(dashes, dashes + 2, strlen(dashes + 2) + 1);
}
