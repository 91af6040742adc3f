/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interface of a source of per-CPU load. sources.h lists all sources. */
#ifndef SUBTICK_MEASURE_LOAD_SOURCE_H
#define SUBTICK_MEASURE_LOAD_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "stats/load.h"

struct core;
struct load_source;
struct noise_cpu;
struct noise_sends;
struct wake_counts;
struct wake_hist;

struct load_source_opts {
	unsigned int nr_cpus; /* CPUs 0 to nr_cpus - 1 are sampled */
	/* hardware event for sources that use hardware counters; NULL for the default */
	const char *event;
	bool bursts;	      /* source bpf: keep the distribution of busy bursts */
	bool lines;	      /* source bpf: count hardirq time by interrupt line */
	bool tasks;	      /* source bpf: count task time by task */
	/* source bpf: count interrupts, softirqs and kernel threads, and their victims */
	bool noise;
	bool senders; /* count IPIs by sending core, receiving core and function; requires noise */
	/* source bpf: hyperthread sibling of each CPU, or NULL without --cores */
	const uint32_t *siblings;
	bool wake; /* source bpf: count passive wake-ups (struct load_wake) */
};

/* Counters of passive wake-ups, updated by BPF programs. */
struct load_wake {
	unsigned int nr_cpus;
	unsigned int nr_states; /* number of histograms per CPU in hists */
	/* true without a cpuidle driver: one histogram, for the kernel's default idle function */
	bool one_state;
	const struct wake_hist *hists; /* histograms; the index is cpu × nr_states + state */
	const struct wake_counts *counts; /* wake-up counters of CPU 0 */
	size_t counts_step;		  /* bytes from one CPU's counters to the next */
};

struct load_source_ops {
	const char *name; /* name for --source */
	const char *what; /* description of the source in one line */
	bool counts;	  /* the source counts a hardware event (opts->event) */
	size_t size; /* size of the source's struct */
	/*
	 * Opens @source, whose members after struct load_source are 0. Sets err->unsupported if the
	 * machine lacks a feature that the source requires. The caller closes @source even after a
	 * failure.
	 */
	int (*open)(struct load_source *source, const struct load_source_opts *opts,
		    struct err *err);
	/* Fills one sample per CPU. The flags of a sample show why a CPU could not be read. */
	void (*sample)(struct load_source *source, struct load_sample *samples);
	/*
	 * Sets the loss counters that the source provides. The caller has set all members of
	 * @losses to LOAD_NO_LOSS.
	 */
	void (*losses)(struct load_source *source, struct load_losses *losses);
	/* Optional: gets the cumulative softirq time of one CPU by vector. */
	void (*vecs)(struct load_source *source, unsigned int cpu, struct load_vecs *ret_vecs);
	/*
	 * Optional: returns the cumulative counts of busy bursts of one CPU in HIST_NR buckets. BPF
	 * programs may update the counts at any time.
	 */
	const uint64_t *(*bursts)(struct load_source *source, unsigned int cpu);
	/* Optional: get times of interrupt lines and tasks since the last call, most time first. */
	int (*lines)(struct load_source *source, const struct load_line **ret, size_t *ret_nr);
	int (*tasks)(struct load_source *source, const struct load_task **ret, size_t *ret_nr);
	/*
	 * Ends a window of the counters in source->noise and returns the window number. Must not be
	 * NULL for a source with source->noise.
	 */
	uint64_t (*noise)(struct load_source *source);
	/* Optional: gets the busy times of two siblings; requires opts->siblings. */
	void (*smt)(struct load_source *source, const uint32_t cpu[2],
		    struct load_smt_sample *ret_sample);
	/*
	 * Detaches the source's program on sched_switch, because a program of the BPF object @by
	 * replaces it. If @by is NULL, attaches the source's program again. Must not be NULL for a
	 * source with source->core.
	 */
	int (*joined)(struct load_source *source, const struct core *by);
	void (*close)(struct load_source *source);
};

/*
 * First member of the private struct of each source. load_source_open() and ops->open() set the
 * members.
 */
struct load_source {
	const struct load_source_ops *ops;
	unsigned int nr_cpus;
	uint32_t parts; /* bit n: the source measures part n of enum load_part */
	/* factor that converts `busy` of a sample to the unit of `total`; see load_subtract() */
	double rate;
	/*
	 * BPF object that runq can share, or NULL. If runq shares the object, one program on
	 * sched_switch measures both CPU time (load) and waits (runq).
	 */
	const struct core *core;
	/* counters of passive wake-ups; wake.hists is NULL if they are not counted */
	struct load_wake wake;
	const struct noise_cpu *noise;	 /* noise counters by CPU, or NULL without opts->noise */
	const struct noise_sends *sends; /* sent IPIs by CPU, or NULL without opts->senders */
	bool noise_v1;	/* victims of noise are counted by cgroup of the v1 controller cpu */
	/*
	 * true while the noise measurement samples the source: such a sample must not end the
	 * window of --tasks
	 */
	bool keep_tasks_window;
	bool noise_calls; /* true if function calls by IPI are counted */
	/* number of users minus 1; see load_source_share() */
	unsigned int more_users;
	struct err wake_err; /* reason why requested passive wake-ups are not counted */
	/* rate of the cycle clock; 0 if the source does not convert cycles to time */
	uint64_t base_hz;
};

#endif
