/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Simulates a core with known wake-ups, for tests of the windows and reports of `subtick wake`. */
#ifndef SUBTICK_TESTS_UNIT_WAKE_BENCH_H
#define SUBTICK_TESTS_UNIT_WAKE_BENCH_H

#include "test.h"

#include "measure/wake/fill.h"
#include "present/wake.h"
#include "report_rows.h"

#define POINTS 200

/*
 * A core with idle states POLL, C1 and C6 (claimed latencies 0, 2 and 133 µs). A timer and another
 * core wake the core alternately.
 */
struct bench {
	struct wake_cpu_env cpu;
	struct wake_env env;
	struct wake_probe probe;
	struct wake_worker worker;
	struct wake_run run;
	struct wake_point points[POINTS];
	struct wake_window window;
};

static inline void fill_state(struct cpuidle_state *state, const char *name, uint64_t latency_ns)
{
	strcpy(state->name, name);
	state->latency_ns = latency_ns;
	state->polls = !strcmp(name, "POLL");
}

/*
 * If the number i of a wake-up is even, the timer wakes the core from C1, which takes 1000 + i ns.
 * If i is odd, another core wakes the core from C6, which takes 50,000 + i ns.
 */
static inline int setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	if (!b)
		return -1;
	b->run.plan.sources = 1u << WAKE_TIMER | 1u << WAKE_REMOTE;
	b->run.plan.sweep = (struct wake_sweep){300000, 300000, 1.1, POINTS / 2};
	b->window.breakdown = true;
	b->env = (struct wake_env){.cpus = &b->cpu};
	b->env.machine = (struct wake_machine){.nr_states = 3, .dma_latency_ns = -1};
	strcpy(b->env.machine.idle.driver, "intel_idle");
	strcpy(b->env.machine.machine.cpu_model, "a model");
	b->cpu.nr = 3;
	fill_state(&b->cpu.states[0], "POLL", 0);
	fill_state(&b->cpu.states[1], "C1", 2000);
	fill_state(&b->cpu.states[2], "C6", 133000);
	b->cpu.counted = true;
	b->cpu.after[2].usage = 77;
	b->cpu.after[2].time_ns = 5000000;
	for (int i = 0; i < POINTS; i++) {
		bool remote = i % 2;

		b->points[i] = (struct wake_point){
			.launch_ns = 1000000000ull + i,
			.distance_ns = 300000,
			.silent_ns = 290000,
			.latency_ns = (remote ? 50000 : 1000) + i,
			.exit_ns = (remote ? 50000 : 1000) + i + 60,
			.irq_ns = (remote ? 50000 : 1000) + i + 500,
			.user_ns = (remote ? 50000 : 1000) + i + 4000,
			.state = remote ? 2 : 1,
			.source = remote ? WAKE_REMOTE : WAKE_TIMER,
			.order = WAKE_EXIT_FIRST,
		};
	}
	b->worker = (struct wake_worker){.points = b->points, .nr = POINTS, .max = POINTS};
	b->worker.calibration = (struct wake_calibration){
		.known = true, .stamp = {60, 4}, .clock_step_ns = 32, .clock_read_ns = 33};
	b->run.workers = &b->worker;
	b->run.nr_workers = 1;
	b->run.probe = &b->probe;
	*state = b;
	return 0;
}

static inline int teardown(void **state)
{
	struct bench *b = *state;

	wake_window_free(&b->window);
	free(b);
	return 0;
}

static inline struct report *report_of(struct bench *b, const struct wake_passive *passive)
{
	struct report *report = NULL;

	assert_int_equal(wake_fill(&b->window, &b->env, &b->run, passive), 0);
	assert_int_equal(wake_report(&b->window, &report), 0);
	return report;
}

static inline struct report *points_of(struct bench *b)
{
	struct report *report = NULL;

	assert_int_equal(wake_fill(&b->window, &b->env, &b->run, NULL), 0);
	assert_int_equal(wake_report_points(&b->window, true, &report), 0);
	return report;
}

#endif
