/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists tracepoints with BPF programs, and attaches empty programs to the same tracepoints. */
#include "cost.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

static int links[COST_MAX_EVENTS];
static size_t nr_links;

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

void cost_events_now(struct cost_events *ret_events)
{
	__u32 id = 0;

	*ret_events = (struct cost_events){0};
	while (!bpf_link_get_next_id(id, &id)) {
		struct bpf_link_info info = {0};
		char name[sizeof(ret_events->names[0])];
		__u32 len = sizeof(info);
		int fd = bpf_link_get_fd_by_id(id);

		if (fd < 0)
			continue;
		info.raw_tracepoint.tp_name = (__u64)(uintptr_t)name;
		info.raw_tracepoint.tp_name_len = sizeof(name);
		if (bpf_obj_get_info_by_fd(fd, &info, &len) ||
		    info.type != BPF_LINK_TYPE_RAW_TRACEPOINT || ret_events->nr == COST_MAX_EVENTS)
			ret_events->nr_other++;
		else
			memcpy(ret_events->names[ret_events->nr++], name, sizeof(name));
		close(fd);
	}
	qsort(ret_events->names, ret_events->nr, sizeof(ret_events->names[0]), compare_names);
}

bool cost_events_equal(const struct cost_events *a, const struct cost_events *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->names[i], b->names[i]))
			return false;
	return true;
}

/* Loads a BPF program for one tracepoint. The BPF program only returns 0. */
static int load_empty(const struct btf *btf, const char *event)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	char type[96];
	int id;

	snprintf(type, sizeof(type), "btf_trace_%s", event);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	if (id < 0)
		return id;
	opts.attach_btf_id = id;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "cost_empty", "GPL", code,
			     sizeof(code) / sizeof(code[0]), &opts);
}

int cost_empty_attach(const struct cost_events *events)
{
	/*
	 * BTF of the kernel. BTF is read only once, because reading takes a second under emulation.
	 */
	static struct btf *btf;
	int rc = 0;

	if (!btf && !(btf = btf__load_vmlinux_btf()))
		rc = -errno;

	for (size_t i = 0; !rc && i < events->nr; i++) {
		int prog = load_empty(btf, events->names[i]), link;

		if (prog < 0) {
			rc = prog;
			break;
		}
		link = bpf_raw_tracepoint_open(NULL, prog);
		if (link < 0)
			rc = link;
		else
			links[nr_links++] = link;
		close(prog);
	}
	return rc;
}

void cost_empty_detach(void)
{
	while (nr_links)
		close(links[--nr_links]);
	cost_sleep_ms(2000);
}
