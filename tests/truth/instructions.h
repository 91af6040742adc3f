/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Number of instructions that a core executed, which is exactly its unhalted time. */
#ifndef SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H
#define SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H

#include <stdint.h>

/*
 * Works on emulated arm64 in virtual time with one processor. With several processors the counter
 * includes the instructions of all. Skips the program on x86-64, where QEMU has no instruction
 * counter. Fails the program if an arm64 guest lacks the counter.
 */
int instructions_open(int cpu);
uint64_t instructions_read(int fd);

#endif
