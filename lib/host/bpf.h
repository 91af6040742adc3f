/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for users of libbpf: error messages, mapped arrays, dropped events. */
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

/* Disables programs whose tracepoint the kernel lacks. Returns the number of enabled programs. */
int sys_bpf_autoload_present(struct bpf_object *object, const struct btf *btf);

/* Version of the libbpf in use, such as "1.1". */
const char *sys_bpf_library(void);

/*
 * Keeps libbpf warnings of this thread for sys_bpf_fail(), until sys_bpf_log_release(). Warnings of
 * other threads go to the print function of the process. Calls may nest.
 */
void sys_bpf_log_hold(void);
void sys_bpf_log_release(void);
/* Discards the kept libbpf warning of this thread, before a BPF object is opened. */
void sys_bpf_log_begin(void);
/* Sets @err for a failed bpf(2) call. @err contains the libbpf warning and advice. */
int sys_bpf_fail(struct err *err, int code, const char *what);
/* Returns 0 if @code is 0; otherwise calls sys_bpf_fail(). */
static inline int sys_bpf_check(struct err *err, int code, const char *what)
{
	return code ? sys_bpf_fail(err, code, what) : 0;
}

/* Checks that the kernel has atomic BPF instructions with BPF_FETCH. @err names @option. */
int sys_bpf_need_atomics(const char *option, struct err *err);

/* An mmap-able BPF array. */
struct sys_bpf_view {
	const struct bpf_map *map; /* BPF map of the array; NULL: no array is mapped */
	bool shared;		   /* true if user space may write to the array */
	void *pages;
	size_t len;
};

/* Maps all arrays in @views. Call sys_bpf_views_close() even after a failure. */
int sys_bpf_views_open(struct sys_bpf_view *views, size_t nr, struct err *err);
void sys_bpf_views_close(struct sys_bpf_view *views, size_t nr);

/*
 * Shrinks a global variable that has its own ELF section. The BPF object must be open, but not
 * loaded.
 */
int sys_bpf_shrink(struct bpf_map *map, size_t size);

/*
 * Opens a skeleton and replaces each immediate operand @first + n by @values[n]. This avoids the
 * load instructions of constants in .rodata.
 */
int sys_bpf_open_filled(struct bpf_object_skeleton *skeleton, int32_t first, const int32_t *values,
			size_t nr);

/* Runs the iterator program of @link once. Returns -ENOENT if @link is NULL. */
int sys_bpf_iterate(const struct bpf_link *link);

/* Number of events that the kernel dropped because a program was already running on the CPU. */
uint64_t sys_bpf_recursion_misses(const struct bpf_object *object);

#endif
