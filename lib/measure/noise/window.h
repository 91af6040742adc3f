/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Result of `subtick noise` for one window, used by the report and the exporter. */
#ifndef SUBTICK_MEASURE_NOISE_WINDOW_H
#define SUBTICK_MEASURE_NOISE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/noise.h"
#include "base/cpuset.h"
#include "base/losses.h"
#include "stats/load.h"

enum noise_kind {
	NOISE_KIND_IRQ,	   /* a device's interrupt line */
	NOISE_KIND_VECTOR, /* local timer, IPI or another local vector */
	NOISE_KIND_SOFTIRQ,
	NOISE_KIND_THREAD, /* a kernel thread */
	/* NMI handler; NMI time is also counted for the source that the NMI interrupts */
	NOISE_KIND_NMI,
	NOISE_KINDS,
};

#define NOISE_CGROUP_SIZE 256

/* One noise source on one CPU in a window. */
struct noise_source {
	uint32_t cpu;
	enum noise_kind kind;
	uint64_t key; /* key of struct noise_sum; 0 for a thread that has no counter yet */
	uint32_t irq; /* interrupt number of a device, or UINT32_MAX without a number */
	char name[32];
	uint64_t count, ns, longest_ns, p99_ns;
	const char *knob; /* setting that would move the source to another CPU */
};

/* Number and length of noise events, or of delays, in a window. */
struct noise_times {
	uint64_t count, ns;
	uint64_t longest_ns; /* length of the longest event or delay; 0 if unknown */
	/* 99th percentile of the lengths of the events or delays; UINT64_MAX if unknown */
	uint64_t p99_ns;
};

/* Delay of a softirq vector on one CPU from raise to execution, also in ksoftirqd. */
struct noise_delay {
	uint32_t cpu;
	unsigned int vec; /* number of the softirq vector; see load_vec_name() */
	struct noise_times times;
};

/*
 * A workqueue function on one CPU. The time of the kernel thread or softirq (WQ_BH) that executes
 * the function includes the time of the function.
 */
struct noise_function {
	uint32_t cpu;
	uint64_t key;		    /* address of the function */
	char name[NOISE_SEND_NAME]; /* empty if the kernel has no symbol for the address */
	uint64_t executions;	    /* executions of the function that began in the window */
	uint64_t ns;		    /* CPU time without the time of interrupts */
	/* longest time that the workqueue function ran without a context switch; 0 if unknown */
	uint64_t longest_ns;
	/*
	 * delay of the function from queueing to execution; delay.count is the number of executions
	 * with a known delay
	 */
	struct noise_times delay;
};

/*
 * A victim of noise: a cgroup, the idle task or kernel threads. Times and counts are sums over all
 * requested CPUs.
 */
struct noise_hit {
	uint64_t key; /* key of struct noise_victim */
	char cgroup[NOISE_CGROUP_SIZE];
	uint64_t count[NOISE_CLASSES], ns[NOISE_CLASSES];
	uint64_t longest_ns;
	uint32_t pid; /* PID of the task that was interrupted by the longest event */
	char comm[16];
};

/* IPIs of one kind from one CPU to another CPU, or calls of one function by IPI. */
struct noise_sender {
	uint32_t cpu, from_cpu;
	/* Kind of IPI or name of the function; empty for a function without a symbol */
	char name[NOISE_SEND_NAME];
	uint64_t count;
	/* lower bound for the number of IPIs that process `pid` sent, or 0 if unknown */
	uint64_t by_process;
	/* pid of the sending process; 0 for the idle task, or NOISE_BY_INTERRUPT */
	uint32_t pid;
	char comm[16];
};

/* IPIs sent since the last reading. */
struct noise_sent {
	struct noise_sender *list; /* sorted by receiving CPU, then by number of IPIs, most first */
	size_t nr;
	/* number of IPIs that did not fit into the tables, since the programs were loaded */
	uint64_t lost;
};

struct noise_core {
	uint32_t cpu;
	/* bit mask of enum load_flag; with a flag of LOAD_NO_FIGURE all other members are 0 */
	uint32_t flags;
	uint64_t window_ns;
	uint64_t class_ns[NOISE_CLASSES]; /* time of all noise sources by class */
	uint64_t task_ns;		  /* time of all tasks except kernel threads */
	uint64_t part_ns[LOAD_NR_PARTS];  /* time by load part (enum load_part) */
	/* stolen time, also part of class_ns, task_ns and part_ns; UINT64_MAX if unknown */
	uint64_t steal_ns;
	uint64_t events, longest_ns;
	double closure_error_ratio;
	bool exceeded; /* true if a noise value of the CPU exceeds its limit */
};

/* Limits of the noise on a CPU. A limit of UINT64_MAX or NaN is never exceeded. */
struct noise_limits {
	uint64_t max_ns;    /* maximum length of an event of any source */
	double rate_hz;	    /* maximum number of events per second on a CPU */
	double share_ratio; /* maximum share of the window that all noise takes on a CPU */
};

struct noise_losses {
	NOISE_LOSSES(LOSS_MEMBER)
	NOISE_SENDER_LOSSES(LOSS_MEMBER)
	uint64_t source_ns; /* total time of the noise events that `sources` counts */
};

/* Result of one window. The lists are valid until the next read. */
struct noise_window {
	uint64_t time_unix_ns;
	uint64_t time_mono_ns;
	uint64_t window_ns;
	struct noise_core *cores; /* requested CPUs in ascending order */
	size_t nr_cores;
	struct noise_source *sources; /* noise sources by CPU, most time first */
	size_t nr_sources;
	struct noise_hit *hits; /* victims of noise, most time first */
	size_t nr_hits;
	struct noise_delay *delays; /* softirq delays by CPU and vector */
	size_t nr_delays;
	struct noise_function *functions; /* workqueue functions by CPU, most time first */
	size_t nr_functions;
	/* histogram of softirq delays by vector over all requested CPUs; see NOISE_BUCKET_SHIFT */
	uint64_t (*delay_hist)[NOISE_NR_BUCKETS];
	bool has_senders;
	bool calls_known; /* true if the kernel has a tracepoint for function calls by IPI */
	struct noise_sent senders, calls;
	unsigned int top; /* number of sources to show per CPU, or 0 for all */
	bool judged;	  /* true if limits of the noise were requested */
	struct noise_limits limits;
	unsigned int exceeded;	   /* number of CPUs that exceed a limit of noise */
	/* number of windows since the start in which a CPU exceeded a limit */
	uint64_t windows_exceeded;
	bool nmi_known, steal_known;
	const char *hierarchy; /* cgroup hierarchy of the victims: "v1" (controller cpu) or "v2" */
	double closure_max_ratio;
	struct noise_losses noise_losses;
	struct load_losses losses;
};

/* Name of a kind of noise source in JSON and metrics. */
static inline const char *noise_kind_name(enum noise_kind kind)
{
	static const char *const names[NOISE_KINDS] = {"irq", "vector", "softirq", "kthread", "nmi"};

	return names[kind];
}

/* Returns the share of the window that all noise sources took on a CPU. */
static inline double noise_share(const struct noise_core *core)
{
	uint64_t ns = 0;

	for (int i = 0; i < NOISE_CLASSES; i++)
		ns += core->class_ns[i];
	return core->window_ns ? (double)ns / (double)core->window_ns : 0.0;
}

static inline double noise_rate(const struct noise_core *core)
{
	return core->window_ns ? (double)core->events * 1e9 / (double)core->window_ns : 0.0;
}

#endif
