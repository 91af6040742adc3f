/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lookups in the kernel's type information (BTF). */
#ifndef SUBTICK_SYS_KBTF_H
#define SUBTICK_SYS_KBTF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct btf;

/*
 * Opens the BTF of this machine, or the file under @root if that is not NULL. If there is none,
 * err->unsupported with the reason and the fix.
 */
int kbtf_open(const char *root, struct btf **ret_btf, struct err *err);
void kbtf_close(struct btf *btf);
unsigned int kbtf_nr_types(const struct btf *btf);
bool kbtf_has_func(const struct btf *btf, const char *name);
/* Whether the kernel has tracepoint @name for tp_btf programs. */
bool kbtf_has_tracepoint(const struct btf *btf, const char *name);
/* 0 if the kernel has all of @names; else err->unsupported with the first that is missing. */
int kbtf_need_tracepoints(const struct btf *btf, const char *const *names, size_t nr,
			  struct err *err);
/* Opens the BTF of this machine if it has all of @names; else as each of the two. */
int kbtf_open_with(const char *const *names, size_t nr, struct btf **ret_btf, struct err *err);
/* Whether the kernel's struct @type has @member. */
bool kbtf_has_member(const struct btf *btf, const char *type, const char *member);
/*
 * Whether sched_switch passes prev_state before prev: only in 5.18, before that new argument moved
 * to the end.
 */
bool kbtf_switch_state_first(const struct btf *btf);
/*
 * Lists in @buf, as "a, b", which of the NULL-terminated tracepoints @names are missing. Returns
 * how many.
 */
int kbtf_missing_traces(const struct btf *btf, const char *const *names, char *buf, size_t size);

#endif
