/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the reports of the overview and of its parts: which findings and notes each contains. */
#include "overview_scene.h"

/* On the live screen the report of `load` contains the findings of all commands. */
TEST(part_of_load)
{
	begin();
	wait_for("/batch", 300, 0);
	task(7, "burner", "/batch", 900);
	assert_int_equal(overview_part_report(&scene.window, OVERVIEW_LOAD, true, &report), 0);
	assert_int_equal(findings_of(report)->nr_rows, 1);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), "neighbour");
	report_free(report);
}

/*
 * The exporter does not measure single tasks, so its findings name cgroups. Waits caused by
 * interrupts are subtracted from the finding neighbour.
 */
TEST(parts_without_tasks)
{
	begin();
	scene.window.suspects = (struct suspects){0};
	wait_for("/batch", 200, 0);
	wait_for("/app", 100, 0);
	scene.sources[0] = (struct noise_source){
		.kind = NOISE_KIND_IRQ, .irq = 5, .name = "eth0", .ns = 200 * MS, .count = 1000};
	scene.noise.nr_sources = 1;
	assert_int_equal(overview_part_report(&scene.window, OVERVIEW_LOAD, false, &report), 0);
	assert_int_equal(findings_of(report)->nr_rows, 0);
	report_free(report);
	assert_int_equal(overview_part_report(&scene.window, OVERVIEW_NOISE, false, &report), 0);
	assert_int_equal(findings_of(report)->nr_rows, 1);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), "hardirq");
	assert_int_equal(table_cell(findings_of(report), 0, 2)->u64, (200 + 60) * MS);
	report_free(report);
	assert_int_equal(overview_part_report(&scene.window, OVERVIEW_RUNQ, false, &report), 0);
	assert_int_equal(findings_of(report)->nr_rows, 2);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), "neighbour");
	assert_string_equal(table_str(findings_of(report), 0, "culprit"), "/batch");
	assert_string_equal(table_str(findings_of(report), 0, "next_command"), "subtick --once");
	assert_int_equal(table_cell(findings_of(report), 0, 2)->u64, 160 * MS);
	assert_string_equal(table_str(findings_of(report), 1, "rule"), "same_group");
	assert_string_equal(table_str(findings_of(report), 1, "next_command"), "subtick --once");
	report_free(report);
	/*
	 * If a cgroup setting would help and its file exists, the finding advises the setting
	 * instead of a command.
	 */
	settings("/app");
	settings("/batch")->levels[0].idle = 0;
	assert_int_equal(overview_part_report(&scene.window, OVERVIEW_RUNQ, false, &report), 0);
	assert_string_equal(table_str(findings_of(report), 0, "next_setting"),
			    "/cg/batch/cpu.idle=1");
	assert_null(table_str(findings_of(report), 0, "next_command"));
	report_free(report);
}

TEST(parts_without_load)
{
	begin();
	wait_for("/batch", 300, 0);
	scene.window.load = NULL;
	assert_int_equal(overview_part_report(&scene.window, OVERVIEW_RUNQ, false, &report), 0);
	assert_int_equal(findings_of(report)->nr_rows, 1);
	assert_string_equal(table_str(findings_of(report), 0, "rule"), "neighbour");
	assert_null(table_str(findings_of(report), 0, "next_command"));
	report_free(report);
}

/* Tasks that never sleep are not delayed, so they have no finding; the note names them. */
TEST(busy_machine_without_finding)
{
	const char *note;

	begin();
	wait_for("/app", 0, 2500);
	task(7, "cc1", "/app", 800)->sleeps = 0;
	task(8, "ld", "/app", 700)->sleeps = 0;
	task(9, "as", "/app", 400)->sleeps = 0;
	assert_int_equal(overview_report(&scene.window, &report), 0);
	note = report->notes[report->nr_notes - 1];
	assert_string_equal(
		note, "no finding: no task that sleeps is delayed by 10 ms per second "
		      "or more; on average 2.5 tasks wait; cc1 uses 0.8 CPUs, ld 0.7, as 0.4");
	report_free(report);
}

/* A note reports the CPU time of tasks without a row, which no finding can name. */
TEST(full_table_of_tasks)
{
	struct load_task lost = {.pid = UINT32_MAX, .ns = 60 * MS};
	bool noted = false;

	begin();
	scene.load.tasks = &lost;
	scene.load.nr_tasks = 1;
	assert_int_equal(overview_report(&scene.window, &report), 0);
	for (size_t i = 0; i < report->nr_notes; i++)
		noted |=
			strstr(report->notes[i], "lack tasks that used 0.06 s of CPU time") != NULL;
	assert_true(noted);
	report_free(report);
}

TEST(unknown_is_explained)
{
	begin();
	scene.groups[0].sum_ns = 100 * MS;
	scene.groups[0].cause_ns[RUNQ_UNKNOWN] = 10 * MS;
	assert_int_equal(end(), 0);
	assert_int_equal(report->nr_notes, 1);
	assert_non_null(strstr(report->notes[0], "10 % of the waiting of /app has no known cause"));
	report_free(report);
	scene.groups[0].cause_ns[RUNQ_UNKNOWN] = 9 * MS;
	assert_int_equal(end(), 0);
	assert_int_equal(report->nr_notes, 0);
	report_free(report);
}

TEST_MAIN()
