/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick noise` with known interrupts on a busy core: counts, times and interrupted tasks.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "ftrace.h"
#include "gen/loads.h"
#include "interrupts.h"
#include "live.h"
#include "measure/noise/noise.h"
#include "truth.h"

#define MEASURED  1 /* number of the measured CPU */
#define NR_CPUS	  2
#define BURN_NS	  (60 * NSEC_PER_MSEC)
#define PERIOD_NS (200 * NSEC_PER_USEC)
#define CLOSURE	  0.001
/*
 * Largest difference between the timestamps of ftrace and of subtick. The ftrace record and the BPF
 * program take up to 500 ns, and ftrace rounds to microseconds.
 */
#define STAMPS_NS (500 + 1000)
/*
 * Largest time of a hardirq or softirq outside its events: from user code to the entry event, and
 * from the exit event back to user code.
 */
#define WAY_NS 6000

struct burner {
	uint64_t begin_ns; /* start time, set before the busy task starts */
	/* timestamps of the busy task before and after its busy interval */
	uint64_t first_ns, last_ns;
};

static struct interrupts_around around;

static void burn(void *shared, void *arg)
{
	struct burner *b = shared;

	b->begin_ns = *(uint64_t *)arg;
	truth_sleep_until(b->begin_ns);
	b->first_ns = clock_mono_ns();
	truth_burn(BURN_NS);
	b->last_ns = clock_mono_ns();
	for (;;)
		pause();
}

static const struct noise_source *softirq(const struct noise_window *w, unsigned int vec)
{
	for (size_t i = 0; i < w->nr_sources; i++)
		if (w->sources[i].cpu == MEASURED && w->sources[i].kind == NOISE_KIND_SOFTIRQ &&
		    !strcmp(w->sources[i].name, load_vec_name(vec)))
			return &w->sources[i];
	return NULL;
}

static bool close_to(uint64_t ours, uint64_t truth, uint64_t count)
{
	uint64_t apart = ours > truth ? ours - truth : truth - ours;

	return apart <= count * STAMPS_NS;
}

static const struct noise_delay *delay(const struct noise_window *w, unsigned int vec)
{
	for (size_t i = 0; i < w->nr_delays; i++)
		if (w->delays[i].cpu == MEASURED && w->delays[i].vec == vec)
			return &w->delays[i];
	return NULL;
}

/*
 * Each interrupt of the perf timer raises softirqs, which interrupt the busy task after the
 * interrupt has ended.
 */
static void check_delays(const struct noise_window *w, const struct ftrace_times *times)
{
	for (unsigned int vec = 0; vec < LOAD_NR_VECS; vec++) {
		const struct noise_delay *d = delay(w, vec);
		struct noise_times ours = d ? d->times : (struct noise_times){0};

		if (!ours.count && !times->delay_count[vec])
			continue;
		live_ok(ours.count == times->delay_count[vec] &&
				close_to(ours.ns, times->delay_ns[vec], ours.count) &&
				close_to(ours.longest_ns, times->delay_max_ns[vec], 1),
			"%s waited %llu times, %llu ns, at most %llu; by ftrace %llu, %llu, %llu",
			load_vec_name(vec), (unsigned long long)ours.count,
			(unsigned long long)ours.ns, (unsigned long long)ours.longest_ns,
			(unsigned long long)times->delay_count[vec],
			(unsigned long long)times->delay_ns[vec],
			(unsigned long long)times->delay_max_ns[vec]);
	}
}

static void check_times(const struct noise_window *w, const struct ftrace_times *times)
{
	const struct noise_core *core = &w->cores[MEASURED];
	uint64_t count = 0;

	for (size_t i = 0; i < w->nr_sources; i++)
		if (w->sources[i].cpu == MEASURED && w->sources[i].kind <= NOISE_KIND_VECTOR)
			count += w->sources[i].count;
	live_ok(close_to(core->class_ns[NOISE_HARDIRQ], times->hardirq_ns, count),
		"%llu interrupts: %llu ns, by ftrace %llu", (unsigned long long)count,
		(unsigned long long)core->class_ns[NOISE_HARDIRQ],
		(unsigned long long)times->hardirq_ns);
	for (unsigned int vec = 0; vec < LOAD_NR_VECS; vec++) {
		const struct noise_source *s = softirq(w, vec);
		uint64_t ns = s ? s->ns : 0;

		count = s ? s->count : 0;
		if (!s && !times->vec_count[vec])
			continue;
		live_ok(count == times->vec_count[vec] && close_to(ns, times->vec_ns[vec], count),
			"%s: %llu times, %llu ns, by ftrace %llu times, %llu ns", load_vec_name(vec),
			(unsigned long long)count, (unsigned long long)ns,
			(unsigned long long)times->vec_count[vec],
			(unsigned long long)times->vec_ns[vec]);
	}
	live_ok(core->closure_error_ratio < CLOSURE, "closure error %.7f", core->closure_error_ratio);
}

/* Checks the interrupts of the busy task: mainly interrupts of the perf timer, and ticks. */
static void check_hit(const struct noise_window *w, const struct burner *b, const char *group)
{
	uint64_t wall = b->last_ns - b->first_ns, least = wall / PERIOD_NS - 1;
	/* The core also has ticks at up to 1000 Hz, and IPIs that start and stop the perf timer. */
	uint64_t most = least + 2 + wall / NSEC_PER_MSEC + 4, lost = wall - BURN_NS, ours;
	const struct noise_hit *hit = NULL;

	for (size_t i = 0; i < w->nr_hits; i++)
		if (!strcmp(w->hits[i].cgroup, group))
			hit = &w->hits[i];
	if (!live_ok(hit, "%s was hit", group))
		return;
	live_ok(hit->count[NOISE_HARDIRQ] >= least && hit->count[NOISE_HARDIRQ] <= most,
		"by %llu interrupts, %llu to %llu came", (unsigned long long)hit->count[NOISE_HARDIRQ],
		(unsigned long long)least, (unsigned long long)most);
	ours = hit->ns[NOISE_HARDIRQ] + hit->ns[NOISE_SOFTIRQ] + hit->ns[NOISE_THREAD];
	live_ok(ours <= lost && lost - ours <= hit->count[NOISE_HARDIRQ] * WAY_NS,
		"%llu ns of its time, %llu are missing, %llu per interrupt more",
		(unsigned long long)ours, (unsigned long long)lost,
		(unsigned long long)((lost - ours) / hit->count[NOISE_HARDIRQ]));
}

/*
 * The core is idle at both ends of the window. No interrupt falls between the /proc/interrupts
 * readings before and after an end of the window.
 */
static void check_burn(struct meter *meter, const char *group)
{
	/* Moving the busy task to its cgroup takes some tens of ms. */
	uint64_t begin = clock_mono_ns() + NSEC_PER_SEC, from, to;
	struct gen_child child = {0};
	struct ftrace_times times;
	struct err err = {0};
	struct interrupts_compared compared;
	int clock;

	if (gen_child_start(&child, MEASURED, sizeof(struct burner), burn, &begin, &err))
		live_fail_all("%s", err.what);
	cgroups_enter(group, child.pid);
	ftrace_start(MEASURED);
	truth_settle();
	interrupts_read(&around.before_begin);
	if (meter->ops->start(meter, &err))
		live_fail_all("%s", err.what);
	from = clock_mono_ns();
	interrupts_read(&around.after_begin);
	live_ok(clock_mono_ns() < begin - 10 * NSEC_PER_MSEC, "the window begins before the burn");
	truth_sleep_until(begin - 10 * NSEC_PER_MSEC);
	clock = truth_clock_start(MEASURED, PERIOD_NS);
	truth_sleep_until(begin + 2 * BURN_NS);
	close(clock);
	live_sleep_ms(50);
	truth_settle();
	interrupts_read(&around.before_end);
	to = clock_mono_ns();
	if (meter->ops->read(meter, &err))
		live_fail_all("%s", err.what);
	interrupts_read(&around.after_end);
	ftrace_stop(from, to, &times);
	interrupts_compare(&around, noise_window(meter), MEASURED, &compared);
	live_ok(!compared.less[0] && !compared.more[0] && compared.exact > 0,
		"%u lines and vectors, %u known exactly, are as in /proc/interrupts %s%s",
		compared.lines, compared.exact, compared.less, compared.more);
	check_times(noise_window(meter), &times);
	check_delays(noise_window(meter), &times);
	check_hit(noise_window(meter), child.shared, group);
	gen_child_stop(&child);
}

int main(void)
{
	struct noise_opts opts = {0};
	struct meter *meter;
	struct err err = {0};
	const char *group;

	truth_begin(NR_CPUS);
	cgroups_open();
	group = cgroups_make("noise");
	if (noise_open(&opts, &meter, &err))
		live_fail_all("%s", err.what);
	check_burn(meter, group);
	meter->ops->close(meter);
	return live_done();
}
