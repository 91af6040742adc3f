/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* List of the incidents: their loads, and the names that the first finding must contain. */
#include "incidents.h"

#include <sched.h>
#include <stddef.h>

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

const struct incident incidents[] = {
	/*
	 * Two CPUs. The first incident uses little CPU time, because its loads run while subtick
	 * starts.
	 */
	{
		.name = "quota",
		.settings = {QUOTA("/app", 15000)},
		.loads = {{LOAD("/app", 2), SERVICE}},
		.rule = "quota",
		.victim = "/app",
		.culprit = "/app",
		.advised = true,
		.attached = true,
	},
	{
		.name = "quiet",
		.loads = {{LOAD("/app", 1), .comm = "service", .burn_us = 200, .sleep_us = 20000}},
		.windows = 20,
		.windows_full = 200,
	},
	{
		.name = "quota-parent",
		.settings = {QUOTA("/pod", 20000)},
		.loads = {{LOAD("/pod/app", 2), SERVICE}},
		.rule = "quota",
		.victim = "/pod/app",
		.culprit = "/pod",
		.words = {"/pod"},
		.advised = true,
	},
	{
		.name = "quota-sibling",
		.settings = {QUOTA("/pod", 40000)},
		.loads = {{LOAD("/pod/app", 2), SERVICE, ON_CPU_1},
			  {LOAD("/pod/side", 2), .comm = "burner", BUSY, ON_CPU_1}},
		.rule = "quota",
		.victim = "/pod/app",
		.culprit = "/pod",
		.words = {"/pod/side"},
		.advised = true,
	},
	{
		.name = "quota-and-neighbour",
		.settings = {QUOTA("/app", 10000)},
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/batch", 1), .comm = "burner", BUSY, ON_CPU_1}},
		.rule = "quota",
		.victim = "/app",
		.culprit = "/app",
		.advised = true,
	},
	{
		.name = "neighbour",
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.victim = "/app",
		.culprit = "/batch",
		.advised = true,
	},
	{
		.name = "neighbour-heavier",
		.settings = {WEIGHT("/batch", 600, 6144)},
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.victim = "/app",
		.culprit = "/batch",
		.words = {"of /batch is 6", "of /app only 10"},
		.advised = true,
	},
	/* If only one of the two busy cgroups gets a lower weight, the other uses its CPU time. */
	{
		.name = "two-neighbours",
		.settings = {WEIGHT("/app", 1, 2)},
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/one", 2), .comm = "burner", BUSY},
			  {LOAD("/two", 2), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.victim = "/app",
		.words = {"/one", "/two", "of /app only"},
		.advised = true,
	},
	/* The neighbour has more tasks than CPUs and waits longer than the service does. */
	{
		.name = "neighbour-waits",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/batch", 12), .comm = "worker", .burn_us = 6000, .sleep_us = 20000}},
		.rule = "neighbour",
		.victim = "/app",
		.culprit = "/batch",
		.advised = true,
	},
	/*
	 * A request takes many time slices, so most of its waits begin with a preemption. A request
	 * runs for up to 60 ms, because computing takes up to twice as long while the other CPU is
	 * busy. The limit of the rule is 200 ms.
	 */
	{
		.name = "long-requests",
		.loads = {{LOAD("/app", 1), .comm = "service", .burn_us = 30000,
			   .sleep_us = 150000},
			  {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.victim = "/app",
		.culprit = "/batch",
		.advised = true,
	},
	{
		.name = "own-threads",
		.loads = {{LOAD("/app", 7), SERVICE}},
		.rule = "same_group",
		.victim = "/app",
		.culprit = "/app",
	},
	{
		.name = "fifo",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/", 2), .comm = "rtjob", .burn_us = 10000, .sleep_us = 10000,
			   .policy = SCHED_FIFO, .priority = 50}},
		.rule = "realtime",
		.victim = "/app",
		.culprit = "rtjob",
		.words = {"rtjob", "SCHED_FIFO", "50"},
	},
	/*
	 * After the advice removes the real-time policy, the task still has the weight of its
	 * cgroup.
	 */
	{
		.name = "realtime-cgroup",
		.loads = {{LOAD("/web/app", 2), SERVICE},
			  {LOAD("/sys/agent", 2), .comm = "agent", .burn_us = 12000, .sleep_us = 6000,
			   .policy = SCHED_RR, .priority = 5}},
		.rule = "realtime",
		.victim = "/web/app",
		.culprit = "agent",
		.words = {"SCHED_RR", "/sys/agent"},
		.advised = true,
	},
	{
		.name = "deadline",
		.loads = {{LOAD("/app", 4), SERVICE},
			  {LOAD("/", 1), .comm = "dljob", .burn_us = 8000, .sleep_us = 12000,
			   .policy = SCHED_DEADLINE}},
		.rule = "realtime",
		.victim = "/app",
		.culprit = "dljob",
		.words = {"dljob", "SCHED_DEADLINE"},
	},
	{
		.name = "nice",
		.loads = {{LOAD("/app", 2), SERVICE, .nice = 19},
			  {LOAD("/app", 3), .comm = "builder", BUSY}},
		.rule = "nice",
		.victim = "/app",
		.culprit = "builder",
		.words = {"service", "nice 19", "builder"},
	},
	{
		.name = "idle-policy",
		.loads = {{LOAD("/app", 2), SERVICE, .policy = SCHED_IDLE},
			  {LOAD("/app", 2), .comm = "builder", BUSY}},
		.rule = "sched_idle",
		.victim = "/app",
		.culprit = "builder",
		.words = {"service", "SCHED_IDLE", "builder"},
	},
	/* Waits of the starved task are longer than a window. */
	{
		.name = "starved",
		.loads = {{LOAD("/app", 1), SERVICE, .policy = SCHED_IDLE, ON_CPU_1},
			  {LOAD("/app", 2), .comm = "builder", BUSY, ON_CPU_1},
			  {LOAD("/other", 1), .comm = "burner", BUSY, .cpu = 1}},
		.rule = "sched_idle",
		.victim = "/app",
		.culprit = "builder",
		.words = {"CPU time in"},
		.advised = true,
	},
	{
		.name = "pinned",
		.loads = {{LOAD("/app", 2), SERVICE, ON_CPU_1},
			  {LOAD("/app", 1), .comm = "burner", BUSY, ON_CPU_1}},
		.rule = "affinity",
		.victim = "/app",
		.words = {"CPU 0", "idle"},
		.advised = true,
	},
	{
		.name = "cpuset",
		.settings = {CPUSET("/app", 1)},
		.loads = {{LOAD("/app", 4), SERVICE}},
		.lacking = incident_no_cpuset,
		.rule = "cpuset",
		.victim = "/app",
		.culprit = "cpuset.cpus",
		.words = {"CPU 0", "idle"},
		.advised = true,
	},
	{
		.name = "three-causes",
		.settings = {QUOTA("/app", 10000)},
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/batch", 1), .comm = "burner", BUSY, ON_CPU_1},
			  {LOAD("/", 1), .comm = "rtjob", .burn_us = 2000, .sleep_us = 18000,
			   .policy = SCHED_FIFO, .priority = 10}},
		.rule = "quota",
		.victim = "/app",
		.culprit = "/app",
		.advised = true,
	},
	{
		.name = "membarrier",
		.loads = {{LOAD("/app", 1), .comm = "service", ON_CPU_1,
			   .run = incident_registered},
			  {LOAD("/batch", 1), .comm = "barrier", .cpu = 1,
			   .run = incident_membarrier}},
		.rule = "ipi",
		.culprit = "barrier",
		.words = {"CPU 1"},
	},
	{
		.name = "tlb-shootdown",
		.loads = {{LOAD("/app", 1), SERVICE},
			  {LOAD("/batch", 1), .comm = "unmapper", .run = incident_unmap}},
		.lacking = incident_no_tlb_ipis,
		.rule = "ipi",
		.culprit = "unmapper",
	},
	{
		.name = "net-rx",
		.loads = {{LOAD("/app", 1), .comm = "service", .burn_us = 3000, .sleep_us = 3000,
			   ON_CPU_1},
			  {LOAD("/", 1), .comm = "sender", .cpu = 1, .run = incident_packets}},
		.begin = incident_rps_begin,
		.end = incident_rps_end,
		.rule = "softirq",
		.victim = "/app",
		.culprit = "NET_RX",
	},
	{
		.name = "ksoftirqd",
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1}},
		.module = "tasklet_period_us=1000 burn_us=900",
		.rule = "softirq",
		.victim = "/app",
		.culprit = "TASKLET",
		.words = {"CPU 1"},
	},
	{
		.name = "hardirq",
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1}},
		.module = "irq_period_us=1000 burn_us=300",
		.rule = "hardirq",
		.victim = "/app",
		.culprit = "trouble",
		.words = {"CPU 1"},
	},
	{
		.name = "timers",
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1}},
		.begin = incident_timers_begin,
		.end = incident_timers_end,
		.rule = "timer",
		.victim = "/app",
		.culprit = "timer",
		.words = {"CPU 1"},
	},
	{
		.name = "steal",
		.lacking = incident_no_steal,
		.rule = "steal",
	},
	{
		.name = "idle-exit",
		.loads = {{LOAD("/app", 2), .comm = "service", .burn_us = 20, .sleep_us = 1500}},
		.rule = "idle_exit",
		.victim = "/app",
	},
	{
		.name = "between-ticks",
		.loads = {{LOAD("/batch", 1), .comm = "hider", .run = incident_hide, ON_CPU_1}},
		.rule = "procstat_low",
		.words = {"CPU 1"},
	},
	{
		.name = "crowd",
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.begin = incident_crowd_begin,
		.end = incident_crowd_end,
		.rule = "neighbour",
		.victim = "/app",
		.culprit = "/batch",
	},
	{
		.name = "fair-share",
		.loads = {{LOAD("/app", 2), .comm = "solver", BUSY},
			  {LOAD("/batch", 2), .comm = "burner", BUSY}},
	},
	{
		.name = "less-than-share",
		.loads = {{LOAD("/app", 1), .comm = "service", .burn_us = 500, .sleep_us = 20000,
			   ON_CPU_1},
			  {LOAD("/batch", 1), .comm = "burner", BUSY, ON_CPU_1}},
		.spared = "/batch",
	},
	/*
	 * Runs on one CPU, because tasks that wait behind kernel code could otherwise use the
	 * second CPU.
	 */
	{
		.name = "short-lived-cgroup",
		.loads = {{LOAD("/app", 6), OFTEN},
			  {LOAD("/batch", 1), .comm = "cronjob", .burn_us = 12000, .forks_hz = 20}},
		.alone = true,
		.rule = "short_lived",
		.victim = "/app",
		.culprit = "/batch",
		.words = {"cronjob", "per second"},
		.advised = true,
	},
	{
		.name = "short-lived-root",
		.loads = {{LOAD("/app", 6), OFTEN},
			  {LOAD("/", 1), .comm = "cronjob", .burn_us = 12000, .forks_hz = 20}},
		.alone = true,
		.rule = "short_lived",
		.victim = "/app",
		.culprit = "cronjob",
		.words = {"cronjob", "per second"},
		.advised = true,
	},
	{
		.name = "fork-bomb",
		.loads = {{LOAD("/app", 3), OFTEN},
			  {LOAD("/batch", 1), .comm = "bomb", .burn_us = 10, .forks_hz = 300}},
		.alone = true,
		.rule = "short_lived",
		.victim = "/app",
		.culprit = "/batch",
		.words = {"bomb", "per second"},
		.advised = true,
	},
	{
		.name = "loop-worker",
		.loads = {{LOAD("/app", 3), LIGHT},
			  {LOAD("/batch", 1), .comm = "writer", .run = incident_loop_write}},
		.alone = true,
		.begin = incident_loop_begin,
		.end = incident_loop_end,
		.rule = "kernel_threads",
		.victim = "/app",
		.culprit = "loop",
	},
	{
		.name = "writeback",
		.loads = {{LOAD("/app", 3), LIGHT},
			  {LOAD("/batch", 1), .comm = "writer", .run = incident_ramdisk_write}},
		.alone = true,
		.begin = incident_ramdisk_begin,
		.end = incident_ramdisk_end,
		.rule = "kernel_threads",
		.victim = "/app",
		.culprit = "flush",
	},
	{
		.name = "work",
		.loads = {{LOAD("/app", 3), LIGHT}},
		.alone = true,
		.module = "cpu=0 work_period_us=15000 burn_us=9000",
		.rule = "kernel_threads",
		.victim = "/app",
		.culprit = "trouble",
		.words = {"kworker"},
	},
	{
		.name = "rcu",
		.loads = {{LOAD("/app", 3), LIGHT}},
		.alone = true,
		.module = "cpu=0 rcu_period_us=20000 burn_us=200",
		.rule = "softirq",
		.culprit = "RCU",
	},
	{
		.name = "no-preempt",
		.loads = {{LOAD("/app", 3), LIGHT},
			  {LOAD("/", 1), .comm = "staller", .run = incident_stall}},
		.alone = true,
		.module = "",
		.rule = "neighbour",
		.victim = "/app",
		.culprit = "staller",
		.stays = "advice: no policy ends a section without preemption",
	},
	{
		.name = "stop-machine",
		.loads = {{LOAD("/app", 3), LIGHT},
			  {LOAD("/batch", 1), .comm = "stopper", .run = incident_stop_machine}},
		.alone = true,
		.module = "cpu=0",
		.rule = "stop_machine",
		.victim = "/app",
		.culprit = "migration/0",
	},
};

const unsigned int nr_incidents = sizeof(incidents) / sizeof(incidents[0]);
