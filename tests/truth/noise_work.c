/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a busy task and kworkers on one core, and compares each work function with ftrace: number of
 * executions, CPU time and delay.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ftrace.h"
#include "gen/loads.h"
#include "live.h"
#include "measure/noise/noise.h"
#include "truth.h"

#define MEASURED 1 /* number of the measured CPU */
#define NR_CPUS	 2
#define ROUNDS	 20
#define STEP_NS	 (2 * NSEC_PER_MSEC)
#define BURN_NS	 (ROUNDS / 2 * STEP_NS)
/* Largest difference per event between the timestamps of ftrace and of subtick; see noise.c. */
#define STAMPS_NS (500 + 1000)
#define NR_FUNCTIONS 64
#define NR_WORKS     256
/* A write to the file REFRESH queues a work item on each CPU. */
#define REFRESH	 "/proc/sys/vm/stat_refresh"
#define FUNCTION "refresh_vm_stats"

/*
 * Number and times of the executions of a work function on the measured core, computed from ftrace.
 */
struct work_stats {
	char name[NOISE_SEND_NAME];
	uint64_t executions, ns, delays, delay_ns;
	/* number of timestamps at the starts and ends of the function's intervals */
	uint64_t edges;
};

/* State while the ftrace events are read in order of time. */
struct state {
	uint64_t from_ns, to_ns;
	uint64_t last_ns; /* time up to which add_time() has charged the core's time */
	int depth;
	bool in_softirq;
	struct work_stats functions[NR_FUNCTIONS];
	size_t nr;
	struct {
		int pid;
		struct work_stats *function; /* function that the worker executes, or NULL */
	} workers[NR_WORKS];
	struct {
		char work[24]; /* address of the work item as printed by ftrace */
		uint64_t at_ns;
	} queued[NR_WORKS];
};

static struct work_stats *function_of(struct state *s, const char *fields)
{
	const char *at = strstr(fields, "function");
	char name[NOISE_SEND_NAME] = "";

	sscanf(at ? at + strlen("function") + 1 : "", "%63s", name);
	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->functions[i].name, name))
			return &s->functions[i];
	if (s->nr == NR_FUNCTIONS)
		live_fail_all("more than %d functions", NR_FUNCTIONS);
	memcpy(s->functions[s->nr].name, name, sizeof(name));
	return &s->functions[s->nr++];
}

static struct work_stats **worker_of(struct state *s, int pid)
{
	for (int i = 0; i < NR_WORKS; i++)
		if (!s->workers[i].pid || s->workers[i].pid == pid) {
			s->workers[i].pid = pid;
			return &s->workers[i].function;
		}
	live_fail_all("more than %d workers", NR_WORKS);
	return NULL;
}

/*
 * Returns a pointer to the queueing time of the work item in @fields. Some events print "work
 * struct=X", others print "work struct X".
 */
static uint64_t *queued_at(struct state *s, const char *fields)
{
	const char *at = strstr(fields, "work struct");
	char work[24] = "";

	sscanf(at ? at + strlen("work struct") + 1 : "", "%23[^: ]", work);
	for (int i = 0; i < NR_WORKS; i++)
		if (!s->queued[i].work[0] || !strcmp(s->queued[i].work, work)) {
			memcpy(s->queued[i].work, work, sizeof(work));
			return &s->queued[i].at_ns;
		}
	live_fail_all("more than %d works", NR_WORKS);
	return NULL;
}

static bool ends(const char *name, const char *tail)
{
	size_t len = strlen(name), tail_len = strlen(tail);

	return len >= tail_len && !strcmp(name + len - tail_len, tail);
}

/* Adds the time since the last event to the function that the current task executes. */
static void add_time(struct state *s, const struct ftrace_event *event)
{
	struct work_stats *function = *worker_of(s, event->pid);
	uint64_t begin = s->last_ns > s->from_ns ? s->last_ns : s->from_ns;
	uint64_t end = event->at_ns < s->to_ns ? event->at_ns : s->to_ns;

	s->last_ns = event->at_ns;
	if (!function || s->depth || s->in_softirq || end <= begin)
		return;
	function->ns += end - begin;
	function->edges++;
}

static void add_event(const struct ftrace_event *event, void *arg)
{
	bool inside;
	struct state *s = arg;
	struct work_stats *function;
	uint64_t *at;

	if (!strcmp(event->name, "workqueue_queue_work"))
		*queued_at(s, event->fields) = event->at_ns;
	if (event->cpu != MEASURED) {
		if (!strcmp(event->name, "workqueue_execute_start"))
			*queued_at(s, event->fields) = 0;
		return;
	}
	add_time(s, event);
	inside = event->at_ns >= s->from_ns && event->at_ns <= s->to_ns;
	if (!strcmp(event->name, "softirq_entry")) {
		s->in_softirq = true;
	} else if (!strcmp(event->name, "softirq_exit")) {
		s->in_softirq = false;
	} else if (!strcmp(event->name, "workqueue_execute_start")) {
		function = function_of(s, event->fields);
		*worker_of(s, event->pid) = function;
		function->executions += inside;
		at = queued_at(s, event->fields);
		if (*at && inside) {
			function->delays++;
			function->delay_ns += event->at_ns - *at;
		}
		*at = 0;
	} else if (!strcmp(event->name, "workqueue_execute_end")) {
		*worker_of(s, event->pid) = NULL;
	} else if (ends(event->name, "_entry") && strncmp(event->name, "tasklet", 7)) {
		s->depth++;
	} else if (ends(event->name, "_exit") && strncmp(event->name, "tasklet", 7)) {
		s->depth -= s->depth > 0;
	}
}

static bool close_to(uint64_t ours, uint64_t truth, uint64_t stamps)
{
	return (ours > truth ? ours - truth : truth - ours) <= stamps * STAMPS_NS;
}

static void judge(const struct noise_window *w, const struct state *s)
{
	uint64_t listed = 0;

	for (size_t i = 0; i < w->nr_functions; i++)
		listed += w->functions[i].cpu == MEASURED && w->functions[i].executions;
	for (size_t i = 0; i < s->nr; i++) {
		const struct work_stats *stats = &s->functions[i];
		const struct noise_function *f = NULL;

		if (!stats->executions)
			continue;
		listed--;
		for (size_t k = 0; k < w->nr_functions; k++)
			if (w->functions[k].cpu == MEASURED &&
			    !strcmp(w->functions[k].name, stats->name))
				f = &w->functions[k];
		if (!live_ok(f, "%s has a row", stats->name))
			continue;
		live_ok(f->executions == stats->executions && f->delay.count == stats->delays &&
				close_to(f->ns, stats->ns, 2 * stats->edges) &&
				close_to(f->delay.ns, stats->delay_ns, stats->delays),
			"%s: executed %llu times, %llu ns, %llu delays of %llu ns; by ftrace %llu, "
			"%llu, %llu, %llu",
			stats->name, (unsigned long long)f->executions, (unsigned long long)f->ns,
			(unsigned long long)f->delay.count, (unsigned long long)f->delay.ns,
			(unsigned long long)stats->executions, (unsigned long long)stats->ns,
			(unsigned long long)stats->delays, (unsigned long long)stats->delay_ns);
		if (!strcmp(stats->name, FUNCTION))
			live_ok(stats->executions == ROUNDS, "%d writes, %llu executions", ROUNDS,
				(unsigned long long)stats->executions);
	}
	live_ok(!listed, "no row that ftrace has not");
	live_ok(!w->noise_losses.functions, "no function was lost");
}

/*
 * Runs a busy task on the measured core, which executes most work items. The core is idle while the
 * task sleeps before and after its busy interval.
 */
static void burn(void *shared, void *arg)
{
	truth_sleep_until(*(uint64_t *)arg);
	truth_burn(BURN_NS);
	for (;;)
		pause();
}

static void queue_work(uint64_t begin_ns)
{
	int refresh = open(REFRESH, O_WRONLY | O_CLOEXEC);

	if (refresh < 0)
		live_fail_all("no " REFRESH);
	for (int i = 0; i < ROUNDS; i++) {
		truth_sleep_until(begin_ns + i * STEP_NS);
		if (write(refresh, "1", 1) != 1)
			live_fail_all(REFRESH " takes nothing");
	}
	close(refresh);
	live_sleep_ms(50);
}

int main(void)
{
	struct noise_opts opts = {0};
	static struct state state;
	struct gen_child child = {0};
	struct meter *meter;
	struct err err = {0};
	uint64_t begin;

	truth_begin(NR_CPUS);
	ftrace_begin(3, (const char *const[]){"irq", "workqueue", "sched/sched_switch", NULL});
	if (noise_open(&opts, &meter, &err))
		live_fail_all("%s", err.what);
	/*
	 * The work is executed once before the window, because subtick reads the name of a function
	 * at its first execution.
	 */
	queue_work(clock_mono_ns());
	live_sleep_ms(5000);
	begin = clock_mono_ns() + NSEC_PER_SEC;
	if (gen_child_start(&child, MEASURED, 1, burn, &begin, &err))
		live_fail_all("%s", err.what);
	if (meter->ops->start(meter, &err))
		live_fail_all("%s", err.what);
	state.from_ns = clock_mono_ns();
	live_ok(state.from_ns < begin, "the window begins before the burn");
	queue_work(begin);
	state.to_ns = clock_mono_ns();
	if (meter->ops->read(meter, &err))
		live_fail_all("%s", err.what);
	ftrace_end(add_event, &state);
	judge(noise_window(meter), &state);
	gen_child_stop(&child);
	meter->ops->close(meter);
	return live_done();
}
