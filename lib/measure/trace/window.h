/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recorded trace, from which the report and the trace files are written. */
#ifndef SUBTICK_MEASURE_TRACE_WINDOW_H
#define SUBTICK_MEASURE_TRACE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/losses.h"
#include "stats/trace.h"

#define TRACE_LINE_LEN 64

/*
 * One core in the trace. `line` is a line of text with one character per time interval. The
 * character shows what took most of the time in the interval, such as a task, an interrupt or idle.
 */
struct trace_cpu {
	struct trace_core core;
	struct trace_replay replay;
	uint64_t lost;
	struct trace_slice *slices;
	size_t nr_slices;
	char line[TRACE_LINE_LEN + 1];
};

/* Sums of the times of one task over the whole trace. */
struct trace_task_sum {
	uint32_t pid;
	uint64_t run_ns;   /* run time of the task without interrupts and softirqs */
	uint64_t waits, wait_ns, max_ns;
	/* sum of avoidable time over the waits whose avoidable time is known */
	uint64_t avoidable_ns;
};

/* Allowed CPUs of a task, if the mask does not fit into struct trace_task. */
struct trace_mask {
	uint32_t pid;
	struct cpuset allowed;
};

/* Name of an interrupt line, IPI or softirq vector, by the number in the records. */
struct trace_irq {
	enum trace_kind kind;
	uint64_t what;
	char name[32];
};

struct trace_losses {
	TRACE_LOSSES(LOSS_MEMBER)
};

struct trace_window {
	uint64_t time_unix_ns;	 /* CLOCK_REALTIME at the end of the trace */
	uint64_t time_boot_ns;	 /* CLOCK_BOOTTIME at start_mono_ns + to_ns */
	uint64_t start_mono_ns;	 /* CLOCK_MONOTONIC at time 0 of the records */
	uint64_t from_ns, to_ns; /* time range of the trace: union of the ranges of all cores */
	struct cpuset cpus;
	struct trace_cpu *cpu; /* cores, indexed by CPU number */
	size_t nr_cpus;
	struct trace_waits waits;
	struct trace_spans avoidable; /* avoidable intervals, in the order of `waits` */
	/* sum of avoidable time over the waits whose avoidable time is known */
	uint64_t avoidable_ns;
	uint64_t avoidable_unknown;   /* number of waits whose avoidable time is unknown */
	struct cpuset online;	      /* online CPUs at the end of the trace */
	struct trace_task *names;     /* names of tasks, sorted by pid */
	size_t nr_names;
	struct trace_mask *masks; /* allowed CPUs of tasks, sorted by pid */
	size_t nr_masks;
	struct trace_irq *irqs;
	size_t nr_irqs;
	struct trace_task_sum *tasks; /* sums of each task, longest wait time first */
	size_t nr_tasks;
	struct trace_losses losses;
	uint64_t kernel_bytes;
	bool has_frequency, has_ticks; /* true if frequency changes or ticks were requested */
	/* Event that ended the recording; TRACE_EVENT_NONE after a timeout or a signal. */
	enum trace_event event;
	uint32_t event_cpu, event_pid;
	uint64_t event_ns, event_len_ns;
	/*
	 * For TRACE_EVENT_PERCENTILE. event_cgroup: path of the cgroup. event_waits and event_long:
	 * number of the cgroup's waits, and of its long waits, in the sliding window before the
	 * event. event_window_ns: length of the sliding window.
	 */
	const char *event_cgroup;
	uint64_t event_waits, event_long, event_window_ns;
};

uint64_t trace_ticks(const struct trace_cpu *cpu);
/* Last frequency of a CPU in kHz, or 0 if the trace has no frequency change of this CPU. */
uint32_t trace_last_khz(const struct trace_window *w, uint32_t cpu);

/* Compares the pids of two structs whose first member is a uint32_t pid, for qsort(). */
int trace_by_pid(const void *a, const void *b);
/* Name of a task: "idle" for pid 0, "" if unknown. */
const char *trace_comm(const struct trace_window *w, uint32_t pid);
const struct trace_task *trace_name(const struct trace_window *w, uint32_t pid);
/* Entry of w->irqs with the given kind and number, or NULL. */
const struct trace_irq *trace_find_irq(const struct trace_window *w, enum trace_kind kind,
				       uint64_t what);
/* Name of the interrupt or softirq in a record of its entry, or "" if unknown. */
const char *trace_irq_name(const struct trace_window *w, enum trace_kind kind, uint64_t what);

/*
 * Causes of a wait: the task that ran longest during the wait, and the time of interrupts, softirqs
 * and idle exit.
 */
struct trace_chain {
	uint32_t culprit; /* pid of the task that ran longest, or UINT32_MAX if no other task ran */
	uint64_t culprit_ns;
	uint64_t irq_ns, softirq_ns;
	uint64_t idle_ns; /* time of the idle exit during the wait */
};

void trace_wait_chain(const struct trace_window *w, const struct trace_wait *wait,
		      struct trace_chain *ret_chain);

/* Copies the @max longest waits, longest first; 0 copies all waits. Returns 0 or -ENOMEM. */
int trace_longest_waits(const struct trace_window *w, size_t max, struct trace_wait **ret_list,
			size_t *ret_nr);

/* Index of the first slice that ends after @ns. */
size_t trace_slice_at(const struct trace_cpu *cpu, uint64_t ns);

/*
 * Computes slices, waits, sums per task and the text lines trace_cpu.line from the records of @w.
 * The members `cpu` and `names` of @w must be set. Returns 0 or -ENOMEM.
 */
int trace_window_fill(struct trace_window *w);
void trace_window_free(struct trace_window *w);

/* Reads the string at a kernel address. Sets @name to "" if the address is not readable. */
typedef void trace_read_string(void *arg, uint64_t address, char name[32]);

/* Copies the valid tasks from @table, which has TRACE_NR_TASKS entries. Returns 0 or -ENOMEM. */
int trace_take_names(const struct trace_task *table, struct trace_window *w);
/*
 * Compares the recorded allowed CPUs of each task with its current allowed CPUs. Allowed CPUs that
 * have changed become unknown, because the time of the change was not recorded. Stores masks that
 * do not fit into trace_task.allowed in @w->masks. Returns 0 or -ENOMEM.
 */
int trace_take_allowed(struct trace_window *w);
/*
 * Looks up the names of all interrupts in the records. @root is the directory that contains /proc
 * and /sys, or NULL for / (host/file.h). Returns 0 or -ENOMEM.
 */
int trace_take_irqs(const char *root, trace_read_string *read, void *arg, struct trace_window *w);

/*
 * Finds the address of the first function in /proc/kallsyms whose name is in @names, an array that
 * ends with NULL. Returns -ENOENT if no function in @names is listed, and -EPERM if addresses are
 * hidden. @root is the directory that contains /proc, or NULL for / (host/file.h).
 */
int kallsyms_find(const char *root, const char *const *names, uint64_t *ret_address);

#endif
