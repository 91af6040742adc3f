/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads cpuidle's sysfs files. */
#include "host/cpuidle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"

int cpuidle_read(const char *root, struct cpuidle *ret_idle)
{
	struct cpuidle idle = {0};
	int rc = sys_read_file(root, "/sys/devices/system/cpu/cpuidle/current_driver", idle.driver,
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

/* Without a driver the idle loop itself halts (state 1) or, with idle=poll, polls (state 0). */
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

static void close_counts(const struct cpuidle_watch *watch, int state)
{
	for (int i = 0; i < watch->nr_counts; i++)
		if (watch->fd[state][i] >= 0)
			close(watch->fd[state][i]);
}

void cpuidle_watch_open(struct cpuidle_watch *watch, const char *root, unsigned int cpu,
			bool misses)
{
	static const char *const names[CPUIDLE_NR_COUNTS] = {"usage", "time", "above", "below",
							     "rejected"};

	watch->nr_counts = misses ? CPUIDLE_NR_COUNTS : 2;
	for (watch->nr = 0; watch->nr < CPUIDLE_MAX_STATES; watch->nr++) {
		int *fd = watch->fd[watch->nr];

		for (int i = 0; i < watch->nr_counts; i++)
			fd[i] = open_count(root, cpu, watch->nr, names[i]);
		if (fd[0] >= 0 && fd[1] >= 0)
			continue;
		close_counts(watch, watch->nr);
		/* The first index without a directory ends the list. Other errors make it useless. */
		if (fd[0] != -ENOENT || fd[1] != -ENOENT)
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
	for (int state = 0; state < watch->nr; state++) {
		uint64_t value[CPUIDLE_NR_COUNTS] = {0, 0, CPUIDLE_UNKNOWN, CPUIDLE_UNKNOWN,
						     CPUIDLE_UNKNOWN};

		for (int i = 0; i < watch->nr_counts; i++) {
			int fd = watch->fd[state][i], rc = fd < 0 ? 0 : read_count(fd, &value[i]);

			if (rc)
				return rc;
		}
		ret_counts[state] = (struct cpuidle_count){
			.usage = value[0],
			.time_ns = value[1] * NSEC_PER_USEC,
			.above = value[2],
			.below = value[3],
			.rejected = value[4],
		};
	}
	return 0;
}

void cpuidle_watch_close(struct cpuidle_watch *watch)
{
	for (int state = 0; state < watch->nr; state++)
		close_counts(watch, state);
	watch->nr = 0;
}
