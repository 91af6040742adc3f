/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forces idle states through cpuidle's `disable` files and takes cores offline, through the journal. */
#include "measure/wake/force.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sys/cpu.h"
#include "sys/cpuidle.h"

bool wake_force_wanted(const struct wake_force *force)
{
	return force->state || force->deepest || force->each || force->alone;
}

static int set_state(struct journal *journal, unsigned int cpu, int state, bool off,
		     struct err *err)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpuidle/state%d/disable", cpu,
		 state);
	return journal_set(journal, path, off ? "1" : "0", err);
}

/* How many states the CPU has; an error if there is nothing to choose from. */
static int read_states(const char *root, unsigned int cpu, struct cpuidle_state *states,
		       struct err *err)
{
	int nr = cpuidle_states(root, cpu, states);

	if (nr < 0)
		return err_set(err, nr, "cannot read the idle states of CPU %u: %s", cpu,
			       strerror(-nr));
	if (!nr)
		return err_unsupported(
			err, -EOPNOTSUPP,
			"run on a machine with a cpuidle driver (see subtick doctor); a "
			"guest often has none",
			"CPU %u has no cpuidle driver, so no idle state can be chosen", cpu);
	return nr;
}

/* Index of the named state, or -ENOENT with the names there are. */
static int find_state(const struct cpuidle_state *states, int nr, const char *name,
		      unsigned int cpu, struct err *err)
{
	char list[128] = "";
	size_t len = 0;

	for (int i = 0; i < nr; i++) {
		if (!strcasecmp(states[i].name, name))
			return i;
		if (len < sizeof(list))
			len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					states[i].name);
	}
	return err_unsupported(err, -ENOENT, "name one of these, or choose another CPU with -C",
			       "CPU %u has no idle state %s; it has %s", cpu, name, list);
}

static int force_cpu(struct journal *journal, const char *root, const struct wake_force *force,
		     unsigned int cpu, struct err *err)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	const char *name = force->state ? force->state : force->deepest;
	int nr = read_states(root, cpu, states, err), wanted, rc = 0;

	if (nr < 0)
		return nr;
	wanted = find_state(states, nr, name, cpu, err);
	if (wanted < 0)
		return wanted;
	for (int i = 0; i < nr && !rc; i++) {
		bool off = force->state ? i != wanted : i > wanted;

		/* With --deepest, shallower states that the user had disabled stay disabled. */
		if (off || i == wanted)
			rc = set_state(journal, cpu, i, off, err);
	}
	return rc;
}

static int take_offline(struct journal *journal, const char *root, const struct cpuset *measured,
			unsigned int keep, struct err *err)
{
	struct cpuset online;
	unsigned int cpu;
	int rc;

	rc = cpu_set(root, CPU_ONLINE, &online, err);
	if (rc)
		return rc;
	cpuset_for_each(cpu, &online) {
		char path[64];

		if (cpuset_has(measured, cpu) || cpu == keep)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
		rc = journal_set(journal, path, "0", err);
		/* The boot CPU of many machines has no such file and stays online. */
		if (rc == -ENOENT && !cpu)
			rc = 0;
		if (rc)
			return rc;
	}
	return 0;
}

int wake_force_apply(struct journal *journal, const char *root, const struct wake_force *force,
		     const struct cpuset *measured, unsigned int keep, struct err *err)
{
	unsigned int cpu;
	int rc = 0;

	if (force->state || force->deepest)
		cpuset_for_each(cpu, measured) {
			rc = force_cpu(journal, root, force, cpu, err);
			if (rc)
				return rc;
		}
	return force->alone ? take_offline(journal, root, measured, keep, err) : 0;
}

unsigned int wake_rounds_nr(const char *root, const struct cpuset *cpus)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	int nr = cpuidle_states(root, cpuset_count(cpus) ? cpuset_next(cpus, 0) : 0, states);

	return nr > 0 ? nr + 1 : 1;
}

int wake_rounds_open(struct wake_rounds *rounds, struct journal *journal, const char *root,
		     const struct cpuset *cpus, struct err *err)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	unsigned int cpu;

	*rounds = (struct wake_rounds){.journal = journal, .root = root, .cpus = *cpus};
	rounds->allowed = calloc(cpuset_end(cpus), sizeof(*rounds->allowed));
	if (!rounds->allowed)
		return err_set(err, -ENOMEM, "out of memory");
	cpuset_for_each(cpu, cpus) {
		int nr = read_states(root, cpu, states, err);

		if (nr < 0)
			return nr;
		for (int i = 0; i < nr; i++)
			if (!states[i].disabled)
				rounds->allowed[cpu] |= 1u << i;
		if (nr > rounds->nr_states)
			rounds->nr_states = nr;
	}
	return 0;
}

/* A CPU of another kind may not have the state: there those stay that were allowed. */
static uint16_t allowed_in(const struct wake_rounds *rounds, unsigned int cpu, unsigned int round,
			   int nr)
{
	return (int)round < nr ? 1u << round : rounds->allowed[cpu];
}

int wake_rounds_begin(void *arg, unsigned int round, struct err *err)
{
	struct wake_rounds *rounds = arg;
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	unsigned int cpu;
	int rc = 0;

	cpuset_for_each(cpu, &rounds->cpus) {
		int nr = cpuidle_states(rounds->root, cpu, states);
		uint16_t allowed = allowed_in(rounds, cpu, round, nr);

		/* First what is allowed: a CPU without any state would poll meanwhile. */
		for (int i = 0; i < nr && !rc; i++)
			if (allowed >> i & 1)
				rc = set_state(rounds->journal, cpu, i, false, err);
		for (int i = 0; i < nr && !rc; i++)
			if (!(allowed >> i & 1))
				rc = set_state(rounds->journal, cpu, i, true, err);
	}
	return rc;
}

void wake_rounds_close(struct wake_rounds *rounds)
{
	free(rounds->allowed);
	*rounds = (struct wake_rounds){0};
}
