/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernel's verifier says of each program that the library loads. */
#ifndef SUBTICK_TESTS_VM_VERIFIER_COUNTED_H
#define SUBTICK_TESTS_VM_VERIFIER_COUNTED_H

#include <stdbool.h>

#define COUNTED_MAX 64

struct counted {
	char program[64];
	long insns; /* "processed N insns" of the verifier's log; -1: it said nothing */
};

/* Forgets what was loaded until now. */
void counted_begin(void);
/* The programs that were loaded since then, and their number. */
int counted_programs(const struct counted **ret_programs);
/* Whether every object since then was loaded. */
bool counted_all_loaded(void);
/* From now on the end of what the verifier says of a program that it refuses is printed, as comments. */
void counted_explain(void);

#endif
