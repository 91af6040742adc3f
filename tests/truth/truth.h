/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for tests in virtual time: the required machine, and busy loops of known duration. */
#ifndef SUBTICK_TESTS_TRUTH_TRUTH_H
#define SUBTICK_TESTS_TRUTH_TRUTH_H

#include <stdint.h>

/*
 * Skips the test program if the guest does not run in virtual time. Fails the test program if the
 * number of processors of the guest is not @processors. Pins the calling task to CPU 0 and measures
 * the loop of truth_burn().
 */
void truth_begin(int processors);
/* Returns the duration of one instruction in ns. */
unsigned int truth_instruction_ns(void);
/* Returns the measured duration of one pass of the loop in truth_burn(), in ns. */
double truth_loop_ns(void);

/*
 * Executes instructions for @ns, exact to one pass of the loop. Interrupts and preemption make
 * truth_burn() take longer than @ns. truth_burn() reads no clock, because clock reads are slow
 * under emulation.
 */
void truth_burn(uint64_t ns);
/*
 * Executes instructions for @ns, and makes QEMU switch CPUs every 20 us, by a yield or pause
 * instruction. Without yield and pause instructions, QEMU switches CPUs only when a timer expires or
 * is set, and this happens inside an interrupt. The guest then counts the time in which QEMU runs the
 * other CPU as time of the interrupt: up to one tick period.
 */
void truth_burn_in_turns(uint64_t ns);
void truth_sleep_until(uint64_t mono_ns);

/* Makes QEMU switch from the calling CPU to the next CPU that is not halted. */
static inline void truth_switch_cpu(void)
{
#ifdef __aarch64__
	__asm__ volatile("yield");
#else
	__asm__ volatile("pause");
#endif
}

/*
 * Lets the other CPUs finish their current interrupts. QEMU may have switched to the calling CPU
 * during an interrupt of another CPU, and clock readings would lie inside this interrupt.
 */
void truth_settle(void);

/*
 * Raises the priority of the calling task, so that no ordinary task runs between two readings of
 * the calling task. Child processes of the calling task get the ordinary priority.
 */
void truth_urgent(void);

/*
 * Starts a perf timer that interrupts @cpu every @period_ns until the caller closes the returned
 * descriptor.
 */
int truth_clock_start(int cpu, uint64_t period_ns);

/*
 * Starts a timer on each CPU, which makes QEMU switch between the CPUs after some tens of
 * microseconds, until truth_turns_stop(). Without truth_turns_start() QEMU runs two busy processors
 * alternately, each until its next timer, which may be a tick some milliseconds later.
 */
void truth_turns_start(void);
void truth_turns_stop(void);

#endif
