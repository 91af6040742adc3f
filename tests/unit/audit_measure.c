/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the verdict of `subtick audit`, and its errors for simulated sources. */
#include "test.h"
#include "tests/random.h"

#include <math.h>

#include "measure/audit/samples.h"
#include "present/audit.h"
#include "report_rows.h"
#include "measure/audit/audit.h"

static const struct audit_opts opts = {.cpu = 3};

static struct audit_findings tick_findings(void)
{
	return (struct audit_findings){.user_hz = 100,
				       .tick_looked = true,
				       .tick_known = true,
				       .hz = 250,
				       .tick_ns = 4000000,
				       .busy_coherence = 0.99,
				       .irq_known = true,
				       .irq_coherence = 0.98};
}

/* Results on a kernel with exact CPU accounting: no tick, no hidden task, and small errors. */
#define EXACT .tick_looked = true, .worst_error = 0.011
#define TICK  .tick_looked = true, .tick_known = true

TEST(regimes)
{
	static const struct {
		struct audit_findings findings;
		enum audit_regime regime;
	} rows[] = {
		{{TICK, .irq_known = true, .irq_coherence = 0.98}, AUDIT_TICK},
		{{TICK, .irq_known = true, .irq_coherence = 0.2}, AUDIT_IRQTIME},
		{{TICK, .irq_coherence = 0.2}, AUDIT_SAMPLED},
		{{.tick_known = true, .irq_coherence = 0.2}, AUDIT_UNKNOWN},
		{{EXACT, .hide_tried = true, .worst_known = true}, AUDIT_VIRT_GEN},
		{{EXACT, .hide_tried = true, .worst_known = true, .tick_unclear = "delayed"},
		 AUDIT_UNKNOWN},
		{{EXACT, .hide_tried = true, .worst_known = true, .hide_phase = true},
		 AUDIT_UNKNOWN},
		{{EXACT, .worst_known = true}, AUDIT_UNKNOWN},
		{{.tick_looked = true, .hide_tried = true, .worst_known = true, .worst_error = 0.2},
		 AUDIT_UNKNOWN},
		{{EXACT, .hide_tried = true}, AUDIT_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (audit_regime(&rows[i].findings) != rows[i].regime)
			fail_msg("row %zu", i);
	assert_string_equal(audit_regime_name(AUDIT_TICK), "tick");
	assert_null(audit_regime_name(AUDIT_UNKNOWN));
}

/*
 * Simulates a kernel with ticks of 4 ms. A delayed reader sees every @late-th tick up to one tick
 * late. The kernel has IRQ_TIME_ACCOUNTING, so the accounted CPU time of the reader of /proc/stat
 * is always shorter than its run time.
 */
static void collect_ticks(struct audit_findings *f, size_t nr, unsigned int late, double delayed)
{
	struct audit_watch watch = {.wall_ns = 1000000000,
				    .delayed_ns = (uint64_t)(1e9 * delayed),
				    .cpu_ns = 400000000,
				    .reads = 100000};
	uint64_t col = 0, at = 1000000000, random = 9;
	struct counter_edges edges;

	counter_edges_init(&edges, 1);
	counter_edges_feed(&edges, &col, 1, at, false);
	for (size_t i = 0; i < nr; i++) {
		at += 4000000 * (1 + lcg64(&random) % 3);
		col++;
		counter_edges_feed(&edges, &col, 1, at + (late && !(i % late) ? (random >> 40) % 4000000 : 0),
			  false);
	}
	*f = (struct audit_findings){.user_hz = 100};
	audit_judge_tick(f, &edges, &watch);
	counter_edges_free(&edges);
}

/* Audit reports a period only if the intervals show it clearly, and else an unclear tick. */
TEST(clear_ticks_only)
{
	struct audit_findings f;

	collect_ticks(&f, 200, 0, 0.1);
	assert_true(f.tick_known && f.hz == 250 && f.phase_known && !f.tick_unclear);
	collect_ticks(&f, 200, 4, 0.1);
	assert_true(!f.tick_known && f.tick_unclear);
	collect_ticks(&f, 200, 0, 0.6);
	assert_true(!f.tick_known && f.tick_unclear);
	collect_ticks(&f, 20, 0, 0.1);
	assert_true(!f.tick_known && f.tick_unclear);
	assert_int_equal(audit_regime(&f), AUDIT_UNKNOWN);
}

TEST(verdict_of_nothing)
{
	struct audit_findings f = {.user_hz = 100};
	struct report *report;

	assert_int_equal(audit_verdict_report(&opts, &f, 1, &report, NULL), 0);
	expect_row(report->fields, 0, "regime=null tick_hz=null coherence_ratio=null irq_coherence_ratio=null "
				      "softirq_counts_as_idle=null hidden_true_ratio=null "
				      "hidden_shown_ratio=null worst_error_ratio=null "
				      "good_to_1_percent_ns=null good_to_01_percent_ns=null");
	assert_true(notes_say(report, "accounts CPU time is unknown"));
	assert_true(notes_say(report, "is unknown; try again"));
	report_free(report);
	f.tick_looked = true;
	f.tick_unclear = "it was stopped early";
	assert_int_equal(audit_verdict_report(&opts, &f, 1, &report, NULL), 0);
	assert_true(notes_say(report, "accounts CPU time is unknown: it was stopped early"));
	report_free(report);
}

TEST(verdict_of_all)
{
	struct audit_findings f = tick_findings();
	struct report *report;

	f.source = "bpf";
	f.softirq_known = true;
	f.softirq_as_idle = 0.1;
	f.hide_tried = f.hide_phase = f.hide_found = true;
	f.hidden_true = 0.5;
	f.hidden_shown = 0.004;
	f.worst_known = true;
	f.worst_error = 0.496;
	f.worst_window_ns = 1000000000;
	strcpy(f.worst_load, "the load \"hidden\"");
	f.good_known = true;
	f.good_1_ns = 31000000000;
	f.good_from_ns = 2000000000;
	f.good_error = 0.0213;
	assert_int_equal(audit_verdict_report(&opts, &f, 1, &report, NULL), 0);
	expect_row(report->fields, 0, "regime=tick cpu=3");
	assert_string_equal(report->source, "bpf");
	assert_true(report->window_ns > 0);
	expect_row(report->fields, 0, "softirq_counts_as_idle=false "
				      "good_to_1_percent_ns=31000000000 "
				      "good_to_01_percent_ns=null");
	assert_true(notes_say(report, "the core was 50.0 % busy"));
	assert_true(notes_say(report, "accurate to 1 % in 95 of 100 windows of about 31 s"));
	assert_true(notes_say(report, "never accurate to 0.1 %"));
	assert_true(notes_say(report,
			 "windows of 0.1 to 2 s (root mean square in the longest: 2.13 points"));
	assert_true(notes_say(report, "procidle"));
	report_free(report);

	f.softirq_as_idle = 0.9;
	assert_int_equal(audit_verdict_report(&opts, &f, 1, &report, NULL), 0);
	expect_row(report->fields, 0, "softirq_counts_as_idle=true");
	assert_false(notes_say(report, "procidle"));
	report_free(report);
}

/* Values of a guest with IRQ_TIME_ACCOUNTING, whose thread clock excludes interrupts. */
TEST(thread_clock_lacks_interrupts)
{
	struct audit_delay row = {.delay_ns = 1000,
				  .slack_ns = 1,
				  .iterations = 20644,
				  .real_ns = 170038000,
				  .rusage_system_ns = 41031000,
				  .thread_ns = 41031000,
				  .bpf_loop_ns = UINT64_MAX,
				  .bpf_task_ns = 71169000,
				  .bpf_busy_ns = 170038000};
	struct audit_delays delays = {.rows = &row, .nr = 1, .nr_asked = 1, .truth = "bpf"};
	struct audit_findings f = {.user_hz = 100};
	struct report *report;

	row.levels[AUDIT_MODE_IRQ].shown_ns = 60000000;
	audit_delay_derive(&row);
	assert_false(audit_delay_disturbed(&row));
	assert_int_equal(audit_delays_report(&opts, &f, &delays, false, &report, NULL), 0);
	assert_true(notes_say(report, "exclude the interrupts that wake the loop"));
	assert_true(notes_say(report, "has 1.99 us per loop, by source bpf all tasks of the core used 3.45 us"));
	report_free(report);

	/* If source bpf measured the CPU time of the loop, the error of getrusage() is known. */
	row.bpf_loop_ns = 70000000;
	audit_delay_derive(&row);
	assert_true(fabs(row.true_each_ns - 70000000.0 / 20644.0) < 1e-9);
	assert_true(fabs(row.rusage_factor - 41.031 / 70.0) < 1e-9);
	assert_false(audit_delay_disturbed(&row));
	assert_int_equal(audit_delays_report(&opts, &f, &delays, false, &report, NULL), 0);
	assert_true(notes_say(report, "has 1.99 us per loop, by source bpf it used 3.39 us"));
	report_free(report);
	/*
	 * If source bpf measured the loop's CPU time, audit detects a disturbance by another task
	 * even if interrupts also took time.
	 */
	row.bpf_task_ns = row.bpf_loop_ns + (uint64_t)(row.real_ns * 0.16);
	assert_true(audit_delay_disturbed(&row));
	row.bpf_task_ns = 71169000;
	row.bpf_loop_ns = UINT64_MAX;

	row.levels[AUDIT_MODE_IRQ].shown_ns = 0;
	assert_true(audit_delay_disturbed(&row));
	assert_int_equal(audit_delays_report(&opts, &f, &delays, false, &report, NULL), 0);
	assert_false(notes_say(report, "thread clock"));
	report_free(report);
}

/*
 * For a command, audit reports three times: the time by getrusage(), the true time, and the time of
 * other tasks on the command's CPUs.
 */
TEST(commands)
{
	struct audit_command c = {.rusage_user_ns = 600000000,
				  .rusage_system_ns = 200000000,
				  .task_clock_ns = 1000000000,
				  .true_user_ns = 700000000,
				  .true_system_ns = 300000000};
	struct audit_findings f = {.user_hz = 100};
	struct report *report;

	c.levels[AUDIT_MODE_TASKS].true_ns = 1250000000;
	audit_command_derive(&c);
	assert_true(fabs(c.rusage_factor - 0.8) < 1e-9 && fabs(c.user_error + 0.1) < 1e-9);
	assert_int_equal(c.others_ns, 250000000);
	/* A task clock that includes interrupts may exceed the true time of all tasks. */
	c.levels[AUDIT_MODE_TASKS].true_ns = 990000000;
	audit_command_derive(&c);
	assert_int_equal(c.others_ns, 0);
	c.task_clock_ns = c.true_user_ns = UINT64_MAX;
	err_set(&c.no_clock, -EACCES, "not permitted");
	audit_command_derive(&c);
	assert_true(isnan(c.rusage_factor) && isnan(c.user_error) && c.others_ns == UINT64_MAX);
	c.status = 7 << 8;
	assert_int_equal(audit_command_report(&f, &c, &report, NULL), 0);
	expect_row(report->fields, 0, "exit_status=7");
	assert_true(notes_say(report, "exited with 7") && notes_say(report, "unknown: not permitted"));
	report_free(report);
	c.status = 9;
	assert_int_equal(audit_command_report(&f, &c, &report, NULL), 0);
	expect_row(report->fields, 0, "exit_signal=9 exit_status=null");
	report_free(report);
}

#define NR_SAMPLES 301
#define STEP_NS	   10000000ULL

/*
 * The core is busy half of the time. The source shows a load that is 10 % too high, and some reads
 * fail.
 */
TEST(errors)
{
	struct load_source source = {.rate = 1.0};
	struct load_sample truth[NR_SAMPLES], shown[NR_SAMPLES];
	struct audit_samples samples = {.set = {.source = {&source, &source}, .nr = 2},
					.kept = {truth, shown},
					.nr = NR_SAMPLES,
					.room = NR_SAMPLES};
	static struct audit_load_run run;
	struct audit_error e;

	for (size_t i = 0; i < NR_SAMPLES; i++) {
		uint64_t at = 1000000000 + i * STEP_NS;

		truth[i] =
			(struct load_sample){.stamp_ns = at, .total = at, .busy = i * STEP_NS / 2};
		shown[i] = (struct load_sample){
			.stamp_ns = at, .total = at, .busy = i * STEP_NS / 10 * 6};
	}
	assert_int_equal(audit_samples_error(&samples, 1, 10, &e), 0);
	assert_int_equal(e.windows, NR_SAMPLES - 10);
	assert_true(fabs(e.true_ratio - 0.5) < 1e-9 && fabs(e.bias - 0.1) < 1e-9);
	assert_true(fabs(e.median - 0.1) < 1e-9 && fabs(e.max - 0.1) < 1e-9);

	/* Samples are 1 ms apart, so errors are computed for windows of 1, 2 and 5 ms. */
	assert_int_equal(audit_load_run_fine(&run, &samples), 0);
	for (size_t i = 0; i < AUDIT_NR_FINE; i++) {
		assert_int_equal(run.fine[1][i].windows,
				 NR_SAMPLES - audit_fine_ns[i] / AUDIT_FINE_STEP_NS);
		assert_true(fabs(run.fine[1][i].bias - 0.1) < 1e-9);
	}

	shown[100].flags = LOAD_READ_FAILED;
	assert_int_equal(audit_samples_error(&samples, 1, 10, &e), 0);
	assert_int_equal(e.voids, 2);
	assert_int_equal(e.windows, NR_SAMPLES - 12);

	/* A single jump of the counter changes the maximum error but not the median. */
	for (size_t i = 200; i < NR_SAMPLES; i++)
		shown[i].busy -= STEP_NS;
	assert_int_equal(audit_samples_error(&samples, 1, 10, &e), 0);
	assert_true(fabs(e.median - 0.1) < 1e-9);
	assert_true(e.max < 0.1 + 1e-9);
	assert_int_equal(audit_samples_error(&samples, 1, 1, &e), 0);
	assert_true(fabs(e.max - 0.5) < 1e-9);

	assert_int_equal(audit_samples_error(&samples, 1, NR_SAMPLES, &e), 0);
	assert_int_equal(e.windows, 0);
	assert_true(isnan(e.median) && isnan(e.max) && isnan(e.true_ratio));
}

TEST_MAIN()
