/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lookups in the kernel's type information (BTF). */
#ifndef SUBTICK_SYS_KBTF_H
#define SUBTICK_SYS_KBTF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct btf;

/* Opens the kernel BTF of this machine, or the BTF file below the directory @root. */
int kbtf_open(const char *root, struct btf **ret_btf, struct err *err);
void kbtf_close(struct btf *btf);
unsigned int kbtf_nr_types(const struct btf *btf);
bool kbtf_has_func(const struct btf *btf, const char *name);
/* True if BTF describes tracepoint @name, which tp_btf programs need. */
bool kbtf_has_tracepoint(const struct btf *btf, const char *name);
/* True if BTF describes sched_switch. Before Linux 5.5 BTF describes no tracepoints. */
bool kbtf_has_tracepoints(const struct btf *btf);
#define KBTF_NO_TRACEPOINTS  "the kernel's BTF describes no tracepoints"
#define KBTF_FIX_TRACEPOINTS "use Linux 5.10 or later, built with CONFIG_TRACEPOINTS=y"
/* Checks that the kernel has all tracepoints of @names. @err names the first missing tracepoint. */
int kbtf_need_tracepoints(const struct btf *btf, const char *const *names, size_t nr,
			  struct err *err);
/* Opens the BTF of this machine and checks that the kernel has all tracepoints of @names. */
int kbtf_open_with(const char *const *names, size_t nr, struct btf **ret_btf, struct err *err);
/* Like kbtf_open_with(), but stores kbtf_switch_state_first() instead of the BTF. */
int kbtf_need(const char *const *names, size_t nr, bool *ret_state_first, struct err *err);
bool kbtf_has_member(const struct btf *btf, const char *type, const char *member);
/* True if sched_switch passes prev_state before prev, which only Linux 5.18 does. */
bool kbtf_switch_state_first(const struct btf *btf);
/*
 * Writes the missing tracepoints of the NULL-terminated @names as "a, b". Returns the number of
 * missing tracepoints.
 */
int kbtf_missing_traces(const struct btf *btf, const char *const *names, char *buf, size_t size);

#endif
