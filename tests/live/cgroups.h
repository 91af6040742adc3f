/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cgroups for live tests. A test creates and enters cgroups, and all its cgroups are removed at
 * exit.
 */
#ifndef SUBTICK_TESTS_LIVE_CGROUPS_H
#define SUBTICK_TESTS_LIVE_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Finds the cgroup hierarchy that has the cpu controller. Skips the test program if no mounted
 * hierarchy has the cpu controller.
 */
void cgroups_open(void);
bool cgroups_v2(void);

/*
 * Creates the cgroup "/subtick-PID-NAME" if it does not exist, and returns its path. At exit the
 * tasks of the cgroup are moved to the root cgroup and the cgroup is removed.
 */
const char *cgroups_make(const char *name);
/* Creates the cgroup at @path, which is not removed at exit. */
bool cgroups_mkdir(const char *path);
/* Moves task @pid into the cgroup. A @pid of 0 means the calling task. */
bool cgroups_enter(const char *path, pid_t pid);
bool cgroups_remove(const char *path);
bool cgroups_write(const char *path, const char *file, const char *text);
/* Reads the first word of a cgroup file, or "" if the file is missing or empty. */
void cgroups_read(const char *path, const char *file, char ret_word[64]);
/* Returns the number after @word in a cgroup file such as cpu.stat, or -1 if @word is missing. */
double cgroups_stat(const char *path, const char *file, const char *word);
/* Sets the CPU quota of a cgroup, in cpu.max for cgroup v2 and in cpu.cfs_quota_us for v1. */
bool cgroups_quota(const char *path, unsigned int quota_us, unsigned int period_us);

#endif
