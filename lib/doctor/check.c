/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probes capabilities, BPF and the cycle counter, and fills the row of a check. */
#include "doctor/doctor.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/arch.h"
#include "base/array.h"
#include "host/bpf.h"
#include "host/file.h"
#include "host/kbtf.h"
#include "host/perf.h"

/* Finds the value of a key such as "\nCapEff:" in /proc/self/status, or NULL. */
static const char *status_find(const char *status, const char *key)
{
	const char *line = strstr(status, key);

	return line ? line + strlen(key) + strspn(line + strlen(key), " \t") : NULL;
}

int caps_read(const char *root, struct caps *ret_caps)
{
	struct caps caps = {0};
	unsigned long first, parent, count;
	char buf[8192] = "\n", *end;
	const char *text;
	int rc = sys_read_file(root, "/proc/self/status", buf + 1, sizeof(buf) - 1);

	if (rc < 0)
		return rc;
	text = status_find(buf, "\nCapEff:");
	if (!text)
		return -EINVAL;
	caps.effective = strtoull(text, &end, 16);
	if (end - text != 16)
		return -EINVAL;
	text = status_find(buf, "\nSeccomp:");
	caps.seccomp = text && *text == '2';
	/* The initial user namespace maps every user id to itself. */
	rc = sys_read_file(root, "/proc/self/uid_map", buf, sizeof(buf));
	if (rc >= 0 && sscanf(buf, "%lu %lu %lu", &first, &parent, &count) == 3)
		caps.user_ns = first || parent || count != 4294967295UL;
	*ret_caps = caps;
	return 0;
}

#define INSN(c, dst, src, o, i)                                                         \
	(struct bpf_insn)                                                               \
	{                                                                               \
		.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (o), .imm = (i) \
	}

/* Closes @fd, the result of a probe. Returns 0, or @fd if @fd is -errno. */
static int probe_close(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int probe_load(int btf_id, const struct bpf_insn *insns, size_t nr)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = btf_id);

	return probe_close(
		bpf_prog_load(BPF_PROG_TYPE_TRACING, "subtick_probe", "GPL", insns, nr, &opts));
}

static void probe_programs(struct probe *probe)
{
	const struct bpf_insn empty[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	/* BPF program that calls bpf_probe_read_kernel(stack, 8, NULL) and returns 0 */
	const struct bpf_insn reads[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 3, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct btf *btf;
	int id = kbtf_open(NULL, &btf, NULL);

	if (!id) {
		id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
		kbtf_close(btf);
	}
	probe->bpf_prog_rc = id < 0 ? id : probe_load(id, empty, ARRAY_SIZE(empty));
	probe->bpf_read_rc = id < 0 ? id : probe_load(id, reads, ARRAY_SIZE(reads));
}

static void probe_event(struct probe *probe)
{
	struct perf_event event;
	struct perf_count count;
	int cpu, fd, rc;

	probe->event_rc = perf_event_find(NULL, NULL, &event, &probe->event_err);
	if (probe->event_rc)
		return;
	snprintf(probe->event, sizeof(probe->event), "%s", event.name);
	/* Opening the perf event on another CPU would send an IPI. */
	cpu = sched_getcpu();
	cpu = cpu < 0 ? 0 : cpu;
	fd = perf_open_cpu(&event, cpu, true);
	rc = fd < 0 ? fd : perf_read(fd, &count);
	if (fd >= 0)
		close(fd);
	if (rc)
		probe->event_rc = perf_fail(&probe->event_err, rc, &event, cpu);
	probe->cycles_vary = ARCH_HAS_CYCLES && !arch_cycles_constant();
}

void probe_run(struct probe *ret_probe)
{
	struct probe probe = {0};
	struct utsname uts;
	long hz;

	if (!uname(&uts)) {
		snprintf(probe.release, sizeof(probe.release), "%s", uts.release);
		snprintf(probe.machine, sizeof(probe.machine), "%s", uts.machine);
	}
	hz = sysconf(_SC_CLK_TCK);
	probe.user_hz = hz > 0 ? hz : 0;
	sys_bpf_log_begin();
	probe.bpf_map_rc =
		probe_close(bpf_map_create(BPF_MAP_TYPE_ARRAY, "subtick_probe", 4, 8, 1, NULL));
	probe_programs(&probe);
	probe_event(&probe);
	*ret_probe = probe;
}

void doctor_set(struct doctor_row *row, enum doctor_status status, const char *fix, const char *fmt,
		...)
{
	va_list ap;

	row->status = status;
	va_start(ap, fmt);
	vsnprintf(row->detail, sizeof(row->detail), fmt, ap);
	va_end(ap);
	snprintf(row->fix, sizeof(row->fix), "%s", fix ? fix : "");
}
