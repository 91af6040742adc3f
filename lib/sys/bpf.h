/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every BPF measurement needs of libbpf. */
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
 * Turns off loading of every tp_btf program whose tracepoint the kernel lacks. Returns how many
 * are left.
 */
int sys_bpf_autoload_present(struct bpf_object *object, const struct btf *btf);

/* libbpf's last words go into @err; call around open, load and attach. */
void sys_bpf_log_begin(void);
/* Maps a failed bpf(2) to a sentence and a fix: privileges, lockdown, memory, verifier. */
int sys_bpf_fail(struct err *err, int code, const char *what);

/* An mmap-able array, mapped as a whole; several are mapped and unmapped together. */
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
