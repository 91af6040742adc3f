/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What bpf/wake.bpf.c records per CPU and lib/measure/wake/ reads from the mapped arrays. */
#ifndef SUBTICK_ABI_WAKE_H
#define SUBTICK_ABI_WAKE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#include "abi/hist.h"


/* The first interrupt after a launch. */
enum wake_irq {
	WAKE_IRQ_NONE,	/* none was seen: polling, or woken by a flag (mwait) */
	WAKE_IRQ_TIMER, /* x86: the local timer's vector */
	WAKE_IRQ_IPI,
	WAKE_IRQ_DEVICE, /* irq_handler_entry; point.irq is its number */
	WAKE_IRQ_OTHER,	 /* x86: another vector of the local APIC */
};

/* How a remote launch was stamped. */
enum wake_how {
	WAKE_HOW_NONE,
	WAKE_HOW_IPI,	  /* when the IPI was sent */
	WAKE_HOW_FLAG,	  /* a polling or mwait core: the flag it watches was set, no IPI */
	WAKE_HOW_WAKING,  /* kernels without these events: when the wake-up began */
};

/*
 * One point, from its launch on. All stamps are CLOCK_MONOTONIC. Programs on the measured core
 * write it and the worker on that same core reads it, so no memory barriers are needed.
 */
struct wake_kpoint {
	__u64 tbi_ns; /* idle entry of the window that the launch fell into; 0: not idle */
	__u64 tai_ns; /* its exit */
	__u64 ti_ns;  /* entry of the first interrupt handler at or after the launch */
	__u64 expire_ns; /* our own timer's handler */
	__u64 switch_ns; /* switch to the worker */
	__u32 state;	 /* requested idle state of that window */
	__u32 irq;	 /* number behind WAKE_IRQ_DEVICE */
	__u16 irqs;	   /* handlers entered since the launch */
	__u16 expire_irqs; /* of these, until our timer's handler */
	__u16 early_exits; /* idle exits between arming and launch */
	__u16 nmis;
	__u8 irq_kind;
	__u8 inside;	 /* the handler ran inside the idle window, before its exit event */
	__u8 due_before; /* another timer, due before the launch, ran in the same interrupt */
	__u8 pad[5];
};

_Static_assert(sizeof(struct wake_kpoint) == 64, "one cache line");

/* The idle window of a core that is open, or the last one. */
struct wake_idle {
	__u64 tbi_ns;
	__u64 tai_ns; /* points: 0 while it is open */
	__u64 wake_ns; /* passive: awake, min(TAI, TI) */
	__u64 due_ns;  /* passive: earliest timer among those that ran since */
	__u64 calibrate_ns; /* calibration: stamp of the first of two programs */
	__u64 calibrate_cost_ns;
	union {
		struct {
			__u32 state;
			__u32 irqs; /* handlers since the window began, inside or after it */
		};
		__u64 begun; /* both in one store: the state, and no handler */
	};
	__u8 idle;	/* points: the window is open */
	__u8 in_irq;	/* inside irq_handler_entry … exit */
	__u8 one_irq;	/* passive: the timer ran in the first interrupt */
	__u8 pad;
	/* A part of the address of the line's next handler, if it is shared; 0: there is none. */
	__u32 next_handler;
};

_Static_assert(sizeof(struct wake_idle) == 64, "one cache line");

/*
 * Passive source: idle exits of one CPU that do not count, by reason. These and the counts of the
 * histograms are all exits; a total of its own could disagree with its parts while it is read.
 */
struct wake_counts {
	__u64 other;	   /* no timer ran until the core went idle again */
	__u64 other_first; /* another interrupt came before the timer's */
	__u64 before_idle; /* the timer was due before the core went idle */
	__u64 early;	   /* the core woke before the timer was due */
	__u64 odd_state;   /* an index that the driver does not have */
	__u64 pad[3];
};

_Static_assert(sizeof(struct wake_counts) == 64, "one cache line");

/* State of the programs on one core; user space reads the point and the calibration. */
struct wake_slot {
	struct wake_kpoint point;
	struct wake_idle win;
	struct wake_counts counts;
};

_Static_assert(sizeof(struct wake_slot) == 192, "whole cache lines per CPU");

/*
 * The launch on one measured core. Written by the worker there (timer, nic) or, for source remote,
 * by the sender's core: a cache line of its own, so that the sender touches nothing else.
 */
struct wake_launch {
	__u64 launch_ns; /* 0: no launch is armed */
	__u32 sender;	 /* remote: thread whose next wake-up of this core is the launch */
	__u32 worker;	 /* thread on the measured core */
	__u32 how;	 /* enum wake_how */
	__u32 delay_ns;	 /* tests: our timer is due this much after the launch */
	__u32 pad[10];
};

_Static_assert(sizeof(struct wake_launch) == 64, "one cache line");

/* Passive source: one per CPU and requested state. */
struct wake_hist {
	__u64 count[HIST_NR];
	__u64 sum_ns;
	__u64 sum_units; /* of ns / WAKE_SQ_UNIT … */
	__u64 sum_sq;	 /* … and of its square, so that 10¹² wakes of 50 µs fit */
	__u64 min_ns; /* since the start, not per window; 0: no wake-up yet */
	__u64 max_ns;
	__u64 inside; /* handler before exit event */
	__u64 pad[2];
};

#define WAKE_SQ_UNIT	16
#define WAKE_SQ_MAX_NS	(1ull << 30)

#endif
