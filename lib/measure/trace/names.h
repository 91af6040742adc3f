/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names in a trace: of tasks, from the table of the programs; of interrupts, from the kernel. */
#ifndef SUBTICK_MEASURE_TRACE_NAMES_H
#define SUBTICK_MEASURE_TRACE_NAMES_H

#include "measure/trace/window.h"

/* Reads the kernel's string at an address; "" if that fails. */
typedef void trace_read_string(void *arg, uint64_t address, char name[32]);

/* Takes the tasks out of @table, which has TRACE_NR_TASKS entries. 0 or -ENOMEM. */
int trace_take_names(const struct trace_task *table, struct trace_window *w);
/* The names of all interrupts in the edges. @root as in sys/file.h. 0 or -ENOMEM. */
int trace_take_irqs(const char *root, trace_read_string *read, void *arg, struct trace_window *w);

#endif
