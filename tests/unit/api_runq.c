/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the public functions of run-queue measurement: their values and refused options. */
#include "subtick/runq.h"

#include <math.h>

#include "measure/runq/runq.h"
#include "test.h"

static struct runq_opts asked;
static int open_rc;
static struct runq_window window;

static int fake_fd(const struct meter *meter)
{
	return 5;
}

static int fake_start(struct meter *meter, struct err *err)
{
	return 0;
}

static int fake_read(struct meter *meter, struct err *err)
{
	return 0;
}

static void fake_close(struct meter *meter)
{
}

static const struct meter_ops fake_ops = {.start = fake_start, .read = fake_read,
					 .event_fd = fake_fd, .event = fake_read,
					 .close = fake_close};
static struct meter fake = {.ops = &fake_ops};

/* Test double that measures nothing; see meson.build. */
int __wrap_runq_open(const struct runq_opts *opts, struct meter **ret_meter, struct err *err)
{
	asked = *opts;
	if (open_rc)
		return err_set(err, open_rc, "refused by the fake");
	window.has_pressure = opts->pressure;
	window.has_idle_states = opts->idle_states;
	window.causes_known = opts->causes ? ~(1u << RUNQ_THROTTLED) : 0;
	window.has_blame = opts->blame;
	window.has_causes = opts->causes;
	*ret_meter = &fake;
	return 0;
}

const struct runq_window *__wrap_runq_window(const struct meter *meter)
{
	return &window;
}

static struct runq_group_names names = {
	.namespace = "shop", .pod = "web-1", .container = "app", .image = "web:1"};
static const struct runq_group pod = {
	.path = "/kubepods/pod7",
	.cgroup_id = 7,
	.pod_uid = "7",
	.container_id = "c7",
	.qos = "burstable",
	.names = &names,
};

static uint64_t number(const struct subtick_window *w, enum subtick_list list, size_t row,
		       enum subtick_key key)
{
	uint64_t value;

	assert_int_equal(subtick_u64(w, list, row, key, &value), 0);
	return value;
}

static void check_missing(const struct subtick_window *w, enum subtick_list list, size_t row,
			  enum subtick_key key)
{
	uint64_t value;
	double real;

	assert_int_equal(subtick_u64(w, list, row, key, &value), -ENODATA);
	assert_int_equal(subtick_double(w, list, row, key, &real), -ENODATA);
}

static void check_pod(const struct subtick_window *w, enum subtick_list list, size_t row)
{
	assert_int_equal(number(w, list, row, SUBTICK_WHO), SUBTICK_WHO_GROUP);
	assert_int_equal(number(w, list, row, SUBTICK_CGROUP_ID), 7);
	assert_string_equal(subtick_text(w, list, row, SUBTICK_CGROUP), "/kubepods/pod7");
	assert_string_equal(subtick_text(w, list, row, SUBTICK_POD_UID), "7");
	assert_string_equal(subtick_text(w, list, row, SUBTICK_CONTAINER_ID), "c7");
	assert_string_equal(subtick_text(w, list, row, SUBTICK_QOS), "burstable");
	assert_string_equal(subtick_text(w, list, row, SUBTICK_NAMESPACE), "shop");
	assert_string_equal(subtick_text(w, list, row, SUBTICK_POD), "web-1");
	assert_string_equal(subtick_text(w, list, row, SUBTICK_CONTAINER), "app");
	assert_string_equal(subtick_text(w, list, row, SUBTICK_IMAGE), "web:1");
	check_missing(w, list, row, SUBTICK_PID);
}

static struct subtick *open_read(const struct subtick_runq_opts *opts,
				 const struct subtick_window **ret_window)
{
	struct subtick *ctx;

	assert_int_equal(subtick_runq_open(&ctx, opts), 0);
	assert_int_equal(subtick_read(ctx, ret_window), 0);
	return ctx;
}

/* All expected values differ, so the test fails if the library swaps two values. */
TEST(test_pressure)
{
	const struct runq_group machine = {.path = "/", .cgroup_id = 1};
	struct runq_pressed pressed[] = {
		{.group = &machine,
		 .times = {.waiting_ns = {[RUNQ_PRESSURE_CONTENTION] = 100,
					  [RUNQ_PRESSURE_KTHREAD] = 20,
					  [RUNQ_PRESSURE_IDLE] = 3,
					  [RUNQ_PRESSURE_QUOTA] = 4000},
			   .stalled_ns = {[RUNQ_PRESSURE_CONTENTION] = 50,
					  [RUNQ_PRESSURE_KTHREAD] = 6,
					  [RUNQ_PRESSURE_IDLE] = 1,
					  [RUNQ_PRESSURE_QUOTA] = 700}},
		 .psi_waiting_ns = 4100,
		 .psi_stalled_ns = 710},
		{.group = &pod, .psi_waiting_ns = UINT64_MAX, .psi_stalled_ns = UINT64_MAX},
	};
	static const uint64_t want[] = {4123, 100, 20, 3, 4000, 757, 50, 6, 1, 700, 4100, 710};
	const struct subtick_runq_opts opts = {
		.size = sizeof(opts), .per = SUBTICK_PER_POD, .flags = SUBTICK_RUNQ_PRESSURE};
	const struct subtick_window *w;
	struct subtick *ctx;
	size_t last;

	window = (struct runq_window){
		.pressed = pressed, .nr_pressed = 2, .pressure_losses = {.unstable = 14}};
	ctx = open_read(&opts, &w);
	assert_true(asked.pressure && asked.sum == ROLLUP_POD && !asked.causes && !asked.blame);
	assert_int_equal(subtick_rows(w, SUBTICK_PRESSURE), 2);
	assert_string_equal(subtick_text(w, SUBTICK_PRESSURE, 0, SUBTICK_CGROUP), "/");
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(number(w, SUBTICK_PRESSURE, 0, SUBTICK_WAITING_NS + i), want[i]);
	assert_null(subtick_text(w, SUBTICK_PRESSURE, 0, SUBTICK_POD));
	check_pod(w, SUBTICK_PRESSURE, 1);
	check_missing(w, SUBTICK_PRESSURE, 1, SUBTICK_PSI_WAITING_NS);
	check_missing(w, SUBTICK_PRESSURE, 1, SUBTICK_PSI_STALLED_NS);
	last = subtick_rows(w, SUBTICK_LOSSES) - 1;
	assert_string_equal(subtick_text(w, SUBTICK_LOSSES, last, SUBTICK_NAME),
			    "pressure_unstable_total");
	assert_int_equal(number(w, SUBTICK_LOSSES, last, SUBTICK_COUNT), 14);
	subtick_close(ctx);
}

TEST(test_groups)
{
	static const uint64_t le_ns[] = {10, 100}, le_count[] = {1, 2};
	struct runq_group_window group[] = {
		{.party = {RUNQ_PARTY_GROUP, &pod}, .count = 2, .sum_ns = 70, .max_ns = 60,
		 .avg_ns = 35, .le_count = le_count, .ended = true, .count_stderr_ratio = NAN,
		 .sum_stderr_ratio = NAN},
		{.party = {RUNQ_PARTY_OTHER, NULL}, .avg_ns = NAN, .le_count = le_count},
	};
	const struct subtick_window *w;
	struct subtick *ctx;
	uint64_t le, count;
	double real;

	for (int causes = 0; causes < 2; causes++) {
		const struct subtick_runq_opts opts = {
			.size = sizeof(opts), .flags = causes ? SUBTICK_RUNQ_CAUSES : 0};

		for (int i = 0; i < RUNQ_NR_CAUSES; i++)
			group[0].cause_ns[i] = 10 + i;
		window = (struct runq_window){.groups = group, .nr_groups = 2, .le_ns = le_ns,
					      .nr_le = 2, .source = RUNQ_SOURCE_WAKEUP,
					      .hierarchy = RUNQ_HIERARCHY_V2, .sample_ratio = 1,
					      .schedstat_ratio = NAN, .window_ns = 9};
		ctx = open_read(&opts, &w);
		assert_int_equal(asked.causes, causes);
		for (int i = 0; i < RUNQ_NR_CAUSES; i++)
			if (causes && i != RUNQ_THROTTLED)
				assert_int_equal(number(w, SUBTICK_GROUPS, 0, SUBTICK_IDLE_EXIT_NS + i),
						 10 + i);
			else
				check_missing(w, SUBTICK_GROUPS, 0, SUBTICK_IDLE_EXIT_NS + i);
		subtick_close(ctx);
	}
	ctx = open_read(NULL, &w);
	assert_int_equal(subtick_rows(w, SUBTICK_GROUPS), 2);
	check_pod(w, SUBTICK_GROUPS, 0);
	assert_int_equal(number(w, SUBTICK_GROUPS, 0, SUBTICK_COUNT), 2);
	assert_int_equal(number(w, SUBTICK_GROUPS, 0, SUBTICK_SUM_NS), 70);
	assert_int_equal(number(w, SUBTICK_GROUPS, 0, SUBTICK_MAX_NS), 60);
	assert_int_equal(number(w, SUBTICK_GROUPS, 0, SUBTICK_ENDED), 1);
	assert_int_equal(subtick_double(w, SUBTICK_GROUPS, 0, SUBTICK_AVG_NS, &real), 0);
	assert_true(real == 35.0);
	assert_int_equal(subtick_bucket(w, SUBTICK_GROUPS, 0, 1, &le, &count), 0);
	assert_true(le == 100 && count == 2);
	assert_int_equal(subtick_bucket(w, SUBTICK_GROUPS, 0, 2, &le, &count), -ERANGE);
	assert_int_equal(subtick_percentile(w, SUBTICK_GROUPS, 0, 101, &real), -EINVAL);
	assert_int_equal(subtick_percentile(w, SUBTICK_GROUPS, 1, 50, &real), -ENODATA);
	assert_int_equal(number(w, SUBTICK_GROUPS, 1, SUBTICK_WHO), SUBTICK_WHO_OTHER);
	assert_string_equal(subtick_text(w, SUBTICK_GROUPS, 1, SUBTICK_CGROUP), "(other)");
	check_missing(w, SUBTICK_GROUPS, 1, SUBTICK_MAX_NS);
	check_missing(w, SUBTICK_GROUPS, 1, SUBTICK_CGROUP_ID);
	assert_int_equal(subtick_double(w, SUBTICK_GROUPS, 1, SUBTICK_AVG_NS, &real), -ENODATA);
	assert_int_equal(subtick_double(w, SUBTICK_WINDOW, 0, SUBTICK_SCHEDSTAT_RATIO, &real),
			 -ENODATA);
	assert_string_equal(subtick_text(w, SUBTICK_WINDOW, 0, SUBTICK_SOURCE), "wakeup");
	assert_int_equal(number(w, SUBTICK_WINDOW, 0, SUBTICK_HIERARCHY), 2);
	assert_int_equal(subtick_fd(ctx), 5);
	subtick_close(ctx);
}

TEST(test_blame)
{
	const struct runq_group other = {.path = "/batch", .cgroup_id = 8};
	struct runq_blame blame[] = {
		{{RUNQ_PARTY_GROUP, &pod}, {RUNQ_PARTY_GROUP, &other}, 1000, 3},
		{{RUNQ_PARTY_GROUP, &pod}, {RUNQ_PARTY_IDLE, NULL}, 20, 1},
	};
	struct subtick_runq_opts opts = {.size = sizeof(opts), .blame = 5};
	const struct subtick_window *w;
	struct subtick *ctx;

	window = (struct runq_window){.blame = blame, .nr_blame = 2};
	ctx = open_read(&opts, &w);
	assert_true(asked.blame && asked.causes && asked.blame_rows == 5);
	assert_int_equal(subtick_rows(w, SUBTICK_BLAME), 2);
	assert_int_equal(subtick_rows(w, SUBTICK_BLAME_BY), 2);
	check_pod(w, SUBTICK_BLAME, 1);
	assert_string_equal(subtick_text(w, SUBTICK_BLAME_BY, 0, SUBTICK_CGROUP), "/batch");
	assert_int_equal(number(w, SUBTICK_BLAME_BY, 0, SUBTICK_CGROUP_ID), 8);
	assert_int_equal(number(w, SUBTICK_BLAME, 0, SUBTICK_WAIT_NS), 1000);
	assert_int_equal(number(w, SUBTICK_BLAME, 0, SUBTICK_COUNT), 3);
	assert_string_equal(subtick_text(w, SUBTICK_BLAME_BY, 1, SUBTICK_CGROUP), "(idle)");
	assert_int_equal(number(w, SUBTICK_BLAME_BY, 1, SUBTICK_WHO), SUBTICK_WHO_IDLE);
	subtick_close(ctx);
	opts.blame = RUNQ_NR_BLAME + 1;
	assert_int_equal(subtick_runq_open(&ctx, &opts), -EINVAL);
}

TEST(test_idle_states)
{
	struct runq_idle_state idle = {.party = {RUNQ_PARTY_GROUP, &pod}, .index = 2, .name = "C6",
					.claimed_ns = UINT64_MAX, .count = 4, .wait_ns = 80};
	const struct subtick_runq_opts opts = {.size = sizeof(opts),
					       .flags = SUBTICK_RUNQ_IDLE_STATES};
	const struct subtick_window *w;
	struct subtick *ctx;

	window = (struct runq_window){.idle_states = &idle, .nr_idle_states = 1};
	ctx = open_read(&opts, &w);
	assert_true(asked.idle_states && !asked.pressure);
	check_pod(w, SUBTICK_IDLE_STATES, 0);
	assert_string_equal(subtick_text(w, SUBTICK_IDLE_STATES, 0, SUBTICK_STATE), "C6");
	assert_int_equal(number(w, SUBTICK_IDLE_STATES, 0, SUBTICK_STATE), 2);
	assert_int_equal(number(w, SUBTICK_IDLE_STATES, 0, SUBTICK_COUNT), 4);
	assert_int_equal(number(w, SUBTICK_IDLE_STATES, 0, SUBTICK_WAIT_NS), 80);
	check_missing(w, SUBTICK_IDLE_STATES, 0, SUBTICK_CLAIMED_NS);
	subtick_close(ctx);
}

/* The library returns single long waits even before the first window ends. */
TEST(test_long_waits)
{
	struct runq_long_wait wait = {.cpu = 3, .pid = 10, .tgid = 11, .prev_pid = 12,
				      .comm = "web", .prev_comm = "batch",
				      .victim = {RUNQ_PARTY_GROUP, &pod},
				      .culprit = {RUNQ_PARTY_KTHREADS, NULL}, .culprit_ns = 0,
				      .wait_ns = 500, .end_ns = 600};
	const struct subtick_runq_opts opts = {.size = sizeof(opts), .threshold_ns = 400};
	const struct subtick_window *w = NULL;
	struct subtick *ctx;

	window = (struct runq_window){.long_waits = &wait, .nr_long_waits = 1};
	assert_int_equal(subtick_runq_open(&ctx, &opts), 0);
	assert_int_equal(asked.threshold_ns, 400);
	assert_int_equal(subtick_service(ctx, NULL), 0);
	assert_int_equal(subtick_service(ctx, &w), 0);
	assert_int_equal(subtick_rows(w, SUBTICK_WINDOW), 0);
	assert_int_equal(subtick_rows(w, SUBTICK_LONG_WAITS), 1);
	assert_int_equal(number(w, SUBTICK_LONG_WAITS, 0, SUBTICK_CPU), 3);
	assert_int_equal(number(w, SUBTICK_LONG_WAITS, 0, SUBTICK_PID), 10);
	assert_int_equal(number(w, SUBTICK_LONG_WAITS, 0, SUBTICK_TGID), 11);
	assert_int_equal(number(w, SUBTICK_LONG_WAITS, 0, SUBTICK_WAIT_NS), 500);
	assert_int_equal(number(w, SUBTICK_LONG_WAITS, 0, SUBTICK_END_NS), 600);
	assert_string_equal(subtick_text(w, SUBTICK_LONG_WAITS, 0, SUBTICK_COMM), "web");
	assert_string_equal(subtick_text(w, SUBTICK_LONG_WAITS, 0, SUBTICK_POD), "web-1");
	assert_string_equal(subtick_text(w, SUBTICK_LONG_WAITS_BY, 0, SUBTICK_COMM), "batch");
	assert_int_equal(number(w, SUBTICK_LONG_WAITS_BY, 0, SUBTICK_PID), 12);
	assert_int_equal(number(w, SUBTICK_LONG_WAITS_BY, 0, SUBTICK_WHO), SUBTICK_WHO_KTHREADS);
	check_missing(w, SUBTICK_LONG_WAITS_BY, 0, SUBTICK_WAIT_NS);
	subtick_close(ctx);
}

/* subtick_runq_open() accepts and copies filter rules, as in the exporter, and CPU lists. */
TEST(test_rules)
{
	char rule[] = "-namespace=kube-*";
	const char *const rules[] = {rule, "+pod=web-*"}, *const bad[] = {"pod=x"};
	struct subtick_runq_opts opts = {
		.size = sizeof(opts), .rules = rules, .nr_rules = 2, .cpus = "0,2"};
	struct subtick *ctx;

	assert_int_equal(subtick_runq_open(&ctx, &opts), 0);
	rule[1] = 'X';
	assert_int_equal(asked.rules->nr, 2);
	assert_false(asked.rules->rule[0].include);
	assert_string_equal(asked.rules->rule[0].pattern, "kube-*");
	assert_true(asked.rules->rule[1].include && asked.rules->rule[1].kind == RUNQ_RULE_POD);
	assert_true(cpuset_has(&asked.cpus, 2) && cpuset_count(&asked.cpus) == 2);
	subtick_close(ctx);
	opts.rules = bad;
	opts.nr_rules = 1;
	assert_int_equal(subtick_runq_open(&ctx, &opts), -EINVAL);
	assert_non_null(strstr(subtick_error(), "pod=x"));
	opts.nr_rules = 0;
	opts.per = SUBTICK_PER_CPU;
	opts.rules = rules;
	opts.nr_rules = 2;
	assert_int_equal(subtick_runq_open(&ctx, &opts), -EINVAL);
	assert_null(strstr(subtick_error(), "--"));
}

TEST(test_refused)
{
	static const char *const one[] = {NULL};
	static const uint64_t descending[] = {2000, 1000};
	const struct subtick_runq_opts bad[] = {
		{.size = sizeof(bad[0]), .nr_cgroups = 1},
		{.size = sizeof(bad[0]), .nr_cgroups = 1, .cgroups = one},
		{.size = sizeof(bad[0]), .nr_rules = 1, .rules = one},
		{.size = sizeof(bad[0]), .nr_le = 1},
		{.size = sizeof(bad[0]), .nr_le = 33, .le_ns = descending},
		{.size = sizeof(bad[0]), .nr_le = 2, .le_ns = descending},
		{.size = sizeof(bad[0]), .sample_ratio = 2.0},
		{.size = sizeof(bad[0]), .source = 3},
		{.size = sizeof(bad[0]), .hierarchy = 3},
		{.size = sizeof(bad[0]), .per = SUBTICK_PER_VCPU + 1},
		{.size = sizeof(bad[0]), .flags = 1U << 31},
		{.size = sizeof(bad[0]), .reserved = 1},
		{.size = sizeof(bad[0]), .cpus = ""},
		/* Pressure is measured per cgroup, and pods of a namespace are no cgroup. */
		{.size = sizeof(bad[0]), .flags = SUBTICK_RUNQ_PRESSURE, .per = SUBTICK_PER_NAMESPACE},
		{.size = sizeof(bad[0]), .flags = SUBTICK_RUNQ_PRESSURE, .per = SUBTICK_PER_QOS},
	};
	struct subtick *ctx = (void *)bad;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(subtick_runq_open(&ctx, &bad[i]), -EINVAL);
		assert_string_not_equal(subtick_error(), "");
	}
	open_rc = -ENOENT;
	assert_int_equal(subtick_runq_open(&ctx, NULL), -ENOENT);
	assert_string_equal(subtick_error(), "refused by the fake");
	open_rc = 0;
	assert_ptr_equal(ctx, bad);
}

TEST_MAIN()
