/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests long waits, new groups, and values of several windows, with fake BPF programs. */
#include "measure/runq/runq.h"
#include "present/runq.h"

#include <math.h>

#include "measure/runq/kernel.h"
#include "host/cgroup.h"
#include "host/kbtf.h"
#include "test.h"

/* Groups in the simulated kernel. User space has already found the first @nr_known groups. */
static struct runq_group groups[] = {{.key = 7, .path = "/old"}, {.key = 8, .path = "/new"}};
static size_t nr_known;
static unsigned int nr_scans;
static struct runq_event event;
static struct runq_losses losses;
static struct runq_waits_list no_waits;
static enum runq_rollup_by sum;

/* The linker replaces the functions that load BPF programs; see meson.build. */
int __wrap_kbtf_open(const char *root, struct btf **ret_btf, struct err *err)
{
	*ret_btf = NULL;
	return 0;
}

int __wrap_cgroup_layout(const char *root, struct cgroup_layout *ret_layout)
{
	*ret_layout = (struct cgroup_layout){.mode = CGROUP_V2, .v2 = "/no/such/directory"};
	return 0;
}

bool __wrap_kbtf_has_member(const struct btf *btf, const char *type, const char *member)
{
	return false;
}

int __wrap_runq_kernel_open(const struct runq_opts *opts, const struct runq_filter *filter,
			    size_t nr_groups, struct runq_kernel **ret_kernel, struct err *err)
{
	*ret_kernel = NULL;
	return 0;
}

int __wrap_runq_kernel_events(struct runq_kernel *kernel, const struct runq_event **ret_waits,
			      size_t *ret_nr, struct err *err)
{
	*ret_waits = &event;
	*ret_nr = 1;
	return 0;
}

int __wrap_runq_kernel_find_groups(struct runq_kernel *kernel, struct err *err)
{
	nr_known = 2;
	nr_scans++;
	return 0;
}

int __wrap_runq_kernel_window(struct runq_kernel *kernel, struct runq_waits_list **ret_list,
			      struct err *err)
{
	*ret_list = &no_waits;
	return 0;
}

void __wrap_runq_kernel_losses(struct runq_kernel *kernel, struct runq_losses *ret_losses)
{
	*ret_losses = losses;
}

const struct err *__wrap_runq_kernel_separate(const struct runq_kernel *kernel)
{
	return NULL;
}

uint64_t __wrap_runq_kernel_memory(const struct runq_kernel *kernel)
{
	return 0;
}

static double kernel_ratio;

void __wrap_runq_kernel_sample(struct runq_kernel *kernel, double ratio)
{
	kernel_ratio = ratio;
}

struct runq_party __wrap_runq_kernel_party(const struct runq_kernel *kernel, uint64_t key)
{
	for (size_t i = 0; i < nr_known; i++)
		if (groups[i].key == key)
			return runq_party_of(key, &groups[i]);
	return runq_party_of(key, NULL);
}

static void check(uint64_t victim, uint64_t culprit, const char *victim_name,
		  const char *culprit_name)
{
	struct runq_opts opts = {.source = RUNQ_SOURCE_WAKEUP,
				 .hierarchy = RUNQ_HIERARCHY_V2,
				 .sum = sum,
				 .threshold_ns = 1000};
	struct report *report = NULL;
	const struct table *waits;
	struct meter *meter;
	struct err err = {0};

	assert_int_equal(runq_open(&opts, &meter, &err), 0);
	event = (struct runq_event){.key = victim,
				    .culprit = culprit,
				    .culprit_ns = culprit ? 5000 : 0,
				    .wait_ns = 6000};
	assert_int_equal(meter->ops->event(meter, &err), 0);
	assert_int_equal(runq_report_waits(runq_window(meter), &report), 0);
	waits = report_find(report, "waits");
	assert_non_null(waits);
	assert_int_equal(waits->nr_rows, 1);
	assert_string_equal(table_str(waits, 0, "victim"), victim_name);
	if (culprit_name)
		assert_string_equal(table_str(waits, 0, "culprit"), culprit_name);
	else
		assert_null(table_str(waits, 0, "culprit"));
	report_free(report);
	meter->ops->close(meter);
}

static int one_known(void **state)
{
	nr_known = 1;
	nr_scans = 0;
	sum = ROLLUP_NONE;
	return 0;
}

TEST_WITH(known, one_known, NULL)
{
	check(7, 0, "/old", NULL);
	check(7, RUNQ_KEY_OTHER, "/old", "(other)");
	assert_int_equal(nr_scans, 0);
}

TEST_WITH(new_victim, one_known, NULL)
{
	check(8, 7, "/new", "/old");
	assert_int_equal(nr_scans, 1);
}

TEST_WITH(new_culprit, one_known, NULL)
{
	check(7, 8, "/old", "/new");
	assert_int_equal(nr_scans, 1);
}

TEST_WITH(gone, one_known, NULL)
{
	check(9, 8, "(gone)", "/new");
}

/* A wait that began before the first context switch of its core has no culprit (key 0). */
TEST_WITH(summed, one_known, NULL)
{
	sum = ROLLUP_POD;
	check(7, 8, "/old", "/new");
	check(7, 0, "/old", NULL);
}

/*
 * Reads a window. The result of a comparison with run_delay is shown in each window until the next
 * comparison.
 */
static const struct runq_window *next_window(struct meter *meter)
{
	struct err err = {0};

	assert_int_equal(meter->ops->read(meter, &err), 0);
	return runq_window(meter);
}

/* The reported sample ratio of a window is the ratio that was used in this window. */
TEST(sample_changes)
{
	struct runq_opts opts = {.source = RUNQ_SOURCE_WAKEUP, .hierarchy = RUNQ_HIERARCHY_V2,
				 .sample_ratio = 0.5};
	struct err err = {0};
	struct meter *meter;

	assert_int_equal(runq_open(&opts, &meter, &err), 0);
	assert_int_equal(meter->ops->start(meter, &err), 0);
	assert_true(kernel_ratio == 0.5);
	runq_set_sample(meter, 0.25);
	assert_true(kernel_ratio == 0.5);
	assert_true(next_window(meter)->sample_ratio == 0.5 && kernel_ratio == 0.25);
	assert_true(next_window(meter)->sample_ratio == 0.25);
	meter->ops->close(meter);
}

TEST(comparison_holds)
{
	struct runq_opts opts = {.source = RUNQ_SOURCE_WAKEUP, .hierarchy = RUNQ_HIERARCHY_V2};
	const struct runq_window *w;
	struct meter *meter;
	struct err err = {0};

	losses = (struct runq_losses){.compared_ns = 1, .wait_ns = 100, .delay_ns = 100};
	assert_int_equal(runq_open(&opts, &meter, &err), 0);
	assert_int_equal(meter->ops->start(meter, &err), 0);
	w = next_window(meter);
	assert_true(isnan(w->schedstat_ratio) && isnan(w->missing_from_run_delay_ratio));
	/*
	 * Since the previous comparison, waits grew by 400 ns and run_delay by 200 ns. run_delay
	 * omits 100 ns of the waits by design.
	 */
	losses = (struct runq_losses){
		.compared_ns = 2, .wait_ns = 500, .missing_ns = 100, .delay_ns = 300};
	for (int i = 0; i < 3; i++) {
		w = next_window(meter);
		assert_true(w->schedstat_ratio == 1.5 && w->missing_from_run_delay_ratio == 0.25);
	}
	/* A comparison with run_delay covers all windows since the previous comparison. */
	losses = (struct runq_losses){
		.compared_ns = 3, .wait_ns = 600, .missing_ns = 100, .delay_ns = 400};
	w = next_window(meter);
	assert_true(w->schedstat_ratio == 1.0 && w->missing_from_run_delay_ratio == 0.0);
	meter->ops->close(meter);
}

TEST_MAIN()
