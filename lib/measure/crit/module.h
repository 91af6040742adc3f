/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parses the files of the kernel module kmod/tracerbench, and prints the command that builds it. */
#ifndef SUBTICK_MEASURE_CRIT_MODULE_H
#define SUBTICK_MEASURE_CRIT_MODULE_H

#include "measure/crit/engine.h"

/*
 * Parses the text of a file per_cpu, with lines "cpu median average max", into operation @op of
 * @cpus. Allocates @cpus if *@nr is 0; otherwise @text must have the same CPUs. Returns 0, -EINVAL
 * for invalid text, or -ENOMEM.
 */
int module_parse_cpus(const char *text, enum crit_op op, struct crit_cpu **cpus, unsigned int *nr);

/* Maximum size of a build line with the NUL. The line must fit into struct err. */
#define MODULE_LINE_SIZE 192
/*
 * Sets @line to a shell command that builds and loads the module for kernel @release. The command
 * uses dkms if the source of the module is installed, and otherwise make. The command also installs
 * missing kernel headers.
 */
void module_build_line(const char *root, const char *release, char line[MODULE_LINE_SIZE]);

#endif
