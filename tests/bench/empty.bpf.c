/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Empty BPF programs on the tracepoints of bpf/load.bpf.c and bpf/wake.bpf.c. */
#include "bpf/kernel.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define EMPTY(event)                                       \
	SEC("tp_btf/" #event) int empty_##event(void *ctx) \
	{                                                  \
		return 0;                                  \
	}

EMPTY(cpu_idle)
EMPTY(sched_switch)
EMPTY(softirq_entry)
EMPTY(softirq_exit)
EMPTY(irq_handler_entry)
EMPTY(irq_handler_exit)
EMPTY(ipi_entry)
EMPTY(ipi_exit)
EMPTY(local_timer_entry)
EMPTY(local_timer_exit)
EMPTY(reschedule_entry)
EMPTY(reschedule_exit)
EMPTY(call_function_entry)
EMPTY(call_function_exit)
EMPTY(call_function_single_entry)
EMPTY(call_function_single_exit)
EMPTY(irq_work_entry)
EMPTY(irq_work_exit)
/* bpf/wake.bpf.c only */
EMPTY(hrtimer_expire_entry)
