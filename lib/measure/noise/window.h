/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A window of noise: what the report and the exporter are derived from. */
#ifndef SUBTICK_MEASURE_NOISE_WINDOW_H
#define SUBTICK_MEASURE_NOISE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/noise.h"
#include "base/cpuset.h"
#include "base/losses.h"
#include "stats/load.h"

/* Kinds of sources; the setting that moves a source depends on its kind. */
enum noise_kind {
	NOISE_KIND_IRQ,	   /* a device's interrupt line */
	NOISE_KIND_VECTOR, /* the core's own timer, an IPI, another local vector */
	NOISE_KIND_SOFTIRQ,
	NOISE_KIND_THREAD, /* a kernel thread */
	NOISE_KIND_NMI,	   /* its time is also in what it interrupted */
	NOISE_KINDS,
};

#define NOISE_CGROUP_SIZE 256

/* One source on one core in a window. */
struct noise_source {
	uint32_t cpu;
	enum noise_kind kind;
	uint32_t irq; /* of a device's line, else UINT32_MAX */
	char name[32];
	uint64_t count, ns, longest_ns, p99_ns;
	const char *knob; /* what would move it */
};

/* Events of one kind in a window. */
struct noise_times {
	uint64_t count, ns;
	uint64_t longest_ns; /* 0: unknown */
	uint64_t p99_ns;     /* UINT64_MAX: unknown */
};

/* Delay of a softirq vector on one core from raise to run, also in ksoftirqd. */
struct noise_delay {
	uint32_t cpu;
	unsigned int vec; /* load_vec_name() is its name */
	struct noise_times times;
};

/*
 * A workqueue function on one core. Its time is part of the kernel thread that executed it, or of a
 * softirq (WQ_BH).
 */
struct noise_function {
	uint32_t cpu;
	uint64_t key;		    /* address */
	char name[NOISE_SEND_NAME]; /* empty if the kernel reports no symbol */
	uint64_t executions;	    /* that began in the window */
	uint64_t ns;		    /* CPU time, without interrupts on top */
	uint64_t longest_ns;	    /* longest stretch on the core; 0: unknown */
	/* From queueing to execution; count: executions with a known delay. */
	struct noise_times delay;
};

/* A victim: a cgroup, the idle task or kernel threads. Sums over all requested cores. */
struct noise_hit {
	uint64_t key; /* as struct noise_victim */
	char cgroup[NOISE_CGROUP_SIZE];
	uint64_t count[NOISE_CLASSES], ns[NOISE_CLASSES];
	uint64_t longest_ns;
	uint32_t pid; /* the task that was hit longest at once */
	char comm[16];
};

/* IPIs of one kind that one core sent to another, or calls of one function. */
struct noise_sender {
	uint32_t cpu, from_cpu;
	char name[NOISE_SEND_NAME]; /* of a function: empty if the kernel has no symbol for it */
	uint64_t count;
	uint64_t by_process; /* the process below sent at least so many; 0: unknown */
	uint32_t pid;	     /* 0: the idle task; NOISE_BY_INTERRUPT */
	char comm[16];
};

/* Everything that was sent since the last reading. */
struct noise_sent {
	struct noise_sender *list; /* by receiving core, most first */
	size_t nr;
	uint64_t lost; /* since the programs were loaded */
};

struct noise_core {
	uint32_t cpu;
	uint32_t flags; /* enum load_flag; with one of LOAD_NO_FIGURE the rest is 0 */
	uint64_t window_ns;
	uint64_t class_ns[NOISE_CLASSES]; /* the sources of this core */
	uint64_t task_ns;		  /* all tasks but kernel threads */
	uint64_t part_ns[LOAD_NR_PARTS];  /* as in `load` */
	uint64_t steal_ns; /* UINT64_MAX: unknown; also in the others */
	uint64_t events, longest_ns;
	double closure_error_ratio;
	bool exceeded; /* one of the limits */
};

/* UINT64_MAX and NaN: no limit. */
struct noise_limits {
	uint64_t max_ns;    /* the longest of any source */
	double rate_hz;	    /* events per second of a core */
	double share_ratio; /* of a core's window */
};

struct noise_losses {
	NOISE_LOSSES(LOSS_MEMBER)
	NOISE_SENDER_LOSSES(LOSS_MEMBER)
	uint64_t source_ns; /* time of the events in sources */
};

/* Lists belong to the meter, until it is read again. */
struct noise_window {
	uint64_t time_unix_ns;
	uint64_t time_mono_ns;
	uint64_t window_ns;
	const struct noise_core *cores; /* that were asked for, in order */
	size_t nr_cores;
	const struct noise_source *sources; /* sorted by core, then by time, longest first */
	size_t nr_sources;
	const struct noise_hit *hits; /* most time first */
	size_t nr_hits;
	const struct noise_delay *delays; /* by core and vector */
	size_t nr_delays;
	const struct noise_function *functions; /* by core, most time first */
	size_t nr_functions;
	/* Delays of all requested cores by vector, in buckets of NOISE_BUCKET_SHIFT. */
	const uint64_t (*delay_hist)[NOISE_NR_BUCKETS];
	bool has_senders;
	bool calls_told; /* the kernel has a tracepoint of function calls */
	struct noise_sent senders, calls;
	unsigned int top; /* sources of each core to show; 0: all */
	bool judged;	  /* there are limits */
	struct noise_limits limits;
	unsigned int exceeded;	   /* cores */
	uint64_t windows_exceeded; /* so far: windows with such a core */
	bool nmi_told, steal_known;
	const char *hierarchy; /* of the cgroups of hits: "v1" (its controller cpu) or "v2" */
	double closure_max_ratio;
	struct noise_losses noise_losses;
	struct load_losses losses;
};

/* As JSON and metrics have it. */
static inline const char *noise_kind_name(enum noise_kind kind)
{
	static const char *const names[NOISE_KINDS] = {"irq", "vector", "softirq", "kthread", "nmi"};

	return names[kind];
}

/* Share of a core's window that all sources took. */
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
