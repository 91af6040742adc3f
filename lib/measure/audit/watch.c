/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads /proc/stat as fast as possible and finds the tick in its changes. */
#include "measure/audit/watch.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/loads.h"
#include "host/cpu.h"

#define SIGNAL_NS (50 * NSEC_PER_MSEC) /* how often the fast loop checks for signals */
#define TRIES	  3 /* attempts, because other tasks may end between them */
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

static int watch_loop(struct procstat *stat, struct procstat_cpu *cpus, unsigned int cpu,
		      uint64_t length_ns, struct counter_edges *edge_sets, size_t nr,
		      const struct audit_env *env, struct audit_watch *w)
{
	uint64_t begin = clock_mono_ns(), cpu_begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t before = begin, after = begin, look = begin + SIGNAL_NS;
	uint64_t last = begin, quickest = UINT64_MAX;
	int rc = 0;

	while (!rc && !w->stopped && before < begin + length_ns) {
		bool blurred;

		rc = procstat_read(stat, cpus, cpu + 1);
		after = clock_mono_ns();
		quickest = after - before < quickest ? after - before : quickest;
		/* Delayed: by other tasks on this core, or because /proc/stat is very long. */
		blurred = after - last > BLUR_NS && after - last > 4 * quickest;
		for (size_t i = 0; !rc && i < nr; i++)
			counter_edges_feed(&edge_sets[i], cpus[cpu].ticks, PROCSTAT_NR_COLS,
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
	if (!rc && !cpus[cpu].nr_cols)
		rc = -ENODEV;
	return rc;
}

int audit_watch(unsigned int cpu, uint64_t length_ns, bool urgent, struct counter_edges *edge_sets, size_t nr,
		const struct audit_env *env, struct audit_watch *ret_watch, struct err *err)
{
	struct procstat_cpu *cpus = calloc(cpu + 1, sizeof(*cpus));
	struct audit_watch watch = {0};
	struct procstat stat;
	int nice_before, rc;

	if (!cpus)
		return err_set(err, -ENOMEM, "out of memory");
	rc = procstat_open(&stat, NULL, err);
	if (!rc) {
		/* Highest nice priority, so that the reader is not delayed; best effort. */
		nice_before = getpriority(PRIO_PROCESS, 0);
		if (urgent)
			setpriority(PRIO_PROCESS, 0, -20);
		rc = watch_loop(&stat, cpus, cpu, length_ns, edge_sets, nr, env, &watch);
		if (urgent)
			setpriority(PRIO_PROCESS, 0, nice_before);
		if (rc)
			err_set(err, rc, "cannot read CPU %u in /proc/stat: %s", cpu,
				strerror(-rc));
		procstat_close(&stat);
	}
	for (size_t i = 0; !rc && i < nr; i++)
		if (edge_sets[i].out_of_memory)
			rc = err_set(err, -ENOMEM, "out of memory");
	free(cpus);
	if (!rc)
		*ret_watch = watch;
	return rc;
}

/* Why the search for a tick is inconclusive: too few increments, or a delayed reader. */
static const char *tick_unclear(const struct counter_edges *busy, const struct audit_watch *watch)
{
	if (busy->nr < TICK_FIT_MIN_INCREMENTS)
		return watch->stopped ? "the measurement was stopped early"
				      : "the columns changed too rarely";
	/* Judged by wall-clock time: the reader's CPU time is one of the audited figures. */
	if (watch->delayed_ns > watch->wall_ns / 2)
		return "the reader was delayed for more than half of the time";
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
		f->tick_unclear = "the columns did not change on a clear tick";
	/* A tick with a low coherence may be a fraction of the real one. */
	f->tick_known = found && !f->tick_unclear;
	if (!f->tick_known)
		return;
	f->hz = (unsigned int)lround(fit.hz);
	f->tick_ns = tick_fit_tick_ns(f->hz);
	f->phase_known = true;
	/* Fits again with the kernel's rounded period, which differs for rates such as 300 Hz. */
	f->busy_coherence =
		tick_fit_coherence(busy->stamps, busy->nr, (double)f->tick_ns, &f->tick_phase_ns);
}

void audit_judge_irq(struct audit_findings *f, const struct counter_edges *irq)
{
	/* Enough increments are needed: 32 random times have a coherence of about 0.18. */
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
	/* On the only core the reader is the load: it parses in user mode and reads in system mode. */
	bool alone = audit_other_cpu(cpu) < 0;
	int rc;

	if (findings->tick_looked)
		return 0;
	audit_progress(env, "measuring the tick");
	rc = alone ? 0 : cpu_mix_start(&user, CPU_MIX_USER, cpu, err);
	if (!rc && !alone)
		rc = cpu_mix_start(&system, CPU_MIX_SYSTEM, cpu, err);
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
	struct cpuset online;
	struct cpuset allowed;
	unsigned int other;

	if (cpu_set(NULL, CPU_ONLINE, &online, NULL) || affinity_get(0, &allowed))
		return -1;
	cpuset_for_each(other, &online)
		if (other != cpu && cpuset_has(&allowed, other))
			return (int)other;
	return -1;
}

int audit_no_load(struct err *err, unsigned int cpu)
{
	return err_unsupported(
		err, -EINVAL, "choose another core with --cpu",
		"the load could not stay on CPU %u: the CPU is or was offline, or outside this "
		"process's cpuset",
		cpu);
}
