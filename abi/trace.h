/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rings of bpf/trace.bpf.c, which lib/measure/trace/ring.c reads from the mapped array. */
#ifndef SUBTICK_ABI_TRACE_H
#define SUBTICK_ABI_TRACE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TRACE_MAX_CPUS 8192
#define TRACE_NEVER    (1ULL << 62) /* in place of a time: the edge is not recorded */

/* What happened, and what `what` says about it: TRACE_WHAT(first, second, third). */
enum trace_kind {
	TRACE_SWITCH,	     /* pid that leaves, pid that comes, the first's __state: 0 is runnable */
	/* Of these four, only rings of cores that are not wanted have the second: see trace_ring_finish(). */
	TRACE_WAKING,	     /* pid to wake, pid that was current, CPU of the first so far */
	TRACE_WAKEUP,	     /* pid that is queued, pid that was current, its CPU */
	TRACE_WAKEUP_NEW,    /* the same, of a new task */
	TRACE_MIGRATE,	     /* pid, pid that was current, CPU it goes to */
	TRACE_IRQ_ENTER,     /* number of the line */
	TRACE_IPI_ENTER,     /* arm64: address of the reason; its low 48 bits once it was read */
	TRACE_VECTOR_ENTER,  /* x86: enum load_line_kind */
	TRACE_IRQ_LEAVE,     /* of any of the three; 0, as of all that say nothing, once it was read */
	TRACE_SOFTIRQ_ENTER, /* vector */
	TRACE_SOFTIRQ_LEAVE, /* vector */
	TRACE_IDLE_ENTER,    /* state */
	TRACE_IDLE_LEAVE,
	TRACE_HOLD,	     /* before a switch: TRACE_HOLD_WHAT(pid that comes, ns that quota kept it) */
	TRACE_FREQUENCY,     /* 0, kHz, CPU that has it from now on */
	TRACE_TICK,
	TRACE_NR_KINDS,
};

#define TRACE_WHAT(first, second, third) \
	((__u64)(first) | (__u64)(second) << 24 | (__u64)(third) << 48)
#define TRACE_FIRST(what)  ((__u32)(what) & 0x3fffff) /* a pid has 22 bits */
#define TRACE_SECOND(what) ((__u32)((what) >> 24) & 0xffffff)
/* Of a task that can run and leaves its core, or is woken: its CPU quota is used up. */
#define TRACE_HELD	   (1ULL << 23)
/*
 * Of TRACE_MIGRATE, and of TRACE_WAKEUP once the waits were found: this core woke the task just before,
 * without an edge TRACE_WAKING.
 */
#define TRACE_WAKES	   (1ULL << 22)
#define TRACE_NOBODY	   0xffffffU /* as a second word: not known */
#define TRACE_THIRD(what)  ((__u32)((what) >> 48))

#define TRACE_HOLD_MAX		((1ULL << 40) - 1) /* 18 minutes */
#define TRACE_HOLD_WHAT(pid, ns) ((__u64)(pid) | (__u64)(ns) << 24)
#define TRACE_HOLD_NS(what)	((what) >> 24)

struct trace_edge {
	/*
	 * ns << 8 | kind: in a ring by CLOCK_MONOTONIC, of which the highest eight bits are lost; since the
	 * start once it was read.
	 */
	__u64 stamp;
	__u64 what;
};

/*
 * The ring of a core. Only programs on that core write to it. One that runs with interrupts on sets
 * `writing`: an edge that interrupts it goes to the small ring `nested`, and the reader puts both in
 * the order of their stamps. So an index needs no atomic operation, which 5.10 would not have.
 */
#define TRACE_NR_NESTED 64

struct trace_ring {
	__u64 head; /* bytes ever written to `edges` */
	/* One load tells whether an edge is written the short way: then all of it is 0. */
	union {
		__u64 unusual;
		struct {
			__u32 writing;
			/* Each is written on its own, so that user space and other cores may. */
			__u8 stopped;  /* nothing is recorded: before the start and after the end */
			__u8 event;    /* something happened: this ring is not written round any more */
			__u8 noise;    /* how long interrupts take is looked at */
			__u8 unwanted; /* of this core only what tasks of others need */
		};
	};
	__u64 nested_head;
	__u64 nested_lost; /* a third level of nesting */
	__u64 stop_head;   /* after an event: the head at which this ring is full; 0 before it */
	__u64 seed;	   /* pid + 1 of the task there when the tasks were walked; 0: none */
	__u64 irq_ns;	   /* when the open handler began, for --on noise */
	__u64 irq_depth;
	__u64 softirq_ns;
	__u64 event_ns;	   /* the event that this core saw: its time, */
	__u64 event_what;  /* TRACE_WHAT(pid, 0, enum trace_event) */
	__u64 event_len_ns; /* and how long it took */
	__u64 pad;
	__u64 group_waits; /* for --on pN: waits of the cgroup that ended here, */
	__u64 group_long;  /* and those of them that were on_wait_ns or longer */
	__u64 group_next;  /* whether the task that gets the core is of the cgroup */
	struct trace_edge nested[TRACE_NR_NESTED];
	struct trace_edge edges[]; /* a power of two of them */
};

_Static_assert(sizeof(struct trace_ring) == 16 * (8 + TRACE_NR_NESTED), "whole edges");

/*
 * What user space sets before loading. One object, so that the programs need one address for all; what
 * is 0 was not asked for, and then the verifier removes the code for it.
 */
struct trace_setup {
	__u32 nr_cpus;
	__u32 ring_bytes;  /* from one ring to the next */
	__u32 head_mask;   /* where in `edges` a head is */
	__u32 some_cpus;   /* those of wanted_cpus only */
	__u32 state_first; /* in 5.18 only, sched_switch had prev_state before prev; BTF shows it */
	__u32 on_wake_only;
	__u32 group_v2;	   /* which hierarchy on_group is of */
	__u32 bytes_after; /* how much a core may write after the event */
	__u64 on_wait_ns, on_noise_ns; /* what ends the recording */
	__u64 on_group;	   /* a cgroup's id: its waits are only counted, and user space decides */
	__u64 tick_function; /* address of what the tick's timer calls */
};

/* Operands of instructions in every program, instead of loads from trace_setup: see sys_bpf_open_filled(). */
enum trace_filled {
	TRACE_FILLED_FIRST = 0x5ab71c00,
	TRACE_FILLED_RING_BYTES = TRACE_FILLED_FIRST,
	TRACE_FILLED_RINGS_END, /* no ring begins there or later */
	TRACE_FILLED_HEAD_MASK,
	TRACE_FILLED_ANY, /* 1: an old kernel, or a wait ends the recording */
};

/* What ends a recording. */
enum trace_event {
	TRACE_EVENT_NONE,
	TRACE_EVENT_WAIT,  /* a task waited so long for a core */
	TRACE_EVENT_WAKE,  /* the same, after a wake-up only */
	TRACE_EVENT_NOISE, /* an interrupt or softirq took so long */
	TRACE_EVENT_PERCENTILE, /* too many waits of a cgroup took so long; user space sees it */
};

/*
 * Who has a pid, noted when the task first gets a core. The entry is that of pid % TRACE_NR_TASKS:
 * what was there is lost, and counted. Two cores may write one entry at once: then `check` is wrong.
 */
#define TRACE_NR_TASKS 32768
/* How far below the cgroup of --on pN a task's cgroup may be. */
#define TRACE_DEPTH    32

struct trace_task {
	__u32 pid; /* with TRACE_HELD while quota keeps it from the core */
	__u32 tgid;
	char comm[16];
	__u64 cgroup;
	__u64 check;
	__u64 queued; /* for --on wait and wake: ns since the start << 1 | woken; 0: not queued */
	__u32 kthread;
	__u32 held_cpu;	 /* where it is held, */
	__u64 held_from; /* and the kernel's total of such time when that began */
	__u64 allowed;	 /* CPUs 0 to 63 that affinity and cpuset allow */
	__u32 nr_allowed; /* all CPUs that they allow; 0: not known */
	__u32 pad;
};

_Static_assert(sizeof(struct trace_task) == 80, "trace_task has no hidden padding");

/* Room for rings, of which user space leaves what this machine needs. */
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
