/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that all audit experiments use: time limits, the search for the tick, and detection of
 * how the kernel accounts CPU time.
 */
#include "measure/audit/audit.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/loads.h"
#include "host/cpu.h"
#include "measure/audit/modes.h"

#define SIGNAL_NS (50 * NSEC_PER_MSEC) /* interval between checks for a signal */
#define TRIES	  3 /* maximum number of attempts to find the tick */
#define BLUR_NS	  (200 * NSEC_PER_USEC)
#define SLOW_NS	  (2 * NSEC_PER_MSEC)
#define SETTLE_NS (50 * NSEC_PER_MSEC)

bool audit_wait(const struct audit_env *env, uint64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);

	if (env->wait)
		return env->wait(until_ns);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	return false;
}

void audit_progress(const struct audit_env *env, const char *fmt, ...)
{
	char text[96];
	va_list ap;

	if (!env->progress)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	env->progress(text);
}

static int watch_loop(struct audit_core *core, uint64_t length_ns, struct counter_edges *edge_sets,
		      size_t nr, const struct audit_env *env, struct audit_watch *w,
		      struct err *err)
{
	uint64_t begin = clock_mono_ns(), cpu_begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t before = begin, after = begin, look = begin + SIGNAL_NS;
	uint64_t last = begin, quickest = UINT64_MAX;
	struct procstat_cpu now;
	int rc = 0;

	while (!rc && !w->stopped && before < begin + length_ns) {
		bool blurred;

		rc = audit_core_read(core, &now, err);
		after = clock_mono_ns();
		quickest = after - before < quickest ? after - before : quickest;
		/* other tasks on the core or a very long file delay a read of /proc/stat */
		blurred = after - last > BLUR_NS && after - last > 4 * quickest;
		for (size_t i = 0; !rc && i < nr; i++)
			counter_edges_feed(&edge_sets[i], now.ticks, PROCSTAT_NR_COLS,
					   before + (after - before) / 2, blurred);
		w->blurred += blurred;
		w->delayed_ns += blurred ? after - last : 0;
		last = after;
		w->reads++;
		w->read_ns += after - before;
		before = clock_mono_ns();
		if (before >= look) {
			w->stopped = audit_wait(env, before + 1);
			look = before + SIGNAL_NS;
		}
	}
	w->wall_ns = after - begin;
	w->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
	return rc;
}

int audit_watch(unsigned int cpu, uint64_t length_ns, bool urgent, struct counter_edges *edge_sets,
		size_t nr, const struct audit_env *env, struct audit_watch *ret_watch,
		struct err *err)
{
	struct audit_watch watch = {0};
	struct audit_core core;
	int nice_before = getpriority(PRIO_PROCESS, 0), rc = audit_core_open(&core, cpu, err);

	if (rc)
		return rc;
	if (urgent)
		setpriority(PRIO_PROCESS, 0, -20);
	rc = watch_loop(&core, length_ns, edge_sets, nr, env, &watch, err);
	if (urgent)
		setpriority(PRIO_PROCESS, 0, nice_before);
	audit_core_close(&core);
	for (size_t i = 0; !rc && i < nr; i++)
		if (edge_sets[i].out_of_memory)
			rc = err_set(err, -ENOMEM, "out of memory");
	if (!rc)
		*ret_watch = watch;
	return rc;
}

/* Reason why the search for the tick is inconclusive, or NULL. */
static const char *tick_unclear(const struct counter_edges *busy, const struct audit_watch *watch)
{
	if (busy->nr < TICK_FIT_MIN_INCREMENTS)
		return watch->stopped ? "the measurement was stopped early"
				      : "the columns of /proc/stat changed too rarely";
	/* Compare wall-clock times, because the kernel's accounting of CPU time is under test. */
	if (watch->delayed_ns > watch->wall_ns / 2)
		return "the reader of /proc/stat was delayed for more than half of the time";
	if (watch->reads && watch->wall_ns / watch->reads > SLOW_NS)
		return "reading /proc/stat takes too long to see ticks";
	return NULL;
}

void audit_judge_tick(struct audit_findings *f, const struct counter_edges *busy,
		     const struct audit_watch *watch)
{
	struct tick_fit fit;
	bool found = tick_fit_find(busy, &fit);

	f->tick_looked = true;
	f->tick_unclear = tick_unclear(busy, watch);
	if (found && fit.coherence < AUDIT_SURE_TICK && !f->tick_unclear)
		f->tick_unclear =
			"the columns of /proc/stat did not change at the times of a regular tick";
	/* a frequency with a low coherence may be a multiple of the real tick frequency */
	f->tick_known = found && !f->tick_unclear;
	if (!f->tick_known)
		return;
	f->hz = (unsigned int)lround(fit.hz);
	f->tick_ns = tick_fit_tick_ns(f->hz);
	f->phase_known = true;
	/* Use the kernel's rounded tick period, which can differ from 1/HZ, as with HZ=300. */
	f->busy_coherence =
		tick_fit_coherence(busy->stamps, busy->nr, (double)f->tick_ns, &f->tick_phase_ns);
}

void audit_judge_irq(struct audit_findings *f, const struct counter_edges *irq)
{
	/*
	 * The coherence of the irq columns with the tick is reliable only after many changes. 32
	 * changes of a column at random times have a coherence of about 0.18.
	 */
	f->irq_known = f->tick_known && irq->nr >= TICK_FIT_MIN_INCREMENTS;
	if (f->irq_known)
		f->irq_coherence = tick_fit_coherence(irq->stamps, irq->nr, (double)f->tick_ns, NULL);
}

int audit_find_tick(unsigned int cpu, uint64_t budget_ns, const struct audit_env *env,
		    struct audit_findings *findings, struct err *err)
{
	uint64_t each = budget_ns && budget_ns < 4 * AUDIT_FIND_NS ? budget_ns / 4 : AUDIT_FIND_NS;
	struct gen_child user = {0}, system = {0};
	uint64_t end = budget_ns ? clock_mono_ns() + budget_ns / 4 : UINT64_MAX;
	struct audit_watch watch = {0};
	/* on a machine with one core the process that reads /proc/stat is itself the load */
	bool alone = audit_other_cpu(cpu) < 0;
	int rc;

	if (findings->tick_looked)
		return 0;
	audit_progress(env, "measuring the tick");
	rc = alone ? 0 : cpu_mix_start(&user, CPU_MIX_USER, cpu, err) ?:
			 cpu_mix_start(&system, CPU_MIX_SYSTEM, cpu, err);
	if (!rc)
		audit_wait(env, clock_mono_ns() + SETTLE_NS);
	for (int i = 0; i < TRIES && !rc && !watch.stopped; i++) {
		struct counter_edges busy;

		counter_edges_init(&busy, AUDIT_BUSY_COLS);
		rc = audit_watch(cpu, each, true, &busy, 1, env, &watch, err);
		if (!rc)
			audit_judge_tick(findings, &busy, &watch);
		counter_edges_free(&busy);
		if (findings->tick_known || clock_mono_ns() + each > end)
			break;
	}
	if (!rc && !alone && !gen_child_on(&user, (int)cpu))
		rc = audit_no_load(err, cpu);
	gen_child_stop(&user);
	gen_child_stop(&system);
	return rc;
}

int audit_other_cpu(unsigned int cpu)
{
	struct cpuset online, allowed;

	if (cpu_set(NULL, CPU_ONLINE, &online, NULL) || affinity_get(0, &allowed))
		return -1;
	cpuset_for_each(other, &online)
		if (other != cpu && cpuset_has(&allowed, other))
			return (int)other;
	return -1;
}

void audit_judge_worst(struct audit_findings *f, double error, uint64_t window_ns, const char *load)
{
	/* Accept windows that are up to 10 % shorter than AUDIT_FAIL_WINDOW_NS. */
	if (isnan(error) || window_ns < AUDIT_FAIL_WINDOW_NS * 9 / 10 ||
	    (f->worst_known && error <= f->worst_error))
		return;
	f->worst_known = true;
	f->worst_error = error;
	f->worst_window_ns = window_ns;
	snprintf(f->worst_load, sizeof(f->worst_load), "%s", load);
}

int audit_no_load(struct err *err, unsigned int cpu)
{
	return err_unsupported(
		err, -EINVAL, "choose another core with --cpu",
		"the load could not stay on CPU %u: the CPU is or was offline, or outside this "
		"process's cpuset",
		cpu);
}

uint64_t audit_part_end(uint64_t now_ns, uint64_t end_ns, double share, uint64_t least_ns)
{
	uint64_t left = end_ns > now_ns ? end_ns - now_ns : 0, part;

	if (end_ns == UINT64_MAX)
		return UINT64_MAX;
	if (left < least_ns)
		return 0;
	part = (uint64_t)((double)left * share);
	return now_ns + (part > least_ns ? part : least_ns);
}

int audit_no_time(struct err *err)
{
	return err_set(err, -ETIME, "--budget has too little time left: use a longer --budget");
}

enum audit_regime audit_regime(const struct audit_findings *f)
{
	if (!f->tick_looked)
		return AUDIT_UNKNOWN;
	/*
	 * VIRT_CPU_ACCOUNTING: the increments show no tick, no task could be hidden from
	 * /proc/stat, and the error is small. A slow reader of /proc/stat, for example, can also
	 * cause one of these results.
	 */
	if (!f->tick_known)
		return !f->tick_unclear && f->hide_tried && !f->hide_phase && f->worst_known &&
				       f->worst_error <= AUDIT_EXACT_ERROR
			       ? AUDIT_VIRT_GEN
			       : AUDIT_UNKNOWN;
	if (!f->irq_known)
		return AUDIT_SAMPLED;
	return f->irq_coherence >= AUDIT_ON_TICK ? AUDIT_TICK : AUDIT_IRQTIME;
}

const char *audit_regime_name(enum audit_regime regime)
{
	static const char *const names[] = {
		[AUDIT_UNKNOWN] = NULL,	     [AUDIT_TICK] = "tick",
		[AUDIT_IRQTIME] = "irqtime", [AUDIT_VIRT_GEN] = "virt-gen",
		[AUDIT_SAMPLED] = "tick",
	};

	return names[regime];
}

int audit_precision(const struct audit_opts *opts, const struct audit_env *env, double want,
		    unsigned int hz, struct audit_precision *ret_precision, struct err *err)
{
	struct audit_precision p = {.want = want, .given = hz};
	struct audit_findings *f = &p.findings;
	uint64_t begin = clock_mono_ns();
	int rc;

	f->user_hz = sysconf(_SC_CLK_TCK);
	if (hz) {
		f->tick_looked = f->tick_known = true;
		f->hz = hz;
		f->tick_ns = tick_fit_tick_ns(hz);
	}
	rc = audit_find_tick(opts->cpu, opts->budget_ns, env, f, err);
	if (rc)
		return rc;
	if (!f->tick_known && f->tick_unclear)
		return err_set(err, -EAGAIN,
			       "this kernel's HZ could not be measured: %s; try again on a quieter "
			       "machine, or set --hz",
			       f->tick_unclear);
	/* if the columns do not change on a tick, only their unit 1/USER_HZ limits the precision */
	precision_rule(want, f->user_hz, f->tick_known ? f->hz : f->user_hz, &p.rule);
	p.window_ns = hz ? 0 : clock_mono_ns() - begin;
	*ret_precision = p;
	return 0;
}
