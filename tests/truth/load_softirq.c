/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares the softirqs that interrupt an idle core with ftrace: number, duration and interrupted
 * context.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "ftrace.h"
#include "gen/flood.h"
#include "live.h"
#include "measure/load/sources.h"
#include "truth.h"

#define MEASURED 1 /* number of the measured CPU */
#define NR_CPUS	 2
#define NET_RX	 3
#define BOUND	 0.001 /* largest allowed difference: 0.1 percentage points */
/*
 * Largest difference between the sum of a core's contexts and the window, as share of the window.
 * An interrupt between the read of the clock and the read of the counters makes the sum differ from
 * the window.
 */
#define CLOSURE	 1e-3

struct sources {
	struct load_source *bpf, *sched;
};

struct edge {
	struct load_sample samples[NR_CPUS], sched[NR_CPUS];
	struct load_vecs vecs;
	uint64_t kernel_count; /* NET_RX count in /proc/softirqs */
};

/* Reads the NET_RX count of CPU 1, the second column of /proc/softirqs. */
static uint64_t kernel_count(void)
{
	unsigned long long first, second, found = 0;
	FILE *file = fopen("/proc/softirqs", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, " NET_RX: %llu %llu", &first, &second) == 2)
			found = second;
	if (file)
		fclose(file);
	return found;
}

static void read_edge(const struct sources *s, struct edge *edge)
{
	s->bpf->ops->sample(s->bpf, edge->samples);
	s->bpf->ops->vecs(s->bpf, MEASURED, &edge->vecs);
	s->sched->ops->sample(s->sched, edge->sched);
	edge->kernel_count = kernel_count();
}

static void check_counts(const struct edge *first, const struct edge *last,
			 const struct ftrace_times *times)
{
	unsigned long long ours = last->vecs.count[NET_RX] - first->vecs.count[NET_RX];
	unsigned long long kernels = last->kernel_count - first->kernel_count;

	live_ok(kernels > 100 && ours == kernels && ours == times->vec_count[NET_RX],
		"NET_RX ran %llu times, %llu by /proc/softirqs, %llu by ftrace", ours, kernels,
		(unsigned long long)times->vec_count[NET_RX]);
}

static void check_share(const char *what, double ratio, uint64_t ns,
			const struct load_cpu_window *w)
{
	double truth = (double)ns / (double)w->window_ns;

	live_ok(fabs(ratio - truth) <= BOUND, "%s: %.3f %%, by ftrace %.3f %%", what, ratio * 100.0,
		truth * 100.0);
}

/*
 * Checks that no task is charged the time of softirqs that interrupt the idle task, or the time of
 * the idle loop after these softirqs.
 */
static void check_tasks(const struct sources *s, const struct edge *first, const struct edge *last,
			const struct load_cpu_window *w)
{
	double tasks = load_part_ratio(w, LOAD_PART_TASK) + load_part_ratio(w, LOAD_PART_KSOFTIRQD);
	struct load_cpu_window sched;

	load_subtract(&first->sched[MEASURED], &last->sched[MEASURED], s->sched->rate,
		      s->sched->parts, &sched);
	live_ok(tasks <= sched.busy_ratio + BOUND, "tasks %.3f %%, by schedstat %.3f %%",
		tasks * 100.0, sched.busy_ratio * 100.0);
}

/* Windows end while the core is idle and no packet is sent, so no softirq spans two windows. */
static void check_flood(const struct sources *s, struct flood_opts *opts)
{
	struct edge first = {0}, last = {0};
	struct ftrace_times times;
	struct gen_child flood = {0};
	struct load_cpu_window w;
	struct err err = {0};
	double sum = 0.0;

	ftrace_start(MEASURED);
	live_sleep_ms(20);
	read_edge(s, &first);
	if (flood_start(&flood, opts, &err))
		live_fail_all("%s", err.what);
	live_sleep_ms(200);
	live_note("%llu packets", (unsigned long long)flood_sent(&flood));
	gen_child_stop(&flood);
	live_sleep_ms(50);
	read_edge(s, &last);
	ftrace_stop(first.samples[MEASURED].stamp_ns, last.samples[MEASURED].stamp_ns, &times);
	load_subtract(&first.samples[MEASURED], &last.samples[MEASURED], s->bpf->rate,
		      s->bpf->parts, &w);
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		sum += load_part_ratio(&w, i);
	check_counts(&first, &last, &times);
	live_ok(load_part_ratio(&w, LOAD_PART_SOFTIRQ_ON_IDLE) > 0.02,
		"they ran inline on the idle core: %.3f %% of the window",
		load_part_ratio(&w, LOAD_PART_SOFTIRQ_ON_IDLE) * 100.0);
	check_share("softirqs on idle", load_part_ratio(&w, LOAD_PART_SOFTIRQ_ON_IDLE),
		    times.softirq_on_idle_ns, &w);
	check_share("softirqs on tasks", load_part_ratio(&w, LOAD_PART_SOFTIRQ_ON_TASK),
		    times.softirq_on_task_ns, &w);
	check_share("hardirqs", load_part_ratio(&w, LOAD_PART_HARDIRQ), times.hardirq_ns, &w);
	check_share("NET_RX alone",
		    (double)(last.vecs.ns[NET_RX] - first.vecs.ns[NET_RX]) / (double)w.window_ns,
		    times.vec_ns[NET_RX], &w);
	check_tasks(s, &first, &last, &w);
	live_ok(w.closure_error_ratio <= CLOSURE && fabs(sum - 1.0) < 1e-6 && !w.flags,
		"the parts make the whole: %.7f, closure error %.7f, flags %#x", sum,
		w.closure_error_ratio, w.flags);
}

int main(void)
{
	struct load_source_opts source = {.nr_cpus = NR_CPUS};
	struct flood_opts opts = {
		.send_cpu = 0, .recv_cpu = MEASURED, .burst = 32, .pause_ns = NSEC_PER_MSEC};
	struct err err = {0};
	struct sources s;

	truth_begin(NR_CPUS);
	if (load_source_open("bpf", &source, &s.bpf, &err) ||
	    load_source_open("schedstat", &source, &s.sched, &err))
		live_fail_all("%s", err.what);
	check_flood(&s, &opts);
	opts.xdp_drop = true;
	opts.pause_ns = 200 * NSEC_PER_USEC;
	check_flood(&s, &opts);
	load_source_close(s.sched);
	load_source_close(s.bpf);
	return live_done();
}
