/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the cost of `subtick runq` per context switch, compared with an empty BPF program and
 * with other tools.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <jansson.h>

#include "bench.h"
#include "empty.skel.h"
#include "measure/runq/runq.h"

#define MAX_ROUNDS BENCH_MAX_ROUNDS

struct variant {
	const char *name;
	struct runq_opts opts;	    /* options of subtick runq */
	const char *const argv[12]; /* command line of another tool */
	bool ours, empty, bpf;
};

static const struct variant variants[] = {
	{.name = "nothing"},
	{.name = "empty tp_btf", .empty = true},
	{.name = "subtick runq", .ours = true, .opts = {.source = RUNQ_SOURCE_SCHED_INFO}},
	{.name = "with --blame",
	 .ours = true,
	 .opts = {.source = RUNQ_SOURCE_SCHED_INFO, .blame = true}},
	{.name = "--source wakeup", .ours = true, .opts = {.source = RUNQ_SOURCE_WAKEUP}},
	{.name = "--sample 0.1",
	 .ours = true,
	 .opts = {.source = RUNQ_SOURCE_SCHED_INFO, .sample_ratio = 0.1}},
	{.name = "runqlat", .argv = {"runqlat", "1000", NULL}, .bpf = true},
	{.name = "runqslower", .argv = {"runqslower", "10000", NULL}, .bpf = true},
	{.name = "perf sched record",
	 .argv = {"perf", "sched", "record", "-a", "-o", "/dev/null", "--", "sleep", "1000", NULL}},
	{.name = "bpftrace runqlat", .argv = {"runqlat.bt", NULL}, .bpf = true},
};

#define NR_VARIANTS (sizeof(variants) / sizeof(variants[0]))
enum {
	NOTHING,
	EMPTY,
	PLAIN,
	BLAME,
	WAKEUP,
	SAMPLED,
	RUNQLAT
};

static const struct {
	const char *name, *command;
	double per_op; /* factor that converts the CPU seconds of a run to the unit in @name */
} loads[] = {
	{"pipe, one core, CPU ns/op", "taskset -c 1 perf bench -f simple sched pipe -l 100000",
	 1e9 / 100000},
	{"pipe, any core, CPU ns/op", "perf bench -f simple sched pipe -l 50000", 1e9 / 50000},
	{"messaging, CPU us", "perf bench -f simple sched messaging -g 4 -l 100", 1e6},
};

#define NR_LOADS (sizeof(loads) / sizeof(loads[0]))

/* True if the process has a file descriptor of a BPF program or link. */
static bool holds_bpf(pid_t pid)
{
	char dir[32], path[64], target[64];
	bool found = false;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", pid);
	for (int fd = 0; fd < 64 && !found; fd++) {
		ssize_t len;

		snprintf(path, sizeof(path), "%s/%d", dir, fd);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		found = strstr(target, "bpf-prog") || strstr(target, "bpf_link") ||
			strstr(target, "raw-tracepoint");
	}
	return found;
}

/*
 * Starts a tool and waits until the tool has attached its BPF programs. Returns the pid, or 0 if
 * the tool is not installed or does not start.
 */
static pid_t tool_start(const struct variant *variant)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execvp(variant->argv[0], (char *const *)variant->argv);
		_exit(127);
	}
	for (int i = 0; i < 200; i++) {
		usleep(100000);
		if (waitpid(pid, &status, WNOHANG) == pid)
			return 0;
		if (variant->bpf ? holds_bpf(pid) : i >= 8) {
			/*
			 * Wait, because a tool first loads all BPF programs and attaches the
			 * programs later.
			 */
			usleep(400000);
			return waitpid(pid, &status, WNOHANG) == pid ? 0 : pid;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 0;
}

static void tool_stop(pid_t pid)
{
	int status;

	kill(pid, SIGINT);
	for (int i = 0; i < 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return;
		usleep(50000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static struct empty_bpf *empty_start(void)
{
	struct empty_bpf *skel = empty_bpf__open();
	struct bpf_program *prog;

	if (!skel)
		return NULL;
	bpf_object__for_each_program(prog, skel->obj) bpf_program__set_autoload(
		prog, !strcmp(bpf_program__section_name(prog), "tp_btf/sched_switch"));
	if (!empty_bpf__load(skel) && !empty_bpf__attach(skel))
		return skel;
	empty_bpf__destroy(skel);
	return NULL;
}

/*
 * Runs a load and returns its CPU time in @ret_figure. The CPU time includes BPF programs on
 * sched_switch, because the kernel charges the time of these programs to the tasks that switch. The
 * CPU time of the load does not include processes outside the load.
 */
static bool load_run(size_t load, double *ret_figure)
{
	struct rusage usage;
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		execl("/bin/sh", "sh", "-c", loads[load].command, NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return false;
	*ret_figure = ((double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6) *
		      loads[load].per_op;
	return status == 0;
}

static bool loads_run(double figures[NR_LOADS])
{
	bool fine = true;

	for (size_t load = 0; fine && load < NR_LOADS; load++)
		fine = load_run(load, &figures[load]);
	return fine;
}

static bool variant_run(const struct variant *variant, double figures[NR_LOADS])
{
	struct empty_bpf *empty = NULL;
	struct meter *meter = NULL;
	struct err err = {0};
	pid_t tool = 0;
	bool fine;

	if (variant->empty && !(empty = empty_start()))
		return false;
	if (variant->ours &&
	    (runq_open(&variant->opts, &meter, &err) || meter->ops->start(meter, &err))) {
		fprintf(stderr, "%s: %s\n", variant->name, err.what);
		return false;
	}
	if (variant->argv[0] && !(tool = tool_start(variant)))
		return false;
	fine = loads_run(figures);
	if (tool)
		tool_stop(tool);
	if (meter)
		meter->ops->close(meter);
	if (empty)
		empty_bpf__destroy(empty);
	return fine;
}

/*
 * CPU time of the load in one round. @with is the CPU time of the run with a variant. @without is
 * the mean CPU time of the two runs without BPF programs, directly before and after the variant.
 */
struct figure {
	double with, without;
};

static void added_by(size_t variant, struct figure (*figures)[MAX_ROUNDS], int rounds,
		     double *ret_ns)
{
	for (int r = 0; r < rounds; r++)
		ret_ns[r] = figures[variant][r].with - figures[variant][r].without;
}

/* Prints the median and the quartiles of the cost ratio of two variants over all rounds. */
static void print_ratio(size_t over, size_t under, struct figure (*figures)[MAX_ROUNDS],
			const bool *works, int rounds, json_t *rows)
{
	double a[MAX_ROUNDS], b[MAX_ROUNDS];
	struct bench_spread ratio;
	char key[96];

	if (!works[over] || !works[under])
		return;
	added_by(over, figures, rounds, a);
	added_by(under, figures, rounds, b);
	ratio = bench_ratio(a, b, rounds);
	printf("  added by %s / by %s: %.2f (%.2f to %.2f)\n", variants[over].name,
	       variants[under].name, ratio.median, ratio.low, ratio.high);
	snprintf(key, sizeof(key), "%s / %s", variants[over].name, variants[under].name);
	json_object_set_new(rows, key, bench_ratio_json(&ratio));
}

static void print_load(size_t load, struct figure (*figures)[NR_VARIANTS][MAX_ROUNDS],
		       const bool *works, int rounds, json_t *result)
{
	json_t *rows = json_object();

	printf("%s\n", loads[load].name);
	for (size_t v = 0; v < NR_VARIANTS; v++) {
		double diff[MAX_ROUNDS], all[MAX_ROUNDS];
		struct bench_spread spread, total;

		if (!works[v]) {
			printf("  %-18s does not run here\n", variants[v].name);
			continue;
		}
		for (int r = 0; r < rounds; r++)
			all[r] = figures[load][v][r].with;
		added_by(v, figures[load], rounds, diff);
		total = bench_spread(all, rounds);
		spread = bench_spread(diff, rounds);
		printf("  %-18s %9.0f   added %7.0f (%.0f to %.0f)\n", variants[v].name,
		       total.median, spread.median, spread.low, spread.high);
		json_object_set_new(
			rows, variants[v].name,
			json_pack("{s:f,s:f}", "median", total.median, "added", spread.median));
	}
	print_ratio(PLAIN, EMPTY, figures[load], works, rounds, rows);
	print_ratio(RUNQLAT, PLAIN, figures[load], works, rounds, rows);
	print_ratio(RUNQLAT, BLAME, figures[load], works, rounds, rows);
	json_object_set_new(result, loads[load].name, rows);
}

/*
 * Measures all variants. Each variant is compared with the runs without BPF programs directly
 * before and after the variant. Within a minute, the speed of the machine varies by more than the
 * cost of a BPF program. The variant "nothing" attaches no BPF program, so its difference shows the
 * noise of the measurement.
 */
static void round_run(struct figure (*figures)[NR_VARIANTS][MAX_ROUNDS], bool *works, int round)
{
	double before[NR_LOADS], with[NR_LOADS], after[NR_LOADS];

	works[NOTHING] = works[NOTHING] && loads_run(before);
	for (size_t v = 0; works[NOTHING] && v < NR_VARIANTS; v++) {
		works[v] = works[v] && variant_run(&variants[v], with);
		if (!works[v])
			continue;
		works[NOTHING] = loads_run(after);
		for (size_t load = 0; load < NR_LOADS; load++)
			figures[load][v][round] =
				(struct figure){with[load], (before[load] + after[load]) / 2};
		memcpy(before, after, sizeof(before));
	}
}

int main(int argc, char **argv)
{
	static struct figure figures[NR_LOADS][NR_VARIANTS][MAX_ROUNDS];
	bool json = argc > 1 && !strcmp(argv[argc - 1], "--json"), works[NR_VARIANTS];
	int rounds = argc > 1 ? atoi(argv[1]) : 0;
	json_t *result = json_object();

	rounds = rounds > 0 && rounds <= MAX_ROUNDS ? rounds : 9;
	memset(works, true, sizeof(works));
	if (json && !freopen("/dev/null", "w", stdout))
		return 1;
	if (!bench_machine_fit())
		return 77;
	for (int r = 0; r < rounds; r++)
		round_run(figures, works, r);
	if (!works[NOTHING]) {
		fprintf(stderr, "perf bench does not run here: install linux-perf\n");
		return 1;
	}
	printf("medians of %d interleaved rounds, quartiles in parentheses\n", rounds);
	for (size_t load = 0; load < NR_LOADS; load++)
		print_load(load, figures, works, rounds, result);
	if (json)
		json_dumpf(result, stderr, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	json_decref(result);
	return 0;
}
