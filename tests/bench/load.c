/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the cost of `subtick load`: the time of one update for several numbers of CPUs, and the
 * time that subtick adds to each idle period.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <jansson.h>

#include "base/clock.h"
#include "bench.h"
#include "empty.skel.h"
#include "measure/load/slot.h"
#include "measure/load/sources.h"
#include "subtick/load.h"
#include "host/bpf.h"
#include "host/kbtf.h"
#include "host/procstat.h"

#define MAX_CPUS      256
#define UPDATE_ROUNDS 41
#define UPDATE_LOOPS  200
#define IDLE_ROUNDS   25
#define IDLE_OPS      4000

/*
 * Fills the per-CPU slots as on a busy machine: every context has time, and the times of all
 * contexts sum to the elapsed time.
 */
static void fill_slots(struct load_slot *slots, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct load_slot *s = &slots[i];
		uint64_t base = 0, hirq = 0;

		memset(s, 0, sizeof(*s));
		for (int ctx = 0; ctx < LOAD_NR_CTX; ctx++) {
			s->base_ns[ctx] = 1000000ULL * (i + ctx + 1);
			s->hirq_ns[ctx] = 1000ULL * (i + ctx + 1);
			base += s->base_ns[ctx];
			hirq += s->hirq_ns[ctx];
		}
		s->hirq_out_ns = base - hirq;
		s->base = base << 8 | LOAD_TASK;
		s->hirq = base << 8;
	}
}

/*
 * Reads the slots of @nr CPUs, as source bpf does at each update. load_slot_read() checks that the
 * times of all contexts of a slot sum to the elapsed time. Returns the time per update in ns.
 */
static double update_slots(const struct load_slot *slots, struct load_sample *samples,
			   unsigned int nr)
{
	uint64_t start = clock_mono_ns();

	for (int loop = 0; loop < UPDATE_LOOPS; loop++) {
		uint64_t now = clock_mono_ns();

		for (unsigned int i = 0; i < nr; i++)
			load_slot_read(&slots[i], now, 0, &samples[i]);
	}
	return (double)(clock_mono_ns() - start) / UPDATE_LOOPS;
}

static size_t make_procstat(char *text, size_t size, unsigned int nr)
{
	size_t len = snprintf(text, size, "cpu  1 2 3 4 5 6 7 8 9 10\n");

	for (unsigned int i = 0; i < nr; i++)
		len += snprintf(text + len, size - len,
				"cpu%u 1234567 890 345678 98765432 12345 0 23456 789 0 0\n", i);
	return len;
}

static double update_procstat(const char *text, size_t len, struct procstat_cpu *cpus,
			      unsigned int nr)
{
	uint64_t start = clock_mono_ns();

	for (int loop = 0; loop < UPDATE_LOOPS; loop++)
		if (procstat_parse(text, len, cpus, nr))
			abort();
	return (double)(clock_mono_ns() - start) / UPDATE_LOOPS;
}

static void bench_updates(json_t *result)
{
	static const unsigned int sizes[] = {1, 2, 8, 64, 256};
	struct load_slot *slots = aligned_alloc(4096, MAX_CPUS * sizeof(*slots));
	struct load_sample *samples = calloc(MAX_CPUS, sizeof(*samples));
	struct procstat_cpu *cpus = calloc(MAX_CPUS, sizeof(*cpus));
	char *text = malloc(65536);
	json_t *rows = json_array();

	fill_slots(slots, MAX_CPUS);
	printf("one update, ns          from the mapped array     target 1 us + 20 ns x N     "
	       "parse of /proc/stat's text\n");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		double ours[UPDATE_ROUNDS], parse[UPDATE_ROUNDS];
		size_t len = make_procstat(text, 65536, sizes[s]);
		struct bench_spread a, b;

		for (int r = 0; r < UPDATE_ROUNDS; r++) {
			ours[r] = update_slots(slots, samples, sizes[s]);
			parse[r] = update_procstat(text, len, cpus, sizes[s]);
		}
		a = bench_spread(ours, UPDATE_ROUNDS);
		b = bench_spread(parse, UPDATE_ROUNDS);
		printf("  %3u CPUs   %10.0f (%.0f-%.0f)   %10.0f   %10.0f (%.0f-%.0f)\n", sizes[s],
		       a.median, a.low, a.high, 1000.0 + 20.0 * sizes[s], b.median, b.low, b.high);
		json_array_append_new(rows, json_pack("{s:i,s:f,s:f,s:f}", "cpus", (int)sizes[s],
						      "bpf_ns", a.median, "target_ns",
						      1000.0 + 20.0 * sizes[s], "procstat_parse_ns",
						      b.median));
	}
	json_object_set_new(result, "update", rows);
	free(slots);
	free(samples);
	free(cpus);
	free(text);
}

/*
 * Measures the time of a subtick_read() call on this machine, including system calls, for each
 * source of `subtick load`.
 */
static void bench_sources(json_t *result)
{
	json_t *rows = json_object();

	printf("subtick_read() on this machine, ns\n");
	for (const struct load_source_ops *const *ops = load_sources(); *ops; ops++) {
		struct subtick_load_opts opts = {.size = sizeof(opts),
						 .source = 1 + (ops - load_sources())};
		const struct subtick_window *window = NULL;
		double took[UPDATE_ROUNDS];
		struct bench_spread spread;
		struct subtick *load;

		if (subtick_load_open(&load, &opts)) {
			printf("  %-16s %s\n", (*ops)->name, subtick_error());
			json_object_set_new(rows, (*ops)->name, json_null());
			continue;
		}
		for (int r = 0; r < UPDATE_ROUNDS; r++) {
			uint64_t start = clock_mono_ns();

			for (int loop = 0; loop < 20; loop++)
				subtick_read(load, &window);
			took[r] = (double)(clock_mono_ns() - start) / 20.0;
		}
		spread = bench_spread(took, UPDATE_ROUNDS);
		printf("  %-16s %8.0f (%.0f-%.0f), %d CPUs\n", (*ops)->name, spread.median, spread.low,
		       spread.high, (int)subtick_rows(window, SUBTICK_CPUS));
		json_object_set_new(rows, (*ops)->name, json_real(spread.median));
		subtick_close(load);
	}
	json_object_set_new(result, "sources", rows);
}

static struct empty_bpf *attach_empty(void)
{
	struct empty_bpf *skel = empty_bpf__open();
	struct btf *btf;

	if (!skel || kbtf_open(NULL, &btf, NULL))
		return NULL;
	sys_bpf_autoload_present(skel->obj, btf);
	bpf_program__set_autoload(skel->progs.empty_hrtimer_expire_entry, false);
	kbtf_close(btf);
	if (empty_bpf__load(skel) || empty_bpf__attach(skel)) {
		empty_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

static bool run_variant(int variant, int to, int from, double *ret_ns)
{
	struct subtick_load_opts opts = {.size = sizeof(opts), .source = SUBTICK_LOAD_BPF};
	struct subtick *load = NULL;
	struct empty_bpf *empty = NULL;

	if (variant == 1 && !(empty = attach_empty()))
		return false;
	if (variant == 2 && subtick_load_open(&load, &opts))
		return false;
	*ret_ns = bench_round_trips(to, from, IDLE_OPS);
	if (empty)
		empty_bpf__destroy(empty);
	subtick_close(load);
	return true;
}

static int bench_idle(json_t *result)
{
	static const char *const names[] = {"nothing", "empty programs", "subtick load"};
	struct bench_echo echo = {.cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1,
				  .in = eventfd(0, 0),
				  .out = eventfd(0, 0)};
	double ns[3][IDLE_ROUNDS], diffs[3][IDLE_ROUNDS];
	struct bench_spread spread[3], ratio;
	json_t *row;
	uint64_t stop = 1000;
	pthread_t thread;

	if (echo.cpu < 1) {
		printf("cost per idle cycle: needs two CPUs\n");
		return 0;
	}
	bench_pin(0);
	pthread_create(&thread, NULL, bench_echo, &echo);
	for (int r = 0; r < IDLE_ROUNDS; r++)
		for (int v = 0; v < 3; v++)
			if (!run_variant(v, echo.in, echo.out, &ns[v][r])) {
				fprintf(stderr, "cannot attach %s\n", names[v]);
				return 1;
			}
	if (write(echo.in, &stop, sizeof(stop)) < 0)
		return 1;
	pthread_join(thread, NULL);

	printf("ns per idle cycle (half a round trip between two cores, %d rounds interleaved)\n",
	       IDLE_ROUNDS);
	/*
	 * Each variant is compared with the variant "nothing" of the same round, so that slow
	 * changes of the machine's speed cancel.
	 */
	for (int v = 0; v < 3; v++)
		for (int r = 0; r < IDLE_ROUNDS; r++)
			diffs[v][r] = (ns[v][r] - ns[0][r]) / 2.0;
	ratio = bench_ratio(diffs[2], diffs[1], IDLE_ROUNDS);
	for (int v = 0; v < 3; v++)
		spread[v] = bench_spread(diffs[v], IDLE_ROUNDS);
	for (int v = 0; v < 3; v++) {
		struct bench_spread total = bench_spread(ns[v], IDLE_ROUNDS);

		printf("  %-16s %8.0f   added %6.0f (%.0f-%.0f)\n", names[v], total.median / 2.0,
		       spread[v].median, spread[v].low, spread[v].high);
	}
	printf("  ratio of what is added, subtick to empty programs: %.2f (%.2f-%.2f)"
	       " (target: at most 3)\n",
	       ratio.median, ratio.low, ratio.high);
	row = bench_ratio_json(&ratio);
	json_object_set_new(row, "empty_added_ns", json_real(spread[1].median));
	json_object_set_new(row, "subtick_added_ns", json_real(spread[2].median));
	json_object_set_new(result, "idle_cycle", row);
	return 0;
}

int main(int argc, char **argv)
{
	json_t *result = json_object();
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	/*
	 * Check for BPF programs of other processes before the benchmark loads its BPF programs.
	 * The kernel frees the programs of the benchmark only some time after the last file
	 * descriptor is closed.
	 */
	bool fit = bench_machine_fit();
	int rc;

	if (json && !freopen("/dev/null", "w", stdout))
		return 1;
	bench_updates(result);
	bench_sources(result);
	/*
	 * Only bench_idle() measures the cost of events, which BPF programs of other processes
	 * change.
	 */
	rc = fit ? bench_idle(result) : 77;
	if (json)
		json_dumpf(result, stderr, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	json_decref(result);
	return rc;
}
