/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Incidents made for real: loads in cgroups, and the finding that must come first. */
#ifndef SUBTICK_TESTS_TRUTH_INCIDENTS_H
#define SUBTICK_TESTS_TRUTH_INCIDENTS_H

#include <stdbool.h>
#include <stdint.h>

#define INCIDENT_LOADS	  6
#define INCIDENT_SETTINGS 4
#define INCIDENT_WORDS	  4

/* Equal tasks. Each burns and sleeps in turn until the incident ends. */
struct incident_load {
	const char *cgroup; /* "/app"; NULL ends the list */
	const char *comm;
	int nr;
	unsigned int burn_us;
	unsigned int sleep_us; /* 0: never sleeps */
	int cpu;	       /* 1 + the CPU of the task's affinity, or 0 for any CPU */
	int policy, priority, nice;
	unsigned int forks_hz; /* each burn is a process of its own; processes per second */
	void (*run)(void);     /* instead of burning; never returns */
};

/* A file of a cgroup: name and value in v2, name and value in v1. NULL: not set there. */
struct incident_setting {
	const char *cgroup; /* NULL ends the list */
	const char *v2_file, *v2_value, *v1_file, *v1_value;
};

struct incident {
	const char *name; /* one word: --test selects by it */
	struct incident_setting settings[INCIDENT_SETTINGS];
	struct incident_load loads[INCIDENT_LOADS];
	const char *module; /* parameters of the module trouble, which is loaded meanwhile */
	void (*begin)(void);
	void (*end)(void);
	const char *(*lacking)(void); /* reason why this machine cannot run the incident, or NULL */
	const char *spared;	      /* no finding has this victim; others are not judged */
	/* Expected in the first finding. NULL is not compared; rule NULL: no finding at all. */
	const char *rule, *victim;
	const char *culprit;		   /* part of the culprit's name */
	const char *words[INCIDENT_WORDS]; /* parts of the sentence */
	bool advised;  /* the finding must have a setting or a command that ends it */
	bool alone;    /* only one CPU is online during the incident */
	bool attached; /* loads run before subtick starts: waits are under way at attach */
	/* Windows of a running subtick, all without a finding; in the full form. */
	int windows, windows_full;
	const char *miss;     /* known: why the first finding is wrong */
	const char *miss_v1;  /* known for cgroup v1 only */
	const char *stays;    /* known: why the advice does not end it */
};

extern const struct incident incidents[];
extern const unsigned int nr_incidents;

/* True if the longest incidents have their full size, and each is measured by --once. */
bool incidents_full(void);

/* Takes CPU 1 away, or gives it back. subtick does not run meanwhile. */
void incident_cpus(int nr);

/* Makes the cgroups and starts the tasks. Fails the program if that is impossible. */
void incident_begin(const struct incident *incident);
/* Ends the tasks and removes the cgroups. */
void incident_end(const struct incident *incident);

/* As truth_burn(). Tasks on two CPUs take turns of at most 20 us. */
void incident_burn(uint64_t ns);

/* Loads that are more than burning: incident_kernel.c. */
void incident_registered(void);
void incident_membarrier(void);
void incident_packets(void);
void incident_rps_begin(void);
void incident_rps_end(void);
void incident_unmap(void);
void incident_loop_write(void);
void incident_loop_begin(void);
void incident_loop_end(void);
void incident_ramdisk_write(void);
void incident_ramdisk_begin(void);
void incident_ramdisk_end(void);
void incident_stall(void);
void incident_stop_machine(void);
void incident_hide(void);
void incident_timers_begin(void);
void incident_timers_end(void);
void incident_crowd_begin(void);
void incident_crowd_end(void);
const char *incident_no_tlb_ipis(void);
const char *incident_no_cpuset(void);
const char *incident_no_steal(void);

#endif
