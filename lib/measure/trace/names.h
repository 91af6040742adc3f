/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of tasks and interrupts in a trace; addresses of kernel functions. */
#ifndef SUBTICK_MEASURE_TRACE_NAMES_H
#define SUBTICK_MEASURE_TRACE_NAMES_H

#include <stdint.h>

#include "measure/trace/window.h"

/* Reads the kernel's string at an address; "" if that fails. */
typedef void trace_read_string(void *arg, uint64_t address, char name[32]);

/* Takes the tasks out of @table, which has TRACE_NR_TASKS entries. 0 or -ENOMEM. */
int trace_take_names(const struct trace_task *table, struct trace_window *w);
/* The names of all interrupts in the edges. @root as in sys/file.h. 0 or -ENOMEM. */
int trace_take_irqs(const char *root, trace_read_string *read, void *arg, struct trace_window *w);

/*
 * The address of the first function in the kernel's list whose name is one of @names, which end with
 * NULL. -ENOENT if it has none of them, -EPERM if it hides addresses. @root as in sys/file.h.
 */
int kallsyms_find(const char *root, const char *const *names, uint64_t *ret_address);

#endif
