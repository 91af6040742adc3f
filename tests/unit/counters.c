/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests hardware counters on a PMU with one counter per CPU, as for ref-cycles on Intel. */
#include "test.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/arch.h"
#include "base/clock.h"
#include "measure/load/bpf_pmu.h"
#include "measure/load/sources.h"
#include "stats/load.h"
#include "subtick/gtp-guard/cpu.h"
#include "host/counters.h"
#include "host/cpu.h"

#define CPUS	 4
#define EVENTS	 64
#define FIRST_FD 100000

/* Test doubles of functions that call the kernel; see meson.build. */
uint64_t __real_cycles_hz(void);
int __real_close(int fd);

static struct {
	struct fake {
		bool open, pinned, counts;
		unsigned int cpu;
	} events[EVENTS];
	int nr; /* number of opened events */
	/*
	 * True if another program uses the counter of the CPU, so pinned events get no counter and
	 * other events are multiplexed.
	 */
	bool taken[CPUS];
	uint64_t ns, value;  /* value: count of an event that is not multiplexed */
	int open_rc;
	struct rlimit limit;
} pmu_model;

static bool free_counter(unsigned int cpu)
{
	for (int i = 0; i < pmu_model.nr; i++)
		if (pmu_model.events[i].open && pmu_model.events[i].counts && pmu_model.events[i].cpu == cpu)
			return false;
	return !pmu_model.taken[cpu];
}

static int nr_open(void)
{
	int nr = 0;

	for (int i = 0; i < pmu_model.nr; i++)
		nr += pmu_model.events[i].open;
	return nr;
}

int __wrap_perf_open_cpu(const struct perf_event *event, unsigned int cpu, bool pinned)
{
	if (pmu_model.open_rc)
		return pmu_model.open_rc;
	if (pmu_model.limit.rlim_cur <= (rlim_t)nr_open())
		return -EMFILE;
	assert_true(pmu_model.nr < EVENTS);
	pmu_model.events[pmu_model.nr] = (struct fake){true, pinned, !pinned || free_counter(cpu), cpu};
	return FIRST_FD + pmu_model.nr++;
}

int __wrap_perf_read(int fd, struct perf_count *ret_count)
{
	struct fake *event = &pmu_model.events[fd - FIRST_FD];

	assert_true(event->open);
	if (!event->counts)
		return -EBUSY;
	*ret_count = (struct perf_count){pmu_model.value, pmu_model.ns, pmu_model.ns};
	/* A multiplexed event counts during a quarter of its enabled time. */
	if (!event->pinned && pmu_model.taken[event->cpu])
		*ret_count = (struct perf_count){pmu_model.value / 4, pmu_model.ns, pmu_model.ns / 4};
	return 0;
}

int __wrap_close(int fd)
{
	if (fd < FIRST_FD)
		return __real_close(fd);
	assert_true(pmu_model.events[fd - FIRST_FD].open);
	pmu_model.events[fd - FIRST_FD].open = false;
	return 0;
}

int __wrap_getrlimit64(int what, struct rlimit *limit)
{
	assert_int_equal(what, RLIMIT_NOFILE);
	*limit = pmu_model.limit;
	return 0;
}

int __wrap_setrlimit64(int what, const struct rlimit *limit)
{
	fail();
	return 0;
}

static const struct perf_event ref_cycles = {.name = "ref-cycles", .nr_types = 1, .config = 9};
static struct cpuset online;

static int setup(void **state)
{
	memset(&pmu_model, 0, sizeof(pmu_model));
	pmu_model.limit = (struct rlimit){1024, 4096};
	online = (struct cpuset){0};
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		cpuset_add(&online, cpu);
	return 0;
}

static struct counters *open_one(const struct perf_event *event)
{
	struct counters *counters = NULL;
	struct err err = {0};

	assert_int_equal(counters_open(event, CPUS, &online, &counters, &err), 0);
	return counters;
}

/* Several users of the same event share one counter per CPU until the last user closes it. */
TEST_WITH(test_shared, setup, NULL)
{
	struct perf_event other = {.name = "r8", .types = {4}, .nr_types = 1, .config = 8};
	struct counters *one = open_one(&ref_cycles), *two = open_one(&ref_cycles), *third;

	assert_int_equal(nr_open(), CPUS);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		struct counter counter;

		pmu_model.value = 5 + cpu;
		assert_int_equal(counters_read(two, cpu, &counter), 0);
		assert_true(counter.pinned);
		assert_int_equal(counter.count.value, 5 + cpu);
	}
	third = open_one(&other);
	assert_int_equal(nr_open(), 2 * CPUS);
	counters_close(third);
	counters_close(one);
	assert_int_equal(nr_open(), CPUS);
	counters_close(two);
	assert_int_equal(nr_open(), 0);
	counters_close(NULL);
}

/* A pinned event that gets no counter is reopened as a multiplexed event. */
TEST_WITH(test_taken, setup, NULL)
{
	struct counters *counters;
	struct counter counter;

	pmu_model.taken[1] = true;
	pmu_model.value = 400;
	pmu_model.ns = 1000;
	counters = open_one(&ref_cycles);
	assert_int_equal(counters_read(counters, 0, &counter), 0);
	assert_true(counter.pinned);
	assert_int_equal(counters_read(counters, 1, &counter), 0);
	assert_false(counter.pinned);
	assert_int_equal(counter.count.running_ns, 250);
	counters_close(counters);
	assert_int_equal(nr_open(), 0);
}

/* A counter that stops working is opened again, and its generation number increases. */
TEST_WITH(test_reopened, setup, NULL)
{
	struct counters *counters = open_one(&ref_cycles);
	struct counter before, after;

	assert_int_equal(counters_read(counters, 2, &before), 0);
	pmu_model.events[2].counts = false;
	assert_int_equal(counters_read(counters, 2, &after), 0);
	assert_int_not_equal(before.generation, after.generation);
	assert_int_equal(nr_open(), CPUS);
	/*
	 * Two sources notice the same CPU hotplug. The first source reopens the counter, and the
	 * second uses the reopened counter.
	 */
	before = after;
	assert_int_equal(counters_renew(counters, 2, before.generation), 0);
	assert_int_equal(counters_renew(counters, 2, before.generation), 0);
	assert_true(counters_fd(counters, 2, &after) >= FIRST_FD);
	assert_int_equal(after.generation, before.generation + 1);
	pmu_model.open_rc = -ENODEV;
	assert_int_equal(counters_renew(counters, 2, after.generation), -ENODEV);
	assert_int_equal(counters_read(counters, 2, &after), -ENODEV);
	assert_int_equal(counters_fd(counters, 2, &after), -1);
	pmu_model.open_rc = 0;
	assert_int_equal(counters_read(counters, 2, &after), 0);
	counters_close(counters);
}

TEST_WITH(test_refused, setup, NULL)
{
	struct counters *counters = NULL;
	struct err err = {0};

	pmu_model.open_rc = -EACCES;
	assert_int_equal(counters_open(&ref_cycles, CPUS, &online, &counters, &err), -EACCES);
	assert_true(err.unsupported);
	assert_null(counters);
	pmu_model.open_rc = 0;
	for (unsigned int cpu = 0; cpu < CPUS - 1; cpu++)
		cpuset_del(&online, cpu);
	pmu_model.limit = (struct rlimit){0, 0};
	assert_int_equal(counters_open(&ref_cycles, CPUS, &online, &counters, &err), -EMFILE);
	assert_non_null(strstr(err.what, "too many open files"));
	pmu_model.limit = (struct rlimit){0, 100};
	assert_int_equal(counters_open(&ref_cycles, CPUS, &online, &counters, &err), -EMFILE);
}

static void sample_both(struct load_source *tsc, struct load_source *calibrated,
			struct load_sample *ret_tsc, struct load_sample *ret_calibrated)
{
	struct load_sample *all = calloc(tsc->nr_cpus, sizeof(*all));

	tsc->ops->sample(tsc, all);
	*ret_tsc = all[0];
	calibrated->ops->sample(calibrated, all);
	*ret_calibrated = all[0];
	free(all);
}

/*
 * The modes tsc and calibrated share one hardware counter. In the second window another program
 * takes the counter.
 */
TEST_WITH(test_both_modes, setup, NULL)
{
	struct load_source_opts opts = {.nr_cpus = 1, .event = "r11"};
	struct load_source *tsc, *calibrated;
	struct load_sample a[4], b[4];
	struct load_cpu_window w;
	struct err err = {0};

	if (!ARCH_HAS_CYCLES)
		skip();
	assert_int_equal(load_source_open("perf-tsc", &opts, &tsc, &err), 0);
	assert_int_equal(load_source_open("perf-calibrated", &opts, &calibrated, &err), 0);
	assert_int_equal(nr_open(), 1);
	pmu_model.ns = 1000000;
	pmu_model.value = 1000;
	sample_both(tsc, calibrated, &a[0], &b[0]);
	pmu_model.ns += 1000000000;
	pmu_model.value += (uint64_t)(0.25e9 / calibrated->rate);
	sample_both(tsc, calibrated, &a[1], &b[1]);
	assert_int_equal((a[1].flags | b[1].flags) & LOAD_NO_FIGURE, 0);
	assert_true(a[1].busy == b[1].busy);
	load_subtract(&b[0], &b[1], calibrated->rate, 0, &w);
	assert_int_equal(w.flags, LOAD_NOT_CONSTANT);
	assert_true(w.busy_ratio > 0.2499 && w.busy_ratio < 0.2501);

	/*
	 * The window in which another program takes the counter has no load value. Later windows
	 * use a multiplexed counter.
	 */
	pmu_model.events[pmu_model.nr - 1].counts = false;
	pmu_model.taken[0] = true;
	pmu_model.ns += 1000000000;
	sample_both(tsc, calibrated, &a[2], &b[2]);
	load_subtract(&a[1], &a[2], tsc->rate, 0, &w);
	assert_true(w.flags & LOAD_NO_FIGURE);
	load_subtract(&b[1], &b[2], calibrated->rate, 0, &w);
	assert_true(w.flags & LOAD_RESTARTED);
	pmu_model.ns += 1000000000;
	pmu_model.value += (uint64_t)(0.5e9 / calibrated->rate);
	sample_both(tsc, calibrated, &a[3], &b[3]);
	load_subtract(&b[2], &b[3], calibrated->rate, 0, &w);
	assert_int_equal(w.flags, LOAD_NOT_CONSTANT | LOAD_MULTIPLEXED);
	assert_true(w.busy_ratio > 0.499 && w.busy_ratio < 0.501);
	load_source_close(tsc);
	load_source_close(calibrated);
	assert_int_equal(nr_open(), 0);
}

/* Replaces the search for perf events of the test machine, so that ref-cycles is always found. */
int __real_perf_event_find(const char *root, const char *name, struct perf_event *ret_event,
			   struct err *err);

int __wrap_perf_event_find(const char *root, const char *name, struct perf_event *ret_event,
			   struct err *err)
{
	if (name)
		return __real_perf_event_find(root, name, ret_event, err);
	*ret_event = ref_cycles;
	ret_event->constant = true;
	return 0;
}

/* simulated rate of the cycle counter, or 0 for the real rate of the test machine */
static uint64_t clock_hz;

uint64_t __wrap_cycles_hz(void)
{
	return clock_hz ? clock_hz : __real_cycles_hz();
}

/* Armv8.6 has a clock of 1 GHz, so a cycle is a nanosecond, also in calibrated mode. */
TEST_WITH(test_one_ghz, setup, NULL)
{
	struct cpu_load *calibrated;

	if (!ARCH_HAS_CYCLES)
		skip();
	clock_hz = 1000000000;
	assert_int_equal(cpu_load_init(&calibrated), 0);
	assert_int_equal(calibrated->base_freq_hz, clock_hz);
	cpu_load_destroy(calibrated);
	clock_hz = 0;
}

TEST_WITH(test_gtp_guard, setup, NULL)
{
	struct cpu_load *tsc, *calibrated;

	if (!ARCH_HAS_CYCLES)
		skip();
	assert_int_equal(cpu_load_init_tsc(&tsc), 0);
	assert_int_equal(cpu_load_init(&calibrated), 0);
	assert_int_equal(tsc->base_freq_hz, 0);
	assert_true(calibrated->base_freq_hz > 1000000);
	assert_int_equal(tsc->nr_cpus, cpu_load_nr(tsc));
	assert_true(tsc->cpus[0].fd > 0);
	assert_true(tsc->cpus[0].load == -1.0f && calibrated->cpus[0].load == -1.0f);
	pmu_model.ns += 1000000000;
	pmu_model.value += calibrated->base_freq_hz / 4;
	cpu_load_update(calibrated);
	assert_true(fabsf(calibrated->cpus[0].load - 0.25f) < 0.001f);
	assert_true(calibrated->cpus[0].load == cpu_load_get(calibrated, 0));
	assert_true(calibrated->cpus[0].prev_cycles == pmu_model.value);
	assert_true(calibrated->cpus[0].prev_time_ns == pmu_model.ns);
	cpu_load_update(tsc);
	assert_true(tsc->prev_tsc > 0 && tsc->prev_tsc <= arch_cycles());
	pmu_model.open_rc = -ENODEV;
	for (int i = 0; i < pmu_model.nr; i++)
		pmu_model.events[i].counts = false;
	cpu_load_update(tsc);
	assert_true(tsc->cpus[0].fd == -1 && tsc->cpus[0].load == -1.0f);
	assert_true(cpu_load_get(tsc, 0) == -1.0f);
	cpu_load_destroy(tsc);
	cpu_load_destroy(calibrated);
	assert_int_equal(nr_open(), 0);
}

static int handed[CPUS]; /* counter descriptors given to the BPF programs, indexed by CPU */

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, uint64_t flags)
{
	handed[*(const uint32_t *)key] = *(const int *)value;
	return 0;
}

/* time of the samples, long after the BPF programs stored a counter value */
#define NOW_NS 5000000000

static uint32_t fill(struct load_bpf_pmu *pmu, unsigned int cpu, const struct load_slot *slot,
		     struct load_sample *s)
{
	*s = (struct load_sample){0};
	load_bpf_pmu_refresh(pmu, cpu, false);
	load_bpf_pmu_fill(pmu, cpu, slot, NOW_NS, LOAD_HALT, s);
	return s->flags & ~LOAD_NOT_CONSTANT;
}

/* If a counter was unreadable at the start, source bpf-pmu must not report the core as idle. */
TEST_WITH(test_handed_over, setup, NULL)
{
	struct load_slot silent = {0}, stored = {.pmu_cycles = 77, .pmu_ns = 1000}, torn = stored;
	const struct load_slot first = {.pmu_cycles = 9, .pmu_ns = 1000};
	struct load_bpf_pmu pmu = {0};
	struct load_sample s;
	struct err err = {0};

	torn.pmu_check = stored.pmu_check = ~(stored.pmu_cycles ^ stored.pmu_ns);
	torn.pmu_cycles++;
	memset(handed, 0, sizeof(handed));
	pmu_model.taken[1] = true;
	pmu_model.value = 7;
	assert_int_equal(load_bpf_pmu_open(&pmu, 3, CPUS, &online, "r11", &err), 0);
	assert_true(handed[0] >= FIRST_FD);
	/* A multiplexed counter does not count all cycles, so BPF programs do not get it. */
	assert_int_equal(handed[1], 0);
	pmu.start_ns = clock_mono_ns();
	/* The first sample of a CPU only starts a window, so the sample has no load value. */
	assert_int_equal(fill(&pmu, 0, &silent, &s), LOAD_RESTARTED);
	assert_int_equal(fill(&pmu, 0, &silent, &s), 0);
	assert_int_equal(s.busy, 7);
	assert_int_equal(s.total, NOW_NS);
	/*
	 * While a BPF program stores the first counter value of a core, the sample has the value
	 * that was read at the start.
	 */
	assert_int_equal(fill(&pmu, 0, &first, &s), 0);
	assert_int_equal(s.busy, 7);
	assert_int_equal(s.total, NOW_NS);
	/* While a BPF program stores any value after the first, the sample is flagged as torn. */
	assert_int_equal(fill(&pmu, 0, &torn, &s), LOAD_TORN);
	fill(&pmu, 1, &silent, &s);
	assert_int_equal(fill(&pmu, 1, &silent, &s), LOAD_READ_FAILED);
	assert_int_equal(fill(&pmu, 1, &stored, &s), LOAD_READ_FAILED);
	assert_int_equal(fill(&pmu, 0, &stored, &s), 0);
	assert_int_equal(s.busy, 77);
	assert_int_equal(s.total, NOW_NS);
	/* A value stored before the counter was reopened belongs to the old counter. */
	pmu.start_ns = clock_mono_ns() - 2 * stored.pmu_ns;
	counters_renew(pmu.counters, 0, pmu.seeds[0].generation);
	assert_int_equal(fill(&pmu, 0, &stored, &s), LOAD_READ_FAILED | LOAD_RESTARTED);
	stored.pmu_ns = clock_mono_ns() - pmu.start_ns;
	stored.pmu_check = ~(stored.pmu_cycles ^ stored.pmu_ns);
	assert_int_equal(fill(&pmu, 0, &stored, &s), 0);
	/* While the hardware counter cannot be opened, the samples have no load value. */
	pmu_model.open_rc = -ENODEV;
	counters_renew(pmu.counters, 0, pmu.seeds[0].generation);
	assert_true(fill(&pmu, 0, &silent, &s) & LOAD_READ_FAILED);
	pmu_model.open_rc = 0;
	fill(&pmu, 0, &silent, &s);
	assert_int_equal(fill(&pmu, 0, &silent, &s), 0);
	load_bpf_pmu_close(&pmu);
	assert_int_equal(nr_open(), 0);
}

/* If the hardware counter never ran during the window, the load is unknown, not 0 %. */
TEST(test_never_ran)
{
	struct load_sample prev = {.stamp_ns = 1, .total = 1, .enabled_ns = 1};
	struct load_sample cur = {.stamp_ns = 1001, .total = 1001, .enabled_ns = 1001};
	struct load_cpu_window w;

	load_subtract(&prev, &cur, 1.0, 0, &w);
	assert_int_equal(w.flags, LOAD_READ_FAILED);
}

TEST_MAIN()
