/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface of a source of per-CPU load. sources.h lists the sources. */
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
	unsigned int nr_cpus; /* CPUs 0 … nr_cpus-1 are sampled */
	const char *event;    /* event of counter sources, or NULL for the default */
	bool bursts;	      /* source bpf: keep the distribution of busy bursts */
	bool lines;	      /* source bpf: hardirq time by line */
	bool tasks;	      /* source bpf: count task time by task */
	/* Source bpf: interrupts, softirqs and kernel threads, and their victims */
	bool noise;
	bool senders;	      /* with noise: count IPIs by sending core, target and function */
	const uint32_t *siblings; /* source bpf: sibling of each CPU, or NULL without --cores */
	bool wake;	      /* source bpf: passive wake-ups, see struct load_wake */
};

/* Counters of passive wake-ups that the programs of a source keep. */
struct load_wake {
	unsigned int nr_states; /* rows per CPU in hists, at least 1 */
	bool one_state;		/* no cpuidle driver: one row for the default idle function */
	const struct wake_hist *hists; /* [cpu × nr_states + state] */
	const struct wake_counts *counts; /* counters of the first CPU */
	size_t counts_step;		  /* bytes from one CPU's counters to the next */
};

struct load_source_ops {
	const char *name; /* name for --source */
	const char *what; /* one line of description */
	bool counts;	  /* counts a hardware event, see opts->event */
	size_t size; /* size of the source's struct */
	/*
	 * Members of @source after struct load_source are 0. Fails with err->unsupported if the
	 * machine lacks a needed feature. The caller closes @source after a failure.
	 */
	int (*open)(struct load_source *source, const struct load_source_opts *opts,
		    struct err *err);
	/* Fills samples[0 … nr_cpus-1]. A CPU that cannot be read gets a flag. */
	void (*sample)(struct load_source *source, struct load_sample *samples);
	/* Sets the loss counters that the source has. The caller has set all to LOAD_NO_LOSS. */
	void (*losses)(struct load_source *source, struct load_losses *losses);
	/* Optional: cumulative softirq time of one CPU by vector. */
	void (*vecs)(struct load_source *source, unsigned int cpu, struct load_vecs *ret_vecs);
	/*
	 * Optional: cumulative burst counts of one CPU in HIST_NR buckets. Programs update them
	 * concurrently.
	 */
	const uint64_t *(*bursts)(struct load_source *source, unsigned int cpu);
	/* Optional: hardirq and task time since the last call, most time first. */
	int (*lines)(struct load_source *source, const struct load_line **ret, size_t *ret_nr);
	int (*tasks)(struct load_source *source, const struct load_task **ret, size_t *ret_nr);
	/*
	 * Optional: ends window @ret_turn of noise and returns the counters by CPU, or NULL without
	 * opts->noise.
	 */
	const struct noise_cpu *(*noise)(struct load_source *source, uint64_t *ret_turn);
	/* Optional: IPIs sent by each CPU, with opts->senders. */
	const struct noise_sends *(*sends)(struct load_source *source);
	/* Optional: passive wake-ups. False without opts->wake. */
	bool (*wake)(struct load_source *source, struct load_wake *ret_wake);
	/* Optional: busy times of two siblings, with opts->siblings. */
	void (*smt)(struct load_source *source, const uint32_t cpu[2],
		    struct load_smt_sample *ret_sample);
	/* Optional: the BPF object that the switch program of runq can join, or NULL. */
	const struct core *(*core)(struct load_source *source);
	/*
	 * The switch program of @by counts for this source from now on. NULL: it will be detached.
	 */
	int (*joined)(struct load_source *source, const struct core *by);
	/* Frees @source. */
	void (*close)(struct load_source *source);
};

/* First member of each source's struct. Set by load_source_open() and by open. */
struct load_source {
	const struct load_source_ops *ops;
	unsigned int nr_cpus;
	uint32_t parts; /* bit n: the source measures part n of enum load_part */
	double rate;	/* see load_subtract() */
	bool noise_v1;	/* victims of noise are cgroups of v1's controller cpu */
	/* Samples do not end the window of --tasks, because another user reads it */
	bool tasks_held;
	bool noise_calls; /* function calls by IPI are counted */
	unsigned int more_users; /* users besides the first, see load_source_share() */
	struct err wake_err; /* why requested passive wake-ups are not counted */
	uint64_t base_hz; /* rate of the cycle clock if the source converts cycles to time, or 0 */
};

#endif
