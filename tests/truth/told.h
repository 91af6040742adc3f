/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that were told to several witnesses before subtick's own program, which therefore stamped
 * them later than the last of these, and no later than one more of them would have.
 */
#ifndef SUBTICK_TESTS_TRUTH_TOLD_H
#define SUBTICK_TESTS_TRUTH_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness.h"

/* How often each name that is to be told so stands in the list of a witness. */
#define TOLD_TIMES 4
#define TOLD(name) name, name, name, name

struct told {
	const char *name; /* the witness's own pointer */
	unsigned int cpu;
	uint64_t first_ns;	  /* by the first of them */
	uint64_t low_ns, high_ns; /* a program that is told next stamps between these … */
	/*
	 * … unless there are two processors, which take turns, and a turn of the other comes before
	 * the stamp. Even then it comes before the next event of the same CPU.
	 */
	uint64_t next_ns;
	const struct witness_hit *hit;
};

/*
 * In order of time. Names that are there once have the stamp of their only witness as both ends.
 * @own_ns: what subtick's program takes from being called to its stamp.
 */
size_t told_list(const struct witness *w, uint64_t own_ns, struct told **ret_told);

/* The idle loop's event: @exit of it, or the entry into it. */
bool told_idle(const struct witness *w, const struct told *told, bool exit);

#endif
