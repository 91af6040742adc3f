/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The runq_latency API: pressure and blame as the window has them, and options that it refuses. */
#include "subtick/runq.h"

#include <string.h>

#include "measure/runq/runq.h"
#include "test.h"

static struct runq_opts asked;
static struct runq_window window;

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

static const struct meter_ops fake_ops = {.start = fake_start, .read = fake_read, .close = fake_close};
static struct meter fake = {.ops = &fake_ops};

/* Instead of the measurement; see meson.build. */
int __wrap_runq_open(const struct runq_opts *opts, struct meter **ret_meter, struct err *err);
int __wrap_runq_open(const struct runq_opts *opts, struct meter **ret_meter, struct err *err)
{
	asked = *opts;
	window.has_pressure = opts->pressure;
	window.has_blame = opts->blame;
	window.has_causes = opts->causes;
	*ret_meter = &fake;
	return 0;
}

const struct runq_window *__wrap_runq_window(const struct meter *meter);
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

/* Each number is another one: none can be in the place of another. */
static void test_pressure(void **state)
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
	const struct runq_latency_opts opts = {.size = sizeof(opts), .per = "pod", .pressure = 1};
	const struct runq_latency_pressure *row;
	struct runq_latency_pressures pressures;
	struct runq_latency_window read;
	struct runq_latency *ctx;

	window = (struct runq_window){
		.pressed = pressed,
		.nr_pressed = 2,
		.pressure_losses = {.full = 11, .shared = 12, .crowded = 13, .unstable = 14},
	};
	assert_int_equal(runq_latency_open(&ctx, &opts), 0);
	assert_true(asked.pressure && asked.sum == ROLLUP_POD);
	assert_int_equal(runq_latency_read(ctx, &read), 0);
	assert_int_equal(runq_latency_pressure(ctx, &pressures), 0);
	assert_int_equal(pressures.nr_rows, 2);
	assert_int_equal(pressures.full_total, 11);
	assert_int_equal(pressures.shared_total, 12);
	assert_int_equal(pressures.crowded_total, 13);
	assert_int_equal(pressures.unstable_total, 14);
	row = &pressures.rows[0];
	assert_string_equal(row->group.cgroup, "/");
	assert_int_equal(row->waiting_ns, 4123);
	assert_int_equal(row->waiting.contention_ns, 100);
	assert_int_equal(row->waiting.kernel_thread_ns, 20);
	assert_int_equal(row->waiting.idle_exit_ns, 3);
	assert_int_equal(row->waiting.quota_ns, 4000);
	assert_int_equal(row->stalled_ns, 757);
	assert_int_equal(row->stalled.contention_ns, 50);
	assert_int_equal(row->stalled.kernel_thread_ns, 6);
	assert_int_equal(row->stalled.idle_exit_ns, 1);
	assert_int_equal(row->stalled.quota_ns, 700);
	assert_int_equal(row->psi_waiting_ns, 4100);
	assert_int_equal(row->psi_stalled_ns, 710);
	assert_null(row->group.pod);
	row = &pressures.rows[1];
	assert_int_equal(row->group.cgroup_id, 7);
	assert_int_equal(row->waiting_ns + row->stalled_ns, 0);
	assert_true(row->psi_waiting_ns == UINT64_MAX && row->psi_stalled_ns == UINT64_MAX);
	assert_string_equal(row->group.pod_uid, "7");
	assert_string_equal(row->group.container_id, "c7");
	assert_string_equal(row->group.qos, "burstable");
	assert_string_equal(row->group.namespace_name, "shop");
	assert_string_equal(row->group.pod, "web-1");
	assert_string_equal(row->group.container, "app");
	assert_string_equal(row->group.image, "web:1");
	runq_latency_close(ctx);
}

/* Without the option the wait is not split, and its whole is no cause. */
static void test_causes(void **state)
{
	struct runq_group_window group = {.party = {RUNQ_PARTY_GROUP, &pod}, .count = 2, .sum_ns = 70};
	struct runq_latency *ctx;

	for (uint32_t causes = 0; causes < 2; causes++) {
		const struct runq_latency_opts opts = {.size = sizeof(opts), .causes = causes};
		struct runq_latency_window read;

		group.cause_ns[RUNQ_IDLE] = 70;
		window = (struct runq_window){.groups = &group, .nr_groups = 1};
		assert_int_equal(runq_latency_open(&ctx, &opts), 0);
		assert_int_equal(asked.causes, causes);
		assert_int_equal(runq_latency_read(ctx, &read), 0);
		assert_int_equal(read.groups[0].sum_ns, 70);
		assert_int_equal(read.groups[0].causes.idle_exit_ns, causes ? 70 : 0);
		runq_latency_close(ctx);
	}
}

static void test_blame(void **state)
{
	const struct runq_group other = {.path = "/batch", .cgroup_id = 8};
	struct runq_blame blame[] = {
		{{RUNQ_PARTY_GROUP, &pod}, {RUNQ_PARTY_GROUP, &other}, 1000, 3},
		{{RUNQ_PARTY_GROUP, &pod}, {RUNQ_PARTY_IDLE, NULL}, 20, 1},
	};
	struct runq_latency_opts opts = {.size = sizeof(opts), .blame = 5};
	struct runq_latency_blames blames;
	struct runq_latency *ctx;

	window = (struct runq_window){.blame = blame, .nr_blame = 2, .losses = {.blame_full = 9}};
	assert_int_equal(runq_latency_open(&ctx, &opts), 0);
	assert_true(asked.blame && asked.blame_rows == 5);
	assert_int_equal(runq_latency_blame(ctx, &blames), 0);
	assert_int_equal(blames.nr_rows, 2);
	assert_int_equal(blames.full_total, 9);
	assert_string_equal(blames.rows[0].victim.cgroup, "/kubepods/pod7");
	assert_int_equal(blames.rows[0].victim.cgroup_id, 7);
	assert_string_equal(blames.rows[0].victim.pod_uid, "7");
	assert_string_equal(blames.rows[0].victim.container_id, "c7");
	assert_string_equal(blames.rows[0].victim.qos, "burstable");
	assert_string_equal(blames.rows[0].victim.namespace_name, "shop");
	assert_string_equal(blames.rows[0].victim.pod, "web-1");
	assert_string_equal(blames.rows[0].victim.container, "app");
	assert_string_equal(blames.rows[0].victim.image, "web:1");
	assert_string_equal(blames.rows[0].culprit.cgroup, "/batch");
	assert_int_equal(blames.rows[0].culprit.cgroup_id, 8);
	assert_null(blames.rows[0].culprit.pod);
	assert_int_equal(blames.rows[0].wait_ns, 1000);
	assert_int_equal(blames.rows[0].count, 3);
	assert_string_equal(blames.rows[1].culprit.cgroup, "(idle)");
	assert_int_equal(blames.rows[1].culprit.cgroup_id, 0);
	assert_int_equal(blames.rows[1].wait_ns, 20);
	runq_latency_close(ctx);
	opts = (struct runq_latency_opts){.size = sizeof(opts), .blame = RUNQ_NR_BLAME + 1};
	assert_int_equal(runq_latency_open(&ctx, &opts), -EINVAL);
	/* A caller that was built before these fields: its struct is shorter, and asks for neither. */
	opts = (struct runq_latency_opts){.size = offsetof(struct runq_latency_opts, blame), .blame = 5};
	assert_int_equal(runq_latency_open(&ctx, &opts), 0);
	assert_false(asked.blame);
	runq_latency_close(ctx);
}

/*
 * Figures that were not requested are an error with a reason, not a pressure of 0 or empty blame.
 */
static void test_not_asked(void **state)
{
	struct runq_latency_pressures pressures;
	struct runq_latency_blames blames;
	struct runq_latency *ctx;

	window = (struct runq_window){0};
	assert_int_equal(runq_latency_open(&ctx, NULL), 0);
	assert_false(asked.pressure);
	assert_int_equal(runq_latency_pressure(ctx, &pressures), -EINVAL);
	assert_non_null(strstr(runq_latency_strerror(), "without pressure"));
	assert_int_equal(runq_latency_blame(ctx, &blames), -EINVAL);
	assert_non_null(strstr(runq_latency_strerror(), "without blame"));
	runq_latency_close(ctx);
}

/* Wall times are those of one cgroup: what has none in common has no pressure. */
static void test_pressure_refused(void **state)
{
	static const char *const kinds[] = {"namespace", "qos"};
	struct runq_latency *ctx;

	for (int i = 0; i < 2; i++) {
		const struct runq_latency_opts opts = {
			.size = sizeof(opts), .per = kinds[i], .pressure = 1};

		assert_int_equal(runq_latency_open(&ctx, &opts), -EINVAL);
		assert_non_null(strstr(runq_latency_strerror(), kinds[i]));
	}
}

/* Every function of the header. */
static void test_null(void **state)
{
	static const char *const one[] = {NULL};
	const struct runq_latency_opts bad[] = {
		{.size = sizeof(bad[0]), .nr_cgroups = 1},
		{.size = sizeof(bad[0]), .nr_cgroups = 1, .cgroups = one},
		{.size = sizeof(bad[0]), .nr_le = 1},
	};
	const struct runq_latency_opts opts = {.size = sizeof(opts), .pressure = 1, .blame = 1};
	struct runq_latency_window w = {0};
	struct runq_latency_pressures pressures;
	struct runq_latency_blames blames;
	struct runq_latency *ctx;

	assert_int_equal(runq_latency_open(NULL, NULL), -EINVAL);
	assert_non_null(strstr(runq_latency_strerror(), "NULL"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(runq_latency_open(&ctx, &bad[i]), -EINVAL);
		assert_non_null(strstr(runq_latency_strerror(), "NULL"));
	}
	assert_int_equal(runq_latency_open(&ctx, &opts), 0);
	assert_int_equal(runq_latency_read(NULL, &w), -EINVAL);
	assert_int_equal(runq_latency_read(ctx, NULL), -EINVAL);
	assert_int_equal(runq_latency_pressure(NULL, &pressures), -EINVAL);
	assert_int_equal(runq_latency_pressure(ctx, NULL), -EINVAL);
	assert_int_equal(runq_latency_blame(NULL, &blames), -EINVAL);
	assert_int_equal(runq_latency_blame(ctx, NULL), -EINVAL);
	assert_null(runq_latency_find(NULL, "/"));
	assert_null(runq_latency_find(&w, NULL));
	assert_true(runq_latency_percentile(NULL, 50.0) == -1.0);
	assert_true(runq_latency_average(NULL) == -1.0);
	assert_int_equal(runq_latency_fd(NULL), -EINVAL);
	assert_int_equal(runq_latency_service(NULL), -EINVAL);
	assert_null(runq_latency_source(NULL));
	runq_latency_close(NULL);
	runq_latency_close(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pressure),
		cmocka_unit_test(test_causes), cmocka_unit_test(test_blame),
		cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_pressure_refused),
		cmocka_unit_test(test_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
