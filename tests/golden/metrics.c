/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the whole /metrics page in text format with a reviewed file. The tested page has every
 * metric family, and is computed from windows with fixed figures. formats.py compares all other
 * formats with the text format. UPDATE_GOLDEN=1 rewrites the reviewed file; read the difference
 * before you commit the reviewed file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "golden.h"
#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "measure/wake/wake.h"
#include "measure/runq/runq.h"
#include "serve/export/collector.h"
#include "stats/hist.h"
#include "view/prom.h"

static struct store store;
static struct config config;

/*
 * Adds three windows of `subtick load`. The first two windows have CPUs 0, 1 and 3: the load of CPU
 * 1 is not valid (LOAD_TORN), and CPU 3 is offline. The array cores has a second physical core with
 * a single CPU and an unknown core number (UINT32_MAX), and a third physical core that is offline.
 * The last window covers only CPU 2. The source of the last window measures neither the parts of
 * busy time nor losses.
 */
static void absorb_load(void)
{
	struct load_cpu_window cpu[4] = {0}, shown[4] = {0};
	struct load_vecs vecs[4] = {0};
	const struct load_core cores[] = {
		{.package = 1, .core = 2, .cpu = {0, 1}, .busy_ns = {600000000, 300000000, 100000000}},
		{.package = UINT32_MAX, .core = UINT32_MAX, .cpu = {4, 4}, .busy_ns = {60, 0, 40}},
		{.package = 1, .core = 5, .cpu = {5, 6}, .flags = LOAD_OFFLINE},
	};
	struct load_window w = {
		.parts = (1u << LOAD_NR_PARTS) - 1,
		.cpu = cpu,
		.shown = {{"bpf", cpu}, {"procstat", shown}},
		.nr_shown = 2,
		.cpu_vecs = vecs,
		.cores = cores,
		.nr_cores = 3,
		.losses = {1, 2, 3, 4, 5, 6},
	};

	cpuset_add(&w.cpus, 0);
	cpuset_add(&w.cpus, 1);
	cpuset_add(&w.cpus, 3);
	for (int i = 0; i < LOAD_NR_PARTS; i++) {
		cpu[0].part_ns[i] = 123456789ULL * (i + 1);
		cpu[0].window_ns += cpu[0].part_ns[i];
	}
	cpu[0].busy_ratio = 0.25;
	cpu[0].closure_error_ratio = 0.000125;
	shown[0].busy_ratio = 0.5;
	for (int i = 0; i < LOAD_NR_VECS; i++)
		vecs[0].ns[i] = vecs[0].count[i] = i;
	cpu[1] = cpu[3] = cpu[0];
	vecs[1] = vecs[0];
	cpu[1].flags = LOAD_TORN;
	cpu[3].flags = LOAD_OFFLINE;
	load_absorb(&store, &w);
	load_absorb(&store, &w);
	w.parts = w.nr_shown = 0;
	w.cpu_vecs = NULL;
	w.cores = NULL;
	memset(&w.losses, 0xff, sizeof(w.losses)); /* sets each loss counter to LOAD_NO_LOSS */
	w.cpus = (struct cpuset){.bits = {1 << 2}};
	cpu[2] = (struct load_cpu_window){.window_ns = NSEC_PER_SEC, .busy_ns = 1};
	load_absorb(&store, &w);
}

/*
 * Adds one noise source of each kind, kworkers of some pools, and a name that needs escaping. The
 * softirq delays of 900 ns and 1030 ns are in the histogram buckets below and above the boundary of
 * 1024 ns.
 */
static void absorb_noise(void)
{
	static struct noise_source sources[] = {
		{.cpu = 0, .kind = NOISE_KIND_IRQ, .irq = 45, .name = "card \"0\"", .count = 1,
		 .ns = 1500, .longest_ns = 1500},
		{.cpu = 0, .kind = NOISE_KIND_THREAD, .name = "kworker/0:1", .count = 2,
		 .ns = 3000000, .longest_ns = 2000000},
		{.cpu = 0, .kind = NOISE_KIND_THREAD, .name = "kworker/0:2", .count = 1,
		 .ns = 1000000, .longest_ns = 1000000},
		{.cpu = 0, .kind = NOISE_KIND_THREAD, .name = "kworker/0:12H", .count = 1, .ns = 4},
		{.cpu = 0, .kind = NOISE_KIND_THREAD, .name = "kworker/u8:7", .count = 1, .ns = 8},
		{.cpu = 0, .kind = NOISE_KIND_THREAD, .name = "kworker/u8:9", .count = 1, .ns = 16},
		{.cpu = 0, .kind = NOISE_KIND_THREAD, .name = "kworker/R-mm", .count = 1, .ns = 32},
		{.cpu = 0, .kind = NOISE_KIND_THREAD, .name = "jbd2/a:1", .count = 1, .ns = 64},
		{.cpu = 1, .kind = NOISE_KIND_VECTOR, .name = "Rescheduling interrupts",
		 .count = 1000, .ns = 1234567890, .longest_ns = 9000},
		{.cpu = 1, .kind = NOISE_KIND_SOFTIRQ, .name = "NET_RX", .count = 4, .ns = 40000,
		 .longest_ns = 20000},
		{.cpu = 1, .kind = NOISE_KIND_NMI, .name = "NMI", .count = 1, .ns = 700,
		 .longest_ns = 700},
	};
	static uint64_t hist[LOAD_NR_VECS][NOISE_NR_BUCKETS];
	static struct noise_delay delays[] = {
		{.cpu = 0, .vec = 1, .times = {2, 900 + 1030, 1030, 1030}},
		{.cpu = 1, .vec = 1, .times = {1, 5000, 5000, 5000}},
		{.cpu = 1, .vec = 3, .times = {4, 80000, 50000, 50000}},
	};
	struct noise_window w = {
		.delays = delays,
		.nr_delays = sizeof(delays) / sizeof(delays[0]),
		.delay_hist = hist,
		.sources = sources,
		.nr_sources = sizeof(sources) / sizeof(sources[0]),
		.nr_cores = 2,
		.noise_losses = {.sources = 20, .victims = 21, .raises = 24, .queueings = 25,
				 .functions = 26},
		.losses = {.odd_edges = 22, .recursion_misses = 23},
	};

	hist[1][hist_index(900) >> NOISE_BUCKET_SHIFT] = 1;
	hist[1][hist_index(1030) >> NOISE_BUCKET_SHIFT] = 1;
	hist[1][hist_index(5000) >> NOISE_BUCKET_SHIFT] = 1;
	hist[3][hist_index(10000) >> NOISE_BUCKET_SHIFT] = 3;
	hist[3][hist_index(50000) >> NOISE_BUCKET_SHIFT] = 1;
	noise_absorb(&store, &w);
	noise_absorb(&store, &w);
}

/*
 * Adds waits of cgroups. Two cgroups have names that need escaping, one cgroup is beyond the limit
 * and counts as (other), and one cgroup has ended and is evicted.
 */
static void absorb_runq(uint64_t second)
{
	static const struct runq_group names[] = {{.path = "/a"},
						  {.path = "/quote\" back\\slash\nline"},
						  {.path = "/bytes\xff\xfe é"},
						  {.path = "/too many"}};
	struct runq_group_window groups[4] = {0};
	struct runq_blame blame[4] = {0};
	struct runq_blame core_pairs[3] = {
		{.victim = {.group = &names[1]}, .culprit = {.group = &names[2]}, .wait_ns = 5, .count = 1},
		{.victim = {.group = &names[2]}, .culprit = {.kind = RUNQ_PARTY_UNKNOWN}, .wait_ns = 7, .count = 1},
		{.victim = {.group = &names[2]}, .culprit = {.group = &names[1]}, .wait_ns = 9, .count = 1},
	};
	struct runq_idle_state idle[2];
	struct runq_pressed pressed = {
		.group = &names[1],
		.times = {.waiting_ns = {1000000000, 200000000, 30000000, 4000000},
			  .stalled_ns = {500000000, 60000000, 7000000, 800000}},
	};
	uint64_t le_count[RUNQ_NR_LE];
	struct hist_entry entries[RUNQ_NR_LE];
	struct hist hist = {.entries = entries};
	struct runq_window w = {
		.time_mono_ns = second * NSEC_PER_SEC,
		.sample_ratio = 1.0,
		.le_ns = config.le_ns,
		.nr_le = config.nr_le,
		.causes_known = ((1u << RUNQ_NR_CAUSES) - 1) & ~(1u << RUNQ_THROTTLED),
		.losses = {.unknown_start = 6, .negative = 7, .table_full = 8, .events_lost = 9,
			   .blame_full = 10, .recursion_misses = 11, .path_cut = 12},
		.groups = groups,
		.nr_groups = 4,
		.blame = blame,
		.nr_blame = 4,
		.core_pairs = core_pairs,
		.nr_core_pairs = 3,
		.has_idle_states = true,
		.idle_states = idle,
		.nr_idle_states = 2,
		.idle_full = 14,
		.has_avoidable = true,
		.avoidable_lost = 19,
		.has_pressure = true,
		.pressed = &pressed,
		.nr_pressed = 1,
		.pressure_losses = {.full = 15, .shared = 16, .crowded = 17, .unstable = 18},
	};

	/* Add to the fine histogram one wait of 4^i ns for each bucket boundary i. */
	for (unsigned int i = 0; i < config.nr_le; i++) {
		le_count[i] = i;
		hist_push(&hist, hist_index(1ULL << 2 * i), 1);
	}
	for (int i = 0; i < 4; i++) {
		groups[i] = (struct runq_group_window){.party = {.group = &names[i]},
						       .ended = i == 0,
						       .count = config.nr_le,
						       .sum_ns = 1000000007ULL * (i + 1),
						       .avoidable_ns = 1000 + i,
						       .avoidable_most_ns = 2000 + i,
						       .excluded_ns = 3000 + i,
						       .le_count = le_count,
						       .hist = hist};
		for (int j = 0; j < RUNQ_NR_CAUSES; j++)
			groups[i].cause_ns[j] = j * 1000 + i;
		blame[i] = (struct runq_blame){.victim = {.group = &names[i]},
					       .culprit = {.kind = RUNQ_PARTY_KTHREADS},
					       .wait_ns = 1 + i,
					       .count = 1};
	}
	blame[1].culprit = (struct runq_party){.group = &names[2]};
	for (int i = 0; i < 2; i++)
		idle[i] = (struct runq_idle_state){.party = {.group = &names[i]},
						   .name = {'C', '6', '"'},
						   .wait_ns = 123456789,
						   .count = 3};
	runq_absorb(&store, &w);
}

static void absorb_wake(void)
{
	static struct wake_hist now, was;
	struct wake_state s = {.cpu = 1,
			       .name = "C1",
			       .summary = {.count = 40},
			       .sum_ns = 77777,
			       .hist = &now,
			       .hist_was = &was};
	struct wake_window w = {.states = &s, .nr_states = 1, .recursion_misses = 13};

	/*
	 * Adds two wake-ups between successive bucket boundaries, and twelve above the last
	 * boundary.
	 */
	for (unsigned int i = 0; i < WAKE_NR_LE; i++) {
		s.le[i] = 2 * i;
		was.count[hist_index(wake_le_ns(i))] = 7;
		now.count[hist_index(wake_le_ns(i))] = 7 + 2 * !!i;
	}
	now.count[hist_index(wake_le_ns(WAKE_NR_LE))] = 12;
	wake_absorb(&store, &w);
	wake_absorb(&store, &w);
}

/* Sets the metrics about the collectors and about the exporter itself. */
static void set_own(void)
{
	static const struct label build[] = {
		LABEL("version", "0"), LABEL("kernel", "6.1"), LABEL("machine", "arm64")};
	static const struct label collector = LABEL("collector", "load"),
				  program = LABEL("program", "load_switch"),
				  code = LABEL_NUMBER("code", 200);
	struct series_row *row = store_row(&store, F_UP, &collector, 1);

	store_sample(&store, store_row(&store, F_BUILD, build, 3), F_BUILD, 0)->u64 = 1;
	store_window(&store, "load", "bpf", 1700000000123456789);
	store_sample(&store, row, F_UP, 0)->u64 = 1;
	store_sample(&store, row, F_UPDATES, 0)->u64 = 3;
	store_sample(&store, row, F_UPDATE_COST, 0)->u64 = 1500;
	row = store_row(&store, F_BPF_TIME, &program, 1);
	store_sample(&store, row, F_BPF_TIME, 0)->u64 = 999;
	store_sample(&store, row, F_BPF_RUNS, 0)->u64 = 9;
	store_sample(&store, store_row(&store, F_HTTP_REQUESTS, &code, 1), F_HTTP_REQUESTS, 0)->u64 = 5;
	store_single(&store, F_BPF_MEMORY, 0)->u64 = 4096;
	store_single(&store, F_HISTORY, 0)->u64 = 65536;
	store_single(&store, F_HISTORY_FILES, 0)->u64 = 1 << 20;
	store_single(&store, F_HISTORY_WINDOWS, 0)->u64 = 7;
	store_single(&store, F_HISTORY_WINDOWS, 1)->u64 = 0;
	store_single(&store, F_HTTP_CONNECTIONS, 0)->u64 = 2;
	store_single(&store, F_HTTP_RESPONSES, 0)->u64 = 8192;
	store_single(&store, F_HTTP_CUT, 0)->u64 = 0;
	store_single(&store, F_PROC_CPU, 0)->u64 = 10000000;
	store_single(&store, F_PROC_RSS, 0)->u64 = 1 << 20;
	store_single(&store, F_PROC_VIRTUAL, 0)->u64 = 1 << 30;
	store_single(&store, F_PROC_START, 0)->u64 = 1700000000000000000;
}

static const struct series_table *table_of(int id)
{
	return &store.tables[store.series[id].table];
}

static int sink(void *arg, const char *data, size_t len)
{
	return fwrite(data, 1, len, arg) == len ? 0 : -EIO;
}

/* Returns the page in @format, or NULL if the page cannot be written. The caller frees the page. */
static char *render(enum prom_format format, size_t *ret_size)
{
	static struct prom prom;
	char *page = NULL;
	FILE *out = open_memstream(&page, ret_size);

	prom = (struct prom){.format = format, .sink = sink, .arg = out};
	for (int id = 0; id < FAMILY_NR; id++)
		prom_write(&prom, &store.series[id], table_of(id));
	return prom_end(&prom) || fclose(out) ? NULL : page;
}

/* Prints the page in @format; formats.py reads the output. */
static int print(enum prom_format format)
{
	size_t size = 0;
	char *page = render(format, &size);
	bool written = page && fwrite(page, 1, size, stdout) == size;

	free(page);
	return !written;
}

/*
 * Argument FOLDER: compares the page in text format with the file in FOLDER. Arguments FOLDER
 * openmetrics|protobuf: prints the page in the named format.
 */
int main(int argc, char **argv)
{
	size_t size = 0;
	int failed = 0;
	char *page;

	if (argc < 2 || config_init(&config))
		return 64;
	config.cgroup_limit = 2;
	config.core_pairs = 2;
	config.native_histograms = config.fine = true;
	store_init(&store, &config);
	absorb_load();
	absorb_noise();
	absorb_runq(1);
	absorb_runq(2);
	absorb_wake();
	set_own();
	if (argc == 3)
		return print(strcmp(argv[2], "protobuf") ? PROM_OPENMETRICS : PROM_PROTOBUF);
	printf("1..%d\n", FAMILY_NR + 1);
	for (int id = 0; id < FAMILY_NR; id++)
		failed |= golden_tap(id + 1, series_count(&store.series[id], table_of(id)),
				     family_get(id)->name);
	page = render(PROM_TEXT, &size);
	failed |= golden_tap(FAMILY_NR + 1, golden_same(argv[1], "metrics.prom", page, size),
			     "the page in text");
	free(page);
	store_free(&store);
	config_free(&config);
	return failed;
}
