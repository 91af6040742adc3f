/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Creates the cgroups and tasks of an incident and loads its kernel module. */
#include "incidents.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "truth.h"

#define MAX_TASKS   64
#define MAX_CGROUPS 16
#define MODULE	    "/modules/trouble.ko"

static pid_t tasks[MAX_TASKS];
static int nr_tasks;
static char *made[MAX_CGROUPS];
static int nr_made;

static void make_cgroup(const char *path)
{
	char parent[256];
	char *slash;

	for (int i = 0; i < nr_made; i++)
		if (!strcmp(made[i], path))
			return;
	if (!strcmp(path, "/"))
		return;
	snprintf(parent, sizeof(parent), "%s", path);
	slash = strrchr(parent, '/');
	*slash = '\0';
	if (slash > parent) {
		make_cgroup(parent);
		if (cgroups_v2() &&
		    !cgroups_write(parent, "cgroup.subtree_control", "+cpu +cpuset"))
			live_fail_all("%s: no controllers for children: %s", parent,
				      strerror(errno));
	}
	if (nr_made == MAX_CGROUPS || !cgroups_mkdir(path))
		live_fail_all("cannot make cgroup %s: %s", path, strerror(errno));
	made[nr_made++] = strdup(path);
}

static void set(const struct incident_setting *setting)
{
	const char *file = cgroups_v2() ? setting->v2_file : setting->v1_file;
	const char *value = cgroups_v2() ? setting->v2_value : setting->v1_value;

	make_cgroup(setting->cgroup);
	if (!cgroups_write(setting->cgroup, file, value))
		live_fail_all("cannot set %s of %s: %s", file, setting->cgroup, strerror(errno));
}

static void burn_once(const void *arg)
{
	const struct incident_load *load = arg;

	/* A process that computes for long would still run in the next incident. */
	if (load->burn_us > 100000)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	truth_burn_in_turns(load->burn_us * NSEC_PER_USEC);
}

void incident_fork_every(uint64_t period_ns, void (*child)(const void *arg), const void *arg)
{
	uint64_t next = clock_mono_ns();

	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		if (!fork()) {
			child(arg);
			_exit(0);
		}
		next += period_ns;
		truth_sleep_until(next);
	}
}

/*
 * Argument of sched_setattr(2). This file defines struct deadline_attr, because the kernel's header
 * and libc both define struct sched_param.
 */
struct deadline_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static bool set_policy(const struct incident_load *load)
{
	struct sched_param param = {.sched_priority = load->priority};
	/*
	 * The deadline runtime must be long enough for computing, which takes up to twice as long
	 * while the other CPU is busy.
	 */
	struct deadline_attr attr = {
		.size = sizeof(attr),
		.policy = SCHED_DEADLINE,
		.runtime_ns = (load->burn_us + load->sleep_us) * NSEC_PER_USEC * 4 / 5,
		.deadline_ns = (load->burn_us + load->sleep_us) * NSEC_PER_USEC,
		.period_ns = (load->burn_us + load->sleep_us) * NSEC_PER_USEC,
	};

	if (load->policy == SCHED_DEADLINE)
		return !syscall(SYS_sched_setattr, 0, &attr, 0);
	return !load->policy || !sched_setscheduler(0, load->policy, &param);
}

static bool set_affinity(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
		if (!cpu || i == cpu - 1)
			CPU_SET(i, &cpus);
	return !sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void __attribute__((noreturn)) task_main(const struct incident_load *load, int nr)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1UL);
	prctl(PR_SET_NAME, load->comm);
	if ((load->session && setsid() < 0) || !set_affinity(load->cpu) ||
	    !cgroups_enter(strcmp(load->cgroup, "/") ? load->cgroup : "", 0) ||
	    setpriority(PRIO_PROCESS, 0, load->nice) || !set_policy(load)) {
		fprintf(stderr, "# %s: %s\n", load->comm, strerror(errno));
		_exit(1);
	}
	/*
	 * Tasks of the same load start at different times, so that two tasks do not wake up at the
	 * same time.
	 */
	truth_sleep_until(clock_mono_ns() + (uint64_t)nr * 777 * NSEC_PER_USEC);
	if (load->run)
		load->run();
	if (load->forks_hz)
		incident_fork_every(NSEC_PER_SEC / load->forks_hz, burn_once, load);
	for (;;) {
		truth_burn_in_turns(load->burn_us * NSEC_PER_USEC);
		/*
		 * The advice of a finding may change the scheduling policy of the task.
		 * sched_yield() sleeps until the next period only under SCHED_DEADLINE.
		 */
		if (load->policy == SCHED_DEADLINE && sched_getscheduler(0) == SCHED_DEADLINE)
			sched_yield();
		else if (load->sleep_us)
			truth_sleep_until(clock_mono_ns() + load->sleep_us * NSEC_PER_USEC);
	}
}

static void start(const struct incident_load *load)
{
	make_cgroup(load->cgroup);
	for (int i = 0; i < load->nr; i++) {
		pid_t pid = fork();

		if (!pid)
			task_main(load, i);
		if (pid < 0 || nr_tasks == MAX_TASKS)
			live_fail_all("cannot start %s", load->comm);
		tasks[nr_tasks++] = pid;
	}
}

static void load_module(const char *parameters)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		live_fail_all("cannot load %s %s: %s", MODULE, parameters, strerror(errno));
	close(fd);
}

void incident_cpus(int nr)
{
	if (!live_write("/sys/devices/system/cpu/cpu1/online", nr > 1 ? "1" : "0"))
		live_fail_all("cannot change CPU 1: %s", strerror(errno));
}

void incident_begin(const struct incident *incident)
{
	fflush(stdout);
	for (int i = 0; i < INCIDENT_SETTINGS && incident->settings[i].cgroup; i++)
		set(&incident->settings[i]);
	if (incident->begin)
		incident->begin();
	if (incident->module)
		load_module(incident->module);
	for (int i = 0; i < INCIDENT_LOADS && incident->loads[i].cgroup; i++)
		start(&incident->loads[i]);
	live_sleep_ms(incident->settle_ms ?: 300);
}

void incident_end(const struct incident *incident)
{
	for (int i = 0; i < nr_tasks; i++)
		kill(tasks[i], SIGKILL);
	while (nr_tasks)
		waitpid(tasks[--nr_tasks], NULL, 0);
	if (incident->module)
		syscall(SYS_delete_module, "trouble", O_NONBLOCK);
	if (incident->end)
		incident->end();
	live_sleep_ms(50);
	while (nr_made) {
		char *cgroup = made[--nr_made];

		if (!cgroups_remove(cgroup))
			live_fail_all("cannot remove cgroup %s: %s", cgroup, strerror(errno));
		free(cgroup);
	}
}
