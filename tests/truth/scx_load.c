/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads and unloads sched_ext schedulers. */
#include "scx_load.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "live.h"
#include "scx.skel.h"
#include "host/file.h"

const char *const scx_names[SCX_NR] = {
	[SCX_FIFO] = "subtick_fifo", [SCX_GROUPS] = "subtick_groups"};

static struct scx_bpf *loaded;
static struct bpf_map *ops;

void scx_load(enum scx_scheduler which)
{
	struct bpf_program *program;

	if (!sys_exists(NULL, "/sys/kernel/sched_ext"))
		live_skip_all("the kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT)");
	loaded = scx_bpf__open();
	if (!loaded)
		live_fail_all("cannot open the schedulers: %s", strerror(errno));
	ops = which == SCX_FIFO ? loaded->maps.fifo : loaded->maps.groups;
	/*
	 * Mark the sleepable operations of the scheduler, which may allocate memory. libbpf 1.1 has
	 * no section name for sleepable operations.
	 */
	bpf_object__for_each_program(program, loaded->obj)
	{
		const char *section = bpf_program__section_name(program);

		if (strstr(section, "init") || strstr(section, "exit"))
			bpf_program__set_flags(program, BPF_F_SLEEPABLE);
	}
	if (scx_bpf__load(loaded))
		live_fail_all("cannot load the schedulers: %s", strerror(errno));
}

void scx_enable(void)
{
	if (!bpf_map__attach_struct_ops(ops))
		live_fail_all("cannot enable the scheduler: %s", strerror(errno));
}

void scx_disable(void)
{
	char state[32] = "";
	int zero = 0;

	/* The kernel ejects a scheduler that fails or lets a task wait for 30 s. */
	sys_read_file(NULL, "/sys/kernel/sched_ext/state", state, sizeof(state));
	if (strcmp(state, "enabled"))
		live_fail_all("the scheduler is %s before it is disabled", state);
	if (bpf_map_delete_elem(bpf_map__fd(ops), &zero))
		live_fail_all("cannot disable the scheduler: %s", strerror(errno));
	scx_bpf__destroy(loaded);
}
