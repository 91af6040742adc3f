/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernel's type information (BTF) says of this kernel. */
#ifndef SUBTICK_SYS_KBTF_H
#define SUBTICK_SYS_KBTF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct btf;

/*
 * From this machine, or from the file under @root if it is not NULL. err->unsupported with the reason
 * and the fix when there is none.
 */
int kbtf_open(const char *root, struct btf **ret_btf, struct err *err);
void kbtf_close(struct btf *btf);
bool kbtf_has_func(const struct btf *btf, const char *name);
/* Whether the kernel has tracepoint @name for tp_btf programs. */
bool kbtf_has_tracepoint(const struct btf *btf, const char *name);
/* All of @names, or err->unsupported with the first that is missing. */
int kbtf_need_tracepoints(const struct btf *btf, const char *const *names, size_t nr,
			  struct err *err);
/* Whether the kernel's struct @type has @member. */
bool kbtf_has_member(const struct btf *btf, const char *type, const char *member);
/*
 * Whether sched_switch passes prev_state before prev: so in 5.18 only, until the new argument
 * moved to the end.
 */
bool kbtf_switch_state_first(const struct btf *btf);
/*
 * Which of the NULL-terminated tracepoints @names are missing, as "a, b" in @buf. Returns how
 * many.
 */
int kbtf_missing_traces(const struct btf *btf, const char *const *names, char *buf, size_t size);

#endif
