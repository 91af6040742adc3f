/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts maps of any size behind the named sections of the runq programs. */
#include "measure/runq/area.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "sys/bpf.h"

static int map_make(const char *name, size_t bytes)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(uint32_t), bytes, 1, &opts);

	return fd < 0 ? -errno : fd;
}

int runq_area_open(struct runq_area *area, struct bpf_map *map, const char *name, size_t bytes,
		   struct err *err)
{
	size_t page = getpagesize();
	int rc;

	area->declared = bpf_map__value_size(map);
	area->fd = map_make(name, bytes);
	if (area->fd < 0)
		return sys_bpf_fail(err, area->fd, "cannot make a map for the runq programs");
	/* libbpf can resize such a map since 1.3; every version takes one that exists. */
	rc = bpf_map__reuse_fd(map, area->fd);
	if (rc)
		return sys_bpf_fail(err, rc, "cannot use a map for the runq programs");
	area->len = (bytes + page - 1) / page * page;
	area->pages = mmap(NULL, area->len, PROT_READ | PROT_WRITE, MAP_SHARED, area->fd, 0);
	if (area->pages != MAP_FAILED)
		return 0;
	area->pages = NULL;
	return sys_bpf_fail(err, -errno, "cannot map memory of the runq programs");
}

void runq_area_hide(struct bpf_object_skeleton *skeleton, const struct bpf_map *map)
{
	for (int i = 0; i < skeleton->map_cnt; i++) {
		struct bpf_map_skeleton *entry =
			(void *)((char *)skeleton->maps + (size_t)i * skeleton->map_skel_sz);

		if (*entry->map == map)
			entry->mmaped = NULL;
	}
}

int runq_area_release(const struct runq_area *area, struct bpf_map *map, struct err *err)
{
	int fd = map_make("runq_none", area->declared), rc;

	if (fd < 0)
		return sys_bpf_fail(err, fd, "cannot make a map");
	rc = bpf_map__reuse_fd(map, fd);
	close(fd);
	return rc ? sys_bpf_fail(err, rc, "cannot release a map") : 0;
}

void runq_area_close(struct runq_area *area)
{
	if (area->pages)
		munmap(area->pages, area->len);
	if (area->fd > 0)
		close(area->fd);
	*area = (struct runq_area){0};
}
