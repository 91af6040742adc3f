/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Per-CPU event rings, written by bpf/trace.bpf.c and read by lib/measure/trace/ring.c with mmap.
 */
#ifndef SUBTICK_ABI_TRACE_H
#define SUBTICK_ABI_TRACE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TRACE_MAX_CPUS 8192
#define TRACE_NEVER    (1ULL << 62) /* timestamp of an event that was not recorded */

/*
 * Kinds of trace records. The comment of each kind lists the arguments of TRACE_WHAT(first, second,
 * third).
 */
enum trace_kind {
	/* context switch: previous pid, next pid, __state of the previous task (0: runnable) */
	TRACE_SWITCH,
	/*
	 * Rings of selected cores do not store the second argument of TRACE_WAKING, TRACE_WAKEUP,
	 * TRACE_WAKEUP_NEW and TRACE_MIGRATE; trace_ring_finish() computes this argument.
	 */
	/* wake-up begins: pid of the woken task, current pid, previous CPU of the woken task */
	TRACE_WAKING,
	TRACE_WAKEUP, /* enqueue: pid of the enqueued task, current pid, CPU of the enqueued task */
	TRACE_WAKEUP_NEW,    /* enqueue of a new task: arguments as in TRACE_WAKEUP */
	TRACE_MIGRATE,	     /* migration: pid of the migrated task, current pid, destination CPU */
	TRACE_IRQ_ENTER,     /* interrupt entry: interrupt number */
	/*
	 * arm64 IPI entry: address of the reason string; the reader keeps the lower 48 bits of the
	 * address
	 */
	TRACE_IPI_ENTER,
	TRACE_VECTOR_ENTER,  /* x86 vector entry: kind of the vector (enum load_line_kind) */
	TRACE_IRQ_LEAVE,     /* exit of an interrupt, IPI or vector; the reader sets `what` to 0 */
	TRACE_SOFTIRQ_ENTER, /* softirq entry: softirq vector */
	TRACE_SOFTIRQ_LEAVE, /* softirq exit: softirq vector */
	TRACE_IDLE_ENTER,    /* idle entry: number of the idle state */
	TRACE_IDLE_LEAVE,
	/*
	 * throttled time of the next task, stored before TRACE_SWITCH: TRACE_THROTTLE_WHAT(next pid,
	 * throttled time in ns)
	 */
	TRACE_THROTTLE,
	TRACE_FREQUENCY, /* change of a CPU frequency: 0, new frequency in kHz, CPU */
	TRACE_TICK,
	TRACE_NR_KINDS,
};

#define TRACE_WHAT(first, second, third) \
	((__u64)(first) | (__u64)(second) << 24 | (__u64)(third) << 48)
#define TRACE_FIRST(what)  ((__u32)(what)&0x3fffff) /* first argument; a pid has 22 bits */
#define TRACE_SECOND(what) ((__u32)((what) >> 24) & 0xffffff)
/* Flag in the record of a preempted or woken task: CPU quota throttles the task. */
#define TRACE_THROTTLED (1ULL << 23)
/*
 * Flag of TRACE_MIGRATE: this core woke the task just before the migration, and there is no record
 * TRACE_WAKING. trace_find_waits() also sets the flag in records TRACE_WAKEUP.
 */
#define TRACE_WAKES	   (1ULL << 22)
#define TRACE_NOBODY	   0xffffffU /* value of an unknown second argument of TRACE_WHAT() */
#define TRACE_THIRD(what)  ((__u32)((what) >> 48))

/* maximum throttled time in a record: 18 minutes */
#define TRACE_THROTTLE_MAX	     ((1ULL << 40) - 1)
#define TRACE_THROTTLE_WHAT(pid, ns) ((__u64)(pid) | (__u64)(ns) << 24)
#define TRACE_THROTTLE_NS(what)	     ((what) >> 24)

struct trace_edge {
	/*
	 * Timestamp and kind (enum trace_kind) of the record: ns << 8 | kind. In the ring, ns is
	 * CLOCK_MONOTONIC without its highest eight bits. The reader converts ns to the time since
	 * the start of the recording.
	 */
	__u64 stamp;
	__u64 what;
};

/*
 * Ring of a core, written only by programs on that core. A program that runs with interrupts
 * enabled sets `writing` while it writes a record. While `writing` is set, programs that interrupt
 * the writing program store records in the small ring `nested`. The reader merges `edges` and
 * `nested` by timestamp. `edges` and `nested` are separate, because BPF of Linux 5.10 has no atomic
 * instruction that could update a common index.
 */
#define TRACE_NR_NESTED 64

struct trace_ring {
	__u64 head; /* total number of bytes that were written to `edges` */
	/*
	 * Flags of the ring; `unusual` reads all flags with one load. If all flags are 0, the
	 * programs write records on the fast path.
	 */
	union {
		__u64 unusual;
		struct {
			__u32 writing;
			/*
			 * the next four flags are single bytes, because user space and BPF programs
			 * on other cores write these flags
			 */
			/*
			 * 1 while the ring does not record: before the start and after the end of
			 * the recording
			 */
			__u8 stopped;
			/*
			 * 1 after the --on event: from this event on, the ring does not wrap around
			 */
			__u8 event;
			__u8 noise; /* --on noise: measure the duration of interrupts */
			/*
			 * 1 if the user did not select this core: the ring stores only records that
			 * concern selected cores
			 */
			__u8 unwanted;
		};
	};
	__u64 nested_head;
	/* number of records that were lost, because interrupts were nested three levels deep */
	__u64 nested_lost;
	/* value of `head` at which recording stops after the --on event; 0 before the event */
	__u64 stop_head;
	/*
	 * 1 + pid of the task that ran at the start of the recording (task iterator); 0 if unknown
	 */
	__u64 seed;
	__u64 irq_ns; /* start time of the running handler, for --on noise */
	__u64 irq_depth;
	__u64 softirq_ns;
	__u64 event_ns;	   /* time of the --on event on this core */
	__u64 event_what;  /* the --on event: TRACE_WHAT(pid, 0, enum trace_event) */
	__u64 event_len_ns; /* duration of the --on event */
	__u64 pad;
	__u64 group_waits; /* for --on pN: number of waits of the cgroup on this core */
	__u64 group_long;  /* for --on pN: number of the cgroup's waits of on_wait_ns or longer */
	__u64 group_next;  /* for --on pN: 1 if the next task belongs to the cgroup */
	struct trace_edge nested[TRACE_NR_NESTED];
	struct trace_edge edges[]; /* ring of records; the number of records is a power of two */
};

_Static_assert(sizeof(struct trace_ring) == 16 * (8 + TRACE_NR_NESTED), "whole edges");

/*
 * Read-only settings of the trace programs, which user space sets before loading the programs. All
 * settings are in one object, so that a program loads only one address. The verifier removes the
 * code of features whose setting is 0.
 */
struct trace_setup {
	__u32 nr_cpus;
	__u32 ring_bytes;
	/* bit mask: head & head_mask is the byte offset of the next record in `edges` */
	__u32 head_mask;
	__u32 some_cpus; /* 1 if only the CPUs of wanted_cpus are recorded */
	/* 1 if, according to BTF, prev_state precedes prev in sched_switch (Linux 5.18 only) */
	__u32 state_first;
	__u32 on_wake_only;
	__u32 group_v2;	   /* 1 if on_group is a cgroup v2 id */
	__u32 bytes_after; /* number of bytes that a core may write after the --on event */
	/* minimum duration of a wait or of noise that ends the recording */
	__u64 on_wait_ns, on_noise_ns;
	/*
	 * cgroup id for --on pN; the programs count the waits of this cgroup, and user space ends
	 * the recording
	 */
	__u64 on_group;
	__u64 tick_function; /* address of the timer function of the scheduler tick */
};

/*
 * Constants that sys_bpf_open_filled() writes into instructions of the trace programs. A constant
 * operand saves a load from trace_setup.
 */
enum trace_filled {
	TRACE_FILLED_FIRST = 0x5ab71c00,
	TRACE_FILLED_RING_BYTES = TRACE_FILLED_FIRST,
	TRACE_FILLED_RINGS_END, /* byte offset of the end of the last ring in the array of rings */
	TRACE_FILLED_HEAD_MASK,
	TRACE_FILLED_ANY, /* 1 if the program variants for old kernels or --on wait are used */
};

/* Kinds of events that end a recording (option --on). */
enum trace_event {
	TRACE_EVENT_NONE,
	TRACE_EVENT_WAIT,  /* a wait of on_wait_ns or longer */
	TRACE_EVENT_WAKE,  /* a wait of on_wait_ns or longer after a wake-up */
	TRACE_EVENT_NOISE, /* an interrupt or softirq of on_noise_ns or longer */
	/* --on pN: a percentile of a cgroup's waits, which user space computes */
	TRACE_EVENT_PERCENTILE,
};

/*
 * Table of tasks. A program stores a task in the table at the first switch to the task. The index
 * of the table is pid % TRACE_NR_TASKS. tasks_lost counts entries that another task overwrote.
 * `check` is a checksum that detects concurrent writes of an entry.
 */
#define TRACE_NR_TASKS 32768
/* Maximum number of cgroup levels that are searched for the cgroup of --on pN. */
#define TRACE_DEPTH    32

struct trace_task {
	/* pid of the task, with the flag TRACE_THROTTLED while CPU quota throttles the task */
	__u32 pid;
	__u32 tgid;
	char comm[16];
	__u64 cgroup;
	__u64 check;
	/*
	 * for --on wait and wake: enqueue time in ns << 1, with bit 0 set if the task was woken; 0
	 * if the task is not enqueued
	 */
	__u64 queued;
	__u32 kthread;
	__u32 throttled_cpu;  /* CPU on which the task is throttled */
	/* total throttled time according to the kernel when the throttling began */
	__u64 throttled_from;
	__u64 allowed; /* bit mask of the CPUs 0 to 63 that affinity and cpuset of the task allow */
	__u32 nr_allowed; /* number of all allowed CPUs; 0 if unknown */
	__u32 pad;
};

_Static_assert(sizeof(struct trace_task) == 80, "trace_task has no hidden padding");

/*
 * Size of struct trace_ring, and maximum size of the array of rings, in records. User space reduces
 * the array of rings to the CPUs of the machine.
 */
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
