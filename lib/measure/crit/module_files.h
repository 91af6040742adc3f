/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernel module kmod/tracerbench and its debugfs files. */
#ifndef SUBTICK_MEASURE_CRIT_MODULE_FILES_H
#define SUBTICK_MEASURE_CRIT_MODULE_FILES_H

#include <stdbool.h>

#include "base/err.h"
#include "measure/crit/engine.h"

#define MODULE "tracerbench"
#define TREE   "/sys/kernel/debug/" MODULE

int module_set(const char *file, uint64_t value, struct err *err);
/*
 * Starts a benchmark of the kernel module: a separate process writes to a debugfs file. The write
 * blocks in the kernel until the benchmark is complete. Only killing the writer ends the benchmark
 * early. @cpu: CPU of the writer, or negative for any CPU. Returns -ECANCELED without setting @err
 * if opts->stopped() returned true.
 */
int module_trigger(const char *file, uint64_t value, int cpu, const struct crit_opts *opts,
		   struct err *err);
int module_get(const char *dir, const char *file, double *ret_value, struct err *err);
bool module_has(const char *file);

/*
 * Parses the text of a file per_cpu, with lines "cpu median average max", into operation @op of
 * @cpus. If *@nr is 0, sets the CPUs and their number. Each later operation must have the same
 * CPUs. Returns 0, -EINVAL for invalid text, or -ENOMEM.
 */
int module_parse_cpus(const char *text, enum crit_op op, struct crit_cpu **cpus, unsigned int *nr);
/* Reads and parses the file per_cpu of an operation. @err must not be NULL. */
int module_get_cpus(enum crit_op op, struct crit_cpu **cpus, unsigned int *nr, struct err *err);

/* Maximum size of the result of module_build_line(), with the NUL. Fits struct err. */
#define MODULE_LINE_SIZE 192
/*
 * Shell command that builds and loads the module for kernel @release. Uses dkms if the module's
 * source is installed, else make. Installs missing kernel headers.
 */
void module_build_line(const char *root, const char *release, char line[MODULE_LINE_SIZE]);

/*
 * Loads the installed module with modprobe, which handles compression, signatures and blacklists.
 * err->unsupported if the module is not installed, the kernel does not support modules, or
 * privileges are missing.
 */
int module_load(struct err *err);

#endif
