/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forces idle states through cpuidle's `disable` files and takes cores offline, through the journal. */
#include "measure/wake/force.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sys/cpu.h"
#include "sys/cpuidle.h"

bool wake_force_wanted(const struct wake_force *force)
{
	return force->state || force->deepest || force->alone;
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
	int nr = cpuidle_states(root, cpu, states), wanted, rc = 0;

	if (nr < 0)
		return err_set(err, nr, "cannot read the idle states of CPU %u: %s", cpu,
			       strerror(-nr));
	if (!nr)
		return err_unsupported(
			err, -EOPNOTSUPP,
			"run on a machine with a cpuidle driver (see subtick doctor); a "
			"guest often has none",
			"CPU %u has no cpuidle driver, so no idle state can be chosen", cpu);
	wanted = find_state(states, nr, name, cpu, err);
	if (wanted < 0)
		return wanted;
	for (int i = 0; i < nr && !rc; i++) {
		bool off = force->state ? i != wanted : i > wanted;
		char path[128];

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%u/cpuidle/state%d/disable", cpu, i);
		/* With --deepest, shallower states that the user had disabled stay disabled. */
		if (off || i == wanted)
			rc = journal_set(journal, path, off ? "1" : "0", err);
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
