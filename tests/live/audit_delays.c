/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* subtick audit delays: what it calls the true time of a loop is what the scheduler booked for it. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "gen/loads.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"

#define NR_DELAYS   5
#define FACTOR	    1.5
#define LENGTH_MS   300
#define PATIENCE_MS 20000

static const unsigned int delays_us[NR_DELAYS] = {1, 10, 100, 500, 1000};

struct setup {
	char cpu_text[16];
	int cpu;
};

/* One loop of our own, by its thread clock and by the schedstat of its thread. */
struct loop {
	double thread_ns, booked_ns, iterations;
};

/* The thread sleeps before and after the loop: its schedstat stands still while it is read. */
static bool run_loop(int cpu, unsigned int delay_us, struct loop *ret_loop)
{
	struct sleep_loop_opts opts = {.cpu = cpu,
				       .delay_ns = delay_us * NSEC_PER_USEC,
				       .length_ns = LENGTH_MS * NSEC_PER_MSEC};
	struct sleep_loop_result result;
	struct err err = {0};
	double before, after;
	struct gen_child sleeps;
	bool done = false;

	if (sleep_loop_start(&sleeps, &opts, &err))
		live_fail_all("%s", err.what);
	live_sleep_ms(20);
	before = load_schedstat(sleeps.pid).ran_ns;
	sleep_loop_go(&sleeps);
	for (int i = 0; i < PATIENCE_MS / 10 && !done; i++) {
		live_sleep_ms(10);
		done = sleep_loop_done(&sleeps, &result);
	}
	live_sleep_ms(20);
	after = load_schedstat(sleeps.pid).ran_ns;
	gen_child_stop(&sleeps);
	if (done)
		*ret_loop = (struct loop){.thread_ns = (double)result.thread_ns,
					  .booked_ns = after - before,
					  .iterations = (double)result.iterations};
	return done;
}

/*
 * The work of a loop is not the same after each delay: a core that slept longer comes back colder,
 * and leaves a deeper state. So each delay is held against loops of the same delay, before and after
 * the audit. What is on the other core also cools caches that both share, and no count of this core
 * shows it: but then our own two loops differ.
 */
static bool check_delay(struct verdict *verdict, const struct setup *setup, json_t *row,
			unsigned int delay_us, double before_ns)
{
	/*
	 * Compares thread clocks, because with IRQ_TIME_ACCOUNTING the true time differs from them.
	 */
	double shown = live_number(row, "thread_clock_ns") / live_number(row, "iterations_total");
	double after_ns, low, high;
	struct loop loop = {NAN, NAN, NAN};
	bool ran = run_loop(setup->cpu, delay_us, &loop);

	after_ns = loop.thread_ns / loop.iterations;
	low = fmin(before_ns, after_ns);
	high = fmax(before_ns, after_ns);
	if (high > low * FACTOR)
		verdict_disturbed(verdict,
				  "%u us: loops of our own took %.0f ns before and %.0f ns after",
				  delay_us, before_ns, after_ns);
	/* Around the loop the thread is woken, takes its stamps and goes back to sleep. */
	verdict_figure(verdict, ran && loop.thread_ns >= loop.booked_ns * 0.99 - 1e6,
		       "%u us: the loop's thread clock has %.3f ms, schedstat %.3f ms, "
		       "within 1 %% and 1 ms",
		       delay_us, loop.thread_ns / 1e6, loop.booked_ns / 1e6);
	verdict_figure(verdict, ran && shown <= high * FACTOR && shown >= low / FACTOR,
		       "%u us: audit has a loop at %.0f ns, loops of our own take %.0f and %.0f ns, "
		       "within a factor of %.1f",
		       delay_us, shown, before_ns, after_ns, FACTOR);
	return ran && loop.thread_ns <= loop.booked_ns;
}

static bool runs_within(json_t *row, unsigned int delay_us)
{
	double thread_ns = live_number(row, "thread_clock_ns");
	double real_ns = live_number(row, "real_ns"), nr = live_number(row, "iterations_total");
	bool within = thread_ns > 0.0 && thread_ns <= real_ns && nr > 0.0;

	if (!within)
		live_note("%u us: the thread ran %.0f ns of %.0f in %.0f loops", delay_us,
			  thread_ns, real_ns, nr);
	return within;
}

static void measure(void *arg, struct verdict *verdict)
{
	const struct setup *setup = arg;
	double before_ns[NR_DELAYS];
	bool slept, ran, booked = true;
	json_t *root, *rows;

	for (size_t i = 0; i < NR_DELAYS; i++) {
		struct loop loop;

		before_ns[i] = run_loop(setup->cpu, delays_us[i], &loop)
				       ? loop.thread_ns / loop.iterations
				       : NAN;
	}
	root = live_json(
		(const char *const[]){"audit", "delays", "--json", "--cpu", setup->cpu_text,
				      "--delays", "1,10,100,500,1000", "--budget", "4s", NULL});
	rows = json_object_get(root, "delays");
	slept = ran = json_array_size(rows) == NR_DELAYS;
	for (size_t i = 0; i < NR_DELAYS; i++) {
		json_t *row = json_array_get(rows, i);

		slept = slept && live_number(row, "real_per_iteration_ns") >= delays_us[i] * 1e3;
		ran = runs_within(row, delays_us[i]) && ran;
	}
	verdict_always(verdict, json_array_size(rows) == NR_DELAYS, "a row for each delay");
	verdict_always(verdict, slept, "no loop is shorter than its delay");
	verdict_always(verdict, ran, "no thread runs longer than its loop takes");
	for (size_t i = 0; i < NR_DELAYS; i++)
		booked = check_delay(verdict, setup, json_array_get(rows, i), delays_us[i],
				     before_ns[i]) &&
			 booked;
	verdict_always(verdict, booked, "no thread clock has more than schedstat");
	json_decref(root);
}

int main(void)
{
	struct setup setup;
	/*
	 * Other tasks evict caches. With a tenth of the core they make a loop slower by less than
	 * half.
	 */
	struct judge_opts opts = {
		.limits = {.taken = 0.1, .waited = -1, .own_forks = UINT_MAX, .own_irqs = UINT_MAX},
		.measure = measure,
		.arg = &setup};
	int other;

	if (!live_two_cpus(&setup.cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs((const char *const[]){"load", "--source", "bpf", "0.01", "1", NULL});
	snprintf(setup.cpu_text, sizeof(setup.cpu_text), "%d", setup.cpu);
	opts.cpu = setup.cpu;
	judge(&opts);
	return live_done();
}
