/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of tests in virtual time: the required machine, and busy loops of known duration. */
#ifndef SUBTICK_TESTS_TRUTH_TRUTH_H
#define SUBTICK_TESTS_TRUTH_TRUTH_H

#include <stdint.h>

/*
 * Skips the program outside of virtual time. Fails the program if the guest has another number of
 * processors. Pins the caller to CPU 0 and measures the loop of truth_burn().
 */
void truth_begin(int processors);
/* Duration of one instruction. */
unsigned int truth_instruction_ns(void);
/* Measured duration of one pass of the loop in truth_burn(). */
double truth_loop_ns(void);

/*
 * Executes instructions for @ns, exact to one pass of the loop. Interrupts and preemption lengthen
 * the call. truth_burn() reads no clock, because clock reads are slow under emulation.
 */
void truth_burn(uint64_t ns);
void truth_sleep_until(uint64_t mono_ns);

/*
 * Raises the caller's priority, so that no ordinary task runs between two of its readings. Children
 * are ordinary tasks.
 */
void truth_urgent(void);

/*
 * Starts a perf timer that interrupts @cpu every @period_ns until the returned descriptor is
 * closed.
 */
int truth_clock_start(int cpu, uint64_t period_ns);

/*
 * QEMU runs two busy processors alternately, each until its next timer, which may be a tick some
 * milliseconds later. Between these two calls a timer on each CPU makes QEMU switch after some tens
 * of microseconds.
 */
void truth_turns_start(void);
void truth_turns_stop(void);

#endif
