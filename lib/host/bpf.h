/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers on top of libbpf for every measurement. */
#ifndef SUBTICK_SYS_BPF_H
#define SUBTICK_SYS_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_object_skeleton;
struct btf;

/*
 * Disables every tp_btf program whose tracepoint the kernel lacks. Returns how many programs are
 * left.
 */
int sys_bpf_autoload_present(struct bpf_object *object, const struct btf *btf);

/* The version of the libbpf in use, such as "1.1". */
const char *sys_bpf_library(void);

/*
 * Keep libbpf's warnings of this thread for sys_bpf_fail() instead of printing them, until the last
 * release, which restores the process's print function. Warnings of other threads go to that function.
 * Calls nest.
 */
void sys_bpf_log_hold(void);
void sys_bpf_log_release(void);
/* Forgets the kept warning; call before open, load and attach. */
void sys_bpf_log_begin(void);
/* Sets @err for a failed bpf(2): a sentence, libbpf's warning, and the fix. */
int sys_bpf_fail(struct err *err, int code, const char *what);

/*
 * Checks that the kernel has atomic BPF instructions that return the previous value. @option needs
 * them.
 */
int sys_bpf_need_atomics(const char *option, struct err *err);

/* An mmap-able BPF array. Several are mapped and unmapped together. */
struct sys_bpf_view {
	const struct bpf_map *map; /* NULL: skipped */
	bool shared;		   /* user space writes, too */
	void *pages;
	size_t len;
};

/* Maps all of them. Call sys_bpf_views_close() even if it fails: some may be mapped. */
int sys_bpf_views_open(struct sys_bpf_view *views, size_t nr, struct err *err);
void sys_bpf_views_close(struct sys_bpf_view *views, size_t nr);

/* Shrinks a global variable that has a section of its own, between open and load. */
int sys_bpf_shrink(struct bpf_map *map, size_t size);

/*
 * Opens a created skeleton after filling constants into a copy of its object: an instruction of a program
 * or function with the immediate operand @first + n gets @values[n]. A constant in .rodata would cost a
 * load and its address.
 */
int sys_bpf_open_filled(struct bpf_object_skeleton *skeleton, int32_t first, const int32_t *values,
			size_t nr);

/* Runs the iterator program of @link once. 0 or -errno; -ENOENT if @link is NULL. */
int sys_bpf_iterate(const struct bpf_link *link);

/* Events that the kernel dropped because a program was already running on that core. */
uint64_t sys_bpf_recursion_misses(const struct bpf_object *object);

#endif
