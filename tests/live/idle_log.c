/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loads a BPF program of about 24 instructions that records the time of each cpu_idle event. The
 * BPF program shares no code with the directory bpf/.
 */
#include "idle_log.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define STAMPS_SIZE (IDLE_LOG_NR * sizeof(uint64_t))

#define OP(c, d, s, o, i)                                                                \
	{                                                                                \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (int)(i) \
	}
#define MOV(d, s)	   OP(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)	   OP(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)	   OP(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define AND_IMM(d, i)	   OP(BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i)
#define LOAD(d, s, o)	   OP(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, s, o)	   OP(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE_U32(d, s, o) OP(BPF_STX | BPF_MEM | BPF_W, d, s, o, 0)
#define JEQ_IMM(d, i, o)   OP(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define JNE_IMM(d, i, o)   OP(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define CALL(f)		   OP(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define MAP(d, fd)	   OP(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), OP(0, 0, 0, 0, 0)
#define EXIT		   OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/*
 * Builds the BPF program. The first argument of cpu_idle is the idle state, or (u32)-1 at the exit
 * from idle. Register r7 is 1 if the CPU exits from idle, else 0.
 */
static int load_prog(const struct idle_log *log, int cpu, enum idle_log_event event,
		     unsigned int reads)
{
	/*
	 * The BPF program skips the event if r7 has this value. r7 is never 2, so no timer
	 * interrupt is skipped.
	 */
	int unwanted = event == IDLE_LOG_ENTRY ? 1 : event == IDLE_LOG_EXIT ? 0 : 2;
	const struct bpf_insn read = CALL(BPF_FUNC_ktime_get_ns),
			      first = LOAD(BPF_REG_7, BPF_REG_1, 0);
	const struct bpf_insn rest[] = {
		MOV(BPF_REG_6, BPF_REG_0),
		/* r7 = ((uint32_t)argument + 1) >> 32: 1 if the argument is (u32)-1, else 0 */
		OP(BPF_ALU | BPF_MOV | BPF_X, BPF_REG_7, BPF_REG_7, 0, 0),
		OP(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_7, 0, 0, 1),
		OP(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_7, 0, 0, 32),
		JEQ_IMM(BPF_REG_7, unwanted, 23),
		CALL(BPF_FUNC_get_smp_processor_id),
		JNE_IMM(BPF_REG_0, cpu, 21),
		/* BPF register r8 is the number of the new log entry. */
		OP(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		MOV(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -4),
		MAP(BPF_REG_1, log->count_map),
		CALL(BPF_FUNC_map_lookup_elem),
		JEQ_IMM(BPF_REG_0, 0, 14),
		MOV(BPF_REG_9, BPF_REG_0),
		LOAD(BPF_REG_8, BPF_REG_9, 0),
		MOV(BPF_REG_1, BPF_REG_8),
		AND_IMM(BPF_REG_1, IDLE_LOG_NR - 1),
		STORE_U32(BPF_REG_10, BPF_REG_1, -4),
		MOV(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -4),
		MAP(BPF_REG_1, log->stamp_map),
		CALL(BPF_FUNC_map_lookup_elem),
		JEQ_IMM(BPF_REG_0, 0, 3),
		STORE(BPF_REG_0, BPF_REG_6, 0),
		ADD_IMM(BPF_REG_8, 1),
		STORE(BPF_REG_9, BPF_REG_8, 0),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	struct bpf_insn insns[1 + IDLE_LOG_READS + sizeof(rest) / sizeof(rest[0])] = {first};
	size_t nr = 1;

	while (nr <= reads)
		insns[nr++] = read;
	memcpy(insns + nr, rest, sizeof(rest));
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "test_idle_log", "GPL", insns,
			     nr + sizeof(rest) / sizeof(rest[0]), NULL);
}

static int make_map(const char *name, unsigned int nr)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);

	return bpf_map_create(BPF_MAP_TYPE_ARRAY, name, 4, 8, nr, &opts);
}

static const char *event_name(enum idle_log_event event)
{
	return event == IDLE_LOG_TIMER_IRQ ? "local_timer_entry" : "cpu_idle";
}

int idle_log_empty(enum idle_log_event event)
{
	const struct bpf_insn insns[] = {MOV_IMM(BPF_REG_0, 0), EXIT};
	int link, prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "test_empty", "GPL", insns, 2,
				       NULL);

	if (prog < 0)
		return -errno;
	link = bpf_raw_tracepoint_open(event_name(event), prog);
	close(prog);
	return link < 0 ? -errno : link;
}

int idle_log_open(struct idle_log *log, int cpu, struct err *err)
{
	return idle_log_open_at(log, cpu, IDLE_LOG_ENTRY, 1, err);
}

int idle_log_open_at(struct idle_log *log, int cpu, enum idle_log_event event, unsigned int reads,
		     struct err *err)
{
	const char *what = "cannot make maps for";
	void *count, *stamps;
	int rc;

	*log = (struct idle_log){.prog = -1, .link = -1};
	log->count_map = make_map("test_idle_count", 1);
	log->stamp_map = make_map("test_idle_stamp", IDLE_LOG_NR);
	if (log->count_map < 0 || log->stamp_map < 0)
		goto fail;
	what = "cannot map";
	count = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, log->count_map, 0);
	stamps = mmap(NULL, STAMPS_SIZE, PROT_READ, MAP_SHARED, log->stamp_map, 0);
	log->count = count == MAP_FAILED ? NULL : count;
	log->stamps = stamps == MAP_FAILED ? NULL : stamps;
	if (!log->count || !log->stamps)
		goto fail;
	what = "cannot load";
	log->prog = load_prog(log, cpu, event, reads);
	if (log->prog < 0)
		goto fail;
	what = "cannot attach";
	log->link = bpf_raw_tracepoint_open(event_name(event), log->prog);
	if (log->link >= 0)
		return 0;
fail:
	rc = errno == ENOENT ? -ENOENT : -EIO;
	err_set(err, -errno, "%s the log of an idle core: %s", what, strerror(errno));
	idle_log_close(log);
	return rc;
}

uint64_t idle_log_count(const struct idle_log *log)
{
	uint64_t count = *log->count;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return count;
}

uint64_t idle_log_stamp(const struct idle_log *log, uint64_t nr)
{
	return log->stamps[nr % IDLE_LOG_NR];
}

void idle_log_close(struct idle_log *log)
{
	const int fds[] = {log->link, log->prog, log->count_map, log->stamp_map};

	if (log->count)
		munmap((void *)log->count, sysconf(_SC_PAGESIZE));
	if (log->stamps)
		munmap((void *)log->stamps, STAMPS_SIZE);
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*log = (struct idle_log){.prog = -1, .link = -1, .count_map = -1, .stamp_map = -1};
}
