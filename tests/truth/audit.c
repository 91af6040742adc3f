/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests `subtick audit`: the tick, a load that runs only between ticks, and the true CPU time of a
 * loop of sleeps.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "configured.h"
#include "gen/loads.h"
#include "live.h"
#include "measure/audit/audit.h"
#include "present/audit.h"
#include "truth.h"
#include "view/view.h"

#define AUDITED	 1 /* number of the audited CPU */
#define SHARE	 0.30
#define UNIT_NS	 (10 * NSEC_PER_MSEC) /* unit of the CPU times in /proc/stat */
#define USAGE_NS 4000		      /* getrusage() rounds CPU times to microseconds */
#define SEEN_NS	 200000		      /* allowed delay from a tick to its detection */
/*
 * Time of the kernel instructions from setting a timer until the core sleeps. A timer of 1 us
 * expires before the core sleeps.
 */
#define ARMED_NS 2000
/* largest allowed CPU time of kernel threads: the time of two runs of a kernel thread */
#define OTHERS_NS 20000
/*
 * Largest allowed ratio between the true CPU times per loop iteration at different sleep lengths. A
 * sleep longer than a tick period stops the tick, and stopping the tick takes CPU time.
 */
#define STABLE	 1.2

static bool irqtime; /* true if the kernel subtracts interrupt time from task time */

/* Converts the report to JSON, and frees the report. */
static json_t *as_json(struct report *report)
{
	struct view view = {.format = VIEW_JSON};
	char *text = NULL;
	size_t size = 0;
	json_t *root;

	view.out = open_memstream(&text, &size);
	if (!view.out || view_write(&view, report))
		live_fail_all("the report cannot be written");
	fclose(view.out);
	root = json_loads(text, 0, NULL);
	free(text);
	report_free(report);
	return root;
}

/*
 * Checks the measured tick. The reader of /proc/stat and the load run on different processors of
 * the guest. truth_turns_start() makes QEMU switch often between the processors. Otherwise the
 * reader would detect an increment of a CPU time up to one tick period too late.
 */
static void check_ticks(int hz, struct audit_findings *f)
{
	struct audit_opts opts = {.cpu = AUDITED, .budget_ns = 1800 * NSEC_PER_MSEC};
	struct audit_env env = {0};
	struct audit_ticks ticks;
	struct report *report;
	struct err err = {0};
	/*
	 * The delay of a read of /proc/stat is a larger part of a shorter tick period. The allowed
	 * loss of coherence between CPU time increments and the tick is 1 % at 250 Hz, and grows
	 * with the square of HZ.
	 */
	double least = fmax(AUDIT_SURE_TICK, 1.0 - 0.01 * pow(hz / 250.0, 2.0));
	json_t *root;

	truth_turns_start();
	if (audit_ticks(&opts, &env, f, &ticks, &err))
		live_fail_all("audit ticks: %s", err.what);
	truth_turns_stop();
	if (audit_ticks_report(&opts, f, &ticks, &report, &err))
		live_fail_all("audit ticks: %s", err.what);
	audit_ticks_free(&ticks);
	root = as_json(report);
	live_ok(live_number(root, "tick_hz") == hz, "HZ found: %.0f, configured: %d",
		live_number(root, "tick_hz"), hz);
	live_ok(f->tick_known && f->busy_coherence >= least,
		"user and system move on the tick: coherence %.2f %%, at least %.2f (%s)",
		f->busy_coherence * 100.0, least * 100.0, f->tick_unclear ?: "clear");
	/*
	 * Ticks come at multiples of their period on CLOCK_MONOTONIC. The reader detects a tick
	 * late, because QEMU first has to switch to the reader's processor.
	 */
	live_ok(f->phase_known && f->tick_phase_ns < SEEN_NS,
		"the tick is found where it is: %.1f us after it", f->tick_phase_ns / 1e3);
	json_decref(root);
}

/*
 * Compares the CPU time of a load in /proc/stat with the expected CPU time. @busy_by_ticks is 1 for
 * a load that the tick always interrupts, and 0 for a load that the tick never interrupts. The test
 * has no upper bound for the CPU time of the kernel's idle loop. With HZ=1000 the core enters the
 * idle loop twice per tick, which takes at least 0.8 % of the core, and longer if QEMU runs the
 * other processor during an entry.
 */
static void check_load(const struct audit_load_run *run, json_t *root, const char *name, double busy_by_ticks)
{
	json_t *row = live_row(root, "loads", "load", name);
	double busy = live_number(row, "true_ratio"), shown = live_number(row, "shown_ratio");
	double sum = live_number(row, "columns_sum_ratio"), idle = 1.0 - busy;
	double expected = busy_by_ticks / (busy_by_ticks + idle);
	double work = run->levels[AUDIT_MODE_TASKS].truth + run->levels[AUDIT_MODE_IRQ].truth +
		      run->levels[AUDIT_MODE_SOFTIRQ].truth;

	live_ok(run->levels_known && work >= SHARE && work < SHARE + 0.02 && busy >= work,
		"%s: the core truly works for %.2f %%, and is busy for %.2f %%", name, work * 100.0, busy * 100.0);
	/*
	 * Allow 2 %: the window is one second long, and /proc/stat rounds CPU times to 10 ms at the
	 * start and at the end of the window.
	 */
	live_ok(fabs(shown - expected) <= 0.02 && fabs(sum - busy_by_ticks - idle) <= 0.02,
		"%s: the columns show %.2f %%, they must show %.2f; their sum is %.3f of the time",
		name, shown * 100.0, expected * 100.0, sum);
}

/*
 * True if a CPU time in /proc/stat is exact to 10 ms, the unit of /proc/stat. A CPU time that the
 * kernel samples at ticks is not exact.
 */
static bool within_unit(const struct audit_level *level)
{
	return llabs((long long)(level->shown_ns - level->true_ns)) <= (long long)UNIT_NS;
}

/*
 * Checks that /proc/stat shows no CPU time of a load that runs only between ticks. Also checks that
 * /proc/stat shows the true interrupt time if the kernel has IRQ_TIME_ACCOUNTING.
 */
static void check_hidden(const struct audit_findings *f, const struct audit_load_run *run)
{
	const struct audit_level *tasks = &run->levels[AUDIT_MODE_TASKS];
	const struct audit_level *irq = &run->levels[AUDIT_MODE_IRQ], *softirq = &run->levels[AUDIT_MODE_SOFTIRQ];

	live_ok(f->hidden_true >= SHARE && run->levels_known && tasks->shown == 0.0,
		"of tasks that use %.2f %% of a core the columns show %.2f %%", tasks->truth * 100.0,
		tasks->shown * 100.0);
	if (!irqtime)
		live_ok(f->hidden_shown == 0.0, "and %.2f %% as busy", f->hidden_shown * 100.0);
	else
		live_ok(fabs(f->hidden_shown - irq->shown - softirq->shown) < 1e-9 && within_unit(irq) &&
				within_unit(softirq),
			"and %.2f %% as busy, all of it interrupts: %.1f and %.1f ms of true %.1f and %.1f",
			f->hidden_shown * 100.0, (double)irq->shown_ns / 1e6, (double)softirq->shown_ns / 1e6,
			(double)irq->true_ns / 1e6, (double)softirq->true_ns / 1e6);
}

static void check_sources(int hz, struct audit_findings *f)
{
	struct audit_opts opts = {
		.cpu = AUDITED,
		.budget_ns = 7500 * NSEC_PER_MSEC,
		.duty = SHARE,
		.share = SHARE,
		.loads = 1u << AUDIT_HIDDEN | 1u << AUDIT_EXPOSED,
	};
	struct audit_env env = {0};
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)hz;
	static struct audit_sources sources;
	struct report *report;
	struct err err = {0};
	json_t *root;

	if (audit_sources(&opts, &env, f, &sources, &err) ||
	    audit_sources_report(&opts, f, &sources, &report, &err))
		live_fail_all("audit sources: %s", err.what);
	root = as_json(report);
	live_ok(f->hide_found && f->hidden_phase_ns > 0 &&
			f->hidden_phase_ns + (uint64_t)(SHARE * (double)tick_ns) < tick_ns,
		"a task hides between two ticks: from %.2f ms after one",
		(double)f->hidden_phase_ns / 1e6);
	check_hidden(f, &sources.runs[AUDIT_HIDDEN]);
	check_load(&sources.runs[AUDIT_HIDDEN], root, "hidden", 0.0);
	check_load(&sources.runs[AUDIT_EXPOSED], root, "exposed", 1.0);
	json_decref(root);
}

/*
 * Checks the true CPU time of a loop of sleeps. With IRQ_TIME_ACCOUNTING the thread clock excludes
 * interrupts, so the true CPU time is between the thread clock and the time of all tasks. Returns
 * the time of kernel threads: the time of all tasks minus the loop's CPU time.
 */
static double check_true(json_t *row, double delay_us, double thread, double tasks)
{
	double loops = live_number(row, "iterations_total");
	double used = live_number(row, "true_per_iteration_ns") * loops;

	if (irqtime)
		live_ok(used > thread && used < tasks + 1.0,
			"delay %.0f us: the loop truly used %.3f ms", delay_us, used / 1e6);
	else
		live_ok(fabs(used - thread) < 1.0, "delay %.0f us: the thread clock is true", delay_us);
	return tasks - used;
}

static void check_delays(void)
{
	static const uint64_t delays_ns[] = {1000, 10000, 100000, 500000, 1000000};
	struct audit_opts opts = {.cpu = AUDITED,
				  .delays_ns = delays_ns,
				  .nr_delays = sizeof(delays_ns) / sizeof(delays_ns[0]),
				  .budget_ns = NSEC_PER_SEC};
	struct audit_findings f = {0};
	struct audit_env env = {0};
	double low = INFINITY, high = 0.0, others = INFINITY;
	struct audit_delays delays;
	struct report *report;
	struct err err = {0};
	json_t *root, *rows;

	if (audit_delays(&opts, &env, &f, &delays, &err) ||
	    audit_delays_report(&opts, &f, &delays, false, &report, &err))
		live_fail_all("audit delays: %s", err.what);
	audit_delays_free(&delays);
	root = as_json(report);
	rows = json_object_get(root, "delays");
	for (size_t i = 0; i < opts.nr_delays; i++) {
		json_t *row = json_array_get(rows, i);
		double tasks = live_number(row, "bpf_task_ns"),
		       busy = live_number(row, "bpf_busy_ns");
		double thread = live_number(row, "thread_clock_ns");
		double each = live_number(row, "true_per_iteration_ns");
		double usage =
			live_number(row, "rusage_user_ns") + live_number(row, "rusage_system_ns");

		/*
		 * Without IRQ_TIME_ACCOUNTING the thread clock starts in the interrupt that wakes
		 * the thread, so the thread clock is at least the time of all tasks. With
		 * IRQ_TIME_ACCOUNTING the kernel subtracts interrupts from the thread clock, so the
		 * thread clock is less than the time of all tasks.
		 */
		live_ok((irqtime ? thread < tasks && tasks - thread <= busy - tasks
				 : thread >= tasks && thread <= busy) &&
				fabs(usage - thread) <= USAGE_NS,
			"delay %.0f us: %.0f ns per loop; thread clock %.3f ms, getrusage %.3f, "
			"tasks %.3f, busy %.3f",
			(double)delays_ns[i] / 1e3, each, thread / 1e6, usage / 1e6, tasks / 1e6,
			busy / 1e6);
		others = fmin(others, check_true(row, (double)delays_ns[i] / 1e3, thread, tasks));
		low = fmin(low, each);
		high = fmax(high, each);
	}
	if (irqtime)
		live_ok(others <= OTHERS_NS, "the loop used all that tasks did: but for %.0f us at best",
			others / 1e3);
	live_ok(!delays.nr_disturbed, "no other task had much of the core, and none is said to have");
	live_ok(high <= low * STABLE,
		"true time per loop is stable over all delays: within %.3f times", high / low);
	json_decref(root);
}

#define READ_HZ 6000

/* Reads /proc/stat on another core 6,000 times a second, like the monitor SuperMon. */
static void read_stat(void *memory, void *arg)
{
	uint64_t *reads = memory, next = clock_mono_ns();
	struct audit_core core;
	struct procstat_cpu line;

	if (audit_core_open(&core, AUDITED, NULL))
		return;
	for (;;) {
		struct timespec until;

		next += NSEC_PER_SEC / READ_HZ;
		until = clock_timespec(next);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		if (audit_core_read(&core, &line, NULL))
			return;
		__atomic_store_n(reads, *reads + 1, __ATOMIC_RELAXED);
	}
}

/*
 * Checks that frequent reads of /proc/stat change neither the reported CPU times nor the true load
 * of another core.
 */
static void check_reader(int hz, struct audit_findings *f)
{
	struct gen_child reader = {0};
	uint64_t begin = clock_mono_ns();
	struct err err = {0};
	double rate;

	if (gen_child_start(&reader, !AUDITED, sizeof(uint64_t), read_stat, NULL, &err))
		live_fail_all("%s", err.what);
	f->hide_found = false;
	check_sources(hz, f);
	rate = (double)__atomic_load_n((uint64_t *)reader.shared, __ATOMIC_RELAXED) * 1e9 /
	       (double)(clock_mono_ns() - begin);
	gen_child_stop(&reader);
	live_ok(rate > 0.95 * READ_HZ && rate < 1.05 * READ_HZ,
		"all of this beside a reader of /proc/stat, %.0f times a second", rate);
}

/* On an idle core, a sleep takes longer by exactly its timer slack. */
static void check_slack(int hz)
{
	static const uint64_t delays_ns[] = {1000}, slacks_ns[] = {1, AUDIT_DEFAULT_SLACK_NS};
	struct audit_opts opts = {.cpu = AUDITED,
				  .delays_ns = delays_ns,
				  .nr_delays = 1,
				  .slacks_ns = slacks_ns,
				  .nr_slacks = 2,
				  .iterations = 2000};
	struct audit_findings f = {0};
	struct audit_env env = {0};
	struct audit_delays delays;
	struct err err = {0};
	double later, least;

	if (audit_delays(&opts, &env, &f, &delays, &err) || delays.nr != 2)
		live_fail_all("audit delays: %s", err.what);
	later = delays.rows[1].real_each_ns - delays.rows[0].real_each_ns;
	/*
	 * A tick between the requested end of a sleep and the end of the timer slack ends the sleep
	 * early, on average by half of the slack. A tick shortens (slack / tick period) of the
	 * sleeps.
	 */
	least = AUDIT_DEFAULT_SLACK_NS - 0.5e-9 * hz * pow(AUDIT_DEFAULT_SLACK_NS, 2.0) - ARMED_NS;
	live_ok(later > least && later <= AUDIT_DEFAULT_SLACK_NS + 100 && !delays.nr_slack_ignored,
		"a sleep of 1 us takes %.2f us with a slack of 1 ns, and %.2f us more (%.2f at least) "
		"with 50 us",
		delays.rows[0].real_each_ns / 1e3, later / 1e3, least / 1e3);
	audit_delays_free(&delays);
}

/*
 * Checks the tick before the check for BPF, because audit finds the tick also on kernels without
 * BPF.
 */
static void check_all(int hz, struct audit_findings *f)
{
	check_ticks(hz, f);
	/* Without BPF, audit cannot measure the true load. */
	if (!configured_with("BPF_SYSCALL"))
		return;
	check_sources(hz, f);
	/*
	 * Each time QEMU runs the reader of /proc/stat, the load loses 20 us. A loss of 20 us is
	 * negligible in a tick period of 4 ms, but not in a tick period of 1 ms.
	 */
	if (hz <= 250)
		check_reader(hz, f);
	check_delays();
	check_slack(hz);
}

/*
 * Period of a perf sampling timer, whose interrupts take about half of the core. Interrupts of a
 * perf sampling timer with a period of 30 us would take nearly the whole core. Interrupts by
 * network packets are not used, because sending packets would keep two processors busy for many
 * seconds.
 */
#define IRQ_PERIOD_NS 50021
#define IRQ_WATCH_NS  (1500 * NSEC_PER_MSEC)

static void check_irq_columns(struct audit_findings *f)
{
	struct audit_env env = {0};
	struct audit_watch watch;
	struct counter_edges irq;
	struct gen_child user = {0};
	struct err err = {0};
	int fd;

	counter_edges_init(&irq, AUDIT_IRQ_COLS);
	if (cpu_mix_start(&user, CPU_MIX_USER, AUDITED, &err))
		live_fail_all("%s", err.what);
	truth_turns_start();
	fd = truth_clock_start(AUDITED, IRQ_PERIOD_NS);
	if (audit_watch(AUDITED, IRQ_WATCH_NS, true, &irq, 1, &env, &watch, &err))
		live_fail_all("%s", err.what);
	close(fd);
	truth_turns_stop();
	gen_child_stop(&user);
	audit_judge_irq(f, &irq);
	live_ok(f->irq_known && f->irq_coherence < AUDIT_ON_TICK,
		"irq and softirq change between the ticks: %zu increments, coherence %.2f %%", irq.nr,
		f->irq_coherence * 100.0);
	counter_edges_free(&irq);
}

int main(void)
{
	struct audit_findings f = {0};
	const char *regime;

	truth_begin(2);
	irqtime = !strcmp(configured_regime(AUDITED), "irqtime");
	check_all(configured_hz(), &f);
	if (irqtime)
		check_irq_columns(&f);
	regime = audit_regime_name(audit_regime(&f)) ?: "none";
	live_ok(!strcmp(regime, configured_regime(AUDITED)), "the regime is found: %s, configured: %s",
		regime, configured_regime(AUDITED));
	return live_done();
}
