/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as the writers of files see it: what happened on which CPU at which time. */
#ifndef SUBTICK_REPORT_TIMELINE_H
#define SUBTICK_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum timeline_kind {
	TIMELINE_SWITCH,	/* pid leaves, other comes; arg: state of the first, 0: runnable */
	TIMELINE_WAKING,	/* pid is to be woken by other; arg: CPU */
	TIMELINE_WAKEUP,	/* pid is queued; other was current; arg: CPU */
	TIMELINE_WAKEUP_NEW,
	TIMELINE_MIGRATE,	/* pid goes to CPU arg */
	TIMELINE_IRQ_ENTER,	/* arg: line; name: of the handler, or what an IPI is for */
	TIMELINE_IRQ_LEAVE,
	TIMELINE_SOFTIRQ_ENTER, /* arg: vector; name */
	TIMELINE_SOFTIRQ_LEAVE,
	TIMELINE_IDLE_ENTER,	/* arg: state */
	TIMELINE_IDLE_LEAVE,
	TIMELINE_FREQUENCY,	/* CPU other is set to arg kHz */
	TIMELINE_TICK,
	TIMELINE_GAP,		/* before the next event of this CPU some are missing */
	TIMELINE_NR_KINDS,
};

struct timeline_event {
	uint64_t ns; /* CLOCK_MONOTONIC */
	enum timeline_kind kind;
	uint32_t cpu;
	uint32_t pid, other, arg;
	bool held;	  /* SWITCH, WAKEUP: the CPU quota of pid, which can run, is used up */
	const char *name; /* or NULL */
};

struct timeline_task {
	uint32_t pid, tgid;
	const char *comm;
};

/* A time in which a CPU did one thing. */
struct timeline_slice {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	const char *part;	 /* as the parts of `load`: "task", "hardirq" and so on */
	const char *name;	 /* of an interrupt or a softirq; else NULL */
	uint32_t cpu;
	uint32_t pid;		 /* of the task, also if something else is on top of it; 0: idle */
	uint32_t state;		 /* of idle */
};

/* A wait of a task for a CPU, and its chain. */
struct timeline_wait {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	uint64_t waking_ns;	 /* when the waker began to wake it; 0: not woken */
	uint32_t cpu, pid;
	bool woken;		 /* it slept before; else it lost a core */
	bool held;		 /* its CPU quota was used up then, */
	uint64_t held_ns;	 /* and kept it for so long; 0: not known */
	uint32_t waker, waker_cpu;
	const char *waker_irq;	 /* interrupt or softirq that woke it, instead of the task; or NULL */
	uint32_t culprit;	 /* pid of who had the CPU most of the time; UINT32_MAX: no task */
	uint64_t culprit_ns, irq_ns, softirq_ns, idle_ns;
};

/* A time in which its CPU quota kept a task that could run from a CPU. */
struct timeline_hold {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu, pid;
};

struct timeline {
	struct timeline_event *events; /* by CPU, and of one CPU by time */
	size_t nr_events;
	struct timeline_task *tasks; /* by pid */
	size_t nr_tasks;
	struct timeline_hold *holds; /* by the end of the waits that they are in */
	size_t nr_holds;
	/* For pictures: those around what matters most, by CPU and time; and the longest waits. */
	struct timeline_slice *slices;
	size_t nr_slices, all_slices;
	struct timeline_wait *waits;
	size_t nr_waits, all_waits;
	uint64_t start_ns;		 /* CLOCK_MONOTONIC: of time 0 in reports */
	uint64_t from_ns, to_ns;	 /* what the slices cover */
	uint64_t lost;			 /* events that are missing */
	uint64_t unknown_starts;	 /* waits that began before the recording, or in a gap */
	char *ended;			 /* sentence on the event that ended the recording; or NULL */
	const char *machine;		 /* host and kernel; NULL: unknown */
	uint64_t end_ns;		 /* CLOCK_MONOTONIC */
	uint64_t boot_ns, unix_ns;	 /* CLOCK_BOOTTIME and CLOCK_REALTIME at end_ns */
};

/* "idle" for pid 0; "" if unknown. */
const char *timeline_comm(const struct timeline *timeline, uint32_t pid);

#endif
