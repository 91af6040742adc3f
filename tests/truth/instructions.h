/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number of instructions that a core executed: exact truth of how long it was not halted. */
#ifndef SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H
#define SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H

#include <stdint.h>

/*
 * On emulated arm64 in virtual time with one processor; with several it counts all of them. Skips
 * the program on x86-64, where QEMU has no instruction counter. Fails it if arm64 lacks the
 * counter.
 */
int instructions_open(int cpu);
uint64_t instructions_read(int fd);

#endif
