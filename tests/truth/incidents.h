/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Real incidents: loads in cgroups, and the expected first finding. */
#ifndef SUBTICK_TESTS_TRUTH_INCIDENTS_H
#define SUBTICK_TESTS_TRUTH_INCIDENTS_H

#include <stdbool.h>
#include <stdint.h>

#define INCIDENT_LOADS	  6
#define INCIDENT_SETTINGS 4
#define INCIDENT_WORDS	  4

/* Equal tasks. Each task alternately uses the CPU and sleeps until the incident ends. */
struct incident_load {
	const char *cgroup; /* path such as "/app"; NULL ends the list */
	const char *comm;
	int nr;
	unsigned int burn_us;
	unsigned int sleep_us; /* 0: never sleeps */
	int cpu;	       /* 1 + the CPU of the task's affinity, or 0 for any CPU */
	int policy, priority, nice;
	bool session; /* each task is the leader of its own session, so it gets its own autogroup */
	/* number of processes started per second, each of which computes once */
	unsigned int forks_hz;
	void (*run)(void); /* function to run instead of computing; never returns */
};

/*
 * A setting file of a cgroup: name and value in cgroup v2 and in v1. NULL if nothing is set in that
 * version.
 */
struct incident_setting {
	const char *cgroup; /* NULL ends the list */
	const char *v2_file, *v2_value, *v1_file, *v1_value;
};

struct incident {
	const char *name; /* name of the incident for option --test, one word */
	struct incident_setting settings[INCIDENT_SETTINGS];
	struct incident_load loads[INCIDENT_LOADS];
	/* parameters of the module trouble, which is loaded during the incident */
	const char *module;
	void (*begin)(void);
	void (*end)(void);
	const char *(*lacking)(void); /* reason why this machine cannot run the incident, or NULL */
	/* no finding may have this victim; other findings are not checked */
	const char *spared;
	/*
	 * Expected values in the first finding. A NULL value is not compared. If rule is NULL, no
	 * finding is expected.
	 */
	const char *rule, *victim;
	const char *culprit;		   /* part of the culprit's name */
	const char *words[INCIDENT_WORDS]; /* strings that the finding's sentence must contain */
	bool advised;	/* the finding must have a setting or a command that ends it */
	bool only_full; /* not in the short form, unless option --test names it */
	bool alone;	/* only one CPU is online during the incident */
	/* loads start before subtick, so tasks already wait when the programs are attached */
	bool attached;
	/* Number of windows without a finding, in the short form and in the full form. */
	int windows, windows_full;
	const char *miss;    /* reason why the first finding is known to be wrong, or NULL */
	const char *miss_v1; /* like miss, for cgroup v1 only */
	const char *stays;   /* reason why the advice is known not to end the incident, or NULL */
};

extern const struct incident incidents[];
extern const unsigned int nr_incidents;

/*
 * True in the full form: the longest incidents have their full size, and each incident is measured
 * by --once.
 */
bool incidents_full(void);

/*
 * Takes CPU 1 offline or online, so that @nr CPUs are online. subtick must not run during this
 * call.
 */
void incident_cpus(int nr);

/* Makes the cgroups and starts the tasks. Fails the program if this is impossible. */
void incident_begin(const struct incident *incident);
/* Ends the tasks and removes the cgroups. */
void incident_end(const struct incident *incident);

/* As truth_burn(). QEMU switches between tasks on two CPUs after at most 20 us. */
void incident_burn(uint64_t ns);

/* Loads that cause work in the kernel, defined in incident_kernel.c. */
void incident_registered(void);
void incident_membarrier(void);
void incident_packets(void);
void incident_rps_begin(void);
void incident_rps_end(void);
void incident_protect(void);
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
void incident_pipeline(void);
void incident_collector(void);
void incident_containers(void);
void incident_containers_end(void);
void incident_crowd_begin(void);
void incident_crowd_end(void);
const char *incident_no_tlb_ipis(void);
const char *incident_no_cpuset(void);
const char *incident_no_steal(void);

#endif
