/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads cpuidle's sysfs files. */
#include "sys/cpuidle.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "sys/file.h"

int cpuidle_read(const char *root, struct cpuidle *ret_idle)
{
	struct cpuidle idle = {0};
	int rc;

	rc = sys_read_file(root, "/sys/devices/system/cpu/cpuidle/current_driver", idle.driver,
			   sizeof(idle.driver));
	if (rc < 0)
		return rc;
	/* The first file is in all kernels since 5.10; older ones have the second. */
	rc = sys_read_file(root, "/sys/devices/system/cpu/cpuidle/current_governor", idle.governor,
			   sizeof(idle.governor));
	if (rc < 0)
		rc = sys_read_file(root, "/sys/devices/system/cpu/cpuidle/current_governor_ro",
				   idle.governor, sizeof(idle.governor));
	if (rc < 0)
		idle.governor[0] = '\0';
	*ret_idle = idle;
	return 0;
}

static int state_text(const char *root, const char *dir, const char *name, char *buf, size_t size)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return sys_read_file(root, path, buf, size);
}

static int state_u64(const char *root, const char *dir, const char *name, uint64_t *ret_value)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return sys_read_u64(root, path, ret_value);
}

static int state_read(const char *root, const char *dir, struct cpuidle_state *state)
{
	uint64_t value;
	int rc;

	memset(state, 0, sizeof(*state));
	rc = state_text(root, dir, "name", state->name, sizeof(state->name));
	if (rc < 0)
		return rc;
	if (state_text(root, dir, "desc", state->desc, sizeof(state->desc)) < 0)
		state->desc[0] = '\0';
	rc = state_u64(root, dir, "latency", &value);
	if (rc)
		return rc;
	state->latency_ns = value * NSEC_PER_USEC;
	if (!state_u64(root, dir, "residency", &value)) {
		state->residency_ns = value * NSEC_PER_USEC;
		state->residency_known = true;
	}
	rc = state_u64(root, dir, "disable", &value);
	if (rc)
		return rc;
	state->disabled = value & 1;
	rc = state_u64(root, dir, "usage", &state->usage);
	if (rc)
		return rc;
	rc = state_u64(root, dir, "time", &value);
	if (rc)
		return rc;
	state->time_ns = value * NSEC_PER_USEC;
	/* The kernel's only polling state has this fixed name (drivers/cpuidle/poll_state.c). */
	state->polls = !strcmp(state->name, "POLL");
	return 0;
}

int cpuidle_states(const char *root, unsigned int cpu,
		   struct cpuidle_state states[CPUIDLE_MAX_STATES])
{
	char dir[96];
	int nr, rc;

	for (nr = 0; nr < CPUIDLE_MAX_STATES; nr++) {
		snprintf(dir, sizeof(dir), "/sys/devices/system/cpu/cpu%u/cpuidle/state%d", cpu,
			 nr);
		if (!sys_exists(root, dir))
			break;
		rc = state_read(root, dir, &states[nr]);
		if (rc < 0)
			return rc;
	}
	return nr;
}
