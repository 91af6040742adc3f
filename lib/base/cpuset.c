/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses, formats and iterates CPU sets. */
#include "base/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned int cpuset_next(const struct cpuset *set, unsigned int from)
{
	unsigned int word = from / 64;

	for (uint64_t mask = ~0ULL << (from % 64); word < CPUSET_MAX / 64; word++, mask = ~0ULL)
		if (set->bits[word] & mask)
			return word * 64 + __builtin_ctzll(set->bits[word] & mask);
	return CPUSET_MAX;
}

unsigned int cpuset_count(const struct cpuset *set)
{
	unsigned int nr = 0;

	for (size_t i = 0; i < CPUSET_MAX / 64; i++)
		nr += __builtin_popcountll(set->bits[i]);
	return nr;
}

unsigned int cpuset_end(const struct cpuset *set)
{
	for (size_t i = CPUSET_MAX / 64; i > 0; i--)
		if (set->bits[i - 1])
			return i * 64 - __builtin_clzll(set->bits[i - 1]);
	return 0;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\n");
}

static int parse_number(const char **pos, unsigned int *ret_nr)
{
	unsigned long nr;
	char *end;

	if (!isdigit((unsigned char)**pos))
		return -EINVAL;
	nr = strtoul(*pos, &end, 10);
	*pos = end;
	*ret_nr = nr;
	return nr < CPUSET_MAX ? 0 : -ERANGE;
}

int cpuset_parse(const char *text, struct cpuset *ret_set)
{
	struct cpuset set = {0};
	const char *p = skip_blanks(text);
	unsigned int first, last;
	int rc;

	while (*p) {
		rc = parse_number(&p, &first);
		if (rc)
			return rc;
		last = first;
		if (*p == '-') {
			p++;
			rc = parse_number(&p, &last);
		}
		if (rc || last < first)
			return rc ?: -EINVAL;
		for (unsigned int cpu = first; cpu <= last; cpu++)
			cpuset_add(&set, cpu);
		p = skip_blanks(p);
		/* A comma in the list must be followed by another CPU number. */
		if (*p && (*p != ',' || !*(p = skip_blanks(p + 1))))
			return -EINVAL;
	}
	*ret_set = set;
	return 0;
}

size_t cpuset_format(const struct cpuset *set, char *buf, size_t size)
{
	unsigned int first = cpuset_next(set, 0), last;
	size_t len = 0;

	if (size)
		buf[0] = '\0';
	while (first < CPUSET_MAX) {
		for (last = first; cpuset_has(set, last + 1); last++)
			;
		len += snprintf(buf + (len < size ? len : size), len < size ? size - len : 0,
				last > first ? "%s%u-%u" : "%s%u", len ? "," : "", first, last);
		first = cpuset_next(set, last + 1);
	}
	return len;
}

size_t cpuset_format_mask(const struct cpuset *set, char *buf, size_t size)
{
	unsigned int groups = (cpuset_end(set) + 31) / 32;
	size_t len = 0;

	if (size)
		buf[0] = '\0';
	for (unsigned int group = groups ? groups : 1; group-- > 0;)
		len += snprintf(buf + (len < size ? len : size), len < size ? size - len : 0,
				len ? ",%08x" : "%x",
				(unsigned int)(uint32_t)(set->bits[group / 2] >> group % 2 * 32));
	return len;
}
