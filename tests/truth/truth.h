/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers of tests in virtual time: required machine, and burns of known length. */
#ifndef SUBTICK_TESTS_TRUTH_TRUTH_H
#define SUBTICK_TESTS_TRUTH_TRUTH_H

#include <stdint.h>

/*
 * Skips the program outside of virtual time. Fails it if the guest has another number of
 * processors. Pins the caller to CPU 0 and finds out how long a burn's loop takes.
 */
void truth_begin(int processors);
/* How long one instruction takes. */
unsigned int truth_instruction_ns(void);
/* How long one pass of the burn's loop takes, measured. */
double truth_loop_ns(void);

/*
 * Executes instructions for @ns, exact to one loop pass. Interrupts and preemption add to it. It
 * reads no clock, which is what makes emulation slow.
 */
void truth_burn(uint64_t ns);
void truth_sleep_until(uint64_t mono_ns);

/*
 * Raises the caller's priority, so that no ordinary task runs between two of its readings. Children
 * are ordinary tasks.
 */
void truth_urgent(void);

/* Interrupts @cpu every @period_ns with a clock of perf, until the descriptor is closed. */
int truth_clock_start(int cpu, uint64_t period_ns);

/*
 * While two processors are busy they take turns, each up to its next timer: a tick, which is
 * milliseconds. Between these two calls a timer of each makes turns of some tens of microseconds.
 */
void truth_turns_start(void);
void truth_turns_stop(void);

#endif
