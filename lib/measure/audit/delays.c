/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* audit delays: the same loop with delays of many lengths, as accounted and as it was. */
#include "measure/audit/audit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/sleep_loop.h"
#include "measure/audit/watch.h"
#include "measure/load/report.h"
#include "measure/load/sources.h"
#include "sys/cpu.h"
#include "sys/pidstat.h"

#define SETTLE_NS (30 * NSEC_PER_MSEC)
#define POLL_NS	  (5 * NSEC_PER_MSEC)

/* Those of the paper's table. */
static const uint64_t paper_us[] = {0,	1,  5,	10,  20,  30,  40,  50,	 60,
				    70, 80, 90, 100, 150, 200, 700, 750, 1000};
static const uint64_t brief_us[] = {0, 1, 10, 50, 100, 200, 500, 1000};

struct edge {
	struct procstat_cpu cpu;
	struct pidstat pid;
	struct load_sample bpf;
};

/* One delay: what the loop says of itself, and the machine before and after. */
struct point {
	uint64_t delay_ns;
	struct sleep_loop_result loop;
	struct edge from, to;
	bool measured;
};

struct delays {
	const struct audit_opts *opts;
	const struct audit_env *env;
	struct audit_findings *findings;
	struct point *points;
	size_t nr;
	uint64_t unit_ns;
	struct procstat stat;
	struct procstat_cpu *cpus;
	struct load_source *bpf; /* NULL: not to be had */
	struct load_sample *samples;
	unsigned int nr_cpus;
	struct err no_bpf;
	size_t nr_disturbed; /* points during which others had much of the core */
	bool stopped;
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

static int run_point(struct delays *d, struct point *point, uint64_t length_ns, struct err *err)
{
	struct sleep_loop_opts opts = {.cpu = (int)d->opts->cpu,
				 .delay_ns = point->delay_ns,
				 .iterations = d->opts->iterations,
				 .length_ns = length_ns};
	struct sleep_loop naps;
	int rc;

	audit_progress(d->env, "delays: %llu us", (unsigned long long)point->delay_ns / 1000);
	rc = sleep_loop_start(&naps, &opts, err);
	if (rc)
		return rc;
	d->stopped |= audit_wait(d->env, clock_mono_ns() + SETTLE_NS);
	if (d->stopped)
		goto out;
	if (!gen_child_alive(&naps.child)) {
		rc = audit_no_load(err, d->opts->cpu);
		goto out;
	}
	rc = read_edge(d, naps.child.pid, &point->from, err);
	if (rc)
		goto out;
	sleep_loop_go(&naps);
	while (!sleep_loop_done(&naps, &point->loop)) {
		/* Polling is on another core, and rare: it is not what is measured. */
		if (audit_wait(d->env, clock_mono_ns() + POLL_NS)) {
			d->stopped = true;
			sleep_loop_halt(&naps);
		}
		if (!gen_child_alive(&naps.child)) {
			rc = err_set(err, -ECHILD, "the loop ended before its time");
			goto out;
		}
	}
	rc = gen_child_on(&naps.child, opts.cpu) ? read_edge(d, naps.child.pid, &point->to, err)
						 : audit_no_load(err, d->opts->cpu);
	point->measured = !rc;
out:
	sleep_loop_stop(&naps);
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

static void take_worst(struct delays *d, const struct point *p, double error)
{
	struct audit_findings *f = d->findings;

	if (p->loop.real_ns < AUDIT_FAIL_WINDOW_NS * 9 / 10 ||
	    (f->worst_known && fabs(error) <= f->worst_error))
		return;
	f->worst_known = true;
	f->worst_error = fabs(error);
	f->worst_window_ns = p->loop.real_ns;
	snprintf(f->worst_load, sizeof(f->worst_load), "a loop of %llu us sleeps",
		 (unsigned long long)p->delay_ns / 1000);
}

enum col {
	COL_DELAY,
	COL_ITERATIONS,
	COL_REAL,
	COL_EXPECTED,
	COL_RUSAGE_USER,
	COL_RUSAGE_SYSTEM,
	COL_PIDSTAT_USER,
	COL_PIDSTAT_SYSTEM,
	COL_PROCSTAT_USER,
	COL_PROCSTAT_SYSTEM,
	COL_PROCSTAT_BUSY,
	COL_THREAD,
	NR_SUMS, /* up to here: as they were counted */
	COL_BPF_TASK = NR_SUMS,
	COL_BPF_BUSY,
	COL_REAL_EACH,
	COL_USER_EACH,
	COL_SYSTEM_EACH,
	COL_PROCSTAT_EACH,
	COL_TRUE_EACH,
	COL_RUSAGE_FACTOR,
	COL_PROCSTAT_FACTOR,
	COL_ERROR,
	NR_COLS,
};

/* People get the comparison; all the clocks are in JSON and CSV. */
static const struct {
	enum metric_id metric;
	bool data_only;
} columns[NR_COLS] = {
	[COL_DELAY] = {M_DELAY_NS, false},
	[COL_ITERATIONS] = {M_ITERATIONS_TOTAL, false},
	[COL_REAL] = {M_REAL_NS, false},
	[COL_EXPECTED] = {M_EXPECTED_NS, false},
	[COL_RUSAGE_USER] = {M_RUSAGE_USER_NS, false},
	[COL_RUSAGE_SYSTEM] = {M_RUSAGE_SYSTEM_NS, false},
	[COL_PIDSTAT_USER] = {M_PIDSTAT_USER_NS, true},
	[COL_PIDSTAT_SYSTEM] = {M_PIDSTAT_SYSTEM_NS, true},
	[COL_PROCSTAT_USER] = {M_PROCSTAT_USER_NS, true},
	[COL_PROCSTAT_SYSTEM] = {M_PROCSTAT_SYSTEM_NS, true},
	[COL_PROCSTAT_BUSY] = {M_PROCSTAT_BUSY_NS, false},
	[COL_THREAD] = {M_THREAD_CLOCK_NS, false},
	[COL_BPF_TASK] = {M_BPF_TASK_NS, true},
	[COL_BPF_BUSY] = {M_BPF_BUSY_NS, false},
	[COL_REAL_EACH] = {M_REAL_EACH_NS, true},
	[COL_USER_EACH] = {M_USER_EACH_NS, true},
	[COL_SYSTEM_EACH] = {M_SYSTEM_EACH_NS, true},
	[COL_PROCSTAT_EACH] = {M_PROCSTAT_EACH_NS, true},
	[COL_TRUE_EACH] = {M_TRUE_EACH_NS, false},
	[COL_RUSAGE_FACTOR] = {M_RUSAGE_FACTOR_RATIO, false},
	[COL_PROCSTAT_FACTOR] = {M_PROCSTAT_FACTOR_RATIO, false},
	[COL_ERROR] = {M_ERROR_RATIO, false},
};

#define BUSY_COLS (AUDIT_BUSY_COLS | AUDIT_IRQ_COLS | 1u << PROCSTAT_STEAL)

/* /proc/stat against the core's true busy time; its other tasks are in both. */
static void add_bpf(struct delays *d, const struct point *p, struct table *table, size_t row)
{
	double busy_ns, real = (double)p->loop.real_ns, shown, error;
	struct load_cpu_window w;

	load_subtract(&p->from.bpf, &p->to.bpf, d->bpf->rate, d->bpf->parts, &w);
	if (w.flags & LOAD_NO_FIGURE)
		return;
	busy_ns = (double)w.busy_ns;
	shown = (double)cols_ns(d, p, BUSY_COLS);
	error = (shown - busy_ns) / real;
	if ((double)w.part_ns[LOAD_PART_TASK] - (double)p->loop.thread_ns > AUDIT_OTHERS_MAX * real)
		d->nr_disturbed++;
	value_u64(table_cell(table, row, COL_BPF_TASK), w.part_ns[LOAD_PART_TASK]);
	value_u64(table_cell(table, row, COL_BPF_BUSY), (uint64_t)busy_ns);
	value_f64(table_cell(table, row, COL_PROCSTAT_FACTOR), shown / busy_ns);
	value_f64(table_cell(table, row, COL_ERROR), error);
	d->findings->source = d->bpf->ops->name;
	take_worst(d, p, error);
}

static void add_each(const struct delays *d, const struct point *p, struct table *table, size_t row)
{
	const struct sleep_loop_result *loop = &p->loop;
	double nr = (double)loop->iterations;

	value_f64(table_cell(table, row, COL_REAL_EACH), (double)loop->real_ns / nr);
	value_f64(table_cell(table, row, COL_USER_EACH), (double)loop->user_ns / nr);
	value_f64(table_cell(table, row, COL_SYSTEM_EACH), (double)loop->system_ns / nr);
	value_f64(table_cell(table, row, COL_PROCSTAT_EACH), (double)cols_ns(d, p, BUSY_COLS) / nr);
	value_f64(table_cell(table, row, COL_TRUE_EACH), (double)loop->thread_ns / nr);
}

static void add_point(struct delays *d, const struct point *p, struct table *table)
{
	const struct sleep_loop_result *loop = &p->loop;
	const struct pidstat *from = &p->from.pid, *to = &p->to.pid;
	const uint64_t sums[NR_SUMS] = {
		[COL_DELAY] = p->delay_ns,
		[COL_ITERATIONS] = loop->iterations,
		[COL_REAL] = loop->real_ns,
		[COL_EXPECTED] = p->delay_ns * loop->iterations,
		[COL_RUSAGE_USER] = loop->user_ns,
		[COL_RUSAGE_SYSTEM] = loop->system_ns,
		[COL_PIDSTAT_USER] = (to->user_ticks - from->user_ticks) * d->unit_ns,
		[COL_PIDSTAT_SYSTEM] = (to->system_ticks - from->system_ticks) * d->unit_ns,
		[COL_PROCSTAT_USER] = cols_ns(d, p, 1u << PROCSTAT_USER | 1u << PROCSTAT_NICE),
		[COL_PROCSTAT_SYSTEM] = cols_ns(d, p, 1u << PROCSTAT_SYSTEM),
		[COL_PROCSTAT_BUSY] = cols_ns(d, p, BUSY_COLS),
		[COL_THREAD] = loop->thread_ns,
	};
	size_t row = table_row(table);

	for (size_t i = 0; i < NR_SUMS; i++)
		value_u64(table_cell(table, row, i), sums[i]);
	if (loop->iterations)
		add_each(d, p, table, row);
	if (loop->thread_ns)
		value_f64(table_cell(table, row, COL_RUSAGE_FACTOR),
			  (double)(loop->user_ns + loop->system_ns) / (double)loop->thread_ns);
	if (d->bpf)
		add_bpf(d, p, table, row);
}

static void add_table(struct delays *d, struct report *report)
{
	struct table *table = report_table(report, "delays", "a loop of sleeps, as accounted");

	for (size_t i = 0; i < NR_COLS; i++)
		table_col(table, columns[i].metric);
	if (report->failed)
		return;
	for (size_t i = 0; i < NR_COLS; i++)
		table->cols[i].data_only = columns[i].data_only;
	for (size_t i = 0; i < d->nr; i++)
		if (d->points[i].measured)
			add_point(d, &d->points[i], table);
}

static void add_notes(const struct delays *d, struct report *report)
{
	double low = INFINITY, high = 0.0;

	for (size_t i = 0; i < d->nr; i++) {
		const struct sleep_loop_result *loop = &d->points[i].loop;
		double each =
			loop->iterations ? (double)loop->thread_ns / (double)loop->iterations : 0;

		if (!d->points[i].measured || !d->points[i].delay_ns || !loop->iterations)
			continue;
		low = fmin(low, each);
		high = fmax(high, each);
	}
	if (high > 0.0)
		report_note(report, "one turn of the loop with a sleep truly takes %.2f to %.2f us",
			    low / 1e3, high / 1e3);
	report_note(report,
		    "delay 0 is an invalid call, which returns at once: the work without the "
		    "sleep and without the way to idle and back");
	if (d->nr_disturbed)
		report_note(
			report,
			"others took more than %.0f points of the core during %zu of %zu delays, "
			"which makes their loops longer and their figures look better",
			AUDIT_OTHERS_MAX * 100.0, d->nr_disturbed, d->nr);
	if (!d->bpf)
		report_note(report, "the core's true busy time is not to be had: %s%s%s",
			    d->no_bpf.what, d->no_bpf.fix[0] ? "; fix: " : "", d->no_bpf.fix);
	if (d->stopped)
		report_note(report, "stopped early");
}

static int delays_open(struct delays *d, struct err *err)
{
	const uint64_t *us = d->opts->brief ? brief_us : paper_us;
	struct load_source_opts source_opts = {0};
	struct cpuset possible;
	int rc;

	d->nr = d->opts->delays_ns ? d->opts->nr_delays
		: d->opts->brief   ? sizeof(brief_us) / sizeof(brief_us[0])
				   : sizeof(paper_us) / sizeof(paper_us[0]);
	rc = cpu_set(NULL, CPU_POSSIBLE, &possible, err);
	if (rc)
		return rc;
	d->nr_cpus = source_opts.nr_cpus = cpuset_end(&possible);
	d->points = calloc(d->nr, sizeof(*d->points));
	d->cpus = calloc(d->nr_cpus, sizeof(*d->cpus));
	d->samples = calloc(d->nr_cpus, sizeof(*d->samples));
	if (!d->points || !d->cpus || !d->samples)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < d->nr; i++)
		d->points[i].delay_ns = d->opts->delays_ns ? d->opts->delays_ns[i] : us[i] * 1000;
	if (load_source_open("bpf", &source_opts, &d->bpf, &d->no_bpf))
		d->bpf = NULL;
	return procstat_open(&d->stat, NULL, err);
}

static void delays_close(struct delays *d, bool stat_open)
{
	if (stat_open)
		procstat_close(&d->stat);
	load_source_close(d->bpf);
	free(d->points);
	free(d->cpus);
	free(d->samples);
}

int audit_delays(const struct audit_opts *opts, const struct audit_env *env,
		 struct audit_findings *findings, struct report **ret_report, struct err *err)
{
	struct delays d = {.opts = opts, .env = env, .findings = findings};
	uint64_t budget = opts->budget_ns ?: (opts->brief ? 9 : 27) * NSEC_PER_SEC;
	uint64_t begin = clock_mono_ns(), each;
	struct report *report;
	int rc, opened;

	findings->user_hz = sysconf(_SC_CLK_TCK);
	d.unit_ns = NSEC_PER_SEC / findings->user_hz;
	opened = rc = delays_open(&d, err);
	each = d.nr ? budget / d.nr : 0;
	for (size_t i = 0; i < d.nr && !rc && !d.stopped; i++)
		rc = run_point(&d, &d.points[i],
			       each > 2 * SETTLE_NS ? each - SETTLE_NS : SETTLE_NS, err);
	if (!rc) {
		report = audit_report("delays", opts, findings, begin);
		if (report) {
			report_source(report, d.bpf ? "bpf" : "thread-clock");
			add_table(&d, report);
			if (d.bpf) {
				struct load_losses losses;

				load_source_losses(d.bpf, &losses);
				load_report_losses(&losses, report);
			}
			add_notes(&d, report);
		}
		rc = audit_report_done(report, ret_report, err);
	}
	delays_close(&d, !opened);
	return rc;
}
