/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * x86 vectors without irq_handler_entry: X(name, entry tracepoint, exit tracepoint, enum
 * load_line_kind).
 */
#ifndef SUBTICK_BPF_VECTORS_H
#define SUBTICK_BPF_VECTORS_H

#include "kernel.bpf.h"
#include "abi/load.h"

/* clang-format off */
#define X86_VECTORS(X) \
	X(local_timer, "local_timer_entry", "local_timer_exit", LOAD_LINE_LOCAL_TIMER) \
	X(reschedule, "reschedule_entry", "reschedule_exit", LOAD_LINE_RESCHEDULE) \
	X(call_function, "call_function_entry", "call_function_exit", LOAD_LINE_CALL_FUNCTION) \
	X(call_function_single, "call_function_single_entry", "call_function_single_exit", \
	  LOAD_LINE_CALL_FUNCTION_SINGLE) \
	X(irq_work, "irq_work_entry", "irq_work_exit", LOAD_LINE_IRQ_WORK) \
	X(platform_ipi, "x86_platform_ipi_entry", "x86_platform_ipi_exit", LOAD_LINE_PLATFORM_IPI) \
	X(thermal, "thermal_apic_entry", "thermal_apic_exit", LOAD_LINE_THERMAL) \
	X(threshold, "threshold_apic_entry", "threshold_apic_exit", LOAD_LINE_THRESHOLD) \
	X(deferred_error, "deferred_error_apic_entry", "deferred_error_apic_exit", \
	  LOAD_LINE_DEFERRED_ERROR) \
	X(error_apic, "error_apic_entry", "error_apic_exit", LOAD_LINE_ERROR) \
	X(spurious_apic, "spurious_apic_entry", "spurious_apic_exit", LOAD_LINE_SPURIOUS)
/* clang-format on */

#endif
