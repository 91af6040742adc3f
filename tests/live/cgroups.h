/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Control groups of a live test: created, entered, and always removed. */
#ifndef SUBTICK_TESTS_LIVE_CGROUPS_H
#define SUBTICK_TESTS_LIVE_CGROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Hierarchy of the CPU controller. Skips the whole program without one. */
void cgroups_open(void);
bool cgroups_v2(void);

/*
 * "/subtick-PID-NAME" below the root, made if it is not there yet; the text stays valid. The cgroup
 * is removed at exit, tasks in it having been moved to the root.
 */
const char *cgroups_make(const char *name);
/* Creates a cgroup by path, without removing it at exit. */
bool cgroups_mkdir(const char *path);
/* 0 is the caller. */
bool cgroups_enter(const char *path, pid_t pid);
bool cgroups_remove(const char *path);
bool cgroups_write(const char *path, const char *file, const char *text);
/* First word of a file; "" if the file is missing or empty. */
void cgroups_read(const char *path, const char *file, char ret_word[64]);
/* A number after @word in a file such as cpu.stat; -1 without. */
double cgroups_stat(const char *path, const char *file, const char *word);
/* CPU quota, whatever the hierarchy calls it. */
bool cgroups_quota(const char *path, unsigned int quota_us, unsigned int period_us);

#endif
