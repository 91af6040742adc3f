/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The number of instructions that a core executed: exact truth of how long it was not halted. */
#ifndef SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H
#define SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H

#include <stdint.h>

/*
 * On emulated arm64 in virtual time with one processor; with several it counts all of them.
 * Skips the program where QEMU has no such counter (x86-64), fails it where it must have one.
 */
int instructions_open(int cpu);
uint64_t instructions_read(int fd);

#endif
