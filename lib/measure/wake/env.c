/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads names, claims and counters of idle states, and what limits or hides them. */
#include "measure/wake/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "sys/file.h"

/* PM_QOS_CPU_LATENCY_DEFAULT_VALUE: no process asked for a limit. */
#define NO_LIMIT_US 2000000000

static bool read_haltpoll(const struct wake_env *env)
{
	uint64_t poll_ns = 0;

	/* The governor spins up to this long; the driver of the same name selects it. */
	if (sys_read_u64(env->root, "/sys/module/haltpoll/parameters/guest_halt_poll_ns", &poll_ns))
		poll_ns = 0;
	return (!strcmp(env->machine.idle.governor, "haltpoll") ||
		!strcmp(env->machine.idle.driver, "haltpoll")) &&
	       poll_ns;
}

static int64_t read_dma_latency(const char *root)
{
	int32_t limit_us;
	int64_t ns = -1;
	int fd = sys_open(root, "/dev/cpu_dma_latency");

	if (fd < 0)
		return -1;
	if (read(fd, &limit_us, sizeof(limit_us)) == sizeof(limit_us) && limit_us < NO_LIMIT_US)
		ns = (int64_t)limit_us * (int64_t)NSEC_PER_USEC;
	close(fd);
	return ns;
}

int wake_env_open(struct wake_env *env, const char *root, unsigned int nr_cpus, struct err *err)
{
	struct utsname name = {0};

	memset(env, 0, sizeof(*env));
	env->root = root;
	env->nr_cpus = nr_cpus;
	env->cpus = calloc(nr_cpus, sizeof(*env->cpus));
	if (!env->cpus)
		return err_set(err, -ENOMEM, "out of memory");
	/* A kernel without cpuidle has no driver either. */
	if (cpuidle_read(root, &env->machine.idle))
		strcpy(env->machine.idle.driver, "none");
	uname(&name);
	virt_read(root, name.machine, &env->machine.virt);
	env->machine.haltpoll = read_haltpoll(env);
	env->machine.dma_latency_ns = read_dma_latency(root);
	wake_env_before(env);
	return 0;
}

void wake_env_machine(struct wake_env *env, const struct cpuset *cpus)
{
	machine_read(env->root, cpus, &env->machine.machine);
}

static int read_states(const struct wake_env *env, unsigned int cpu, struct cpuidle_state *states)
{
	int nr = cpuidle_states(env->root, cpu, states);

	if (env->misses)
		cpuidle_misses(env->root, cpu, states, nr);
	return nr;
}

static void read_before(const struct wake_env *env, unsigned int cpu)
{
	struct wake_cpu_env *c = &env->cpus[cpu];
	struct cpuidle_state now[CPUIDLE_MAX_STATES];
	int nr = read_states(env, cpu, now);

	/* A CPU that is offline for now keeps the names of its states. */
	if (nr > 0) {
		memcpy(c->before, now, nr * sizeof(*now));
		c->nr = nr;
	}
}

static void count_states(struct wake_env *env)
{
	env->machine.nr_states = 0;
	for (unsigned int cpu = 0; cpu < env->nr_cpus; cpu++)
		if ((unsigned int)env->cpus[cpu].nr > env->machine.nr_states)
			env->machine.nr_states = env->cpus[cpu].nr;
}

void wake_env_before(struct wake_env *env)
{
	for (unsigned int cpu = 0; cpu < env->nr_cpus; cpu++)
		read_before(env, cpu);
	count_states(env);
}

void wake_env_after(struct wake_env *env)
{
	for (unsigned int cpu = 0; cpu < env->nr_cpus; cpu++) {
		struct wake_cpu_env *c = &env->cpus[cpu];

		/* A CPU that went offline has no counters: what it did is unknown. */
		c->counted = c->nr && read_states(env, cpu, c->after) == c->nr;
	}
}

void wake_env_next(struct wake_env *env)
{
	for (unsigned int cpu = 0; cpu < env->nr_cpus; cpu++) {
		struct wake_cpu_env *c = &env->cpus[cpu];

		if (c->counted)
			memcpy(c->before, c->after, sizeof(c->before));
		else
			read_before(env, cpu);
	}
	count_states(env);
}

void wake_env_close(struct wake_env *env)
{
	free(env->cpus);
	env->cpus = NULL;
}

const char *wake_env_name(const struct wake_env *env, unsigned int cpu, unsigned int state)
{
	const struct wake_cpu_env *c = &env->cpus[cpu];

	if ((int)state < c->nr)
		return c->before[state].name;
	/* Without a driver the idle loop reports 1, or 0 when it was told to poll. */
	return c->nr ? "unknown" : state ? arch_idle_name() : "POLL";
}

bool wake_env_claim(const struct wake_env *env, unsigned int cpu, unsigned int state,
		    uint64_t *ret_claimed_ns)
{
	const struct wake_cpu_env *c = &env->cpus[cpu];

	/* POLL has no exit latency; its 0 is no claim. */
	if ((int)state >= c->nr || c->before[state].polls)
		return false;
	*ret_claimed_ns = c->before[state].latency_ns;
	return true;
}
