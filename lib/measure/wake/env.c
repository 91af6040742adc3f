/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads names, claimed exit latencies and counters of idle states, and the latency limit. */
#include "measure/wake/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"

/* Latency limit in the kernel without any requests (PM_QOS_CPU_LATENCY_DEFAULT_VALUE). */
#define NO_LIMIT_US 2000000000

static bool read_haltpoll(const struct wake_env *env)
{
	uint64_t poll_ns = 0;

	/* maximum time for which the cpuidle governor haltpoll spins before the CPU halts */
	if (sys_read_u64(env->root, "/sys/module/haltpoll/parameters/guest_halt_poll_ns", &poll_ns))
		poll_ns = 0;
	return (!strcmp(env->machine.idle.governor, "haltpoll") ||
		!strcmp(env->machine.idle.driver, "haltpoll")) &&
	       poll_ns;
}

static int64_t read_dma_latency(const char *root)
{
	int32_t limit_us = NO_LIMIT_US;
	int fd = sys_open(root, "/dev/cpu_dma_latency");
	bool known = fd >= 0 && read(fd, &limit_us, sizeof(limit_us)) == sizeof(limit_us);

	if (fd >= 0)
		close(fd);
	return known && limit_us < NO_LIMIT_US ? limit_us * (int64_t)NSEC_PER_USEC : -1;
}

void wake_env_begin(struct wake_env *env)
{
	cpuset_for_each(cpu, &env->measured) {
		struct wake_cpu_env *c = &env->cpus[cpu];

		if (c->counted) {
			memcpy(c->before, c->after, sizeof(c->before));
			continue;
		}
		/* skip a CPU that had no idle states when the measurement was opened */
		if (c->nr && !c->watch.nr)
			cpuidle_watch_open(&c->watch, env->root, cpu, env->misses);
		if (c->watch.nr != c->nr || cpuidle_watch_read(&c->watch, c->before))
			cpuidle_watch_close(&c->watch);
	}
}

int wake_env_open(struct wake_env *env, const char *root, unsigned int nr_cpus,
		  const struct cpuset *measured, bool misses, struct err *err)
{
	struct utsname name = {0};

	*env = (struct wake_env){.root = root, .misses = misses, .measured = *measured};
	env->cpus = calloc(nr_cpus, sizeof(*env->cpus));
	if (!env->cpus)
		return err_set(err, -ENOMEM, "out of memory");
	if (cpuidle_read(root, &env->machine.idle))
		strcpy(env->machine.idle.driver, "none");
	uname(&name);
	virt_read(root, name.machine, &env->machine.virt);
	machine_read(root, measured, &env->machine.machine);
	env->machine.haltpoll = read_haltpoll(env);
	env->machine.dma_latency_ns = read_dma_latency(root);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		int nr = cpuidle_states(root, cpu, env->cpus[cpu].states);

		env->cpus[cpu].nr = nr > 0 ? nr : 0;
		if (nr > (int)env->machine.nr_states)
			env->machine.nr_states = nr;
	}
	wake_env_begin(env);
	return 0;
}

void wake_env_end(struct wake_env *env)
{
	cpuset_for_each(cpu, &env->measured) {
		struct wake_cpu_env *c = &env->cpus[cpu];

		c->counted = c->watch.nr && !cpuidle_watch_read(&c->watch, c->after);
		/* close the files of an offline CPU; wake_env_begin() opens the files again */
		if (!c->counted)
			cpuidle_watch_close(&c->watch);
	}
}

void wake_env_close(struct wake_env *env)
{
	cpuset_for_each(cpu, &env->measured)
		if (env->cpus)
			cpuidle_watch_close(&env->cpus[cpu].watch);
	free(env->cpus);
	env->cpus = NULL;
}

const char *wake_env_name(const struct wake_env *env, unsigned int cpu, unsigned int state)
{
	return cpuidle_state_name(env->cpus[cpu].states, env->cpus[cpu].nr, state);
}
