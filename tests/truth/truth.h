/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests in virtual time share: the machine they need, and burns of a known length. */
#ifndef SUBTICK_TESTS_TRUTH_TRUTH_H
#define SUBTICK_TESTS_TRUTH_TRUTH_H

#include <stdint.h>

/*
 * Fails the program unless this is a guest in virtual time with that many processors; skips it
 * where there is none. Pins the caller to CPU 0 and finds out how long a burn's loop takes.
 */
void truth_begin(int processors);
/* How long one instruction takes. */
unsigned int truth_instruction_ns(void);
/* How long one pass of the burn's loop takes, measured. */
double truth_loop_ns(void);

/*
 * Executes so many instructions that @ns pass: exact to one pass of the loop, interrupts and what
 * preempts it come on top. It reads no clock, which is what makes emulation slow.
 */
void truth_burn(uint64_t ns);
void truth_sleep_until(uint64_t mono_ns);

/*
 * No ordinary task comes between two readings of the caller, not even the load on the same core;
 * its children are ordinary tasks.
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
