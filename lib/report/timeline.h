/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recorded trace for file writers: events, slices and waits, sorted by CPU and time. */
#ifndef SUBTICK_REPORT_TIMELINE_H
#define SUBTICK_REPORT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

enum timeline_kind {
	/* context switch from @pid to @other; @arg is the state of @pid (0: runnable) */
	TIMELINE_SWITCH,
	TIMELINE_WAKING,	/* task @other wakes @pid on CPU @arg */
	TIMELINE_WAKEUP,	/* @pid is enqueued on CPU @arg while task @other runs */
	TIMELINE_WAKEUP_NEW,
	TIMELINE_MIGRATE,	/* @pid moves to CPU @arg */
	/* @arg is the interrupt line, @name is its handler or the reason of an IPI */
	TIMELINE_IRQ_ENTER,
	TIMELINE_IRQ_LEAVE,
	TIMELINE_SOFTIRQ_ENTER, /* @arg is the vector number, and @name is the vector name */
	TIMELINE_SOFTIRQ_LEAVE,
	TIMELINE_IDLE_ENTER, /* @arg is the number of the idle state */
	TIMELINE_IDLE_LEAVE,
	TIMELINE_FREQUENCY,	/* the frequency of CPU @other is set to @arg kHz */
	TIMELINE_TICK,
	TIMELINE_GAP, /* gap: events of the CPU are missing before its next event */
	TIMELINE_NR_KINDS,
};

struct timeline_event {
	uint64_t ns; /* CLOCK_MONOTONIC, as all points in time of the timeline */
	enum timeline_kind kind;
	uint32_t cpu;
	uint32_t pid, other, arg;
	bool held;	  /* for SWITCH and WAKEUP: true if CPU quota throttles @pid */
	const char *name; /* name of the interrupt or softirq, or NULL */
};

struct timeline_task {
	uint32_t pid, tgid;
	const char *comm;
};

/* Interval of a CPU in one context, such as a task or an interrupt. */
struct timeline_slice {
	uint64_t from_ns, to_ns;
	const char *part;	 /* name of the context: "task", "hardirq" and so on */
	const char *name;	 /* name of the interrupt or softirq, or NULL */
	uint32_t cpu;
	uint32_t pid;	/* PID of the current task, also while an interrupt runs; 0 if idle */
	uint32_t state; /* number of the idle state */
};

/* A wait of a task for a CPU: waker, culprit and parts of the wait. */
struct timeline_wait {
	uint64_t from_ns, to_ns;
	uint64_t waking_ns; /* start of the wake-up, or 0 if the task was preempted */
	uint32_t cpu, pid;
	bool woken; /* true if the task slept before the wait; false if the task was preempted */
	bool held;		 /* true if CPU quota throttled the task at from_ns */
	uint64_t throttled_ns;	 /* throttled time in ns from from_ns on, or 0 if unknown */
	uint32_t waker, waker_cpu;
	const char *waker_irq; /* interrupt or softirq that woke the task, or NULL */
	uint32_t culprit;      /* PID of the task that ran longest during the wait, or UINT32_MAX */
	uint64_t culprit_ns, irq_ns, softirq_ns, idle_ns;
	uint64_t avoidable_ns;	 /* part of the wait in which another allowed CPU was idle */
	uint32_t idle_cpu;	 /* a CPU that was idle and that the task may use, or UINT32_MAX */
	uint64_t idle_cpu_ns;
};

/* Part of a wait: CPU quota throttled the task, or another allowed CPU was idle (avoidable). */
struct timeline_hold {
	uint64_t from_ns, to_ns;
	uint32_t cpu, pid;
	bool avoidable;
};

struct timeline {
	struct timeline_event *events; /* events, sorted by CPU, then by time */
	size_t nr_events;
	struct timeline_task *tasks; /* tasks, sorted by pid */
	size_t nr_tasks;
	struct timeline_hold *holds; /* parts of waits, sorted by the end of the wait */
	size_t nr_holds;
	/* slices and waits for the HTML page, filled by trace_timeline_picture() */
	struct timeline_slice *slices;
	size_t nr_slices, all_slices;
	struct timeline_wait *waits;
	size_t nr_waits, all_waits;
	uint64_t start_ns, end_ns;	 /* start and end of the recording */
	uint64_t from_ns, to_ns;	 /* time range of the slices */
	uint64_t lost;			 /* number of events that were lost during the recording */
	uint64_t unknown_starts;	 /* waits that started before the recording or in a gap */
	char *ended;	     /* sentence about the event that ended the recording, or NULL */
	const char *machine; /* names of host and kernel, or NULL */
	uint64_t boot_ns, unix_ns;	 /* CLOCK_BOOTTIME and CLOCK_REALTIME at end_ns */
};

static inline int timeline_by_pid(const void *key, const void *task)
{
	return CMP(*(const uint32_t *)key, ((const struct timeline_task *)task)->pid);
}

/* Name of a task: "idle" for pid 0, "" if unknown. */
static inline const char *timeline_comm(const struct timeline *timeline, uint32_t pid)
{
	const struct timeline_task *task = NULL;

	if (!pid)
		return "idle";
	if (timeline->nr_tasks)
		task = bsearch(&pid, timeline->tasks, timeline->nr_tasks, sizeof(*task),
			       timeline_by_pid);
	return task ? task->comm : "";
}

#endif
