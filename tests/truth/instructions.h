/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Number of instructions that a core executed. In virtual time each instruction takes the same
 * time, so the number of instructions is exactly proportional to the unhalted time of the core.
 */
#ifndef SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H
#define SUBTICK_TESTS_TRUTH_INSTRUCTIONS_H

#include <stdint.h>

/*
 * Opens the PMU's instruction counter on emulated arm64 in virtual time. Requires a guest with one
 * processor, because the counter includes the instructions of all processors. Skips the test
 * program on x86-64, where QEMU has no instruction counter. Fails the test program if an arm64
 * guest lacks the instruction counter.
 */
int instructions_open(int cpu);
uint64_t instructions_read(int fd);

#endif
