/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the library functions of runq with a busy task that shares its core. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <subtick/runq.h>

#include "cgroups.h"
#include "live.h"
#include "runq_window.h"

static void check_refused(void)
{
	const char *none = "/subtick-no-such";
	struct subtick_runq_opts opts = {.size = sizeof(opts), .cgroups = &none, .nr_cgroups = 1};
	struct subtick *ctx;

	live_ok(subtick_runq_open(&ctx, &opts) == -ENOENT && *subtick_error(),
		"a cgroup that does not exist: -ENOENT and a sentence");
}

/*
 * Returns the index of the row of a cgroup in a list, or the number of rows if the cgroup has no
 * row.
 */
static size_t row_of(const struct subtick_window *window, enum subtick_list list, const char *cgroup)
{
	size_t row = 0;

	while (row < subtick_rows(window, list) &&
	       strcmp(subtick_text(window, list, row, SUBTICK_CGROUP), cgroup))
		row++;
	return row;
}

/* Returns a figure of a row, or 0 if the row does not have the figure. */
static double number(const struct subtick_window *window, enum subtick_list list, size_t row,
		     enum subtick_key key)
{
	double value = 0.0;

	subtick_double(window, list, row, key, &value);
	return value;
}

/*
 * Checks invariants in the row of a busy task. The tests in tests/truth check the wait times that
 * runq reports.
 */
static void check_row(struct subtick *ctx, const char *cgroup)
{
	double sum, causes = 0.0, longest = INFINITY;
	const struct subtick_window *window;
	uint64_t le_ns, le[4] = {0};
	size_t row, nr_le = 0, named = 0;

	live_sleep_ms(500);
	if (subtick_read(ctx, &window))
		live_fail_all("%s", subtick_error());
	row = row_of(window, SUBTICK_GROUPS, cgroup);
	for (size_t i = 0; i < subtick_rows(window, SUBTICK_GROUPS); i++)
		named += number(window, SUBTICK_GROUPS, i, SUBTICK_WHO) == SUBTICK_WHO_GROUP;
	while (nr_le < 4 && !subtick_bucket(window, SUBTICK_GROUPS, row, nr_le, &le_ns, &le[nr_le]))
		nr_le++;
	live_ok(named == 1 && nr_le == 3, "the window has the one cgroup and the three boundaries asked for");
	sum = number(window, SUBTICK_GROUPS, row, SUBTICK_SUM_NS);
	for (int key = SUBTICK_IDLE_EXIT_NS; key <= SUBTICK_UNKNOWN_NS; key++)
		causes += number(window, SUBTICK_GROUPS, row, key);
	live_ok(sum > 0.0 && causes == sum, "the causes sum to the wait: %.2f ms", sum / 1e6);
	live_ok(le[0] <= le[1] && le[1] <= le[2] &&
			(double)le[2] == number(window, SUBTICK_GROUPS, row, SUBTICK_COUNT),
		"the counts at the boundaries ascend to the count of all");
	subtick_percentile(window, SUBTICK_GROUPS, row, 100, &longest);
	live_ok(longest <= number(window, SUBTICK_GROUPS, row, SUBTICK_MAX_NS),
		"no percentile exceeds the longest wait");
}

/*
 * Two busy tasks of different cgroups share one core, so each cgroup is stalled half of the time.
 * The stream of long waits must contain waits above the threshold, with victim and culprit.
 */
static void check_options(const char *cgroup)
{
	struct subtick_runq_opts opts = {.size = sizeof(opts), .flags = SUBTICK_RUNQ_PRESSURE,
					 .blame = 4, .threshold_ns = 100000};
	const struct subtick_window *window = NULL;
	double waiting, stalled, parts = 0.0, window_ns, blamed = 0.0, sum;
	size_t row, long_waits;
	struct subtick *ctx;
	int rc;

	opts.hierarchy = cgroups_v2() ? 2 : 1;
	rc = subtick_runq_open(&ctx, &opts);
	if (rc == -EOPNOTSUPP) {
		live_skip("pressure", "%s", subtick_error());
		return;
	}
	if (rc)
		live_fail_all("%s", subtick_error());
	live_sleep_ms(1000);
	if (subtick_service(ctx, &window))
		live_fail_all("%s", subtick_error());
	long_waits = subtick_rows(window, SUBTICK_LONG_WAITS);
	row = row_of(window, SUBTICK_LONG_WAITS, cgroup);
	live_ok(row < long_waits && number(window, SUBTICK_LONG_WAITS, row, SUBTICK_WAIT_NS) >= 1e5 &&
			subtick_text(window, SUBTICK_LONG_WAITS_BY, row, SUBTICK_CGROUP),
		"%zu waits reached the threshold, among them one of the burner, and its culprit",
		long_waits);
	if (subtick_read(ctx, &window))
		live_fail_all("%s", subtick_error());
	window_ns = number(window, SUBTICK_WINDOW, 0, SUBTICK_WINDOW_NS);
	row = row_of(window, SUBTICK_PRESSURE, cgroup);
	waiting = number(window, SUBTICK_PRESSURE, row, SUBTICK_WAITING_NS);
	stalled = number(window, SUBTICK_PRESSURE, row, SUBTICK_STALLED_NS);
	/*
	 * A cgroup with a single busy task is stalled whenever the task waits. subtick reads
	 * pressure just after the wait times, at both ends of the window.
	 */
	live_ok(waiting > 0.0 && waiting <= window_ns * 1.05 && stalled == waiting,
		"pressure: waits %.1f of %.1f ms, and stands still for %.1f", waiting / 1e6,
		window_ns / 1e6, stalled / 1e6);
	for (int key = SUBTICK_WAITING_NS + 1; key < SUBTICK_STALLED_NS; key++)
		parts += number(window, SUBTICK_PRESSURE, row, key);
	live_ok(parts == waiting, "pressure: its parts sum to it");
	live_ok(row_of(window, SUBTICK_PRESSURE, "/") < subtick_rows(window, SUBTICK_PRESSURE),
		"pressure: the machine has a row");
	for (size_t i = 0; i < subtick_rows(window, SUBTICK_BLAME); i++)
		if (!strcmp(subtick_text(window, SUBTICK_BLAME, i, SUBTICK_CGROUP), cgroup))
			blamed += number(window, SUBTICK_BLAME, i, SUBTICK_WAIT_NS);
	sum = number(window, SUBTICK_GROUPS, row_of(window, SUBTICK_GROUPS, cgroup), SUBTICK_SUM_NS);
	live_ok(blamed == sum && sum > 0.0, "blame: %.2f ms of %.2f ms waited", blamed / 1e6, sum / 1e6);
	subtick_close(ctx);
}

int main(void)
{
	const uint64_t le_ns[] = {1000, 1000000, 60000000000};
	struct subtick_runq_opts opts = {.size = sizeof(opts), .le_ns = le_ns, .nr_le = 3};
	const char *one, *two;
	struct subtick *ctx;
	pid_t pids[2];
	int cpu, other;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	live_needs((const char *const[]){"runq", "0.01", "1", NULL});
	check_refused();
	one = cgroups_make("api-one");
	two = cgroups_make("api-two");
	opts.cgroups = &one;
	opts.nr_cgroups = 1;
	opts.flags = SUBTICK_RUNQ_CAUSES;
	opts.hierarchy = cgroups_v2() ? 2 : 1;
	if (subtick_runq_open(&ctx, &opts))
		live_fail_all("%s", subtick_error());
	live_pin(other);
	live_first();
	pids[0] = load_burner(one, cpu);
	pids[1] = load_burner(two, cpu);
	check_row(ctx, one);
	live_ok(subtick_fd(ctx) >= 0 && !subtick_service(ctx, NULL),
		"chores are done on request");
	subtick_close(ctx);
	check_options(one);
	load_kill(pids[0]);
	load_kill(pids[1]);
	return live_done();
}
