/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads cpuidle's sysfs files. */
#include "host/cpuidle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/arch.h"
#include "host/file.h"

#define CPUIDLE_DIR	 "/sys/devices/system/cpu/cpuidle"
#define STATE_DIR(cpu, state) SYS_PATH("/sys/devices/system/cpu/cpu%u/cpuidle/state%d", cpu, state)

int cpuidle_read(const char *root, struct cpuidle *ret_idle)
{
	struct cpuidle idle = {0};
	int rc = sys_read_file(root, CPUIDLE_DIR "/current_driver", idle.driver, sizeof(idle.driver));

	if (rc < 0)
		return rc;
	/* Kernels before 5.10 have current_governor_ro instead of current_governor. */
	if (sys_read_file(root, CPUIDLE_DIR "/current_governor", idle.governor,
			  sizeof(idle.governor)) < 0 &&
	    sys_read_file(root, CPUIDLE_DIR "/current_governor_ro", idle.governor,
			  sizeof(idle.governor)) < 0)
		idle.governor[0] = '\0';
	*ret_idle = idle;
	return 0;
}

const char *cpuidle_state_name(const struct cpuidle_state *states, int nr, unsigned int index)
{
	if ((int)index < nr)
		return states[index].name;
	return nr > 0 ? "unknown" : index ? ARCH_IDLE_NAME : "POLL";
}

uint64_t cpuidle_state_latency(const struct cpuidle_state *states, int nr, unsigned int index)
{
	return (int)index < nr && !states[index].polls ? states[index].latency_ns : CPUIDLE_UNKNOWN;
}

/* Without a driver the idle loop halts (state 1), or polls (state 0) if booted with idle=poll. */
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
#define FILE_OF(name) SYS_PATH("%s/" name, dir)
	uint64_t latency_us, disable;
	int rc = sys_read_file(root, FILE_OF("name"), state->name, sizeof(state->name));

	if (rc >= 0)
		rc = sys_read_u64(root, FILE_OF("latency"), &latency_us);
	if (!rc)
		rc = sys_read_u64(root, FILE_OF("disable"), &disable);
	if (rc)
		return rc;
	if (sys_read_file(root, FILE_OF("desc"), state->desc, sizeof(state->desc)) < 0)
		state->desc[0] = '\0';
	state->latency_ns = latency_us * NSEC_PER_USEC;
	state->disabled = disable & 1;
	/* The kernel's only polling idle state has a fixed name (drivers/cpuidle/poll_state.c). */
	state->polls = !strcmp(state->name, "POLL");
	return 0;
#undef FILE_OF
}

int cpuidle_states(const char *root, unsigned int cpu,
		   struct cpuidle_state states[CPUIDLE_MAX_STATES])
{
	int nr, rc = 0;

	for (nr = 0; !rc && nr < CPUIDLE_MAX_STATES && sys_exists(root, STATE_DIR(cpu, nr)); nr++)
		rc = state_read(root, STATE_DIR(cpu, nr), &states[nr]);
	return rc ?: nr;
}

static int open_count(const char *root, const char *path)
{
	int fd = sys_open(root, path);

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
			fd[i] = open_count(root, SYS_PATH("%s/%s", STATE_DIR(cpu, watch->nr), names[i]));
		if (fd[0] >= 0 && fd[1] >= 0)
			continue;
		close_counts(watch, watch->nr);
		/* ENOENT ends the list of idle states. All other errors close all counters. */
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
