/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* List of the incidents: their loads, and the names that the first finding must contain. */
#include "incidents.h"

#include <sched.h>
#include <stddef.h>

const struct incident incidents[] = {
	{
		.name = "quota",
		.settings = {QUOTA("/app", 15000)},
		.loads = {{LOAD("/app", 2), SERVICE}},
		.rule = "quota",
		.culprit = "/app",
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
	},
	{
		.name = "neighbour",
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.culprit = "/batch",
	},
	/*
	 * Advice for only one busy cgroup would not help: the other would take the CPU time that
	 * the first loses.
	 */
	{
		.name = "two-neighbours",
		.settings = {WEIGHT("/app", 1, 10)},
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/one", 2), .comm = "burner", BUSY},
			  {LOAD("/two", 2), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.words = {"/one", "/two", "of /app only"},
	},
	/* The neighbour has more tasks than CPUs and waits longer than the service does. */
	{
		.name = "neighbour-waits",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/batch", 12), .comm = "worker", .burn_us = 6000,
			   .sleep_us = 20000}},
		.rule = "neighbour",
		.culprit = "/batch",
	},
	/*
	 * A request takes many time slices, so most waits of the service begin with a preemption. A
	 * request runs for at most 60 ms, so the service does not count as CPU-bound (200 ms).
	 */
	{
		.name = "long-requests",
		.loads = {{LOAD("/app", 1), .comm = "service", .burn_us = 30000,
			   .sleep_us = 150000},
			  {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.culprit = "/batch",
	},
	{
		.name = "own-threads",
		.loads = {{LOAD("/app", 7), SERVICE}},
		.rule = "same_group",
		.culprit = "/app",
		.unadvised = true,
	},
	{
		.name = "fifo",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/", 2), .comm = "rtjob", .burn_us = 10000, .sleep_us = 10000,
			   .policy = SCHED_FIFO, .priority = 50}},
		.rule = "realtime",
		.culprit = "rtjob",
		.words = {"rtjob", "SCHED_FIFO", "50"},
	},
	/*
	 * The advice removes the real-time policy of the tasks "agent". The tasks then still have
	 * the weight of their cgroup.
	 */
	{
		.name = "realtime-cgroup",
		.loads = {{LOAD("/web/app", 2), SERVICE},
			  {LOAD("/sys/agent", 2), .comm = "agent", .burn_us = 12000,
			   .sleep_us = 6000, .policy = SCHED_RR, .priority = 5}},
		.rule = "realtime",
		.victim = "/web/app",
		.culprit = "agent",
		.words = {"SCHED_RR", "/sys/agent"},
	},
	{
		.name = "deadline",
		.loads = {{LOAD("/app", 4), SERVICE},
			  {LOAD("/", 1), .comm = "dljob", .burn_us = 8000, .sleep_us = 12000,
			   .policy = SCHED_DEADLINE}},
		.rule = "realtime",
		.culprit = "dljob",
		.words = {"dljob", "SCHED_DEADLINE"},
	},
	{
		.name = "nice",
		.loads = {{LOAD("/app", 2), SERVICE, .nice = 19},
			  {LOAD("/app", 3), .comm = "builder", BUSY}},
		.rule = "nice",
		.culprit = "builder",
		.words = {"service", "nice 19", "builder"},
	},
	{
		.name = "idle-policy",
		.loads = {{LOAD("/app", 2), SERVICE, .policy = SCHED_IDLE},
			  {LOAD("/app", 2), .comm = "builder", BUSY}},
		.rule = "sched_idle",
		.culprit = "builder",
		.words = {"service", "SCHED_IDLE", "builder"},
	},
	/*
	 * Each wait of the starved task, the service, is longer than a window and begins before the
	 * window.
	 */
	{
		.name = "starved",
		.loads = {{LOAD("/app", 1), SERVICE, .policy = SCHED_IDLE, ON_CPU_1},
			  {LOAD("/app", 2), .comm = "builder", BUSY, ON_CPU_1},
			  {LOAD("/other", 1), .comm = "burner", BUSY, .cpu = 1}},
		.rule = "sched_idle",
		.culprit = "builder",
		.words = {"CPU time in"},
		.settle_ms = 2100,
	},
	{
		.name = "pinned",
		.loads = {{LOAD("/app", 2), SERVICE, ON_CPU_1},
			  {LOAD("/app", 1), .comm = "burner", BUSY, ON_CPU_1}},
		.rule = "affinity",
		.words = {"CPU 0", "idle"},
	},
	{
		.name = "cpuset",
		.settings = {CPUSET("/app", 1)},
		.loads = {{LOAD("/app", 4), SERVICE}},
		.lacking = incident_no_cpuset,
		.rule = "cpuset",
		.culprit = "cpuset.cpus",
		.words = {"CPU 0", "idle"},
	},
	{
		.name = "three-causes",
		.settings = {QUOTA("/app", 10000)},
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/batch", 1), .comm = "burner", BUSY, ON_CPU_1},
			  {LOAD("/", 1), .comm = "rtjob", .burn_us = 2000, .sleep_us = 18000,
			   .policy = SCHED_FIFO, .priority = 10}},
		.rule = "quota",
		.culprit = "/app",
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
		.victim = "",
		.unadvised = true,
	},
	{
		.name = "tlb-shootdown",
		.loads = {{LOAD("/app", 1), .comm = "service", ON_CPU_1, .run = incident_protect}},
		.lacking = incident_no_tlb_ipis,
		.rule = "ipi",
		.culprit = "jit",
		.words = {"CPU 1"},
		.unadvised = true,
	},
	{
		.name = "net-rx",
		.loads = {{LOAD("/app", 1), .comm = "service", .burn_us = 3000, .sleep_us = 3000,
			   ON_CPU_1},
			  {LOAD("/", 1), .comm = "sender", .cpu = 1, .run = incident_packets}},
		.begin = incident_rps_begin,
		.end = incident_rps_end,
		.rule = "softirq",
		.culprit = "NET_RX",
		.unadvised = true,
	},
	{
		.name = "ksoftirqd",
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1}},
		.module = "tasklet_period_us=1000 burn_us=900",
		.rule = "softirq",
		.culprit = "TASKLET",
		.words = {"CPU 1"},
		.unadvised = true,
	},
	{
		.name = "hardirq",
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1}},
		.module = "irq_period_us=1000 burn_us=300",
		.rule = "hardirq",
		.culprit = "trouble",
		.words = {"CPU 1"},
	},
	{
		.name = "timers",
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1}},
		.begin = incident_timers_begin,
		.end = incident_timers_end,
		.rule = "timer",
		.culprit = "timer",
		.words = {"CPU 1"},
		.unadvised = true,
	},
	{
		.name = "between-ticks",
		.loads = {{LOAD("/batch", 1), .comm = "hider", .run = incident_hide, ON_CPU_1}},
		.rule = "procstat_low",
		.words = {"CPU 1"},
		.victim = "",
		.unadvised = true,
	},
	{
		.name = "crowd",
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.begin = incident_crowd_begin,
		.end = incident_crowd_end,
		.rule = "neighbour",
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
	/* Only one CPU is online: a task that waits behind kernel code could use a second CPU. */
	{
		.name = "short-lived-cgroup",
		.loads = {{LOAD("/app", 6), OFTEN},
			  {LOAD("/batch", 1), .comm = "cronjob", .burn_us = 12000, .forks_hz = 20}},
		.alone = true,
		.rule = "short_lived",
		.culprit = "/batch",
		.words = {"cronjob", "per second"},
	},
	{
		.name = "short-lived-root",
		.loads = {{LOAD("/app", 6), OFTEN},
			  {LOAD("/", 1), .comm = "cronjob", .burn_us = 12000, .forks_hz = 20}},
		.alone = true,
		.rule = "short_lived",
		.culprit = "cronjob",
		.words = {"cronjob", "per second"},
	},
	/*
	 * When the window ends, all shells and compilers have exited. Only make, the parent of the
	 * shells, still runs.
	 */
	{
		.name = "build",
		.loads = {{LOAD("/app", 6), OFTEN},
			  {LOAD("/", 1), .comm = "make", .run = incident_build}},
		.alone = true,
		.rule = "short_lived",
		.culprit = "cc1",
		.words = {"started by make"},
	},
	{
		.name = "fork-bomb",
		.loads = {{LOAD("/app", 3), OFTEN},
			  {LOAD("/batch", 1), .comm = "bomb", .run = incident_fork_bomb}},
		.alone = true,
		.rule = "short_lived",
		.culprit = "/batch",
		.words = {"bomb", "per second"},
		.figure = "short-lived processes of /batch (%lf",
		.counter = "processes %lf",
	},
	/*
	 * The writer is no culprit. Requests are short, so the writer waits little for the service.
	 * Requests are frequent, so the service uses more CPU time than the writer.
	 */
	{
		.name = "loop-worker",
		.loads = {{LOAD("/app", 4), .comm = "service", .burn_us = 1000, .sleep_us = 9000},
			  {LOAD("/batch", 1), .comm = "writer", .run = incident_loop_write}},
		.alone = true,
		.begin = incident_loop_begin,
		.end = incident_loop_end,
		.rule = "kernel_threads",
		.culprit = "loop",
		.unadvised = true,
	},
	{
		.name = "writeback",
		.loads = {{LOAD("/app", 3), LIGHT},
			  {LOAD("/batch", 1), .comm = "writer", .run = incident_ramdisk_write}},
		.alone = true,
		.begin = incident_ramdisk_begin,
		.end = incident_ramdisk_end,
		.rule = "kernel_threads",
		.culprit = "kworker",
		.words = {"wb_workfn"},
		.unadvised = true,
	},
	{
		.name = "work",
		.loads = {{LOAD("/app", 3), LIGHT}},
		.alone = true,
		.module = "cpu=0 work_period_us=15000 burn_us=9000",
		.rule = "kernel_threads",
		.culprit = "trouble",
		.words = {"kworker"},
		.unadvised = true,
	},
	{
		.name = "rcu",
		.loads = {{LOAD("/app", 3), LIGHT}},
		.alone = true,
		.module = "cpu=0 rcu_period_us=20000 burn_us=200",
		.rule = "softirq",
		.culprit = "RCU",
		.victim = "",
		.unadvised = true,
	},
	{
		.name = "no-preempt",
		.loads = {{LOAD("/app", 3), LIGHT},
			  {LOAD("/", 1), .comm = "staller", .run = incident_stall}},
		.alone = true,
		.module = "",
		.rule = "neighbour",
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
		.culprit = "migration/0",
		.unadvised = true,
	},
	/* Removing the quota of only one of /pod and /pod/app would not end the incident. */
	{
		.name = "quota-nested",
		.settings = {QUOTA("/pod", 20000), QUOTA("/pod/app", 20000)},
		.loads = {{LOAD("/pod/app", 2), SERVICE}},
		.rule = "quota",
		.victim = "/pod/app",
		.culprit = "/pod",
	},
	/* A cgroup with weight 1 still waits after cpu.idle is set for the neighbour. */
	{
		.name = "starved-weight",
		.settings = {WEIGHT("/app", 1, 2), WEIGHT("/batch", 10000, 102400)},
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1},
			  {LOAD("/batch", 2), .comm = "burner", BUSY, ON_CPU_1},
			  {LOAD("/other", 1), .comm = "solver", BUSY, .cpu = 1}},
		.rule = "neighbour",
		.culprit = "/batch",
	},
	/*
	 * Simulates threads that spin on a lock of the service. The threads have the name of the
	 * service.
	 */
	{
		.name = "spinners",
		.loads = {{LOAD("/app", 2), .comm = "service", .run = incident_spinners}},
		.rule = "same_group",
		.culprit = "/app: service",
		.words = {"never sleeps"},
	},
	/* The victim starts a process for each request. */
	{
		.name = "cgi",
		.loads = {{LOAD("/app", 1), .comm = "httpd", .burn_us = 8000, .forks_hz = 20},
			  {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.culprit = "/batch",
	},
	/*
	 * The gzip processes wait longer than the service, but they wait for each other and are no
	 * victims.
	 */
	{
		.name = "cron-shell",
		.loads = {{LOAD("/app", 3), OFTEN},
			  {LOAD("/cron", 1), .comm = "crond", .run = incident_cron}},
		.alone = true,
		.rule = "short_lived",
		.culprit = "/cron: gzip",
	},
	/* The last process of each shell has another parent (PID 1) than the processes before. */
	{
		.name = "backup",
		.loads = {{LOAD("/app", 6), OFTEN},
			  {LOAD("/", 1), .comm = "crond", .run = incident_backup}},
		.alone = true,
		.rule = "short_lived",
		.culprit = "gzip",
		.words = {"started by crond"},
	},
	/* The culprits are threads, which were started by their process and not by its parent. */
	{
		.name = "thread-per-request",
		.loads = {{LOAD("/app", 6), OFTEN},
			  {LOAD("/", 1), .comm = "java", .run = incident_thread_starter}},
		.alone = true,
		.rule = "short_lived",
		.culprit = "java",
		.words = {"started by java"},
	},
	/* The neighbour waits longer for its quota than the service waits for the neighbour. */
	{
		.name = "neighbour-quota",
		.settings = {QUOTA("/batch", 120000)},
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 4), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.culprit = "/batch",
	},
	/* Autogroup: the kernel schedules each session in the root cgroup as a group of its own. */
	{
		.name = "session",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/", 3), .comm = "hog", BUSY, .session = true}},
		.rule = "neighbour",
		.culprit = "hog",
	},
	/* The service is the only task on CPU 1, so each other finding would be wrong. */
	{
		.name = "steal",
		.loads = {{LOAD("/app", 1), .comm = "service", .burn_us = 6000, .sleep_us = 6000,
			   ON_CPU_1}},
		.module = "steal_period_us=7000 burn_us=3000",
		.lacking = incident_no_nmi,
		.rule = "steal",
		.culprit = "hypervisor",
		.victim = "",
		.words = {"CPU 1"},
		.figure = "the hypervisor takes %lf",
		.counter = "cpu1 %*s %*s %*s %*s %*s %*s %*s %lf",
		.sole = true,
		.unadvised = true,
	},
};

const unsigned int nr_incidents = sizeof(incidents) / sizeof(incidents[0]);
