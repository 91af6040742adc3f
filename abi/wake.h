/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Per-CPU data of the BPF programs of `subtick wake`, which user space maps. A launch is the time
 * at which subtick wakes an idle core by a timer, a packet or a thread of another core.
 */
#ifndef SUBTICK_ABI_WAKE_H
#define SUBTICK_ABI_WAKE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/hist.h"


/* Kind of the first interrupt after a launch. */
enum wake_irq {
	/* no interrupt: the core polled need_resched, or a write to need_resched ended mwait */
	WAKE_IRQ_NONE,
	WAKE_IRQ_TIMER, /* x86: the local timer's vector */
	WAKE_IRQ_IPI,
	/* device interrupt (irq_handler_entry); point.irq is the interrupt number */
	WAKE_IRQ_DEVICE,
	/* x86: vector of the local APIC that is neither a timer vector nor an IPI */
	WAKE_IRQ_OTHER,
};

/* Source remote (wake-up by another core): event that gives the launch time. */
enum wake_how {
	WAKE_HOW_NONE,
	WAKE_HOW_IPI,	  /* the IPI was sent */
	/* the sender set need_resched of a core that polls or waits in mwait, without an IPI */
	WAKE_HOW_FLAG,
	/*
	 * the wake-up began (sched_waking); used on kernels without tracepoints for IPIs and
	 * need_resched
	 */
	WAKE_HOW_WAKING,
};

/*
 * One measured wake-up. All timestamps are CLOCK_MONOTONIC. The BPF programs write and the worker
 * thread reads struct wake_kpoint on the same core, so no memory barriers are needed.
 */
struct wake_kpoint {
	__u64 tbi_ns; /* idle entry before the launch; 0 if the core was not idle */
	__u64 tai_ns; /* idle exit after the launch */
	__u64 ti_ns;  /* entry time of the first interrupt handler at or after the launch */
	__u64 expire_ns; /* entry of the callback of subtick's timer */
	__u64 switch_ns; /* time of the switch to the worker thread */
	__u32 state;	 /* idle state that the kernel requested */
	__u32 irq;	 /* interrupt number, for WAKE_IRQ_DEVICE */
	__u16 irqs;	   /* number of interrupt handlers entered since the launch */
	/*
	 * number of interrupt handlers entered from the launch until the handler of subtick's timer
	 */
	__u16 expire_irqs;
	__u16 early_exits; /* number of idle exits between the arming of the timer and the launch */
	__u16 nmis;
	__u8 irq_kind;
	__u8 inside; /* 1 if the interrupt handler ran before the idle exit */
	/* 1 if an interrupt after the launch ran a timer whose expiry time was before the launch */
	__u8 due_before;
	__u8 pad[5];
};

_Static_assert(sizeof(struct wake_kpoint) == 64, "one cache line");

/* Current or last idle period of a core. */
struct wake_idle {
	__u64 tbi_ns;
	__u64 tai_ns; /* time of the idle exit; 0 in wake_slot.win during the idle period */
	/* source passive: time of the idle exit or of the first interrupt, whichever is earlier */
	__u64 wake_ns;
	__u64 due_ns;  /* source passive: earliest expiry of the timers that ran since wake_ns */
	__u64 calibrate_ns; /* timestamp of the first of the two calibration programs */
	__u64 calibrate_cost_ns;
	union {
		struct {
			__u32 state;
			/* number of interrupt handlers since the start of the idle period */
			__u32 irqs;
		};
		/* union with `state` and `irqs`, which the programs write with one store */
		__u64 begun;
	};
	__u8 idle;	/* 1 while the core is idle */
	__u8 in_irq;	/* 1 between the events irq_handler_entry and irq_handler_exit */
	__u8 one_irq;	/* source passive: 1 if the timer callback ran in the first interrupt */
	__u8 pad;
	/*
	 * Lower half of the address of the next handler of a shared interrupt line; 0 if there is
	 * none.
	 */
	__u32 next_handler;
};

_Static_assert(sizeof(struct wake_idle) == 64, "one cache line");

/*
 * Source passive: idle exits of one CPU that the histograms do not count, by reason. The number of
 * idle exits is the sum of the members of struct wake_counts and all histogram counts.
 */
struct wake_counts {
	__u64 other;	   /* idle exits after which no timer ran until the next idle entry */
	__u64 other_first; /* idle exits whose first interrupt was not the timer interrupt */
	__u64 before_idle; /* idle exits caused by a timer that was due before the idle entry */
	__u64 early;	   /* idle exits before the expiry time of the timer */
	__u64 odd_state;   /* idle exits from a state that the cpuidle driver does not have */
	__u64 pad[3];
};

_Static_assert(sizeof(struct wake_counts) == 64, "one cache line");

/* State of the BPF programs on one core; user space reads the members point and calibration. */
struct wake_slot {
	struct wake_kpoint point;
	struct wake_idle win;
	struct wake_counts counts;
};

_Static_assert(sizeof(struct wake_slot) == 192, "whole cache lines per CPU");

/*
 * Launch of wake-ups on one measured core. The writer of struct wake_launch is the worker thread
 * (sources timer and nic) or the core of the sending thread (source remote). struct wake_launch
 * fills a cache line, so that the sending core accesses no other data of the measured core.
 */
struct wake_launch {
	__u64 launch_ns; /* time of the launch; 0 if no launch is armed */
	__u32 sender;	 /* source remote: thread that will wake this core */
	__u32 worker;	 /* thread on the measured core that the launch wakes */
	__u32 how;	 /* enum wake_how */
	/* time from the launch to the expiry of subtick's timer; only tests set this member */
	__u32 delay_ns;
	__u32 pad[10];
};

_Static_assert(sizeof(struct wake_launch) == 64, "one cache line");

/* Source passive: latency histogram of one CPU and one requested idle state. */
struct wake_hist {
	__u64 count[HIST_NR];
	__u64 sum_ns;
	__u64 sum_units; /* sum of the latencies in units of WAKE_SQ_UNIT ns */
	/*
	 * sum of the squared latencies, (ns / WAKE_SQ_UNIT)²; does not overflow before 10¹²
	 * wake-ups of 50 µs
	 */
	__u64 sum_sq;
	__u64 min_ns; /* minimum latency since the start; 0 before the first wake-up */
	__u64 max_ns;
	__u64 inside; /* number of wake-ups whose interrupt handler ran before the idle exit */
	__u64 pad[2];
};

#define WAKE_SQ_UNIT	16
#define WAKE_SQ_MAX_NS	(1ull << 30)

#endif
