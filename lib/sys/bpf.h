/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every BPF measurement needs of libbpf and the kernel's BTF. */
#ifndef SUBTICK_SYS_BPF_H
#define SUBTICK_SYS_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct bpf_map;
struct bpf_object;
struct btf;

/*
 * The kernel's type information; err->unsupported with the reason and the fix when there is
 * none. Free with sys_bpf_btf_close().
 */
int sys_bpf_btf_open(struct btf **ret_btf, struct err *err);
void sys_bpf_btf_close(struct btf *btf);

/* Whether the kernel has tracepoint @name for tp_btf programs. */
bool sys_bpf_has_tracepoint(const struct btf *btf, const char *name);
/* All of @names, or err->unsupported with the first that is missing. */
int sys_bpf_need_tracepoints(const struct btf *btf, const char *const *names, size_t nr,
			 struct err *err);
/* Whether the kernel's struct @type has @member. */
bool sys_bpf_has_member(const struct btf *btf, const char *type, const char *member);
/*
 * Whether sched_switch passes prev_state before prev: so in 5.18 only, until the new argument
 * moved to the end.
 */
bool sys_bpf_switch_state_first(const struct btf *btf);

/*
 * Turns off loading of every tp_btf program whose tracepoint the kernel lacks. Returns how many
 * are left.
 */
int sys_bpf_autoload_present(struct bpf_object *object, const struct btf *btf);

/* libbpf's last words go into @err; call around open, load and attach. */
void sys_bpf_log_begin(void);
/* Maps a failed bpf(2) to a sentence and a fix: privileges, lockdown, memory, verifier. */
int sys_bpf_fail(struct err *err, int code, const char *what);

/* Maps the whole of an mmap-able array for reading; the length goes to munmap(). */
int sys_bpf_map_view(const struct bpf_map *map, const void **ret_view, size_t *ret_len,
		 struct err *err);
/* The same for an array that both sides write; end it with sys_bpf_map_unview() too. */
int sys_bpf_map_share(const struct bpf_map *map, void **ret_shared, size_t *ret_len, struct err *err);
void sys_bpf_map_unview(const void *view, size_t len);

/* One of several arrays that are mapped and unmapped together. */
struct sys_bpf_view {
	const struct bpf_map *map; /* NULL: none, which is no error */
	bool shared;		   /* user space writes as well */
	void *pages;
	size_t len;
};

/* Maps them in turn; whatever it returns, sys_bpf_views_close() unmaps those that were. */
int sys_bpf_views_open(struct sys_bpf_view *views, size_t nr, struct err *err);
void sys_bpf_views_close(struct sys_bpf_view *views, size_t nr);

/* Events that the kernel dropped because a program was already running on that core. */
uint64_t sys_bpf_recursion_misses(const struct bpf_object *object);

#endif
