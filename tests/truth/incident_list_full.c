/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Second part of the list of incidents in incident_list.c, which runs only in the full test. */
#include "incidents.h"

#include <sched.h>
#include <stddef.h>

const struct incident full_incidents[] = {
	{
		.name = "quota-and-neighbour",
		.settings = {QUOTA("/app", 10000)},
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/batch", 1), .comm = "burner", BUSY, ON_CPU_1}},
		.rule = "quota",
		.culprit = "/app",
	},
	{
		.name = "neighbour-heavier",
		.settings = {WEIGHT("/batch", 600, 6144)},
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.culprit = "/batch",
		.words = {"of /batch is 6", "of /app only 10"},
	},
	{
		.name = "idle-exit",
		.loads = {{LOAD("/app", 2), .comm = "service", .burn_us = 20, .sleep_us = 1500}},
		.rule = "idle_exit",
		.unadvised = true,
	},
	{
		.name = "two-victims",
		.settings = {QUOTA("/app", 15000)},
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/web", 2), .comm = "web", .burn_us = 3000, .sleep_us = 12000},
			  {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "quota",
		.culprit = "/app",
	},
	{
		.name = "pod-sidecar",
		.loads = {{LOAD("/pods/one/app", 2), LIGHT},
			  {LOAD("/pods/one/proxy", 1), .comm = "proxy", .burn_us = 500,
			   .sleep_us = 2000},
			  {LOAD("/pods/two/job", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.culprit = "/pods/two",
		.words = {"/pods/one"},
		.victim = "",
	},
	{
		.name = "services",
		.loads = {{LOAD("/system/app", 2), SERVICE},
			  {LOAD("/system/log", 1), LIGHT},
			  {LOAD("/user/one/session", 3), .comm = "builder", BUSY}},
		.rule = "neighbour",
		.victim = "/system/app",
		.culprit = "/user/one/session",
		.words = {"builder"},
	},
	{
		.name = "pipeline",
		.loads = {{LOAD("/app", 1), .comm = "producer", ON_CPU_1,
			   .run = incident_pipeline}},
		.rule = "affinity",
		.words = {"CPU 0"},
	},
	{
		.name = "batch-policy",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/app", 3), .comm = "builder", BUSY, .policy = SCHED_BATCH}},
		.rule = "same_group",
		.culprit = "builder",
	},
	{
		.name = "nice-root",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/", 2), .comm = "hog", BUSY, .nice = -20}},
		.rule = "neighbour",
		.culprit = "hog",
	},
	{
		.name = "root-service",
		.loads = {{LOAD("/", 2), SERVICE}, {LOAD("/batch", 3), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.victim = "/",
		.culprit = "/batch",
		.words = {"service"},
	},
	{
		.name = "two-sessions",
		.loads = {{LOAD("/", 1), SERVICE, .session = true},
			  {LOAD("/", 3), .comm = "hog", BUSY, .session = true}},
		.rule = "same_group",
		.victim = "/",
		.culprit = "hog",
		.words = {"service"},
	},
	{
		.name = "cpuset-overlap",
		.settings = {CPUSET("/app", 1), CPUSET("/batch", 1)},
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/batch", 1), .comm = "burner", BUSY}},
		.lacking = incident_no_cpuset,
		.rule = "cpuset",
	},
	{
		.name = "two-priorities",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/", 2), .comm = "rtlow", .burn_us = 9000, .sleep_us = 9000,
			   .policy = SCHED_RR, .priority = 10},
			  {LOAD("/", 1), .comm = "rthigh", .burn_us = 300, .sleep_us = 9000,
			   .policy = SCHED_FIFO, .priority = 80}},
		.rule = "realtime",
		.culprit = "rtlow",
		.words = {"SCHED_RR"},
	},
	{
		.name = "collector",
		.loads = {{LOAD("/app", 1), .comm = "service", .run = incident_collector}},
		.rule = "same_group",
		.culprit = "gc",
	},
	{
		.name = "containers",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/", 1), .comm = "starter", .run = incident_containers}},
		.end = incident_containers_end,
		.rule = "short_lived",
		.culprit = "job",
		.words = {"starter", "cgroups"},
		.stays = "advice: in the guest 20 jobs pile up, the highest weight leaves some "
			 "waits",
	},
	{
		.name = "cpuset-nested",
		.settings = {CPUSET("/pod", 1), CPUSET("/pod/app", 1)},
		.loads = {{LOAD("/pod/app", 4), SERVICE}},
		.lacking = incident_no_cpuset,
		.rule = "cpuset",
		.victim = "/pod/app",
	},
	/*
	 * The service is one pinned task of /app. The six tasks "helper" of /app are not pinned,
	 * but use little CPU time.
	 */
	{
		.name = "hot-thread-pinned",
		.loads = {{LOAD("/app", 1), SERVICE, ON_CPU_1},
			  {LOAD("/app", 6), .comm = "helper", .burn_us = 20, .sleep_us = 200000},
			  {LOAD("/batch", 1), .comm = "burner", BUSY, ON_CPU_1}},
		.rule = "affinity",
		.words = {"CPU 0"},
	},
	{
		.name = "many-pinned",
		.loads = {{LOAD("/app", 1), .comm = "service", ON_CPU_1, .run = incident_threads}},
		.rule = "affinity",
		.words = {"CPU 0"},
	},
	/*
	 * In cgroup v1 a cgroup with tasks can have child cgroups, and tasks of the child cgroups
	 * compete with tasks of the parent cgroup.
	 */
	{
		.name = "below-victim",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/app/job", 3), .comm = "burner", BUSY}},
		.lacking = incident_needs_v1,
		.rule = "neighbour",
		.culprit = "/app/job",
	},
	{
		.name = "pollers",
		.loads = {{LOAD("/app", 1), LIGHT},
			  {LOAD("/poll", 10), .comm = "poller", .burn_us = 5, .sleep_us = 3500}},
		.alone = true,
		.rule = "timer",
		.culprit = "poller",
		.words = {"10 tasks"},
		.victim = "",
		.unadvised = true,
	},
	/*
	 * New processes start after the advice is applied, and the advice must also apply to the
	 * new processes.
	 */
	{
		.name = "cron-burst-root",
		.rule = "short_lived",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/", 1), .comm = "cronjob", .burn_us = 250000, .forks_hz = 4}},
		.words = {"cronjob"},
	},
	{
		.name = "tar-and-gzip",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/app", 1), .comm = "tar", BUSY},
			  {LOAD("/app", 1), .comm = "gzip", BUSY}},
		.rule = "same_group",
	},
	/*
	 * The five service tasks together use more CPU time than the task "builder", which never
	 * sleeps.
	 */
	{
		.name = "own-builder",
		.loads = {{LOAD("/app", 5), SERVICE}, {LOAD("/app", 1), .comm = "builder", BUSY}},
		.rule = "same_group",
		.culprit = "builder",
	},
	{
		.name = "ten-neighbours",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/n1", 1), .comm = "burner", BUSY},
			  {LOAD("/n2", 1), .comm = "burner", BUSY},
			  {LOAD("/n3", 1), .comm = "burner", BUSY},
			  {LOAD("/n4", 1), .comm = "burner", BUSY},
			  {LOAD("/n5", 1), .comm = "burner", BUSY},
			  {LOAD("/n6", 1), .comm = "burner", BUSY},
			  {LOAD("/n7", 1), .comm = "burner", BUSY},
			  {LOAD("/n8", 1), .comm = "burner", BUSY},
			  {LOAD("/n9", 1), .comm = "burner", BUSY},
			  {LOAD("/n10", 1), .comm = "burner", BUSY}},
		.rule = "neighbour",
		.words = {"other cgroups"},
	},
	{
		.name = "stress-root",
		.loads = {{LOAD("/app", 2), SERVICE}, {LOAD("/", 40), .comm = "stress", BUSY}},
		.rule = "neighbour",
		.culprit = "stress",
	},
	{
		.name = "root-hogs",
		.loads = {{LOAD("/", 2), SERVICE},
			  {LOAD("/", 2), .comm = "tar", BUSY},
			  {LOAD("/", 2), .comm = "gzip", BUSY},
			  {LOAD("/", 2), .comm = "find", BUSY}},
		.rule = "same_group",
		.victim = "/",
		.words = {"service"},
	},
	/* The tasks named "burner" wait longest, but a task that never sleeps is no victim. */
	{
		.name = "two-realtime",
		.loads = {{LOAD("/app", 2), SERVICE},
			  {LOAD("/one", 1), .comm = "rtone", .burn_us = 8000, .sleep_us = 10000,
			   .policy = SCHED_FIFO, .priority = 10},
			  {LOAD("/two", 1), .comm = "rttwo", .burn_us = 8000, .sleep_us = 10000,
			   .policy = SCHED_RR, .priority = 10},
			  {LOAD("/batch", 2), .comm = "burner", BUSY}},
		.rule = "realtime",
	},
	/*
	 * The hog runs on CPU 1, so the service runs mostly on CPU 0. Tasks of the service wait
	 * longer for each other than for the hog.
	 */
	{
		.name = "pinned-hog",
		.loads = {{LOAD("/app", 3), SERVICE},
			  {LOAD("/hog", 2), .comm = "hog", BUSY, ON_CPU_1}},
		.rule = "neighbour",
		.culprit = "/hog",
	},
	{
		/* The advice brings CPU 1 online, so few-cpus is the last incident of the list. */
		.name = "few-cpus",
		.loads = {{LOAD("/app", 4), SERVICE}},
		.alone = true,
		.rule = "same_group",
		.words = {"CPU 1 is offline"},
	},
};

const unsigned int nr_full_incidents = sizeof(full_incidents) / sizeof(full_incidents[0]);
