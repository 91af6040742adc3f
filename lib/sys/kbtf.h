/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions to the kernel's type information beyond those of sys/bpf.h, under any root. */
#ifndef SUBTICK_SYS_KBTF_H
#define SUBTICK_SYS_KBTF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct btf;

/* As sys_bpf_btf_open(), and from the file under @root if there is one. */
int kbtf_open(const char *root, struct btf **ret_btf, struct err *err);
bool kbtf_has_func(const struct btf *btf, const char *name);
bool kbtf_has_field(const struct btf *btf, const char *type, const char *field);

/*
 * Which of the NULL-terminated tracepoints @names are missing, as "a, b" in @buf. Returns how
 * many.
 */
int kbtf_missing_traces(const struct btf *btf, const char *const *names, char *buf, size_t size);

#endif
