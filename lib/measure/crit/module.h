/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files and build command of the kernel module kmod/tracerbench. */
#ifndef SUBTICK_MEASURE_CRIT_MODULE_H
#define SUBTICK_MEASURE_CRIT_MODULE_H

#include "measure/crit/engine.h"

/*
 * Parses the text of a file per_cpu, with lines "cpu median average max", into operation @op of
 * @cpus. If *@nr is 0, sets the CPUs and their number. Each later operation must have the same
 * CPUs. Returns 0, -EINVAL for invalid text, or -ENOMEM.
 */
int module_parse_cpus(const char *text, enum crit_op op, struct crit_cpu **cpus, unsigned int *nr);

/* Maximum size of the result of module_build_line(), with the NUL. Fits struct err. */
#define MODULE_LINE_SIZE 192
/*
 * Shell command that builds and loads the module for kernel @release. Uses dkms if the module's
 * source is installed, else make. Installs missing kernel headers.
 */
void module_build_line(const char *root, const char *release, char line[MODULE_LINE_SIZE]);

#endif
