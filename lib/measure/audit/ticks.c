/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `subtick audit ticks`: reads /proc/stat under three loads and finds the tick in its changes. */
#include "measure/audit/ticks.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "gen/flood.h"
#include "gen/loads.h"

#define SETTLE_NS (100 * NSEC_PER_MSEC)
/* Time for TICK_FIT_MIN_INCREMENTS increments of 10 ms each, plus 10 %. */
#define LEAST_NS  (TICK_FIT_MIN_INCREMENTS * 11 * NSEC_PER_MSEC)

static const char *const load_names[AUDIT_TICKS_NR_LOADS] = {"user+system", "user+idle",
							       "user+softirq"};

static const struct {
	enum audit_ticks_load load;
	uint32_t cols;
} sets[AUDIT_NR_SETS] = {
	[AUDIT_SET_TWO_MODES_BUSY] = {AUDIT_TICKS_TWO_MODES, AUDIT_BUSY_COLS},
	[AUDIT_SET_TWO_MODES_ALL] = {AUDIT_TICKS_TWO_MODES, AUDIT_ALL_COLS},
	[AUDIT_SET_WITH_IDLE_BUSY] = {AUDIT_TICKS_WITH_IDLE, AUDIT_BUSY_COLS},
	[AUDIT_SET_WITH_IDLE_ALL] = {AUDIT_TICKS_WITH_IDLE, AUDIT_ALL_COLS},
	[AUDIT_SET_SOFTIRQS] = {AUDIT_TICKS_SOFTIRQS, AUDIT_IRQ_COLS},
};

enum audit_ticks_load audit_ticks_load_of(enum audit_ticks_set set)
{
	return sets[set].load;
}

/*
 * Starts the one or two processes of a load. CPU hotplug can move a process to another core;
 * run_load() checks the core of the first process only.
 */
static int loads_start(struct gen_child loads[2], enum audit_ticks_load load, int cpu,
		       struct err *err)
{
	struct flood_opts flood = {
		.send_cpu = audit_other_cpu(cpu), .recv_cpu = cpu, .burst = 24, .pause_ns = 60000};
	int rc;

	if (flood.send_cpu < 0 && load == AUDIT_TICKS_TWO_MODES)
		return 0;
	if (flood.send_cpu < 0)
		return err_unsupported(err, -ENODEV,
				       "allow this process two CPUs: taskset, cpuset.cpus",
				       "%s the audited core must be %s from a second core, and "
				       "this process may use only one",
				       load == AUDIT_TICKS_SOFTIRQS ? "packets to" : "idle time of",
				       load == AUDIT_TICKS_SOFTIRQS ? "sent" : "read");
	rc = cpu_mix_start(&loads[0], load == AUDIT_TICKS_WITH_IDLE ? CPU_MIX_IDLE : CPU_MIX_USER,
			   cpu, err);
	if (!rc && load == AUDIT_TICKS_TWO_MODES)
		rc = cpu_mix_start(&loads[1], CPU_MIX_SYSTEM, cpu, err);
	if (!rc && load == AUDIT_TICKS_SOFTIRQS)
		rc = flood_start(&loads[1], &flood, err);
	return rc;
}

/* Runs one load, and computes the results of all sets of columns from the same readings. */
static int run_load(const struct audit_opts *opts, const struct audit_env *env,
		    struct audit_ticks *t, enum audit_ticks_load load, uint64_t until_ns,
		    struct err *err)
{
	struct gen_child loads[2] = {{0}};
	size_t first = AUDIT_NR_SETS, nr = 0;
	uint64_t now;
	int rc;

	for (size_t i = 0; i < AUDIT_NR_SETS; i++) {
		if (sets[i].load != load)
			continue;
		first = i < first ? i : first;
		nr++;
	}
	audit_progress(env, "ticks: %s", load_names[load]);
	rc = loads_start(loads, load, (int)opts->cpu, err);
	if (!rc)
		t->stopped = audit_wait(env, clock_mono_ns() + SETTLE_NS);
	now = clock_mono_ns();
	if (!rc && !t->stopped)
		rc = audit_watch(opts->cpu, now + LEAST_NS < until_ns ? until_ns - now : LEAST_NS,
				 load != AUDIT_TICKS_SOFTIRQS, &t->edges[first],
				 nr, env, &t->watch[load], err);
	if (!rc && !t->alone && !gen_child_on(&loads[0], (int)opts->cpu))
		rc = audit_no_load(err, opts->cpu);
	t->stopped |= t->watch[load].stopped;
	gen_child_stop(&loads[0]);
	gen_child_stop(&loads[1]);
	return rc;
}

int audit_ticks(const struct audit_opts *opts, const struct audit_env *env,
		struct audit_findings *findings, struct audit_ticks *ret_ticks, struct err *err)
{
	struct audit_ticks *t = ret_ticks;
	uint64_t budget = opts->budget_ns ?: (opts->brief ? 7 : 20) * NSEC_PER_SEC;
	uint64_t begin = clock_mono_ns(), end = begin + budget, until;
	int rc = 0;

	*t = (struct audit_ticks){.alone = audit_other_cpu(opts->cpu) < 0};
	findings->user_hz = sysconf(_SC_CLK_TCK);
	for (size_t i = 0; i < AUDIT_NR_SETS; i++)
		counter_edges_init(&t->edges[i], sets[i].cols);
	for (int load = 0; load < AUDIT_TICKS_NR_LOADS && !rc && !t->stopped; load++) {
		struct err why = {0};

		until = audit_part_end(clock_mono_ns(), end, 1.0 / (AUDIT_TICKS_NR_LOADS - load),
				       SETTLE_NS + LEAST_NS);
		rc = until ? run_load(opts, env, t, load, until, &why) : audit_no_time(&why);
		/*
		 * Skip a load that this machine cannot run: packets need privileges and a second
		 * core, and AUDIT_TICKS_WITH_IDLE needs a second core from which /proc/stat is
		 * read.
		 */
		if (rc && (!until || load == AUDIT_TICKS_SOFTIRQS ||
			   (t->alone && load == AUDIT_TICKS_WITH_IDLE))) {
			t->skipped[load] = why;
			rc = 0;
		} else if (rc && err) {
			*err = why;
		}
		if (until && !rc && load == AUDIT_TICKS_TWO_MODES)
			audit_judge_tick(findings, &t->edges[AUDIT_SET_TWO_MODES_BUSY],
					 &t->watch[load]);
	}
	if (!rc)
		audit_judge_irq(findings, &t->edges[AUDIT_SET_SOFTIRQS]);
	t->window_ns = clock_mono_ns() - begin;
	return rc;
}

void audit_ticks_free(struct audit_ticks *ticks)
{
	for (size_t i = 0; i < AUDIT_NR_SETS; i++)
		counter_edges_free(&ticks->edges[i]);
}
