/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads and unloads sched_ext schedulers. */
#include "scx_load.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "live.h"
#include "scx_fifo.skel.h"
#include "scx_groups.skel.h"
#include "sys/file.h"

const char *const scx_names[SCX_NR] = {
	[SCX_FIFO] = "subtick_fifo", [SCX_GROUPS] = "subtick_groups"};

static struct bpf_object *loaded;
static int ops_fd;

static struct bpf_object *open_scheduler(enum scx_scheduler which)
{
	struct scx_groups *groups;
	struct scx_fifo *fifo;

	if (which == SCX_FIFO)
		return (fifo = scx_fifo__open()) ? fifo->obj : NULL;
	return (groups = scx_groups__open()) ? groups->obj : NULL;
}

void scx_load(enum scx_scheduler which)
{
	struct bpf_program *program;

	if (!sys_exists(NULL, "/sys/kernel/sched_ext"))
		live_skip_all("the kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT)");
	loaded = open_scheduler(which);
	if (!loaded)
		live_fail_all("cannot open scheduler %s: %s", scx_names[which], strerror(errno));
	/* libbpf 1.1 has no section name for sleepable operations. These may allocate. */
	bpf_object__for_each_program(program, loaded)
	{
		const char *section = bpf_program__section_name(program);

		if (strstr(section, "init") || strstr(section, "exit"))
			bpf_program__set_flags(program, BPF_F_SLEEPABLE);
	}
	if (bpf_object__load(loaded))
		live_fail_all("cannot load scheduler %s: %s", scx_names[which], strerror(errno));
}

void scx_enable(void)
{
	struct bpf_map *map = NULL;

	do
		map = bpf_object__next_map(loaded, map);
	while (map && bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS);
	if (!map || !bpf_map__attach_struct_ops(map))
		live_fail_all("cannot enable the scheduler: %s", strerror(errno));
	ops_fd = bpf_map__fd(map);
}

void scx_disable(void)
{
	char state[32] = "";
	int zero = 0;

	/* The kernel ejects a scheduler that fails, or that lets a task wait for 30 s. */
	sys_read_file(NULL, "/sys/kernel/sched_ext/state", state, sizeof(state));
	if (strcmp(state, "enabled"))
		live_fail_all("the scheduler is %s before it is disabled", state);
	if (bpf_map_delete_elem(ops_fd, &zero))
		live_fail_all("cannot disable the scheduler: %s", strerror(errno));
	bpf_object__close(loaded);
	loaded = NULL;
}
