/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests `subtick try` without a kernel: settings, simulated experiments, reports, refusals. */
#include "normal.h"
#include "test.h"
#include "tree.h"

#include <math.h>

#include "measure/try/try.h"
#include "present/try.h"
#include "report_rows.h"
#include "host/cgroup.h"

#define EXPERIMENTS 200
#define PAIRS	    10
#define OTHERS	    25

#define HYBRID                                                           \
	"1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"       \
	"2 0 0:2 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n" \
	"3 0 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define UNIFIED "3 0 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"

static void path_is(const struct tree *tree, const char *text, const char *path, const char *value)
{
	static struct try_setting setting;
	struct err err = {0};

	assert_int_equal(try_setting_parse(tree->root, text, &setting, &err), 0);
	assert_string_equal(setting.path, path);
	assert_string_equal(setting.value, value);
}

static void refused(const struct tree *tree, const char *text, const char *why)
{
	static struct try_setting setting;
	struct err err = {0};

	assert_true(try_setting_parse(tree->root, text, &setting, &err) < 0);
	if (!strstr(err.what, why))
		fail_msg("%s: %s", text, err.what);
}

TEST_WITH(test_settings_hybrid, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;

	tree_file(tree, "/proc/self/mountinfo", HYBRID);
	tree_file(tree, "/sys/fs/cgroup/cpu/batch/cpu.shares", "1024\n");
	tree_file(tree, "/sys/fs/cgroup/cpuset/batch/cpuset.cpus", "0-1\n");
	tree_file(tree, "/sys/fs/cgroup/unified/other/cgroup.procs", "");
	tree_file(tree, "/proc/irq/24/smp_affinity_list", "0\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", "0\n");
	tree_file(tree, "/sys/devices/system/cpu/cpu1/power/control", "auto\n");
	path_is(tree, "/batch/cpu.shares=64", "/sys/fs/cgroup/cpu/batch/cpu.shares", "64");
	path_is(tree, "/sys/fs/cgroup/cpu/batch/cpu.shares=64",
		"/sys/fs/cgroup/cpu/batch/cpu.shares", "64");
	path_is(tree, "/batch/cpuset.cpus=0", "/sys/fs/cgroup/cpuset/batch/cpuset.cpus", "0");
	path_is(tree, "/proc/irq/24/smp_affinity_list=1", "/proc/irq/24/smp_affinity_list", "1");
	path_is(tree, "/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us=n/a",
		"/sys/devices/system/cpu/cpu1/power/pm_qos_resume_latency_us", "n/a");
	refused(tree, "/batch/cpu.weight=50", "use cpu.shares");
	refused(tree, "/batch/cpu.max=max", "use cpu.cfs_quota_us");
	refused(tree, "/other/cpu.shares=50", "use cpu.weight");
	refused(tree, "/other/cpu.idle=1", "cgroup.subtree_control");
	refused(tree, "/cpu.idle=1", "cgroup / has no file cpu.idle");
	refused(tree, "/none/cpu.shares=50", "no cgroup /none");
	refused(tree, "/proc/irq/25/smp_affinity_list=1", "no file");
	refused(tree, "/sys/devices/system/cpu/cpu1/power/control=on",
		"controllers cpu and cpuset");
	refused(tree, "/batch/memory.max=1", "controllers cpu and cpuset");
}

TEST_WITH(test_settings_unified, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;

	tree_file(tree, "/proc/self/mountinfo", UNIFIED);
	tree_file(tree, "/sys/fs/cgroup/a=b/cpu.max", "max 100000\n");
	tree_file(tree, "/sys/fs/cgroup/cpu.weight", "100\n");
	path_is(tree, "/a=b/cpu.max=50000 100000", "/sys/fs/cgroup/a=b/cpu.max", "50000 100000");
	path_is(tree, "/cpu.weight=1", "/sys/fs/cgroup/cpu.weight", "1");
	refused(tree, "/a=b/cpu.shares=50", "use cpu.weight");
	refused(tree, "/a=b/cpu.max", "controllers cpu and cpuset");
	refused(tree, "/a=b/cpu.max=", "expected PATH=VALUE");
	refused(tree, "cpu.max=1", "expected PATH=VALUE");
	refused(tree, "/a=b/../cpu.max=1", "/../");
	refused(tree, "/a=b/cpu.max=1\t2", "a tab");
}

TEST(test_plan)
{
	static struct try_setting settings[2] = {{.name = "/a", .path = "/sys/a"},
						 {.name = "/b", .path = "/sys/a"}};
	static const char *const watch[] = {"/app"};
	struct try_opts opts = {.settings = settings,
				.nr_settings = 1,
				.watch = watch,
				.nr_watch = 1,
				.rounds = 10,
				.each_ns = 1000,
				.settle_ns = 100,
				.budget_ns = 22000};
	struct err err;

	assert_int_equal(try_opts_check(&opts, &err), 0);
	opts.budget_ns--;
	assert_int_equal(try_opts_check(&opts, &err), -EINVAL);
	assert_non_null(strstr(err.what, "--budget"));
	opts.budget_ns++;
	opts.nr_settings = 2;
	assert_int_equal(try_opts_check(&opts, &err), -EINVAL);
	assert_non_null(strstr(err.what, "twice"));
	opts.nr_settings = 1;
	opts.nr_watch = 0;
	assert_int_equal(try_opts_check(&opts, &err), -EINVAL);
	assert_non_null(strstr(err.what, "nothing to watch"));
	opts.nr_settings = 0;
	assert_int_equal(try_opts_check(&opts, &err), -EINVAL);
}

/* Replaces the functions that search for cgroups, so that every cgroup exists. */
int __real_cgroup_layout(const char *root, struct cgroup_layout *ret_layout);
int __wrap_cgroup_layout(const char *root, struct cgroup_layout *ret_layout)
{
	*ret_layout = (struct cgroup_layout){.mode = CGROUP_V2};
	return root ? __real_cgroup_layout(root, ret_layout) : 0;
}

int __wrap_cgroup_find(const char *mount, const char *name, char ret_path[PATH_MAX],
		       uint64_t *ret_id, struct err *err)
{
	strcpy(ret_path, name);
	*ret_id = 1;
	return 0;
}

struct machine {
	struct runq_group groups[OTHERS + 2];
	char paths[OTHERS + 2][32];
	struct runq_group_window rows[OTHERS + 2];
	struct hist_entry entries[OTHERS + 2];
	double p99[OTHERS + 2];
	struct runq_blame blame;
	struct runq_window window;
};

static void machine_row(struct machine *m, const char *path, uint64_t wait_ns, uint64_t count)
{
	size_t i = m->window.nr_groups++;

	snprintf(m->paths[i], sizeof(m->paths[i]), "%s", path);
	m->groups[i] = (struct runq_group){.path = m->paths[i]};
	m->p99[i] = (double)wait_ns;
	m->entries[i] = (struct hist_entry){.bucket = hist_index(wait_ns), .count = count};
	m->rows[i] = (struct runq_group_window){
		.party = {RUNQ_PARTY_GROUP, &m->groups[i]},
		.count = count,
		.sum_ns = wait_ns * count,
		.avg_ns = (double)wait_ns,
		.max_ns = wait_ns,
		.cause_ns = {[RUNQ_OTHER] = wait_ns * count},
		.percentile_ns = &m->p99[i],
		.hist = {&m->entries[i], 1},
	};
	m->window.groups = m->rows;
	m->window.window_ns = 1000000000;
	m->window.causes_known = ~0u;
}

/*
 * Simulates an experiment. The changed setting multiplies the waits of /app by 1 + @effect, and
 * affects no other cgroup.
 */
static void simulate(struct try_groups *groups, double effect)
{
	static const char *const watch[] = {"/app"};
	static struct machine m;
	struct err err;

	assert_int_equal(try_groups_open(groups, RUNQ_HIERARCHY_V2, watch, 1, &err), 0);
	for (unsigned int pair = 0; pair < PAIRS; pair++) {
		double shared = exp(0.5 * normal());

		for (int arm = 0; arm < TRY_NR_ARMS; arm++) {
			double factor = arm == TRY_CHANGED ? 1.0 + effect : 1.0;
			char path[32];

			for (size_t i = 0; i < groups->nr; i++) {
				free(groups->groups[i].round.hist.entries);
				groups->groups[i].round = (struct runq_group_window){0};
			}
			m.window.nr_groups = 0;
			/* /app/a is a child of /app, so its waits are in both rows. */
			for (int i = 0; i < 2; i++)
				machine_row(&m, i ? "/app/a" : "/app",
					    (uint64_t)(1e6 * shared * factor * exp(0.1 * normal())),
					    100);
			for (int i = 0; i < OTHERS; i++) {
				snprintf(path, sizeof(path), "/application%d", i);
				machine_row(&m, path,
					    (uint64_t)(1e5 * shared * exp(0.2 * normal())), 50);
			}
			m.blame = (struct runq_blame){.victim = m.rows[1].party,
						      .culprit = m.rows[2].party,
						      .wait_ns = arm == TRY_CHANGED ? 10 : 70};
			m.window.blame = &m.blame;
			m.window.nr_blame = 1;
			assert_int_equal(try_groups_end(groups, &m.window, pair, arm, &err), 0);
		}
	}
	try_groups_compare(groups, PAIRS);
}

static bool any_other(const struct try_groups *groups)
{
	for (size_t i = groups->nr_watched; i < groups->nr; i++)
		for (int f = 0; f < TRY_NR_FIGURES; f++)
			if (groups->groups[i].effect[f].found)
				return true;
	return false;
}

/*
 * The confidence interval contains the known effect in 92 % to 98 % of the runs. Unaffected cgroups
 * are reported in at most 8 % of the runs.
 */
TEST(test_experiments)
{
	static const double effects[] = {0.0, -0.61};

	random_state = 2;
	for (size_t e = 0; e < 2; e++) {
		unsigned int covered = 0, found = 0, others = 0, control = 0;

		for (int run = 0; run < EXPERIMENTS; run++) {
			struct try_groups groups;
			const struct paired *wait;

			simulate(&groups, effects[e]);
			assert_int_equal(groups.nr, 1 + OTHERS);
			wait = &groups.groups[0].effect[TRY_WAIT];
			covered += wait->low <= effects[e] && effects[e] <= wait->high;
			found += wait->found;
			others += any_other(&groups);
			control += groups.groups[0].control[TRY_WAIT].low > 0.0 ||
				   groups.groups[0].control[TRY_WAIT].high < 0.0;
			try_groups_close(&groups);
		}
		assert_true(covered >= 0.92 * EXPERIMENTS && covered <= 0.98 * EXPERIMENTS);
		assert_true(others <= 0.08 * EXPERIMENTS);
		assert_true(control <= 0.08 * EXPERIMENTS);
		if (effects[e] < 0.0)
			assert_int_equal(found, EXPERIMENTS);
		else
			assert_true(found <= 0.08 * EXPERIMENTS);
	}
}

static struct report *report_of(const struct try_opts *opts, struct try_window *w)
{
	struct report *report;

	assert_int_equal(try_report(opts, w, &report), 0);
	return report;
}

TEST(test_report)
{
	static struct try_setting setting = {
		.name = "/batch/cpu.weight", .path = "/sys/x", .was = "100", .now = "50"};
	struct try_opts opts = {.settings = &setting, .nr_settings = 1, .rounds = PAIRS};
	struct runq_window runq = {.causes_known = ~0u, .source = RUNQ_SOURCE_SCHED_INFO};
	struct try_window w = {.nr_pairs = PAIRS, .restored = true, .runq = &runq};
	const struct table *effects, *blame;
	struct report *report;

	random_state = 5;
	simulate(&w.groups, -0.61);
	report = report_of(&opts, &w);
	effects = report_find(report, "effects");
	blame = report_find(report, "blame");
	assert_true(notes_say(report, "with /batch/cpu.weight=50 /app waits ") &&
		    notes_say(report, " % less (") && notes_say(report, ", p99 "));
	assert_true(notes_say(report, "restored"));
	assert_string_equal(table_str(effects, 0, "figure"), "wait");
	assert_true(table_number(effects, 0, "effect_ratio") < -0.5);
	assert_true(table_number(effects, 0, "p_ratio") == 2.0 / 1024.0);
	assert_int_equal(blame->nr_rows, 1);
	assert_string_equal(table_str(blame, 0, "victim"), "/app");
	assert_true(table_number(blame, 0, "original_wait_ns") == 700);
	assert_true(table_number(blame, 0, "changed_wait_ns") == 100);
	assert_int_equal(report_find(report, "pairs")->nr_rows, PAIRS);
	report_free(report);

	/* After two pairs another program changes the setting, which ends the experiment. */
	w.nr_pairs = 2;
	w.foreign = &setting;
	w.ended = (struct err){.code = -ESTALE, .what = "another program set it"};
	try_groups_compare(&w.groups, 2);
	report = report_of(&opts, &w);
	assert_true(notes_say(report, "no verdict on /app: 2 pairs"));
	assert_true(notes_say(report, "ended early: another program"));
	assert_true(table_get(report->fields, 0, "restored")->kind == VALUE_BOOL &&
		    !table_get(report->fields, 0, "restored")->flag);
	assert_true(table_get(report_find(report, "effects"), 0, "found")->kind == VALUE_NULL);
	report_free(report);
	try_groups_close(&w.groups);

	random_state = 6;
	simulate(&w.groups, 0.0);
	w.nr_pairs = PAIRS;
	report = report_of(&opts, &w);
	assert_true(notes_say(report, "no effect on the waits of /app found (−"));
	assert_true(notes_say(report, "or more would have been seen"));
	report_free(report);
	try_groups_close(&w.groups);
}

/* CPU time is read from cpu.stat. A cgroup that loses CPU time is reported. */
TEST_WITH(test_cpu_time, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	static struct machine m;
	static struct try_setting setting = {
		.name = "/batch/cpu.max", .path = "/sys/x", .was = "max", .now = "1"};
	struct try_opts opts = {.settings = &setting, .nr_settings = 1, .rounds = PAIRS};
	struct runq_window runq = {.causes_known = ~0u, .source = RUNQ_SOURCE_SCHED_INFO};
	struct try_window w = {.nr_pairs = PAIRS, .restored = true, .runq = &runq};
	const char *const watch[] = {"/app"};
	unsigned int usage = 1000, other = 1000;
	struct report *report;
	struct err err;
	char text[64];

	assert_int_equal(try_groups_open(&w.groups, RUNQ_HIERARCHY_V2, watch, 1, &err), 0);
	strcpy(w.groups.usage_mount, tree->root);
	strcpy(w.groups.mount, tree->root);
	for (int round = -1; round < 2 * PAIRS; round++) {
		int arm = round & 1, pair = round < 0 ? 0 : round / 2;

		snprintf(text, sizeof(text), "usage_usec %u\nuser_usec 1\n", usage);
		tree_file(tree, "/app/cpu.stat", text);
		snprintf(text, sizeof(text), "usage_usec %u\n", other);
		tree_file(tree, "/batch/cpu.stat", text);
		assert_int_equal(try_groups_begin(&w.groups, &err), 0);
		usage += 300000 + (unsigned int)(round & 3) * 7;
		other += arm == TRY_CHANGED ? 480000 + (unsigned int)(round & 4) : 500000;
		snprintf(text, sizeof(text), "usage_usec %u\nuser_usec 1\n", usage);
		tree_file(tree, "/app/cpu.stat", text);
		snprintf(text, sizeof(text), "usage_usec %u\n", other);
		tree_file(tree, "/batch/cpu.stat", text);
		m.window.nr_groups = 0;
		machine_row(&m, "/app", 1000 + (uint64_t)(round & 3), 10);
		machine_row(&m, "/batch", 1000, TRY_OTHER_WAITS - 1);
		assert_int_equal(try_groups_end(&w.groups, &m.window, pair, arm, &err), 0);
	}
	try_groups_compare(&w.groups, PAIRS);
	assert_true(fabs(w.groups.groups[0].effect[TRY_CPU].original - 3e8) < 1e6);
	assert_int_equal(w.groups.groups[1].effect[TRY_WAIT].nr, 0);
	report = report_of(&opts, &w);
	assert_true(notes_say(report, "/batch gets 4.0 % less CPU time (4.0 to 4.0 %)"));
	report_free(report);
	tree_remove(tree, "/app/cpu.stat");
	tree_remove(tree, "/app");
	assert_int_equal(try_groups_begin(&w.groups, &err), -ENOENT);
	assert_non_null(strstr(err.what, "/app was removed"));
	try_groups_close(&w.groups);
}

TEST_MAIN()
