/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Enables and disables idle states, sets energy preferences and takes CPUs offline. The journal
 * restores all changed settings.
 */
#include "measure/wake/force.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/cpu.h"
#include "host/cpuidle.h"
#include "host/file.h"

#define CPU_DIR "/sys/devices/system/cpu/cpu%u"

bool wake_force_wanted(const struct wake_force *force)
{
	return force->state || force->deepest || force->each || force->preferences ||
	       force->alone;
}

static int set_state(struct journal *journal, unsigned int cpu, int state, bool off,
		     struct err *err)
{
	return journal_set(journal, SYS_PATH(CPU_DIR "/cpuidle/state%d/disable", cpu, state),
			   off ? "1" : "0", err);
}

/* Returns the number of idle states of a CPU, or an error if there is no cpuidle driver. */
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

/*
 * Returns the index of the idle state @name, or -ENOENT with the names of all idle states in @err.
 */
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

		/* with --deepest, shallower states that were disabled before stay disabled */
		if (off || i == wanted)
			rc = set_state(journal, cpu, i, off, err);
	}
	return rc;
}

static int take_offline(struct journal *journal, const char *root, const struct cpuset *measured,
			unsigned int keep, struct err *err)
{
	struct cpuset online;
	int rc = cpu_set(root, CPU_ONLINE, &online, err);

	if (rc)
		return rc;
	cpuset_for_each(cpu, &online) {
		if (cpuset_has(measured, cpu) || cpu == keep)
			continue;
		rc = journal_set(journal, SYS_PATH(CPU_DIR "/online", cpu), "0", err);
		/* on many machines the boot CPU has no file "online" and stays online */
		if (rc && (cpu || rc != -ENOENT))
			return rc;
	}
	return 0;
}

int wake_force_apply(struct journal *journal, const char *root, const struct wake_force *force,
		     const struct cpuset *measured, unsigned int keep, struct err *err)
{
	int rc = 0;

	cpuset_for_each(cpu, measured)
		if (!rc && (force->state || force->deepest))
			rc = force_cpu(journal, root, force, cpu, err);
	return rc || !force->alone ? rc : take_offline(journal, root, measured, keep, err);
}

/*
 * Reads the energy performance preferences that a CPU supports, or on older CPUs the values of the
 * energy bias. Returns the number of preferences or values.
 */
static unsigned int read_preferences(const char *root, unsigned int cpu, struct wake_rounds *rounds)
{
	/* values of the energy bias with names in the kernel, from "performance" to "power" */
	static const char *const biases[] = {"0", "4", "6", "8", "15"};
	const char *path =
		SYS_PATH(CPU_DIR "/cpufreq/energy_performance_available_preferences", cpu);
	char text[256], *word, *rest;
	unsigned int nr = 0;

	rounds->file = "cpufreq/energy_performance_preference";
	if (sys_read_file(root, path, text, sizeof(text)) > 0) {
		word = strtok_r(text, " ", &rest);
		for (; word && nr < WAKE_MAX_PREFERENCES; word = strtok_r(NULL, " ", &rest))
			/* skip "default", which is an alias of another preference */
			if (strcmp(word, "default"))
				snprintf(rounds->values[nr++], WAKE_PREFERENCE, "%.31s", word);
		return nr;
	}
	rounds->file = "power/energy_perf_bias";
	path = SYS_PATH(CPU_DIR "/%s", cpu, rounds->file);
	for (; sys_exists(root, path) && nr < ARRAY_SIZE(biases); nr++)
		strcpy(rounds->values[nr], biases[nr]);
	return nr;
}

unsigned int wake_rounds_nr(const char *root, const struct wake_force *force,
			    const struct cpuset *cpus)
{
	unsigned int first = cpuset_count(cpus) ? cpuset_next(cpus, 0) : 0;
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	struct wake_rounds rounds;
	int nr;

	if (force->preferences)
		return read_preferences(root, first, &rounds) + 1;
	nr = cpuidle_states(root, first, states);
	return nr > 0 ? nr + 1 : 1;
}

static int open_preferences(struct wake_rounds *rounds, struct err *err)
{
	const char *path;
	int rc;

	cpuset_for_each(cpu, &rounds->cpus) {
		rounds->nr = read_preferences(rounds->root, cpu, rounds);
		if (!rounds->nr)
			return err_unsupported(
				err, -EOPNOTSUPP,
				"run on a machine with intel_pstate or amd-pstate in active mode, or "
				"with an Intel processor that has EPB",
				"CPU %u has neither an energy performance preference nor a bias", cpu);
		path = SYS_PATH(CPU_DIR "/%s", cpu, rounds->file);
		rc = sys_read_file(rounds->root, path, rounds->was[cpu], WAKE_PREFERENCE);
		if (rc < 0)
			return err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
	}
	return 0;
}

int wake_rounds_open(struct wake_rounds *rounds, struct blocks *memory, struct journal *journal,
		     const char *root, const struct wake_force *force, const struct cpuset *cpus,
		     struct err *err)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];

	*rounds = (struct wake_rounds){.journal = journal, .root = root, .cpus = *cpus};
	rounds->allowed = blocks_calloc(memory, cpuset_end(cpus), sizeof(*rounds->allowed));
	rounds->was = blocks_calloc(memory, cpuset_end(cpus), sizeof(*rounds->was));
	if (memory->failed)
		return err_set(err, -ENOMEM, "out of memory");
	if (force->preferences)
		return open_preferences(rounds, err);
	cpuset_for_each(cpu, cpus) {
		int nr = read_states(root, cpu, states, err);

		if (nr < 0)
			return nr;
		for (int i = 0; i < nr; i++)
			if (!states[i].disabled)
				rounds->allowed[cpu] |= 1u << i;
		if (nr > (int)rounds->nr)
			rounds->nr = nr;
	}
	return 0;
}

static int set_preference(const struct wake_rounds *rounds, unsigned int cpu, unsigned int round,
			  struct err *err)
{
	return journal_set(rounds->journal, SYS_PATH(CPU_DIR "/%s", cpu, rounds->file),
			   round < rounds->nr ? rounds->values[round] : rounds->was[cpu], err);
}

int wake_rounds_begin(struct wake_rounds *rounds, unsigned int round, struct err *err)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	int rc = 0;

	cpuset_for_each(cpu, &rounds->cpus) {
		int nr = rounds->file ? 0 : cpuidle_states(rounds->root, cpu, states);
		/* if a CPU lacks the idle state of the round, all its idle states stay enabled */
		uint16_t allowed = (int)round < nr ? 1u << round : rounds->allowed[cpu];

		if (rounds->file && !rc)
			rc = set_preference(rounds, cpu, round, err);
		/* first enable states: a CPU without an enabled idle state polls */
		for (int off = 0; off < 2; off++)
			for (int i = 0; i < nr && !rc; i++)
				if ((allowed >> i & 1) != off)
					rc = set_state(rounds->journal, cpu, i, off, err);
	}
	return rc;
}
