/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns libbpf errors into messages with advice, maps BPF arrays, counts dropped events. */
#include "host/bpf.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "host/kbtf.h"
#include "host/kernel.h"

#define PAGE_UP(n, page) (((n) + (page)-1) / (page) * (page))

/* libbpf has one global print function, which is keep_log() while @print_holders > 0. */
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
/* number of sys_bpf_log_hold() calls without release; protected by print_lock */
static unsigned int print_holders;
/* print function that the last sys_bpf_log_release() restores */
static _Atomic(libbpf_print_fn_t) print_host;
static __thread unsigned int holds;
static __thread char last_log[160];

static int keep_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	libbpf_print_fn_t host = print_host;
	char line[sizeof(last_log)];
	size_t len;

	/* Messages of threads outside sys_bpf_log_hold() go to the program's print function. */
	if (!holds)
		return host ? host(level, fmt, ap) : 0;
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), fmt, ap);
	len = strcspn(line, "\n");
	line[len] = '\0';
	/*
	 * Harmless warnings: sys_bpf_shrink() shrank a variable (libbpf before 1.3), or bpf/slim.py
	 * removed the line numbers.
	 */
	if (strstr(line, "Retrying without BTF") || strstr(line, "missing .BTF.ext line info"))
		return 0;
	/* Only the first warning is kept, because it names the BPF program. */
	if (len && !last_log[0])
		memcpy(last_log, line, len + 1);
	return 0;
}

void sys_bpf_log_hold(void)
{
	libbpf_print_fn_t was;

	holds++;
	pthread_mutex_lock(&print_lock);
	if (!print_holders++) {
		was = libbpf_set_print(keep_log);
		/* keep_log() calls print_host, so print_host must not be keep_log(). */
		if (was != keep_log)
			print_host = was;
	}
	pthread_mutex_unlock(&print_lock);
}

void sys_bpf_log_release(void)
{
	libbpf_print_fn_t was;

	pthread_mutex_lock(&print_lock);
	if (!--print_holders) {
		was = libbpf_set_print(print_host);
		/* Keep a print function that the application set after sys_bpf_log_hold(). */
		if (was != keep_log)
			libbpf_set_print(was);
	}
	pthread_mutex_unlock(&print_lock);
	holds--;
}

const char *sys_bpf_library(void)
{
	const char *version = libbpf_version_string();

	/* libbpf 1.1 returns "v1.1", later versions return no "v". */
	return version[0] == 'v' ? version + 1 : version;
}

void sys_bpf_log_begin(void)
{
	last_log[0] = '\0';
}

/* Descriptors that a command opens, not counting descriptors per CPU and per connection. */
#define DESCRIPTORS_NEEDED 64

static bool few_descriptors(void)
{
	struct rlimit limit;
	int next = epoll_create1(EPOLL_CLOEXEC);

	if (next < 0 || close(next) || getrlimit(RLIMIT_NOFILE, &limit))
		return true;
	return limit.rlim_cur < (rlim_t)next + DESCRIPTORS_NEEDED;
}

int sys_bpf_fail(struct err *err, int code, const char *what)
{
	enum lockdown level;

	/*
	 * EPERM means missing privileges; the verifier returns EACCES. For EPERM the message of
	 * libbpf wrongly names RLIMIT_MEMLOCK or CONFIG_BPF_SYSCALL.
	 */
	if (code == -EPERM)
		return err_unsupported(err, code,
				       "run as root, or with CAP_BPF and CAP_PERFMON "
				       "(CAP_SYS_ADMIN before Linux 5.8)",
				       "%s: not permitted to use BPF", what);
	/* Without a free descriptor, the feature probes of libbpf report a missing feature. */
	if (code == -EMFILE || few_descriptors())
		return err_set(err, code,
			       "%s: %s, and few file descriptors are free: raise the limit "
			       "(LimitNOFILE= of systemd, ulimit -n)",
			       what, strerror(-code));
	/* The verifier returns EINVAL if lockdown forbids a helper. */
	if (!lockdown_read(NULL, &level) && level == LOCKDOWN_CONFIDENTIALITY)
		return err_unsupported(err, code, "boot without lockdown=confidentiality",
				       "%s: lockdown forbids BPF programs to read kernel memory", what);
	if (code == -ENOSYS || code == -EOPNOTSUPP || code == -524 /* ENOTSUPP of the kernel */)
		return err_unsupported(
			err, code,
			"use a kernel with CONFIG_BPF_SYSCALL, CONFIG_BPF_EVENTS and "
			"CONFIG_DEBUG_INFO_BTF",
			"%s: this kernel lacks a BPF feature%s%s", what, last_log[0] ? ": " : "",
			last_log);
	return err_set(err, code, "%s: %s%s%s", what, strerror(-code), last_log[0] ? ": " : "",
		       last_log);
}

int sys_bpf_autoload_present(struct bpf_object *object, const struct btf *btf)
{
	static const char prefix[] = "tp_btf/";
	struct bpf_program *prog;
	int left = 0;

	bpf_object__for_each_program (prog, object) {
		const char *section = bpf_program__section_name(prog);

		if (!strncmp(section, prefix, sizeof(prefix) - 1) &&
		    !kbtf_has_tracepoint(btf, section + sizeof(prefix) - 1))
			bpf_program__set_autoload(prog, false);
		if (bpf_program__autoload(prog))
			left++;
	}
	return left;
}

int sys_bpf_views_open(struct sys_bpf_view *views, size_t nr, struct err *err)
{
	for (struct sys_bpf_view *view = views; view < views + nr; view++) {
		size_t value = view->map ? PAGE_UP(bpf_map__value_size(view->map), 8) : 0;

		if (!view->map)
			continue;
		view->len = PAGE_UP(value * bpf_map__max_entries(view->map), (size_t)getpagesize());
		view->pages = mmap(NULL, view->len, view->shared ? PROT_READ | PROT_WRITE : PROT_READ,
				   MAP_SHARED, bpf_map__fd(view->map), 0);
		if (view->pages != MAP_FAILED)
			continue;
		view->pages = NULL;
		return err_set(err, -errno, "cannot map BPF array %s: %s", bpf_map__name(view->map),
			       strerror(errno));
	}
	return 0;
}

void sys_bpf_views_close(struct sys_bpf_view *views, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (views[i].pages)
			munmap(views[i].pages, views[i].len);
		views[i].pages = NULL;
	}
}

int sys_bpf_shrink(struct bpf_map *map, size_t size)
{
	size_t page = getpagesize(), was, left = PAGE_UP(size, page), none;
	/* libbpf 1.1 returns a const pointer */
	char *image = (char *)bpf_map__initial_value(map, &was);
	int rc;

	if (!image || size > was)
		return -EINVAL;
	rc = bpf_map__set_value_size(map, size);
	if (rc)
		return rc;
	/*
	 * libbpf before 1.3 does not shrink the memory mapping of the variable. When libbpf closes
	 * the map, libbpf unmaps only @size bytes, so unmap the pages above @size here.
	 */
	if (bpf_map__initial_value(map, &none) == image && PAGE_UP(was, page) > left)
		munmap(image + left, PAGE_UP(was, page) - left);
	return 0;
}

static void fill_operand(struct bpf_insn *insn, int32_t first, const int32_t *values, size_t nr)
{
	int class = BPF_CLASS(insn->code);
	uint32_t which = (uint32_t)insn->imm - (uint32_t)first;

	if ((class == BPF_ALU64 || class == BPF_JMP) && BPF_SRC(insn->code) == BPF_K && which < nr)
		insn->imm = values[which];
}

int sys_bpf_open_filled(struct bpf_object_skeleton *skeleton, int32_t first, const int32_t *values,
			size_t nr)
{
	const void *original = skeleton->data;
	char *elf = malloc(skeleton->data_sz);
	const Elf64_Ehdr *head = (void *)elf;
	int rc;

	if (!elf)
		return -ENOMEM;
	memcpy(elf, original, skeleton->data_sz);
	for (size_t i = 0; i < head->e_shnum; i++) {
		const Elf64_Shdr *section = (void *)(elf + head->e_shoff + i * head->e_shentsize);
		struct bpf_insn *insns = (void *)(elf + section->sh_offset);

		if (section->sh_type != SHT_PROGBITS || !(section->sh_flags & SHF_EXECINSTR))
			continue;
		for (size_t at = 0; at < section->sh_size / sizeof(*insns); at++)
			fill_operand(&insns[at], first, values, nr);
	}
	skeleton->data = elf;
	rc = bpf_object__open_skeleton(skeleton, NULL);
	/* libbpf has copied @elf, so skeleton->data can point to the unfilled ELF object again. */
	skeleton->data = (void *)original;
	free(elf);
	return rc;
}

int sys_bpf_iterate(const struct bpf_link *link)
{
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -ENOENT;
	char none[64];

	if (fd < 0)
		return fd;
	while (read(fd, none, sizeof(none)) > 0)
		;
	close(fd);
	return 0;
}

uint64_t sys_bpf_recursion_misses(const struct bpf_object *object)
{
	struct bpf_program *prog;
	uint64_t misses = 0;

	bpf_object__for_each_program (prog, object) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		int fd = bpf_program__fd(prog);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			misses += info.recursion_misses;
	}
	return misses;
}

int sys_bpf_need_atomics(const char *option, struct err *err)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_1,
		 .off = -8,
		 .imm = BPF_ADD | BPF_FETCH},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	char fix[96];
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "atomics_probe", "GPL", program,
			       sizeof(program) / sizeof(program[0]), NULL);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (fd == -EPERM || fd == -EMFILE)
		return sys_bpf_fail(err, fd, "cannot load a program with atomic instructions");
	snprintf(fix, sizeof(fix), "use Linux 5.12 or later (arm64: 5.18), or leave out %s", option);
	return err_unsupported(err, -EOPNOTSUPP, fix,
			       "%s needs atomic BPF instructions that this kernel lacks", option);
}
