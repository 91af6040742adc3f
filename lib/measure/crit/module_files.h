/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Module kmod/tracerbench and its debugfs files. */
#ifndef SUBTICK_MEASURE_CRIT_MODULE_FILES_H
#define SUBTICK_MEASURE_CRIT_MODULE_FILES_H

#include <stdbool.h>

#include "base/err.h"
#include "measure/crit/engine.h"

#define MODULE "tracerbench"
#define TREE   "/sys/kernel/debug/" MODULE

/* Writes a setting. */
int module_set(const char *file, uint64_t value, struct err *err);
/*
 * Writes to a file that runs something, from a process of its own: the write waits in the kernel
 * until the run is complete, and only killing the writer ends it early. @cpu: where the writer
 * runs, negative: anywhere. -ECANCELED, with @err unset, if opts->stopped() returned true.
 */
int module_trigger(const char *file, uint64_t value, int cpu, const struct crit_opts *opts,
		   struct err *err);
int module_get(const char *dir, const char *file, double *ret_value, struct err *err);
bool module_has(const char *file);

/*
 * The text of a file per_cpu, "cpu median average max" per line, as operation @op of @cpus. The
 * first operation that is read sets the CPUs and their number (*@nr is 0 before); the others must
 * have the same ones. -EINVAL for anything else, -ENOMEM.
 */
int module_parse_cpus(const char *text, enum crit_op op, struct crit_cpu **cpus, unsigned int *nr);
/* Reads that file; @err must not be NULL. */
int module_get_cpus(enum crit_op op, struct crit_cpu **cpus, unsigned int *nr, struct err *err);

/* Longest result of module_build_line(), with the terminating zero: it fits struct err. */
#define MODULE_LINE_SIZE 192
/*
 * The command that builds and loads the module for kernel @release: dkms where its source is installed,
 * else make with the kernel's headers, which the line installs if they are missing.
 */
void module_build_line(const char *root, const char *release, char line[MODULE_LINE_SIZE]);

/*
 * Loads the installed module with modprobe, which handles compression, signatures and blacklists.
 * err->unsupported if there is no such module, the kernel has no modules, or we lack privileges.
 */
int kmod_load(const char *name, struct err *err);

#endif
