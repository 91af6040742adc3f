/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Control groups of a live test: created, entered, and always removed. */
#ifndef SUBTICK_TESTS_LIVE_CGROUPS_H
#define SUBTICK_TESTS_LIVE_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Finds the hierarchy of the CPU controller. Skips the whole program if no hierarchy has the CPU
 * controller.
 */
void cgroups_open(void);
bool cgroups_v2(void);

/*
 * Makes the cgroup "/subtick-PID-NAME" unless it exists, and returns its path. At exit its tasks
 * are moved to the root and the cgroup is removed.
 */
const char *cgroups_make(const char *name);
/* Creates a cgroup by path, without removing it at exit. */
bool cgroups_mkdir(const char *path);
/* Moves the task @pid into the cgroup; 0 is the caller. */
bool cgroups_enter(const char *path, pid_t pid);
bool cgroups_remove(const char *path);
bool cgroups_write(const char *path, const char *file, const char *text);
/* First word of a file; "" if the file is missing or empty. */
void cgroups_read(const char *path, const char *file, char ret_word[64]);
/* The number after @word in a file such as cpu.stat, or -1. */
double cgroups_stat(const char *path, const char *file, const char *word);
/* Sets the CPU quota in the file of this hierarchy. */
bool cgroups_quota(const char *path, unsigned int quota_us, unsigned int period_us);

#endif
