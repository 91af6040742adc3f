/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Incidents for tests: loads in cgroups, and the first finding that subtick must report. */
#ifndef SUBTICK_TESTS_TRUTH_INCIDENTS_H
#define SUBTICK_TESTS_TRUTH_INCIDENTS_H

#include <stdbool.h>
#include <stdint.h>

#define INCIDENT_LOADS	  12
#define INCIDENT_SETTINGS 4
#define INCIDENT_WORDS	  4

/* A load: equal tasks, each of which alternately computes and sleeps until the incident ends. */
struct incident_load {
	const char *cgroup; /* cgroup path such as "/app"; NULL ends the list */
	const char *comm;
	int nr;
	unsigned int burn_us;
	unsigned int sleep_us; /* length of each sleep; 0: the task never sleeps */
	int cpu;	       /* 1 + CPU to which the task is bound, or 0 for any CPU */
	int policy, priority, nice;
	bool session; /* each task calls setsid(), so that each task has a separate autogroup */
	/* number of started processes per second; each process computes once and exits */
	unsigned int forks_hz;
	void (*run)(void); /* function to run instead of computing; never returns */
};

/* A setting of a cgroup: file and value for cgroup v2 and for cgroup v1. */
struct incident_setting {
	const char *cgroup; /* NULL ends the list */
	const char *v2_file, *v2_value, *v1_file, *v1_value;
};

struct incident {
	const char *name; /* name of the incident for option --test, one word */
	struct incident_setting settings[INCIDENT_SETTINGS];
	struct incident_load loads[INCIDENT_LOADS];
	/* parameters of the test module "trouble", which is loaded during the incident */
	const char *module;
	void (*begin)(void);
	void (*end)(void);
	/* Returns the reason why this machine cannot run the incident, or NULL. */
	const char *(*lacking)(void);
	/* cgroup that must not be the victim of any finding; other findings are not checked */
	const char *spared;
	/*
	 * Expected values of the first finding. A culprit of NULL and a victim of "" are not
	 * compared. A victim of NULL stands for "/app". If rule is NULL, no finding is expected.
	 */
	const char *rule, *victim;
	const char *culprit;		   /* part of the culprit's name */
	const char *words[INCIDENT_WORDS]; /* strings that the text of the finding must contain */
	/*
	 * scanf() format of the figure in the sentence of the finding, and scanf() format of the
	 * line of /proc/stat with the kernel's own counter. The figure must differ by at most 5 %
	 * from the growth of the counter per second; for stolen time in ticks of 10 ms, this growth
	 * is a percentage. If @figure is NULL, no figure is compared.
	 */
	const char *figure, *counter;
	bool sole;	/* the first finding must be the only finding */
	bool unadvised; /* the first finding may have neither a setting nor a command */
	bool alone;	/* only one CPU is online during the incident */
	/* time from the start of the loads to the start of the window in ms; 0 stands for 300 ms */
	unsigned int settle_ms;
	/*
	 * true if the loads start before subtick, so that tasks already wait when subtick attaches
	 * its BPF programs
	 */
	bool attached;
	/*
	 * Number of successive windows without a finding, in the short test and in the full test.
	 */
	int windows, windows_full;
	const char *miss;    /* reason why the first finding is known to be wrong, or NULL */
	/* reason why the first finding is known to be wrong with cgroup v1 only, or NULL */
	const char *miss_v1;
	/* Reason why the advice of the first finding does not end the incident, or NULL. */
	const char *stays;
};

/* The short test omits full_incidents, unless --test names the incident. */
extern const struct incident incidents[], full_incidents[];
extern const unsigned int nr_incidents, nr_full_incidents;

/* A service that sleeps most of the time. */
#define SERVICE	       .comm = "service", .burn_us = 4000, .sleep_us = 12000
#define LIGHT	       .comm = "service", .burn_us = 2000, .sleep_us = 18000
#define OFTEN	       .comm = "service", .burn_us = 1000, .sleep_us = 24000
#define ON_CPU_1       .cpu = 2
#define BUSY	       .burn_us = 1000
#define LOAD(group, n) .cgroup = (group), .nr = (n)

#define QUOTA(group, us)                                                            \
	{                                                                           \
		.cgroup = (group), .v2_file = "cpu.max", .v2_value = #us " 100000", \
		.v1_file = "cpu.cfs_quota_us", .v1_value = #us                      \
	}
#define WEIGHT(group, weight, shares)                                            \
	{                                                                        \
		.cgroup = (group), .v2_file = "cpu.weight", .v2_value = #weight, \
		.v1_file = "cpu.shares", .v1_value = #shares                     \
	}
#define CPUSET(group, cpus)                                                     \
	{                                                                       \
		.cgroup = (group), .v2_file = "cpuset.cpus", .v2_value = #cpus, \
		.v1_file = "cpuset.cpus", .v1_value = #cpus                     \
	}

/*
 * True if the full test runs. In the full test, the longest incidents have their full size, and
 * subtick --once measures each incident.
 */
bool incidents_full(void);

/*
 * Takes CPU 1 offline or online, so that @nr CPUs are online. The caller must stop all subtick
 * processes before the call of incident_cpus().
 */
void incident_cpus(int nr);

/* Creates the cgroups and starts the tasks of an incident. Fails the test program on an error. */
void incident_begin(const struct incident *incident);
/* Ends the tasks and removes the cgroups of an incident. */
void incident_end(const struct incident *incident);

/* Starts a process every @period_ns. Each process calls @child with @arg and exits. */
void incident_fork_every(uint64_t period_ns, void (*child)(const void *arg), const void *arg)
	__attribute__((noreturn));

/* Functions of incident_kernel.c, which cause work in the kernel. */
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
void incident_spinners(void);
void incident_build(void);
void incident_cron(void);
void incident_backup(void);
void incident_thread_starter(void);
void incident_fork_bomb(void);
void incident_threads(void);
void incident_containers(void);
void incident_containers_end(void);
void incident_crowd_begin(void);
void incident_crowd_end(void);
const char *incident_no_tlb_ipis(void);
const char *incident_no_nmi(void);
const char *incident_no_cpuset(void);
const char *incident_needs_v1(void);

#endif
