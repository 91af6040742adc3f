/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All counters of the exporter: written by the sampler's thread, copied by the event loop's. */
#ifndef SUBTICK_SERVE_STORE_H
#define SUBTICK_SERVE_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "measure/runq/pressure.h"
#include "stats/load.h"
#include "topk.h"
#include "view/series.h"

/* The tables; the words of their rows are below. */
enum store_table {
	STORE_CPUS,	    /* key: CPU number */
	STORE_UNMEASURED,   /* one word; key: hash of CPU and reason */
	STORE_NOISE,	    /* key: hash of CPU, kind and source */
	STORE_CGROUPS,	    /* struct cgroup_series */
	STORE_BLAME,	    /* struct blame_series; one word */
	STORE_RUNQ,	    /* one row */
	STORE_WAKE,	    /* one histogram; key: hash of CPU and state */
	STORE_LOSSES,	    /* one word; key: hash of collector and kind */
	STORE_COLLECTORS,   /* key: hash of the name */
	STORE_SOURCES,	    /* one word; key: hash of collector and source */
	STORE_BUILD,	    /* one word */
	STORE_PROGRAMS,	    /* key: hash of the name */
	STORE_REQUESTS,	    /* one word; key: status code */
	STORE_PROCESS,	    /* one row */
	STORE_NR_TABLES,
};

enum store_core {
	CORE_ONLINE,
	CORE_CLOSURE,
	CORE_PROCSTAT_BUSY,
	CORE_PROCSTAT_ERROR,
	CORE_PART,
	/* Of a source that has no parts. */
	CORE_BUSY = CORE_PART + LOAD_NR_PARTS,
	CORE_IDLE,
	CORE_SOFTIRQ,
	CORE_SOFTIRQ_RUNS = CORE_SOFTIRQ + LOAD_NR_VECS,
	CORE_NR_WORDS = CORE_SOFTIRQ_RUNS + LOAD_NR_VECS,
};

enum store_noise {
	NOISE_TIME,
	NOISE_EVENTS,
	NOISE_LONGEST,
	NOISE_LONGEST_NOW,    /* of the current period */
	NOISE_LONGEST_BEFORE, /* of the previous one */
	NOISE_LONGEST_PERIOD, /* number of the current one */
	NOISE_NR_WORDS,
};

/* A driver has at most 10 idle states; a kernel without one has two, and there is "unknown". */
#define STORE_IDLE_STATES 13

enum store_cgroup {
	CGROUP_CAUSE,
	CGROUP_WAITING = CGROUP_CAUSE + RUNQ_NR_CAUSES,
	CGROUP_STALLED = CGROUP_WAITING + RUNQ_PRESSURE_NR_CAUSES,
	CGROUP_IDLE = CGROUP_STALLED + RUNQ_PRESSURE_NR_CAUSES,
	CGROUP_IDLE_WAITS = CGROUP_IDLE + STORE_IDLE_STATES,
	CGROUP_LATENCY = CGROUP_IDLE_WAITS + STORE_IDLE_STATES,
};

enum store_runq {
	RUNQ_ALL_CGROUPS,
	RUNQ_ALL_FOLDED_WAITS,
	RUNQ_ALL_FOLDED_BLAME,
	RUNQ_ALL_EVICTED_ENDED,
	RUNQ_ALL_EVICTED_PRIORITY,
	RUNQ_ALL_EVICTED_SILENT,
	RUNQ_ALL_EVICTED_ACTIVITY,
	RUNQ_ALL_NR_WORDS,
};

enum store_collector {
	COLLECTOR_UP,
	COLLECTOR_UPDATES,
	COLLECTOR_COST,
	COLLECTOR_TIME,
	COLLECTOR_NR_WORDS,
};

enum store_program {
	PROGRAM_TIME,
	PROGRAM_RUNS,
	PROGRAM_NR_WORDS,
};

enum store_process {
	PROCESS_CPU,
	PROCESS_RSS,
	PROCESS_VIRTUAL,
	PROCESS_START,
	PROCESS_BPF_MEMORY,
	PROCESS_HISTORY,
	PROCESS_CONNECTIONS,
	PROCESS_RESPONSES,
	PROCESS_CUT, /* by enum conn_cut */
	PROCESS_NR_WORDS = PROCESS_CUT + 3,
};

struct store {
	pthread_mutex_t lock; /* held for a window's additions or for a copy, never for rendering */
	struct series_table tables[STORE_NR_TABLES];
	struct series series[FAMILY_NR];
	uint64_t *le_ns; /* boundaries of F_RUNQ, then of F_WAKE */
	uint64_t generation; /* windows added so far */
	unsigned int readers;

	/* Cgroups with series of their own; see cgroups.h. */
	size_t nr_cgroups;
	uint32_t last_cgroup_id;
	struct topk topk; /* the most active cgroups that have none */
	uint32_t hints[16384]; /* by the low bits of a group's key: index of its row, if not stale */
	/* Labels of the parts that are named at run time; only ever added. */
	char idle_names[STORE_IDLE_STATES][32];
	const char *idle_states[STORE_IDLE_STATES];
	unsigned int nr_idle_states;
	const char *contexts[LOAD_NR_PARTS + 2], *vecs[LOAD_NR_VECS];
};

/* @config: boundaries of run-queue latency, native histograms. */
int store_init(struct store *store, const struct config *config);
void store_free(struct store *store);

/* For the thread that measures, with the lock held. NULL if out of memory. */
struct series_row *store_row(struct store *store, enum store_table table, uint64_t key,
			     const struct label *pairs, size_t nr);
/* The row of a table that has one. */
struct series_row *store_single(struct store *store, enum store_table table);
/* Notes of the collector's last window when it ended and where its figures come from. */
void store_window(struct store *store, const char *collector, const char *source,
		  uint64_t time_unix_ns);
/* @total: since the start. */
void store_loss(struct store *store, const char *collector, const char *kind, uint64_t total);

/* A window was added: the next generation. */
void store_window_added(struct store *store);

/* A consistent copy of all tables and its generation; call store_copy_done() soon. */
int store_copy(struct store *store, struct series_table copy[STORE_NR_TABLES],
	       uint64_t *ret_generation);
void store_copy_done(struct store *store);

#endif
