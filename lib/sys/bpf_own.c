/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds this process's BPF descriptors by what /proc says of them. */
#include "sys/bpf_own.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "sys/file.h"

static uint64_t map_bytes(int fd)
{
	char path[64], text[1024], *at;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, "memlock:");
	return at ? strtoull(at + strlen("memlock:"), NULL, 10) : 0;
}

void bpf_own_find(struct bpf_own *own)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char target[64];
	ssize_t len;

	*own = (struct bpf_own){0};
	while (dir && (entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		if (!strcmp(target, "anon_inode:bpf-prog") && own->nr_progs < BPF_OWN_MAX)
			own->progs[own->nr_progs++] = atoi(entry->d_name);
		else if (!strcmp(target, "anon_inode:bpf-map"))
			own->map_bytes += map_bytes(atoi(entry->d_name));
	}
	if (dir)
		closedir(dir);
}

int bpf_own_cost(int fd, struct bpf_own_cost *ret_cost)
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
