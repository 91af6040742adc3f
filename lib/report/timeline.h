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
	TIMELINE_GAP,		/* before the next event of this CPU some are missing */
	TIMELINE_NR_KINDS,
};

struct timeline_event {
	uint64_t ns; /* CLOCK_MONOTONIC */
	enum timeline_kind kind;
	uint32_t cpu;
	uint32_t pid, other, arg;
	const char *name; /* or NULL */
};

struct timeline_task {
	uint32_t pid, tgid;
	const char *comm;
};

struct timeline {
	struct timeline_event *events; /* by CPU, and of one CPU by time */
	size_t nr_events;
	struct timeline_task *tasks; /* by pid */
	size_t nr_tasks;
	uint64_t end_ns;		 /* CLOCK_MONOTONIC */
	uint64_t boot_ns, unix_ns;	 /* CLOCK_BOOTTIME and CLOCK_REALTIME at end_ns */
};

/* "idle" for pid 0; "" if unknown. */
const char *timeline_comm(const struct timeline *timeline, uint32_t pid);

#endif
