/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds this process's BPF programs and maps through /proc/self. */
#include "sys/bpf_own.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "sys/file.h"

static uint64_t number(const char *text, const char *key, int base)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

/* The size of all maps that are mapped, also those without an open descriptor. */
static uint64_t mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	uint64_t bytes = 0, from, to;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "anon_inode:bpf-map") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
			bytes += to - from;
	if (file)
		fclose(file);
	return bytes;
}

/* Adds the size of one map to @mappable if it can be mapped into memory. */
static void add_map(struct sys_bpf_own *own, const char *fd, uint64_t *mappable)
{
	char path[288], text[1024];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0)
		return;
	if (number(text, "map_flags:", 16) & BPF_F_MMAPABLE)
		*mappable += number(text, "memlock:", 10);
	else
		own->map_bytes += number(text, "memlock:", 10);
}

void sys_bpf_own_find(struct sys_bpf_own *own)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t mappable = 0, mapped = mapped_bytes();
	struct dirent *entry;
	char target[64];
	ssize_t len;

	*own = (struct sys_bpf_own){0};
	while (dir && (entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		if (!strcmp(target, "anon_inode:bpf-prog") && own->nr_progs < BPF_OWN_MAX)
			own->progs[own->nr_progs++] = atoi(entry->d_name);
		else if (!strcmp(target, "anon_inode:bpf-map"))
			add_map(own, entry->d_name, &mappable);
	}
	/* A mapped map needs no descriptor: runq closes those of its slots. */
	own->map_bytes += mapped > mappable ? mapped : mappable;
	if (dir)
		closedir(dir);
}

int sys_bpf_own_cost(int fd, struct sys_bpf_own_cost *ret_cost)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return -errno;
	memcpy(ret_cost->name, info.name, sizeof(ret_cost->name));
	ret_cost->name[sizeof(ret_cost->name) - 1] = '\0';
	ret_cost->run_ns = info.run_time_ns;
	ret_cost->runs = info.run_cnt;
	return 0;
}
