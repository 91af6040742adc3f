/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU event rings. bpf/trace.bpf.c writes them, lib/measure/trace/ring.c reads them by mmap. */
#ifndef SUBTICK_ABI_TRACE_H
#define SUBTICK_ABI_TRACE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TRACE_MAX_CPUS 8192
#define TRACE_NEVER    (1ULL << 62) /* instead of a timestamp: do not record the edge */

/* Kinds of edges. The comments list the arguments of TRACE_WHAT(first, second, third). */
enum trace_kind {
	TRACE_SWITCH,	     /* previous pid, next pid, __state of the previous task (0: runnable) */
	/*
	 * The next four kinds have the second argument only in rings of unselected cores: see
	 * trace_ring_finish().
	 */
	TRACE_WAKING,	     /* pid to wake, current pid, previous CPU of the first */
	TRACE_WAKEUP,	     /* enqueued pid, current pid, CPU of the first */
	TRACE_WAKEUP_NEW,    /* same arguments, for a new task */
	TRACE_MIGRATE,	     /* pid, current pid, destination CPU */
	TRACE_IRQ_ENTER,     /* interrupt number */
	TRACE_IPI_ENTER,     /* arm64: address of the reason string; the reader keeps 48 bits */
	TRACE_VECTOR_ENTER,  /* x86: enum load_line_kind */
	TRACE_IRQ_LEAVE,     /* exit of any of the three; the reader sets `what` to 0 */
	TRACE_SOFTIRQ_ENTER, /* vector */
	TRACE_SOFTIRQ_LEAVE, /* vector */
	TRACE_IDLE_ENTER,    /* state */
	TRACE_IDLE_LEAVE,
	TRACE_HOLD,	     /* precedes a switch: TRACE_HOLD_WHAT(next pid, throttled ns) */
	TRACE_FREQUENCY,     /* 0, new frequency in kHz, CPU */
	TRACE_TICK,
	TRACE_NR_KINDS,
};

#define TRACE_WHAT(first, second, third) \
	((__u64)(first) | (__u64)(second) << 24 | (__u64)(third) << 48)
#define TRACE_FIRST(what)  ((__u32)(what) & 0x3fffff) /* a pid has 22 bits */
#define TRACE_SECOND(what) ((__u32)((what) >> 24) & 0xffffff)
/* Flag of a preempted or woken task: its CPU quota is used up. */
#define TRACE_HELD	   (1ULL << 23)
/*
 * Flag of TRACE_MIGRATE: this core woke the task just before, without an edge TRACE_WAKING. The
 * replay of waits sets it in TRACE_WAKEUP, too.
 */
#define TRACE_WAKES	   (1ULL << 22)
#define TRACE_NOBODY	   0xffffffU /* second argument: unknown */
#define TRACE_THIRD(what)  ((__u32)((what) >> 48))

#define TRACE_HOLD_MAX		((1ULL << 40) - 1) /* 18 minutes */
#define TRACE_HOLD_WHAT(pid, ns) ((__u64)(pid) | (__u64)(ns) << 24)
#define TRACE_HOLD_NS(what)	((what) >> 24)

struct trace_edge {
	/*
	 * ns << 8 | kind. In the ring ns is CLOCK_MONOTONIC without its highest eight bits. The reader
	 * converts it to ns since the start.
	 */
	__u64 stamp;
	__u64 what;
};

/*
 * Ring of a core, written only by programs on that core. A program that runs with interrupts enabled
 * sets `writing`. Edges of programs that interrupt it go to the small ring `nested`, and the reader
 * merges both by timestamp. So the index needs no atomic instruction, which 5.10 lacks.
 */
#define TRACE_NR_NESTED 64

struct trace_ring {
	__u64 head; /* bytes ever written to `edges` */
	/* All 0: the edge takes the fast path. One load checks all flags. */
	union {
		__u64 unusual;
		struct {
			__u32 writing;
			/* Single bytes, because user space and other cores write them. */
			__u8 stopped;  /* no recording: before the start and after the end */
			__u8 event;    /* the --on event happened: do not wrap around any more */
			__u8 noise;    /* --on noise: check the duration of interrupts */
			__u8 unwanted; /* unselected core: record only edges that selected cores need */
		};
	};
	__u64 nested_head;
	__u64 nested_lost; /* edges lost at a third level of nesting */
	__u64 stop_head;   /* head at which this ring is full after the --on event; 0 before the event */
	__u64 seed;	   /* pid + 1 of the running task, from the task iterator at the start, or 0 */
	__u64 irq_ns;	   /* start of the open handler, for --on noise */
	__u64 irq_depth;
	__u64 softirq_ns;
	__u64 event_ns;	   /* --on event of this core: its time, */
	__u64 event_what;  /* TRACE_WHAT(pid, 0, enum trace_event) */
	__u64 event_len_ns; /* and its duration */
	__u64 pad;
	__u64 group_waits; /* for --on pN: waits of the cgroup on this core, */
	__u64 group_long;  /* and its waits of on_wait_ns or longer */
	__u64 group_next;  /* 1 if the next task belongs to the cgroup */
	struct trace_edge nested[TRACE_NR_NESTED];
	struct trace_edge edges[]; /* a power of two of them */
};

_Static_assert(sizeof(struct trace_ring) == 16 * (8 + TRACE_NR_NESTED), "whole edges");

/*
 * Read-only settings, set before loading. One object, so that the programs load one address. The
 * verifier removes the code of features that are 0.
 */
struct trace_setup {
	__u32 nr_cpus;
	__u32 ring_bytes;  /* distance between two rings */
	__u32 head_mask;   /* head & head_mask is the offset in `edges` */
	__u32 some_cpus;   /* 1: record only the CPUs of wanted_cpus */
	__u32 state_first; /* 5.18 only: sched_switch has prev_state before prev, by BTF */
	__u32 on_wake_only;
	__u32 group_v2;	   /* 1: on_group is a cgroup v2 id */
	__u32 bytes_after; /* bytes that a core may write after the event */
	__u64 on_wait_ns, on_noise_ns; /* limits that end the recording */
	__u64 on_group;	   /* cgroup id for --on pN: the programs count, user space decides */
	__u64 tick_function; /* address of the tick's timer function */
};

/* Immediates that user space fills in, instead of loads from trace_setup: see sys_bpf_open_filled(). */
enum trace_filled {
	TRACE_FILLED_FIRST = 0x5ab71c00,
	TRACE_FILLED_RING_BYTES = TRACE_FILLED_FIRST,
	TRACE_FILLED_RINGS_END, /* end of the last ring */
	TRACE_FILLED_HEAD_MASK,
	TRACE_FILLED_ANY, /* 1: old kernel, or --on wait */
};

/* Events that end a recording. */
enum trace_event {
	TRACE_EVENT_NONE,
	TRACE_EVENT_WAIT,  /* a wait of on_wait_ns or longer */
	TRACE_EVENT_WAKE,  /* a wait of on_wait_ns or longer after a wake-up */
	TRACE_EVENT_NOISE, /* an interrupt or softirq of on_noise_ns or longer */
	TRACE_EVENT_PERCENTILE, /* a percentile of a cgroup's waits, judged by user space */
};

/*
 * Table of task names, written at the first switch to a task. The index is pid % TRACE_NR_TASKS. A
 * replaced entry is counted as lost. If two cores write one entry at once, `check` does not match.
 */
#define TRACE_NR_TASKS 32768
/* Maximum depth of a task's cgroup below the cgroup of --on pN. */
#define TRACE_DEPTH    32

struct trace_task {
	__u32 pid; /* with TRACE_HELD while it is throttled */
	__u32 tgid;
	char comm[16];
	__u64 cgroup;
	__u64 check;
	__u64 queued; /* for --on wait and wake: enqueue time in ns << 1 | woken; 0 if not enqueued */
	__u32 kthread;
	__u32 held_cpu;	 /* CPU on which it is throttled, */
	__u64 held_from; /* and the kernel's throttled total at that time */
	__u64 allowed;	 /* mask of the allowed CPUs 0 to 63 (affinity and cpuset) */
	__u32 nr_allowed; /* number of all allowed CPUs; 0 if unknown */
	__u32 pad;
};

_Static_assert(sizeof(struct trace_task) == 80, "trace_task has no hidden padding");

/* Maximum size of the rings. User space shrinks the array to the machine's size. */
#define TRACE_RING_EDGES (sizeof(struct trace_ring) / sizeof(struct trace_edge))
#define TRACE_MAX_EDGES	 (16 << 20)

static inline __u64 trace_task_check(const struct trace_task *task)
{
	const __u64 *comm = (const __u64 *)task->comm;

	return comm[0] ^ (comm[1] << 1 | comm[1] >> 63) ^ task->cgroup ^
	       (task->allowed << 2 | task->allowed >> 62) ^ (__u64)task->nr_allowed << 8 ^
	       ((__u64)task->tgid << 32 | TRACE_FIRST(task->pid)) ^ (__u64)task->kthread << 31;
}

#endif
