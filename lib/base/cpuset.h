/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of CPU numbers, and the text form of the set, such as "0,2-5", in files of the kernel. */
#ifndef SUBTICK_BASE_CPUSET_H
#define SUBTICK_BASE_CPUSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest NR_CPUS in use (x86-64 MAXSMP) is 8192. */
#define CPUSET_MAX 8192

struct cpuset {
	uint64_t bits[CPUSET_MAX / 64];
};

static inline void cpuset_add(struct cpuset *set, unsigned int cpu)
{
	if (cpu < CPUSET_MAX)
		set->bits[cpu / 64] |= 1ULL << (cpu % 64);
}

static inline void cpuset_del(struct cpuset *set, unsigned int cpu)
{
	if (cpu < CPUSET_MAX)
		set->bits[cpu / 64] &= ~(1ULL << (cpu % 64));
}

static inline bool cpuset_has(const struct cpuset *set, unsigned int cpu)
{
	return cpu < CPUSET_MAX && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}

/* Removes all CPUs from @set that are not in @other. */
static inline void cpuset_and(struct cpuset *set, const struct cpuset *other)
{
	for (size_t i = 0; i < CPUSET_MAX / 64; i++)
		set->bits[i] &= other->bits[i];
}

/* First CPU in @set that is at least @from, or CPUSET_MAX. */
unsigned int cpuset_next(const struct cpuset *set, unsigned int from);
unsigned int cpuset_count(const struct cpuset *set);
/* Largest CPU in @set plus one, or 0 if @set is empty. */
unsigned int cpuset_end(const struct cpuset *set);

/*
 * Parses a list such as "0", "0-3" or "1,3,5-7" with optional blanks and a final newline. An empty
 * list is the empty set. Returns -EINVAL for invalid text and -ERANGE for numbers of CPUSET_MAX or
 * more.
 */
int cpuset_parse(const char *text, struct cpuset *ret_set);
/*
 * Writes the set as a NUL-terminated list such as "0,2-5". Returns the length of the whole text
 * even if the text does not fit into @buf, as snprintf() does.
 */
size_t cpuset_format(const struct cpuset *set, char *buf, size_t size);

/* Buffer size for the longest mask of cpuset_format_mask(), including the NUL. */
#define CPUSET_MASK_SIZE (CPUSET_MAX / 32 * 9 + 1)
/* Writes the set as a bitmap such as "1,00000000": groups of 32 bits, highest first. */
size_t cpuset_format_mask(const struct cpuset *set, char *buf, size_t size);

#define cpuset_for_each(cpu, set)                                        \
	for (unsigned int cpu = cpuset_next((set), 0); cpu < CPUSET_MAX; \
	     cpu = cpuset_next((set), cpu + 1))

#endif
