/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For each delay: runs a loop of sleeps, reads all clocks before and after it, computes a row. */
#include "measure/audit/delays.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "gen/loads.h"
#include "measure/audit/audit.h"
#include "measure/load/sources.h"
#include "host/cpu.h"
#include "host/kernel.h"
#include "host/machine.h"
#include "host/procstat.h"

#define BUSY_COLS (AUDIT_BUSY_COLS | AUDIT_IRQ_COLS | 1u << PROCSTAT_STEAL)
#define SETTLE_NS (30 * NSEC_PER_MSEC)
#define POLL_NS	  (5 * NSEC_PER_MSEC)
#define LEAST_NS  (2 * SETTLE_NS)
#define OPEN_NS	  (100 * NSEC_PER_MSEC) /* time reserved for loading the BPF programs */

static const uint64_t paper_ns[] = {0,	    1000,   5000,   10000,  20000,  30000,
				    40000,  50000,  60000,  70000,  80000,  90000,
				    100000, 150000, 200000, 700000, 750000, 1000000};
static const uint64_t brief_ns[] = {0, 1000, 10000, 50000, 100000, 200000, 500000, 1000000};

/* Converts @value to a double. Returns NaN if @value is 0 or UINT64_MAX (unknown). */
static double or_nan(uint64_t value)
{
	return value && value != UINT64_MAX ? (double)value : NAN;
}

/* CPU time of the sleep loop: from the BPF programs if available, else from its thread clock. */
static uint64_t true_ns(const struct audit_delay *row)
{
	return row->bpf_loop_ns == UINT64_MAX ? row->thread_ns : row->bpf_loop_ns;
}

void audit_delay_derive(struct audit_delay *row)
{
	double nr = or_nan(row->iterations), busy = or_nan(row->bpf_busy_ns);
	double shown = (double)row->procstat_busy_ns, used = or_nan(true_ns(row));

	row->expected_ns = row->delay_ns * row->iterations;
	row->real_each_ns = (double)row->real_ns / nr;
	row->user_each_ns = (double)row->rusage_user_ns / nr;
	row->system_each_ns = (double)row->rusage_system_ns / nr;
	row->procstat_each_ns = shown / nr;
	row->true_each_ns = (double)true_ns(row) / nr;
	row->rusage_factor = (double)(row->rusage_user_ns + row->rusage_system_ns) / used;
	row->procstat_factor = shown / busy;
	row->error = row->bpf_busy_ns == UINT64_MAX
			     ? NAN
			     : (shown - (double)row->bpf_busy_ns) / or_nan(row->real_ns);
	row->user_times = row->system_times = NAN;
	audit_modes_derive(row->levels);
}

void audit_delays_derive(struct audit_delays *delays)
{
	array_for_each(row, delays->rows, delays->nr)
		array_for_each(none, delays->rows, delays->nr) {
			if (none->delay_ns || none->slack_ns != row->slack_ns)
				continue;
			row->user_times = row->user_each_ns / none->user_each_ns;
			row->system_times = row->system_each_ns / none->system_each_ns;
		}
}

uint64_t audit_delay_irqs_off(const struct audit_delay *row)
{
	uint64_t irq_ns = row->levels[AUDIT_MODE_IRQ].shown_ns;

	/*
	 * If the kernel does not measure interrupt time, the column irq of /proc/stat is 0, because
	 * a tick never interrupts a timer handler.
	 */
	return irq_ns == UINT64_MAX ? 0 : irq_ns;
}

bool audit_delay_disturbed(const struct audit_delay *row)
{
	double lacking = row->bpf_loop_ns == UINT64_MAX ? (double)audit_delay_irqs_off(row) : 0.0;
	double others = (double)row->bpf_task_ns - (double)true_ns(row) - lacking;

	return row->bpf_task_ns != UINT64_MAX && others > AUDIT_OTHERS_MAX * (double)row->real_ns;
}

struct edge {
	struct procstat_cpu cpu;
	struct pidstat pid;
	struct load_sample bpf;
	/*
	 * CPU time of the sleep loop since the previous reading, measured by BPF programs;
	 * UINT64_MAX if unknown
	 */
	uint64_t loop_ns;
};

/* Figures of the sleep loop, and readings of the machine before and after the loop. */
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
	struct audit_core core;
	struct load_source *bpf; /* source of the true CPU time; NULL if unavailable */
	struct load_sample *samples;
	/*
	 * true if the BPF programs must measure CPU time by task, because thread clocks may lack
	 * the time of interrupts
	 */
	bool by_task;
};

static uint64_t read_loop(struct delays *d, pid_t pid)
{
	const struct load_task *tasks;
	size_t nr;

	if (!d->by_task || d->bpf->ops->tasks(d->bpf, &tasks, &nr))
		return UINT64_MAX;
	for (size_t i = 0; i < nr; i++)
		if (tasks[i].cpu == d->opts->cpu && tasks[i].pid == (uint32_t)pid)
			return tasks[i].ns;
	return UINT64_MAX;
}

static int read_edge(struct delays *d, pid_t pid, struct edge *edge, struct err *err)
{
	int rc = audit_core_read(&d->core, &edge->cpu, err);

	if (rc)
		return rc;
	edge->loop_ns = UINT64_MAX;
	if (d->bpf) {
		d->bpf->ops->sample(d->bpf, d->samples);
		edge->bpf = d->samples[d->opts->cpu];
		edge->loop_ns = read_loop(d, pid);
	}
	rc = pidstat_read(NULL, pid, &edge->pid);
	return rc ? err_set(err, rc, "cannot read /proc/%d/stat: %s", (int)pid, strerror(-rc)) : 0;
}

static int run_loop(struct delays *d, uint64_t delay_ns, uint64_t slack_ns, uint64_t length_ns,
		    struct point *ret_point, struct err *err)
{
	struct sleep_loop_opts opts = {.cpu = (int)d->opts->cpu,
				       .delay_ns = delay_ns,
				       .iterations = d->opts->iterations,
				       .length_ns = length_ns,
				       .slack_ns = slack_ns};
	bool *stopped = &d->result->stopped;
	struct gen_child loop;
	int rc;

	audit_progress(d->env, "delays: %zu of %llu: %llu us, slack %llu ns", d->result->nr + 1,
		       (unsigned long long)d->result->nr_asked, (unsigned long long)delay_ns / 1000,
		       (unsigned long long)slack_ns);
	rc = sleep_loop_start(&loop, &opts, err);
	if (rc)
		return rc;
	*stopped |= audit_wait(d->env, clock_mono_ns() + SETTLE_NS);
	if (*stopped)
		rc = -ECANCELED;
	else if (!gen_child_alive(&loop))
		rc = audit_no_load(err, d->opts->cpu);
	else
		rc = read_edge(d, loop.pid, &ret_point->from, err);
	if (rc)
		goto out;
	sleep_loop_go(&loop);
	while (!sleep_loop_done(&loop, &ret_point->loop)) {
		/* Poll rarely and from another core, so that polling does not affect the loop. */
		if (audit_wait(d->env, clock_mono_ns() + POLL_NS)) {
			*stopped = true;
			sleep_loop_halt(&loop);
		}
		if (!gen_child_alive(&loop)) {
			rc = err_set(err, -ECHILD, "the process of the sleep loop was killed");
			goto out;
		}
	}
	rc = gen_child_on(&loop, opts.cpu) ? read_edge(d, loop.pid, &ret_point->to, err)
					   : audit_no_load(err, d->opts->cpu);
out:
	gen_child_stop(&loop);
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

/* The true busy time and the busy time in /proc/stat both include other tasks. */
static void read_truth(const struct delays *d, const struct point *p, struct audit_delay *row)
{
	struct load_cpu_window w;

	load_subtract(&p->from.bpf, &p->to.bpf, d->bpf->rate, d->bpf->parts, &w);
	if (w.flags & LOAD_NO_FIGURE)
		return;
	row->bpf_task_ns = w.part_ns[LOAD_PART_TASK];
	row->bpf_busy_ns = w.busy_ns;
	audit_modes_true(&w, d->bpf->parts, row->levels);
}

static void read_point(const struct delays *d, uint64_t delay_ns, uint64_t slack_ns,
		       const struct point *p, struct audit_delay *row)
{
	const struct pidstat *from = &p->from.pid, *to = &p->to.pid;
	const struct sleep_loop_result *loop = &p->loop;

	*row = (struct audit_delay){
		.delay_ns = delay_ns,
		.slack_ns = slack_ns,
		.iterations = loop->iterations,
		.complete = !d->result->stopped,
		.real_ns = loop->real_ns,
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
		.bpf_loop_ns = p->to.loop_ns,
	};
	audit_modes_shown(&p->from.cpu, &p->to.cpu, d->unit_ns, row->levels);
	d->result->nr_slack_ignored += loop->slack_ns != slack_ns;
	if (d->bpf)
		read_truth(d, p, row);
}

/*
 * Finds the row of the earlier run with the same delay and timer slack, or NULL. Returns each row
 * only once, because a delay can be requested several times.
 */
static const struct audit_delay *find_earlier(const struct delays *d, uint64_t delay_ns,
					      uint64_t slack_ns)
{
	const struct audit_delays *result = d->result;
	size_t used = 0;

	for (size_t i = 0; i < result->nr; i++)
		used += result->rows[i].resumed && result->rows[i].delay_ns == delay_ns &&
			result->rows[i].slack_ns == slack_ns;
	array_for_each(row, d->opts->earlier, d->opts->nr_earlier)
		if (row->complete && row->delay_ns == delay_ns && row->slack_ns == slack_ns &&
		    !used--)
			return row;
	return NULL;
}

/* Appends a complete row and reports the row to the caller. */
static void add_row(struct delays *d, const struct audit_delay *row)
{
	struct audit_delays *result = d->result;
	struct audit_delay *own = &result->rows[result->nr++];
	char text[64];

	*own = *row;
	audit_delay_derive(own);
	audit_delays_derive(result);
	result->nr_resumed += own->resumed;
	result->nr_disturbed += audit_delay_disturbed(own);
	if (own->bpf_busy_ns != UINT64_MAX)
		d->findings->source = d->bpf ? d->bpf->ops->name : "bpf";
	snprintf(text, sizeof(text), "a loop of %llu us sleeps",
		 (unsigned long long)own->delay_ns / 1000);
	audit_judge_worst(d->findings, fabs(own->error), own->real_ns, text);
	if (d->env->row && !d->env->row(d->env->arg, result))
		result->stopped = true;
}

size_t audit_delays_paper(const uint64_t **ret_ns)
{
	*ret_ns = paper_ns;
	return ARRAY_SIZE(paper_ns);
}

/*
 * Selects the delays of --delays, of a brief run, or of audit_delays_paper(). Returns their number.
 */
static size_t choose_delays(const struct audit_opts *opts, const uint64_t **ret_ns)
{
	if (!opts->delays_ns && !opts->brief)
		return audit_delays_paper(ret_ns);
	*ret_ns = opts->delays_ns ?: brief_ns;
	return opts->delays_ns ? opts->nr_delays : ARRAY_SIZE(brief_ns);
}

static size_t nr_slacks(const struct audit_opts *opts)
{
	return opts->slacks_ns ? opts->nr_slacks : 1;
}

void audit_delays_plan(const struct audit_opts *opts, struct audit_delays *ret_delays)
{
	uint64_t budget = opts->budget_ns ?: (opts->brief ? 9 : 27) * NSEC_PER_SEC, each;
	const uint64_t *delays;

	*ret_delays = (struct audit_delays){
		.nr_asked = choose_delays(opts, &delays) * nr_slacks(opts),
		.asked_iterations = opts->iterations ?: UINT64_MAX,
		.requested_each_ns = UINT64_MAX,
	};
	node_describe(ret_delays->machine, sizeof(ret_delays->machine));
	if (opts->iterations)
		return;
	each = ret_delays->nr_asked ? budget / ret_delays->nr_asked : 0;
	ret_delays->requested_each_ns = each > 2 * SETTLE_NS ? each - SETTLE_NS : SETTLE_NS;
}

static int delays_open(struct delays *d, struct err *err)
{
	struct load_source_opts source_opts = {0};
	int rc = cpu_nr(&source_opts.nr_cpus, err);

	if (rc)
		return rc;
	/* in a PID namespace the BPF programs would see another pid of the sleep loop */
	d->by_task = source_opts.tasks = !virt_own_pid_ns(NULL) &&
					 kconfig_running("IRQ_TIME_ACCOUNTING") != KCONFIG_NO;
	d->result->rows = calloc(d->result->nr_asked, sizeof(*d->result->rows));
	d->samples = calloc(source_opts.nr_cpus, sizeof(*d->samples));
	if (!d->result->rows || !d->samples)
		return err_set(err, -ENOMEM, "out of memory");
	if (!load_source_open("bpf", &source_opts, &d->bpf, &d->result->no_truth))
		d->result->truth = d->bpf->ops->name;
	return audit_core_open(&d->core, d->opts->cpu, err);
}

/*
 * Returns the run time of the sleep loop for the next row, or 0 if the time until @end_ns is too
 * short. @left is the number of rows not yet measured.
 */
static uint64_t row_length(const struct delays *d, uint64_t end_ns, size_t left)
{
	uint64_t now = clock_mono_ns();
	uint64_t until = audit_part_end(now, end_ns, 1.0 / (double)left, LEAST_NS);
	uint64_t length = until > now + SETTLE_NS ? until - now - SETTLE_NS : 0;

	return length < d->result->requested_each_ns ? length : d->result->requested_each_ns;
}

/*
 * The slacks of one delay are measured one after another, so that a slow drift of the machine
 * affects all slacks equally.
 */
static int run_delays(struct delays *d, uint64_t end_ns, struct err *err)
{
	const struct audit_opts *opts = d->opts;
	size_t nr_of = nr_slacks(opts);
	const uint64_t *delays;

	choose_delays(opts, &delays);
	for (size_t i = 0; i < d->result->nr_asked && !d->result->stopped; i++) {
		uint64_t delay_ns = delays[i / nr_of];
		uint64_t slack_ns = opts->slacks_ns ? opts->slacks_ns[i % nr_of] : 1;
		const struct audit_delay *earlier = find_earlier(d, delay_ns, slack_ns);
		struct point point = {0};
		struct audit_delay row;

		if (earlier) {
			row = *earlier;
			row.resumed = true;
		} else {
			uint64_t length = row_length(d, end_ns, d->result->nr_asked - i);
			int rc = length ? run_loop(d, delay_ns, slack_ns, length, &point, err) : 0;

			d->result->out_of_time = !length;
			if (rc || !length)
				return rc;
			read_point(d, delay_ns, slack_ns, &point, &row);
		}
		add_row(d, &row);
	}
	return 0;
}

int audit_delays(const struct audit_opts *opts, const struct audit_env *env,
		 struct audit_findings *findings, struct audit_delays *ret_delays, struct err *err)
{
	struct delays d = {.opts = opts, .env = env, .findings = findings, .result = ret_delays};
	uint64_t begin = clock_mono_ns();
	uint64_t end = opts->budget_ns && !opts->iterations ? begin + opts->budget_ns : UINT64_MAX;
	struct err failed = {0};
	int rc;

	audit_delays_plan(opts, ret_delays);
	findings->user_hz = sysconf(_SC_CLK_TCK);
	d.unit_ns = NSEC_PER_SEC / findings->user_hz;
	ret_delays->out_of_time = !audit_part_end(begin, end, 1.0, OPEN_NS + LEAST_NS);
	if (ret_delays->out_of_time) {
		ret_delays->window_ns = clock_mono_ns() - begin;
		return 0;
	}
	rc = delays_open(&d, &failed) ?: run_delays(&d, end, &failed);
	/* if the caller stopped the experiment, the result contains the rows measured so far */
	if (rc == -ECANCELED && ret_delays->stopped)
		rc = 0;
	if (d.bpf)
		load_source_losses(d.bpf, &ret_delays->losses);
	audit_core_close(&d.core);
	load_source_close(d.bpf);
	free(d.samples);
	ret_delays->window_ns = clock_mono_ns() - begin;
	ret_delays->complete = !rc && ret_delays->nr == ret_delays->nr_asked &&
			       ret_delays->rows[ret_delays->nr - 1].complete;
	if (rc)
		ret_delays->failed = failed;
	if (rc && err)
		*err = failed;
	return rc;
}

void audit_delays_free(struct audit_delays *delays)
{
	free(delays->rows);
	*delays = (struct audit_delays){0};
}
