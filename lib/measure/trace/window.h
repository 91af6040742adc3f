/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recorded trace: what the report and the files are derived from. */
#ifndef SUBTICK_MEASURE_TRACE_WINDOW_H
#define SUBTICK_MEASURE_TRACE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"
#include "base/losses.h"
#include "stats/trace.h"

#define TRACE_LINE_LEN 64

/* Each bit of the picture is the part that had most of that time. */
struct trace_cpu {
	struct trace_core core;
	struct trace_replay replay;
	uint64_t lost;
	struct trace_slice *slices;
	size_t nr_slices;
	char line[TRACE_LINE_LEN + 1];
};

/* Sums of a task over the trace. */
struct trace_task_sum {
	uint32_t pid;
	uint64_t run_ns;   /* without interrupts and softirqs on top */
	uint64_t waits, wait_ns, max_ns;
	uint64_t avoidable_ns; /* of the waits in which it is known */
};

/* CPUs that a task may use, where struct trace_task has no room for them. */
struct trace_mask {
	uint32_t pid;
	struct cpuset allowed;
};

/* The name of an interrupt line, of an IPI or of a vector, by what the edges have. */
struct trace_irq {
	enum trace_kind kind;
	uint64_t what;
	char name[32];
};

struct trace_losses {
	TRACE_LOSSES(LOSS_MEMBER)
};

struct trace_window {
	uint64_t time_unix_ns; /* of its end */
	uint64_t start_mono_ns; /* of time 0 of all edges */
	uint64_t from_ns, to_ns; /* what the cores together cover */
	struct cpuset cpus;
	struct trace_cpu *cpu; /* by number */
	size_t nr_cpus;
	struct trace_waits waits;
	struct trace_spans avoidable; /* avoidable times of all waits, by wait */
	uint64_t avoidable_ns;	      /* of all waits in which it is known, */
	uint64_t avoidable_unknown;   /* and the number of the others */
	struct cpuset online;	      /* at the end */
	struct trace_task *names; /* by pid */
	size_t nr_names;
	struct trace_mask *masks; /* by pid */
	size_t nr_masks;
	struct trace_irq *irqs;
	size_t nr_irqs;
	struct trace_task_sum *tasks; /* most waiting first */
	size_t nr_tasks;
	struct trace_losses losses;
	uint64_t kernel_bytes;
	bool has_frequency, has_ticks; /* they were asked for */
	/* Event that ended the recording; TRACE_EVENT_NONE after a timeout or a signal. */
	enum trace_event event;
	uint32_t event_cpu, event_pid;
	uint64_t event_ns, event_len_ns;
	/* TRACE_EVENT_PERCENTILE: of whom, and of its waits in the time before that, so many were too long. */
	const char *event_cgroup;
	uint64_t event_waits, event_long, event_window_ns;
};

/* The ticks of a core in the trace. */
uint64_t trace_ticks(const struct trace_cpu *cpu);
/* The frequency that a CPU was last set to in the trace, by whatever CPU, in kHz; 0 if it was not. */
uint32_t trace_last_khz(const struct trace_window *w, uint32_t cpu);

/* "" if unknown, "idle" for pid 0. */
const char *trace_comm(const struct trace_window *w, uint32_t pid);
const struct trace_task *trace_name(const struct trace_window *w, uint32_t pid);
/* The name of the interrupt that such an edge began; "" if unknown. */
const char *trace_irq_name(const struct trace_window *w, enum trace_kind kind, uint64_t what);

/* Chain of a wait: the tasks that ran meanwhile, longest first, and interrupts. */
struct trace_chain {
	uint32_t culprit; /* pid; UINT32_MAX if only idle or interrupts were there */
	uint64_t culprit_ns;
	uint64_t irq_ns, softirq_ns;
	uint64_t idle_ns; /* it waited although the core was idle: the way out of idle */
};

void trace_wait_chain(const struct trace_window *w, const struct trace_wait *wait,
		      struct trace_chain *ret_chain);

/* "wait", "wake", "noise" or "percentile"; NULL for TRACE_EVENT_NONE. */
const char *trace_event_name(enum trace_event event);
/* A copy of the longest waits, the longest first; @max 0: all. 0 or -ENOMEM. */
int trace_longest_waits(const struct trace_window *w, size_t max, struct trace_wait **ret_list,
			size_t *ret_nr);

/* The first slice that ends after @ns. */
size_t trace_slice_at(const struct trace_cpu *cpu, uint64_t ns);

/*
 * Fills everything that follows from the edges: replay, slices, waits, sums, pictures. @w has cores
 * and names. 0 or -ENOMEM.
 */
int trace_window_fill(struct trace_window *w);
void trace_window_free(struct trace_window *w);

/* Reads the kernel's string at an address; "" if that fails. */
typedef void trace_read_string(void *arg, uint64_t address, char name[32]);

/* Takes the tasks out of @table, which has TRACE_NR_TASKS entries. 0 or -ENOMEM. */
int trace_take_names(const struct trace_task *table, struct trace_window *w);
/*
 * Compares the allowed CPUs of each task with those that it has now, and forgets them where they
 * differ: the recording does not have the time of the change. Reads those of masks that are longer
 * than struct trace_task::allowed. 0 or -ENOMEM.
 */
int trace_take_allowed(struct trace_window *w);
/* The names of all interrupts in the edges. @root as in sys/file.h. 0 or -ENOMEM. */
int trace_take_irqs(const char *root, trace_read_string *read, void *arg, struct trace_window *w);

/*
 * The address of the first function in the kernel's list whose name is one of @names, which end with
 * NULL. -ENOENT if it has none of them, -EPERM if it hides addresses. @root as in sys/file.h.
 */
int kallsyms_find(const char *root, const char *const *names, uint64_t *ret_address);

#endif
