/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Checks that `subtick doctor` agrees with system calls that the test makes itself. */
#include "live.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

static const char *check_status(json_t *root, const char *name)
{
	return live_text(live_row(root, "checks", "check", name), "status");
}

static void test_shape(json_t *root)
{
	size_t i, bad = 0;
	json_t *row;

	json_array_foreach(json_object_get(root, "checks"), i, row)
	{
		const char *status = live_text(row, "status");

		bad += (strcmp(status, "ok") && strcmp(status, "warn") && strcmp(status, "no")) ||
		       !*live_text(row, "detail");
	}
	live_ok(json_array_size(json_object_get(root, "checks")) > 20 && !bad,
		"every check says ok, warn or no, and why");
}

static bool left_behind(void)
{
	struct bpf_prog_info prog;
	struct bpf_map_info map;
	bool found = false;
	__u32 id, len;
	int fd;

	for (id = 0; !bpf_prog_get_next_id(id, &id);) {
		len = sizeof(prog);
		memset(&prog, 0, len);
		fd = bpf_prog_get_fd_by_id(id);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &prog, &len))
			found |= !strncmp(prog.name, "subtick_probe", 13);
		if (fd >= 0)
			close(fd);
	}
	for (id = 0; !bpf_map_get_next_id(id, &id);) {
		len = sizeof(map);
		memset(&map, 0, len);
		fd = bpf_map_get_fd_by_id(id);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &len))
			found |= !strncmp(map.name, "subtick_probe", 13);
		if (fd >= 0)
			close(fd);
	}
	return found;
}

static void test_nothing_stays(json_t *root)
{
	int tries = 0;

	if (strcmp(check_status(root, "BPF"), "ok")) {
		live_skip("no probe stays in the kernel", "BPF does not work here");
		return;
	}
	/*
	 * Retry, because the kernel frees BPF programs only after a grace period, and because
	 * another doctor process may be running.
	 */
	while (left_behind() && ++tries < 50)
		live_sleep_ms(100);
	live_ok(tries < 50, "no probe stays in the kernel");
}

/*
 * Results of the test's attempts to use each kernel feature. doctor must report the same results.
 */
struct attempts {
	bool privileges;     /* required capabilities are present in /proc/self/status */
	bool bpf;	     /* the kernel accepts a BPF map and a BPF program */
	bool idle, switches; /* a BPF program attaches to cpu_idle; to sched_switch */
	bool counter;	     /* perf opens a hardware counter on CPU 0 */
	bool stat, schedstat, sched_info, tracefs;
	/* exit code of `subtick load` with source bpf, and with source procidle */
	int load_bpf, load_procidle;
};

static bool file_begins(const char *path, const char *with)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return got > 0 && !strncmp(text, with, strlen(with));
}

static void try_bpf(struct attempts *attempts)
{
	const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test_doctor", 4, 4, 1, NULL);
	int prog =
		bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "test_doctor", "GPL", nothing, 2, NULL);
	int idle = prog < 0 ? -1 : bpf_raw_tracepoint_open("cpu_idle", prog);
	int switches = prog < 0 ? -1 : bpf_raw_tracepoint_open("sched_switch", prog);

	attempts->bpf = map >= 0 && prog >= 0;
	attempts->idle = idle >= 0;
	attempts->switches = switches >= 0;
	for (size_t i = 0; i < 4; i++) {
		int fd = (int[]){map, prog, idle, switches}[i];

		if (fd >= 0)
			close(fd);
	}
}

static bool try_counter(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_HW_CPU_CYCLES};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * subtick needs CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON since Linux 5.8. Capabilities in a user
 * namespace are not sufficient.
 */
static bool try_privileges(void)
{
	unsigned long long inside = 1, outside = 1, nr = 0;
	char line[128];
	uint64_t caps = 0;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "CapEff: %" SCNx64, &caps);
	if (file)
		fclose(file);
	file = fopen("/proc/self/uid_map", "re");
	if (file && fscanf(file, "%llu %llu %llu", &inside, &outside, &nr) != 3)
		nr = 0;
	if (file)
		fclose(file);
	/* A kernel without user namespaces has no uid_map file. */
	if (file && (inside || outside || nr != UINT32_MAX))
		return false;
	return caps >> 21 & 1 || (caps >> 38 & 1 && caps >> 39 & 1);
}

static bool is_tracefs(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == TRACEFS_MAGIC;
}

static void try_all(struct attempts *attempts)
{
	char text[64] = "";
	int fd;

	attempts->privileges = try_privileges();
	try_bpf(attempts);
	attempts->counter = try_counter();
	attempts->stat = file_begins("/proc/stat", "cpu ");
	attempts->schedstat = file_begins("/proc/schedstat", "version ");
	/*
	 * /proc/self/schedstat contains zeros if the kernel lacks CONFIG_SCHED_INFO, and also
	 * before the first context switch of the task.
	 */
	live_sleep_ms(5);
	fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	attempts->sched_info = fd >= 0 && read(fd, text, sizeof(text) - 1) > 0 && atof(text) > 0;
	if (fd >= 0)
		close(fd);
	attempts->tracefs =
		is_tracefs("/sys/kernel/tracing") || is_tracefs("/sys/kernel/debug/tracing");
}

static int exit_code(const char *source)
{
	struct live_run run;

	live_run(ARGS("load", "--json", "--source", source, "0.05", "1"), &run);
	live_run_free(&run);
	return run.exit_code;
}

/*
 * Checks the exit code of a short measurement with one source: 0, or 77 if the source does not work
 * on this machine.
 */
static void test_agrees(const char *source, bool expected, const char *why)
{
	int code = exit_code(source);

	live_ok(code == (expected ? 0 : 77), "%s: load --source %s %s: exit code %d", why, source,
		expected ? "works" : "is refused with 77", code);
}

/* Compares each result of doctor with the test's own attempt. */
static void compare(const char *who, json_t *root, const struct attempts *attempts)
{
	/*
	 * doctor finds the events cpu_idle and sched_switch in the kernel's BTF. doctor's check of
	 * the permission to use hardware counters is not compared.
	 */
	const struct {
		const char *check;
		bool is, tried;
	} checks[] = {
		{"privileges", attempts->privileges, true},
		{"BPF", attempts->bpf, true},
		{"/proc/stat", attempts->stat, true},
		{"/proc/schedstat", attempts->schedstat, true},
		{"sched_info", attempts->sched_info, true},
		{"events: idle", attempts->idle, attempts->bpf},
		{"events: switch", attempts->switches, attempts->bpf},
	};
	const char *load = live_text(live_row(root, "commands", "command", "load"), "status");
	const char *want = !attempts->load_bpf ? "full" : !attempts->load_procidle ? "part" : "no";

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const char *status = check_status(root, checks[i].check);

		if (checks[i].tried)
			live_ok(!strcmp(status, checks[i].is ? "ok" : "no"),
				"%s: doctor calls %s \"%s\", tried: %s", who, checks[i].check,
				status, checks[i].is ? "there" : "not there");
	}
	/*
	 * doctor must not report "ok" for PMU if this test cannot open a hardware counter of CPU
	 * cycles.
	 */
	live_ok(attempts->counter || strcmp(check_status(root, "PMU"), "ok"),
		"%s: PMU \"%s\", a counter of cycles %s", who, check_status(root, "PMU"),
		attempts->counter ? "opens" : "does not open");
	live_ok(!strcmp(load, want),
		"%s: load is called \"%s\"; source bpf exits with %d, procidle with %d", who, load,
		attempts->load_bpf, attempts->load_procidle);
}

/* Runs the function in a child process, because dropped capabilities cannot be regained. */
static bool in_child(void (*run)(int fd), void *ret_bytes, size_t size)
{
	int pipes[2], len = 0, status = -1;
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	if (pipe2(pipes, O_CLOEXEC))
		abort();
	pid = fork();
	if (!pid) {
		run(pipes[1]);
		_exit(0);
	}
	close(pipes[1]);
	while (len < (int)size && (got = read(pipes[0], (char *)ret_bytes + len, size - len)) > 0)
		len += got;
	close(pipes[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status) && len > 0;
}

static void send(int fd, const void *bytes, size_t size)
{
	if (write(fd, bytes, size) != (ssize_t)size)
		_exit(1);
}

static void try_without(int fd)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	struct attempts attempts = {0};

	if (syscall(SYS_capset, &header, none))
		_exit(1);
	try_all(&attempts);
	send(fd, &attempts, sizeof(attempts));
}

/* Empties the capability bounding set, so that no child process can gain capabilities. */
static void drop_bounding_set(void)
{
	for (int cap = 0; cap < 64; cap++)
		prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

static void doctor_without(int fd)
{
	struct live_run run;

	drop_bounding_set();
	live_run(ARGS("doctor", "--json"), &run);
	send(fd, run.out, strlen(run.out));
}

static void load_without(int fd)
{
	int codes[2];

	drop_bounding_set();
	codes[0] = exit_code("bpf");
	codes[1] = exit_code("procidle");
	send(fd, codes, sizeof(codes));
}

/* Drops all capabilities but keeps the user ID, because the user owns the files. */
static void test_without_capabilities(void)
{
	static char text[1 << 17];
	struct attempts attempts = {0};
	int codes[2];
	json_t *root;

	if (!in_child(doctor_without, text, sizeof(text) - 1) ||
	    !in_child(try_without, &attempts, sizeof(attempts)) ||
	    !in_child(load_without, codes, sizeof(codes))) {
		live_ok(false, "without capabilities: doctor runs");
		return;
	}
	attempts.load_bpf = codes[0];
	attempts.load_procidle = codes[1];
	root = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	live_ok(root && !attempts.privileges, "without capabilities: doctor gives JSON");
	compare("without capabilities", root, &attempts);
	json_decref(root);
}

int main(void)
{
	struct attempts attempts = {0};
	struct live_run run;
	json_t *root = live_json(ARGS("doctor", "--json"));

	if (!live_ok(root != NULL, "doctor gives JSON"))
		return live_done();
	test_shape(root);
	try_all(&attempts);
	attempts.load_bpf = exit_code("bpf");
	attempts.load_procidle = exit_code("procidle");
	compare("here", root, &attempts);
	live_ok(!strcmp(check_status(root, "tracefs"), "ok") == attempts.tracefs,
		"here: tracefs \"%s\", it is %smounted", check_status(root, "tracefs"),
		attempts.tracefs ? "" : "not ");
	test_agrees("perf-tsc", !strcmp(check_status(root, "PMU"), "ok"), "PMU");
	test_agrees("schedstat", attempts.schedstat, "/proc/schedstat");
	test_nothing_stays(root);
	if (geteuid())
		live_skip("without capabilities", "already not root");
	else
		test_without_capabilities();
	live_run(ARGS("doctor", "nosuch"), &run);
	live_ok(run.exit_code == 64, "a command that does not exist is a usage error");
	live_run_free(&run);
	json_decref(root);
	return live_done();
}
