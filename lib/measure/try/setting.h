/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A setting of an experiment: a file of a cgroup, an interrupt or a CPU, and its new value. */
#ifndef SUBTICK_MEASURE_TRY_SETTING_H
#define SUBTICK_MEASURE_TRY_SETTING_H

#include <limits.h>

#include "base/err.h"
#include "host/journal.h"

struct try_setting {
	char name[PATH_MAX]; /* PATH of the setting "PATH=VALUE" on the command line */
	char path[PATH_MAX]; /* path of the setting's file */
	char value[JOURNAL_VALUE];
	/* original and changed contents of the setting's file, set by journal_trial() */
	char was[JOURNAL_VALUE], now[JOURNAL_VALUE];
};

/*
 * Parses "PATH=VALUE". PATH is a file of the controllers cpu and cpuset in a cgroup, such as
 * "/batch/cpu.weight". An absolute path can also be the file of an interrupt's affinity, of a CPU's
 * latency limit (pm_qos_resume_latency_us), or the file "disable" of an idle state. Fails if the
 * file does not exist. @root is the directory that contains /proc and /sys, or NULL for /
 * (host/file.h).
 */
int try_setting_parse(const char *root, const char *text, struct try_setting *ret_setting,
		      struct err *err);

#endif
