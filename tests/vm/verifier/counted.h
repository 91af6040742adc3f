/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records the verifier's statistics of each BPF program that the library loads. */
#ifndef SUBTICK_TESTS_VM_VERIFIER_COUNTED_H
#define SUBTICK_TESTS_VM_VERIFIER_COUNTED_H

#include <stdbool.h>

#define COUNTED_MAX 64

struct counted {
	char program[64];
	/* N of "processed N insns" in the verifier's log, or -1 if the log has no such line */
	long insns;
};

/* Clears the list of loaded programs. */
void counted_begin(void);
/*
 * Returns the number of BPF programs that were loaded since counted_begin(), and the BPF programs
 * in @ret_programs.
 */
int counted_programs(const struct counted **ret_programs);
/* True if every BPF object was loaded without an error since counted_begin(). */
bool counted_all_loaded(void);
/*
 * After this call, the last lines of the verifier's log of each refused program are printed as
 * comments.
 */
void counted_explain(void);

#endif
