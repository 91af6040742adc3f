/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the files of the kernel module kmod/tracerbench, and prints the command that builds it. */
#ifndef SUBTICK_MEASURE_CRIT_MODULE_H
#define SUBTICK_MEASURE_CRIT_MODULE_H

#include "measure/crit/engine.h"

/*
 * Parses the text of a file per_cpu into operation @op of @cpus. A line of the file per_cpu is "cpu
 * median average max". If *@nr is 0, allocates @cpus and sets *@nr. If *@nr is nonzero, @text must
 * have the same CPUs as @cpus. Returns 0, -EINVAL for invalid text, or -ENOMEM.
 */
int module_parse_cpus(const char *text, enum crit_op op, struct crit_cpu **cpus, unsigned int *nr);

/*
 * Maximum size of the result of module_build_line(), with the NUL, so that the result fits into
 * struct err.
 */
#define MODULE_LINE_SIZE 192
/*
 * Sets @line to a shell command that builds and loads the module for kernel @release. The shell
 * command uses dkms if the source of the module is installed, and otherwise make. The shell command
 * also installs missing kernel headers.
 */
void module_build_line(const char *root, const char *release, char line[MODULE_LINE_SIZE]);

#endif
