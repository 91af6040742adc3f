/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the loops of audit delays, and reads all clocks before and after each. */
#include "measure/audit/delays.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/sleep_loop.h"
#include "measure/audit/watch.h"
#include "measure/load/sources.h"
#include "sys/cpu.h"
#include "sys/pidstat.h"

#define BUSY_COLS (AUDIT_BUSY_COLS | AUDIT_IRQ_COLS | 1u << PROCSTAT_STEAL)
#define SETTLE_NS (30 * NSEC_PER_MSEC)
#define POLL_NS	  (5 * NSEC_PER_MSEC)

/* The delays of the paper's table. */
static const uint64_t paper_us[] = {0,	1,  5,	10,  20,  30,  40,  50,	 60,
				    70, 80, 90, 100, 150, 200, 700, 750, 1000};
static const uint64_t brief_us[] = {0, 1, 10, 50, 100, 200, 500, 1000};

struct edge {
	struct procstat_cpu cpu;
	struct pidstat pid;
	struct load_sample bpf;
};

/* The loop's own figures, and those of the machine before and after it. */
struct point {
	struct sleep_loop_result loop;
	struct edge from, to;
};

struct delays {
	const struct audit_opts *opts;
	const struct audit_env *env;
	struct audit_findings *findings;
	struct audit_delays *result;
	uint64_t unit_ns;
	struct procstat stat;
	struct procstat_cpu *cpus;
	struct load_source *bpf; /* NULL: unavailable */
	struct load_sample *samples;
	unsigned int nr_cpus;
};

static int read_edge(struct delays *d, pid_t pid, struct edge *edge, struct err *err)
{
	int rc = procstat_read(&d->stat, d->cpus, d->opts->cpu + 1);

	if (rc || !d->cpus[d->opts->cpu].nr_cols)
		return err_set(err, rc ?: -ENODEV, "cannot read CPU %u in /proc/stat",
			       d->opts->cpu);
	edge->cpu = d->cpus[d->opts->cpu];
	if (d->bpf) {
		d->bpf->ops->sample(d->bpf, d->samples);
		edge->bpf = d->samples[d->opts->cpu];
	}
	rc = pidstat_read(NULL, pid, &edge->pid);
	return rc ? err_set(err, rc, "cannot read /proc/%d/stat: %s", (int)pid, strerror(-rc)) : 0;
}

static int run_loop(struct delays *d, uint64_t delay_ns, uint64_t length_ns, struct point *ret_point,
		    struct err *err)
{
	struct sleep_loop_opts opts = {.cpu = (int)d->opts->cpu,
				       .delay_ns = delay_ns,
				       .iterations = d->opts->iterations,
				       .length_ns = length_ns};
	bool *stopped = &d->result->stopped;
	struct sleep_loop loop;
	int rc;

	audit_progress(d->env, "delays: %llu us", (unsigned long long)delay_ns / 1000);
	rc = sleep_loop_start(&loop, &opts, err);
	if (rc)
		return rc;
	*stopped |= audit_wait(d->env, clock_mono_ns() + SETTLE_NS);
	if (*stopped) {
		rc = -ECANCELED;
		goto out;
	}
	if (!gen_child_alive(&loop.child)) {
		rc = audit_no_load(err, d->opts->cpu);
		goto out;
	}
	rc = read_edge(d, loop.child.pid, &ret_point->from, err);
	if (rc)
		goto out;
	sleep_loop_go(&loop);
	while (!sleep_loop_done(&loop, &ret_point->loop)) {
		/* We poll rarely and on another core, so that it does not affect the figures. */
		if (audit_wait(d->env, clock_mono_ns() + POLL_NS)) {
			*stopped = true;
			sleep_loop_halt(&loop);
		}
		if (!gen_child_alive(&loop.child)) {
			rc = err_set(err, -ECHILD, "the sleep loop died before its end");
			goto out;
		}
	}
	rc = gen_child_on(&loop.child, opts.cpu) ?
		     read_edge(d, loop.child.pid, &ret_point->to, err) :
		     audit_no_load(err, d->opts->cpu);
out:
	sleep_loop_stop(&loop);
	return rc;
}

static uint64_t cols_ns(const struct delays *d, const struct point *p, uint32_t cols)
{
	uint64_t ticks = 0;

	for (int i = 0; i < PROCSTAT_NR_COLS; i++)
		if (cols >> i & 1)
			ticks += p->to.cpu.ticks[i] - p->from.cpu.ticks[i];
	return ticks * d->unit_ns;
}

static void judge_worst(struct audit_findings *f, const struct audit_delay *row)
{
	if (row->real_ns < AUDIT_FAIL_WINDOW_NS * 9 / 10 ||
	    (f->worst_known && fabs(row->error) <= f->worst_error))
		return;
	f->worst_known = true;
	f->worst_error = fabs(row->error);
	f->worst_window_ns = row->real_ns;
	snprintf(f->worst_load, sizeof(f->worst_load), "a loop of %llu us sleeps",
		 (unsigned long long)row->delay_ns / 1000);
}

/* Compares /proc/stat with the core's true busy time; both include the core's other tasks. */
static void subtract_truth(struct delays *d, const struct point *p, struct audit_delay *row)
{
	double real = (double)row->real_ns, shown = (double)row->procstat_busy_ns;
	struct load_cpu_window w;

	load_subtract(&p->from.bpf, &p->to.bpf, d->bpf->rate, d->bpf->parts, &w);
	if (w.flags & LOAD_NO_FIGURE)
		return;
	row->bpf_task_ns = w.part_ns[LOAD_PART_TASK];
	row->bpf_busy_ns = w.busy_ns;
	row->procstat_factor = shown / (double)w.busy_ns;
	row->error = (shown - (double)w.busy_ns) / real;
	if ((double)row->bpf_task_ns - (double)row->thread_ns > AUDIT_OTHERS_MAX * real)
		d->result->nr_disturbed++;
	d->findings->source = d->bpf->ops->name;
	judge_worst(d->findings, row);
}

static void subtract_point(struct delays *d, uint64_t delay_ns, const struct point *p)
{
	struct audit_delay *row = &d->result->rows[d->result->nr++];
	const struct pidstat *from = &p->from.pid, *to = &p->to.pid;
	const struct sleep_loop_result *loop = &p->loop;
	double nr = loop->iterations ? (double)loop->iterations : NAN;

	*row = (struct audit_delay){
		.delay_ns = delay_ns,
		.iterations = loop->iterations,
		.real_ns = loop->real_ns,
		.expected_ns = delay_ns * loop->iterations,
		.rusage_user_ns = loop->user_ns,
		.rusage_system_ns = loop->system_ns,
		.pidstat_user_ns = (to->user_ticks - from->user_ticks) * d->unit_ns,
		.pidstat_system_ns = (to->system_ticks - from->system_ticks) * d->unit_ns,
		.procstat_user_ns = cols_ns(d, p, 1u << PROCSTAT_USER | 1u << PROCSTAT_NICE),
		.procstat_system_ns = cols_ns(d, p, 1u << PROCSTAT_SYSTEM),
		.procstat_busy_ns = cols_ns(d, p, BUSY_COLS),
		.thread_ns = loop->thread_ns,
		.bpf_task_ns = UINT64_MAX,
		.bpf_busy_ns = UINT64_MAX,
		.real_each_ns = (double)loop->real_ns / nr,
		.user_each_ns = (double)loop->user_ns / nr,
		.system_each_ns = (double)loop->system_ns / nr,
		.procstat_each_ns = (double)cols_ns(d, p, BUSY_COLS) / nr,
		.true_each_ns = (double)loop->thread_ns / nr,
		.rusage_factor = (double)(loop->user_ns + loop->system_ns) /
				 (loop->thread_ns ? (double)loop->thread_ns : NAN),
		.procstat_factor = NAN,
		.error = NAN,
	};
	if (d->bpf)
		subtract_truth(d, p, row);
}

/* The delays of --delays, or those of the paper; returns how many. */
static size_t choose_delays(const struct audit_opts *opts, const uint64_t **ret_us)
{
	*ret_us = opts->brief ? brief_us : paper_us;
	if (opts->delays_ns)
		return opts->nr_delays;
	return opts->brief ? sizeof(brief_us) / sizeof(brief_us[0]) :
			     sizeof(paper_us) / sizeof(paper_us[0]);
}

static int delays_open(struct delays *d, struct err *err)
{
	struct load_source_opts source_opts = {0};
	struct cpuset possible;
	int rc;

	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		return rc;
	d->nr_cpus = source_opts.nr_cpus = cpuset_end(&possible);
	d->result->rows = calloc(d->result->nr_asked, sizeof(*d->result->rows));
	d->cpus = calloc(d->nr_cpus, sizeof(*d->cpus));
	d->samples = calloc(d->nr_cpus, sizeof(*d->samples));
	if (!d->result->rows || !d->cpus || !d->samples)
		return err_set(err, -ENOMEM, "out of memory");
	if (load_source_open("bpf", &source_opts, &d->bpf, &d->result->no_truth))
		d->bpf = NULL;
	return procstat_open(&d->stat, NULL, err);
}

static void delays_close(struct delays *d, bool stat_open)
{
	if (stat_open)
		procstat_close(&d->stat);
	load_source_close(d->bpf);
	free(d->cpus);
	free(d->samples);
}

int audit_delays(const struct audit_opts *opts, const struct audit_env *env,
		 struct audit_findings *findings, struct audit_delays *ret_delays, struct err *err)
{
	struct delays d = {.opts = opts, .env = env, .findings = findings, .result = ret_delays};
	uint64_t budget = opts->budget_ns ?: (opts->brief ? 9 : 27) * NSEC_PER_SEC;
	uint64_t begin = clock_mono_ns(), each;
	const uint64_t *us;
	int rc, opened;

	*ret_delays = (struct audit_delays){.nr_asked = choose_delays(opts, &us)};
	findings->user_hz = sysconf(_SC_CLK_TCK);
	d.unit_ns = NSEC_PER_SEC / findings->user_hz;
	opened = rc = delays_open(&d, err);
	each = ret_delays->nr_asked ? budget / ret_delays->nr_asked : 0;
	each = each > 2 * SETTLE_NS ? each - SETTLE_NS : SETTLE_NS;
	for (size_t i = 0; i < ret_delays->nr_asked && !rc && !ret_delays->stopped; i++) {
		uint64_t delay_ns = opts->delays_ns ? opts->delays_ns[i] : us[i] * NSEC_PER_USEC;
		struct point point = {0};

		rc = run_loop(&d, delay_ns, each, &point, err);
		if (!rc)
			subtract_point(&d, delay_ns, &point);
	}
	/* If it was stopped, the result has what was measured so far. */
	if (rc == -ECANCELED && ret_delays->stopped)
		rc = 0;
	if (d.bpf) {
		ret_delays->truth = d.bpf->ops->name;
		load_source_losses(d.bpf, &ret_delays->losses);
	}
	delays_close(&d, !opened);
	ret_delays->window_ns = clock_mono_ns() - begin;
	return rc;
}

void audit_delays_free(struct audit_delays *delays)
{
	free(delays->rows);
	*delays = (struct audit_delays){0};
}
