/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads cpuidle's sysfs files. */
#include "sys/cpuidle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void state_dir(unsigned int cpu, int state, char *buf, size_t size)
{
	snprintf(buf, size, "/sys/devices/system/cpu/cpu%u/cpuidle/state%d", cpu, state);
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

static uint64_t optional_u64(const char *root, const char *dir, const char *name)
{
	uint64_t value;

	return state_u64(root, dir, name, &value) ? CPUIDLE_UNKNOWN : value;
}

/* Without a driver the idle loop itself halts (state 1) or, when told to, polls (state 0). */
uint64_t cpuidle_poll_mask(const char *root, unsigned int cpu)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	int nr = cpuidle_states(root, cpu, states);
	uint64_t mask = 0;

	if (nr <= 0)
		return 1;
	for (int i = 0; i < nr; i++)
		mask |= (uint64_t)states[i].polls << i;
	return mask;
}

void cpuidle_misses(const char *root, unsigned int cpu, struct cpuidle_state *states, int nr)
{
	char dir[96];

	for (int i = 0; i < nr; i++) {
		state_dir(cpu, i, dir, sizeof(dir));
		states[i].above = optional_u64(root, dir, "above");
		states[i].below = optional_u64(root, dir, "below");
		states[i].rejected = optional_u64(root, dir, "rejected");
	}
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
	state->above = state->below = state->rejected = CPUIDLE_UNKNOWN;
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
		state_dir(cpu, nr, dir, sizeof(dir));
		if (!sys_exists(root, dir))
			break;
		rc = state_read(root, dir, &states[nr]);
		if (rc < 0)
			return rc;
	}
	return nr;
}

static int open_count(const char *root, unsigned int cpu, int state, const char *name)
{
	char dir[96], path[128];
	int fd;

	state_dir(cpu, state, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = sys_open(root, path);
	return fd == -EMFILE && sys_more_descriptors() ? sys_open(root, path) : fd;
}

void cpuidle_watch_open(struct cpuidle_watch *watch, const char *root, unsigned int cpu)
{
	watch->nr = 0;
	for (int i = 0; i < CPUIDLE_MAX_STATES; i++) {
		int usage = open_count(root, cpu, i, "usage");
		int time = open_count(root, cpu, i, "time");

		if (usage >= 0 && time >= 0) {
			watch->usage_fd[watch->nr] = usage;
			watch->time_fd[watch->nr++] = time;
			continue;
		}
		if (usage >= 0)
			close(usage);
		if (time >= 0)
			close(time);
		/* The first index without a directory ends the list; anything else makes it useless. */
		if (usage != -ENOENT || time != -ENOENT)
			cpuidle_watch_close(watch);
		return;
	}
}

static int read_count(int fd, uint64_t *ret_value)
{
	char text[24], *end;
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return len ? -errno : -EIO;
	text[len] = '\0';
	*ret_value = strtoull(text, &end, 10);
	return end == text ? -EINVAL : 0;
}

int cpuidle_watch_read(const struct cpuidle_watch *watch,
		       struct cpuidle_count ret_counts[CPUIDLE_MAX_STATES])
{
	uint64_t us;
	int rc = 0;

	for (int i = 0; i < watch->nr && !rc; i++) {
		rc = read_count(watch->usage_fd[i], &ret_counts[i].usage);
		if (!rc)
			rc = read_count(watch->time_fd[i], &us);
		if (!rc)
			ret_counts[i].time_ns = us * NSEC_PER_USEC;
	}
	return rc;
}

void cpuidle_watch_close(struct cpuidle_watch *watch)
{
	for (int i = 0; i < watch->nr; i++) {
		close(watch->usage_fd[i]);
		close(watch->time_fd[i]);
	}
	watch->nr = 0;
}
