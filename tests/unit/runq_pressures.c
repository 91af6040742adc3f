/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests rows of pressure: names up to the root, selected rows, and the kernel's PSI. */
#include "test.h"

#include "measure/runq/pressure.h"
#include "present/runq.h"
#include "host/cgroup.h"

#define POD  "/kubepods/pod11111111-2222-3333-4444-555555555555"
#define LEAF POD "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Rows by group number: root, slice, pod in the slice, container of the pod, service. */
static struct runq_pressure_row rows[] = {{0},
					  {.key = 1},
					  {.key = 20, .up = 1},
					  {.key = 30, .up = 2},
					  {.key = 40, .up = 3},
					  {.key = 50, .up = 1}};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static struct runq_group *leaf, *service;
static bool leaf_known;
static uint64_t psi_us;
static int psi_code;

int __wrap_runq_pressure_open(const struct runq_opts *opts, struct runq_pressure **ret_pressure,
			      struct err *err)
{
	return 0;
}

int __wrap_runq_pressure_window(struct runq_pressure *pressure,
				const struct runq_pressure_row **ret_rows, size_t *ret_nr,
				struct err *err)
{
	*ret_rows = rows;
	*ret_nr = NR_ROWS;
	return 0;
}

void __wrap_runq_pressure_losses(const struct runq_pressure *pressure,
				 struct runq_pressure_losses *ret_losses)
{
	ret_losses->full = 1;
	ret_losses->shared = 2;
	ret_losses->crowded = 3;
}

void __wrap_runq_pressure_close(struct runq_pressure *pressure)
{
}

struct runq_party __wrap_runq_kernel_party(const struct runq_kernel *kernel, uint64_t key)
{
	if (key == 40 && leaf_known)
		return (struct runq_party){.kind = RUNQ_PARTY_GROUP, .group = leaf};
	if (key == 50)
		return (struct runq_party){.kind = RUNQ_PARTY_GROUP, .group = service};
	return (struct runq_party){.kind = RUNQ_PARTY_GONE};
}

int __wrap_psi_read(const char *root, const char *path, struct psi *ret_psi)
{
	if (psi_code)
		return psi_code;
	if (strcmp(path, PSI_CPU_NODE) && strcmp(path, "/mnt" POD "/cpu.pressure"))
		return -ENOENT;
	*ret_psi = (struct psi){psi_us * 1000, strcmp(path, PSI_CPU_NODE) ? 500 : UINT64_MAX};
	return 0;
}

static int reset(void **state)
{
	leaf = runq_group_new(&(struct runq_group){.key = 40}, LEAF);
	service = runq_group_new(&(struct runq_group){.key = 50}, "/ssh");
	leaf_known = true;
	psi_us = 1000;
	psi_code = 0;
	for (uint32_t i = 1; i < NR_ROWS; i++)
		for (int cause = 0; cause < RUNQ_PRESSURE_NR_CAUSES; cause++) {
			rows[i].times.waiting_ns[cause] = 1000 * (NR_ROWS - i) + cause;
			rows[i].times.stalled_ns[cause] = 10 * i + cause;
		}
	return 0;
}

static int done(void **state)
{
	runq_group_put(leaf);
	runq_group_put(service);
	return 0;
}

static struct runq_pressures *open_for(enum runq_rollup_by sum, unsigned int depth, const char *mount)
{
	struct runq_opts opts = {.sum = sum, .depth = depth};
	struct runq_pressures *p = NULL;
	struct err err = {0};

	assert_int_equal(runq_pressures_open(&opts, mount, &p, &err), 0);
	return p;
}

static void end_window(struct runq_pressures *p, const struct runq_filter *filter,
		       struct runq_window *w)
{
	struct err err = {0};

	runq_window_clear(w);
	assert_int_equal(runq_window_pressure(w, p, NULL, filter, NULL, &err), 0);
}

/* Only the container and the service have tasks. Names of parents are derived from the paths. */
TEST_WITH(test_names, reset, done)
{
	static const char *const paths[] = {"/", "/kubepods", POD, LEAF, "/ssh"};
	struct runq_pressures *p = open_for(ROLLUP_NONE, 0, NULL);
	struct runq_filter all = {0};
	struct runq_window w = {0};

	end_window(p, &all, &w);
	assert_int_equal(w.nr_pressed, 5);
	for (int i = 0; i < 5; i++) {
		assert_string_equal(w.pressed[i].group->path, paths[i]);
		assert_int_equal(w.pressed[i].times.waiting_ns[2], 1000 * (5 - i) + 2);
		assert_int_equal(w.pressed[i].times.stalled_ns[3], 10 * (i + 1) + 3);
	}
	assert_int_equal(w.pressure_losses.shared, 2);
	for (int i = 0; i < 3; i++)
		assert_int_equal(w.pressed[i].below_ns,
				 runq_pressure_sum(w.pressed[i + 1].times.waiting_ns));
	assert_int_equal(w.pressed[3].below_ns, 0);
	assert_int_equal(w.pressed[4].below_ns, 0);
	/* The group number of a removed cgroup was reused for another cgroup. */
	rows[5].key = 40;
	rows[4].key = 0;
	end_window(p, &all, &w);
	assert_int_equal(w.nr_pressed, 4);
	assert_string_equal(w.pressed[3].group->path, LEAF);
	rows[5].key = 50;
	rows[4].key = 40;
	runq_window_clear(&w);
	runq_pressures_close(p);
}

/* Waits before the cgroup's name is known count in the first window with the name. */
TEST_WITH(test_late_name, reset, done)
{
	struct runq_pressures *p = open_for(ROLLUP_NONE, 0, NULL);
	struct runq_filter all = {0};
	struct runq_window w = {0};

	leaf_known = false;
	end_window(p, &all, &w);
	assert_int_equal(w.nr_pressed, 2);
	runq_pressures_drop(p);
	end_window(p, &all, &w);
	leaf_known = true;
	end_window(p, &all, &w);
	assert_int_equal(w.nr_pressed, 5);
	assert_string_equal(w.pressed[0].group->path, "/kubepods");
	assert_int_equal(w.pressed[0].times.waiting_ns[0], 2 * 4000);
	runq_window_clear(&w);
	runq_pressures_close(p);
}

TEST_WITH(test_rows_shown, reset, done)
{
	struct runq_filter all = {0}, pod = {.requested = (struct runq_group *[]){leaf}, .nr = 1};
	struct runq_pressures *p = open_for(ROLLUP_POD, 0, NULL);
	struct runq_window w = {0};

	end_window(p, &all, &w);
	assert_int_equal(w.nr_pressed, 2);
	assert_string_equal(w.pressed[0].group->path, "/");
	assert_string_equal(w.pressed[1].group->path, POD);
	/* The highest pressure of a descendant ignores cgroups without a row. */
	assert_int_equal(w.pressed[0].below_ns, runq_pressure_sum(w.pressed[1].times.waiting_ns));
	assert_int_equal(w.pressed[1].below_ns, 0);
	runq_pressures_close(p);
	p = open_for(ROLLUP_DEPTH, 1, NULL);
	end_window(p, &all, &w);
	assert_int_equal(w.nr_pressed, 3);
	assert_string_equal(w.pressed[1].group->path, "/kubepods");
	assert_string_equal(w.pressed[2].group->path, "/ssh");
	runq_pressures_close(p);
	p = open_for(ROLLUP_REQUESTED, 0, NULL);
	end_window(p, &pod, &w);
	assert_int_equal(w.nr_pressed, 1);
	assert_string_equal(w.pressed[0].group->path, LEAF);
	memset(&rows[4].times, 0, sizeof(rows[4].times));
	end_window(p, &pod, &w);
	assert_int_equal(w.nr_pressed, 0);
	runq_window_clear(&w);
	runq_pressures_close(p);
}

/*
 * PSI is null in the first window of a cgroup, and a note states the reason. PSI is known from the
 * second window on.
 */
TEST_WITH(test_psi, reset, done)
{
	struct runq_pressures *p = open_for(ROLLUP_NONE, 0, "/mnt");
	struct runq_filter all = {0};
	struct runq_window w = {.has_pressure = true};
	struct report *report;
	const struct table *t;

	end_window(p, &all, &w);
	assert_true(w.pressed[0].psi_waiting_ns == UINT64_MAX);
	psi_us = 1700;
	end_window(p, &all, &w);
	report = report_new("runq");
	runq_report_pressure(&w, report);
	runq_report_pressure_notes(&w, report);
	assert_int_equal(report->nr_notes, 0);
	t = report_find(report, "pressure");
	assert_int_equal(t->nr_rows, 5);
	assert_string_equal(table_str(t, 2, "cgroup"), POD);
	assert_int_equal(table_number(t, 2, "waiting_ns"), 4 * 3000 + 6);
	assert_int_equal(table_number(t, 2, "waiting_quota_ns"), 3003);
	assert_int_equal(table_number(t, 2, "waiting_idle_exit_ns"), 3002);
	assert_int_equal(table_number(t, 2, "stalled_ns"), 4 * 30 + 6);
	assert_int_equal(table_number(t, 2, "stalled_contention_ns"), 30);
	assert_int_equal(table_number(t, 2, "psi_waiting_ns"), 700000);
	assert_int_equal(table_number(t, 2, "psi_stalled_ns"), 0);
	assert_int_equal(table_number(t, 0, "psi_waiting_ns"), 700000);
	assert_true(w.pressed[0].psi_stalled_ns == UINT64_MAX);
	assert_true(w.pressed[1].psi_waiting_ns == UINT64_MAX);
	report_free(report);
	psi_code = -EOPNOTSUPP;
	end_window(p, &all, &w);
	assert_true(w.pressed[0].psi_waiting_ns == UINT64_MAX);
	report = report_new("runq");
	runq_report_pressure_notes(&w, report);
	assert_int_equal(report->nr_notes, 1);
	assert_non_null(strstr(report->notes[0], "psi=1"));
	report_free(report);
	runq_window_clear(&w);
	runq_pressures_close(p);
}

TEST_MAIN()
