/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares sums over pods, QoS classes, path depths and subtrees with brute force. */
#include "runq_list.h"

#include <math.h>

#include "measure/load/window.h"
#include "measure/runq/rollup.h"

#define UID_A "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define UID_B "1a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define HEX   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

#define POD_A  "/kubepods/burstable/pod" UID_A
#define POD_B "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" \
	      "1a1b2c3d_4e5f_6789_abcd_ef0123456789.slice"

static struct runq_rollup rollup;
static struct runq_opts opts;
/* All groups of a test; blame rows and the list of live groups have pointers to them. */
static struct runq_group *groups[16];
static size_t nr_groups;
static struct runq_row charges[16];
static size_t nr_charges;

int __wrap_runq_kernel_blame(struct runq_kernel *kernel, struct runq_row **ret_rows, size_t *ret_nr,
			     struct err *err)
{
	*ret_rows = charges;
	*ret_nr = nr_charges;
	return 0;
}

struct runq_party __wrap_runq_kernel_party(const struct runq_kernel *kernel, uint64_t key)
{
	for (size_t i = 0; i < nr_groups; i++)
		if (groups[i]->key == key)
			return runq_party_of(key, groups[i]);
	return runq_party_of(key, NULL);
}

struct runq_group *const *__wrap_runq_kernel_groups(const struct runq_kernel *kernel,
						    size_t *ret_nr)
{
	*ret_nr = nr_groups;
	return groups;
}

static void begin(enum runq_rollup_by what)
{
	list_begin();
	window.sum = what;
	rollup = (struct runq_rollup){.what = what, .filter = &filter};
	opts = (struct runq_opts){.blame_rows = 8};
}

static void finish(void)
{
	runq_rollup_close(&rollup);
	list_end();
	while (nr_groups)
		runq_group_put(groups[--nr_groups]);
	nr_charges = 0;
}

static struct runq_group *group_of(uint64_t key, const char *path)
{
	struct runq_group *group;

	for (size_t i = 0; i < nr_groups; i++)
		if (groups[i]->key == key)
			return groups[i];
	group = runq_group_new(&(struct runq_group){.key = key, .cgroup_id = key * 10}, path);
	groups[nr_groups++] = group;
	return group;
}

static void waited(uint64_t key, const char *path, uint64_t nr, uint64_t ns, enum runq_cause cause)
{
	list_add(key, group_of(key, path), nr, ns, cause);
}

static void waited_steps(uint64_t key, const char *path, uint64_t below, uint64_t above,
			 uint64_t max_ns)
{
	struct runq_group_window row = {.party = {RUNQ_PARTY_GROUP, group_of(key, path)},
					.count = below + above,
					.sum_ns = max_ns,
					.max_ns = max_ns,
					.cause_ns = {[RUNQ_OTHER] = max_ns},
					.hist = hist_of((const uint64_t[]){below, 0, above}, 3)};
	struct err err = {0};

	assert_int_equal(runq_waits_append(&list, row, &err), 0);
}

static void charged(uint64_t victim, uint64_t culprit, uint64_t wait_ns)
{
	charges[nr_charges++] = (struct runq_row){{victim, culprit}, {wait_ns, 1}};
}

static void ask_for(const char *path)
{
	filter.requested = realloc(filter.requested, (filter.nr + 1) * sizeof(*filter.requested));
	filter.requested[filter.nr++] =
		runq_group_new(&(struct runq_group){.cgroup_id = 77}, path);
}

static void close_window(void)
{
	struct runq_rollup *by = window.sum == ROLLUP_NONE ? NULL : &rollup;
	struct err err = {0};

	if (by)
		assert_int_equal(runq_rollup_window(by, &list, groups, nr_groups, &err), 0);
	assert_int_equal(runq_window_groups(&window, &list, &filter, by, &err), 0);
	assert_int_equal(runq_window_blame(&window, NULL, &filter, by, &opts, &err), 0);
}

static const struct runq_group_window *row(const char *path)
{
	for (size_t i = 0; i < window.nr_groups; i++)
		if (!strcmp(runq_party_path(&window.groups[i].party), path))
			return &window.groups[i];
	fail_msg("no row %s", path);
	return NULL;
}

static uint64_t blamed(const char *victim, const char *culprit)
{
	uint64_t found = 0, times = 0;

	for (size_t i = 0; i < window.nr_blame; i++)
		if (!strcmp(runq_party_path(&window.blame[i].victim), victim) &&
		    !strcmp(runq_party_path(&window.blame[i].culprit), culprit)) {
			found = window.blame[i].wait_ns;
			times++;
		}
	assert_true(times <= 1);
	return found;
}

static void two_pods(void)
{
	waited(1, POD_A "/" HEX "1", 90, 500, RUNQ_SAME);
	waited(2, POD_A "/" HEX "2", 10, 90000, RUNQ_OTHER);
	waited(3, POD_B "/cri-containerd-" HEX "3.scope", 4, 700, RUNQ_THROTTLED);
	/* systemd inside a container creates child cgroups of the container's cgroup. */
	waited(4, POD_B "/cri-containerd-" HEX "3.scope/init.scope", 6, 800, RUNQ_OTHER);
	waited(5, "/system.slice/kubelet.service", 2, 300, RUNQ_OTHER);
}

TEST(pods)
{
	const struct runq_group_window *a, *b;

	begin(ROLLUP_POD);
	two_pods();
	close_window();
	assert_int_equal(window.nr_groups, 3);
	a = row(POD_A);
	assert_int_equal(a->count, 100);
	assert_int_equal(a->sum_ns, 90 * 500 + 10 * 90000);
	assert_int_equal(a->max_ns, 90000);
	assert_int_equal(a->cause_ns[RUNQ_SAME], 90 * 500);
	assert_int_equal(a->cause_ns[RUNQ_OTHER], 10 * 90000);
	assert_int_equal(a->le_count[0], 90);
	assert_int_equal(a->le_count[1], 100);
	assert_true(fabs(a->percentile_ns[0] - 500) <= 500.0 / HIST_SUB);
	assert_true(fabs(a->percentile_ns[1] - 90000) <= 90000.0 / HIST_SUB);
	assert_string_equal(a->party.group->pod_uid, UID_A);
	assert_string_equal(a->party.group->qos, "burstable");
	assert_null(a->party.group->container_id);
	b = row(POD_B);
	assert_int_equal(b->count, 10);
	assert_int_equal(b->cause_ns[RUNQ_THROTTLED], 4 * 700);
	assert_int_equal(b->cause_ns[RUNQ_OTHER], 6 * 800);
	assert_string_equal(b->party.group->pod_uid, UID_B);
	assert_string_equal(b->party.group->qos, "besteffort");
	assert_int_equal(row("/system.slice/kubelet.service")->count, 2);
	assert_int_equal(row("/system.slice/kubelet.service")->party.group->cgroup_id, 50);
	assert_int_equal(window.waits_seen, 112);
	finish();
}

TEST(classes)
{
	begin(ROLLUP_QOS);
	two_pods();
	waited(6, "/kubepods/pod" UID_B "/" HEX "9", 1, 100, RUNQ_OTHER);
	waited(7, "/user.slice/burstable", 1, 100, RUNQ_OTHER);
	close_window();
	assert_int_equal(window.nr_groups, 4);
	assert_int_equal(row("burstable")->count, 100);
	assert_int_equal(row("besteffort")->count, 10);
	assert_int_equal(row("guaranteed")->count, 1);
	/* A cgroup outside kubepods has no QoS class, for any name of the cgroup. */
	assert_int_equal(row("(no pod)")->count, 3);
	finish();
}

TEST(blame)
{
	begin(ROLLUP_POD);
	two_pods();
	charged(1, 3, 100);
	charged(1, 4, 20);
	charged(2, 3, 3);
	charged(1, 2, 1000);
	charged(2, RUNQ_KEY_KTHREAD, 7);
	charged(3, 99, 11); /* groups 99 and 98 ended before their names were read */
	charged(4, 98, 5);
	charged(5, 1, 2);
	close_window();
	assert_int_equal(blamed(POD_A, POD_B), 123);
	assert_int_equal(blamed(POD_A, POD_A), 1000);
	assert_int_equal(blamed(POD_A, "(kernel threads)"), 7);
	assert_int_equal(blamed(POD_B, "(gone)"), 16);
	assert_int_equal(blamed("/system.slice/kubelet.service", POD_A), 2);
	assert_int_equal(window.nr_blame, 5);
	/*
	 * A victim in blame has the same group pointer as its row, because findings compare
	 * pointers.
	 */
	assert_ptr_equal(window.blame[0].victim.group, row(POD_A)->party.group);
	finish();
}

static uint64_t core_pair(const char *cgroup, const char *sibling)
{
	for (size_t i = 0; i < window.nr_core_pairs; i++)
		if (!strcmp(runq_party_path(&window.core_pairs[i].victim), cgroup) &&
		    !strcmp(runq_party_path(&window.core_pairs[i].culprit), sibling))
			return window.core_pairs[i].wait_ns;
	return 0;
}

/* Tests core pairs (pairs of cgroups on one core), which are given by the cgroup IDs. */
TEST(core_pairs)
{
	/*
	 * The cgroup ID is 10 times the key of the group. ID 0 stands for all core pairs that did
	 * not fit into the BPF map.
	 */
	static const struct load_pair pairs[] = {
		{.id = {10, 30}, .ns = 100}, {.id = {20, 40}, .ns = 20},
		{.id = {30, 10}, .ns = 100}, {.id = {10, 20}, .ns = 7},
		{.id = {50, 99}, .ns = 5},   {.id = {0, 0}, .ns = 3}};
	struct err err = {0};

	for (int sampled = 0; sampled < 2; sampled++) {
		begin(ROLLUP_POD);
		two_pods();
		window.sample_ratio = sampled ? 0.5 : 1.0;
		close_window();
		assert_int_equal(runq_window_core_pairs(&window, pairs, 6, NULL, &filter, &rollup,
							&opts, &err),
				 0);
		assert_int_equal(core_pair(POD_A, POD_B), 120);
		assert_int_equal(core_pair(POD_B, POD_A), 100);
		assert_int_equal(core_pair(POD_A, POD_A), 7);
		assert_int_equal(core_pair("/system.slice/kubelet.service", "(unknown)"), 5);
		assert_int_equal(core_pair("(other)", "(other)"), 3);
		assert_int_equal(window.nr_core_pairs, 5);
		finish();
	}
	begin(ROLLUP_NONE);
	two_pods();
	opts.blame_rows = 1;
	assert_int_equal(
		runq_window_core_pairs(&window, pairs, 6, NULL, &filter, NULL, &opts, &err), 0);
	assert_int_equal(core_pair(groups[0]->path, "(other)"), 107);
	assert_int_equal(core_pair(groups[2]->path, groups[0]->path), 100);
	finish();
}

/* All groups without a name are shown as one victim and one culprit. */
TEST(blame_of_gone)
{
	struct err err = {0};

	begin(ROLLUP_NONE);
	two_pods();
	charged(1, 99, 11);
	charged(1, 98, 5);
	charged(97, 1, 2);
	charged(96, 1, 3);
	charged(95, 94, 4);
	assert_int_equal(runq_window_blame(&window, NULL, &filter, NULL, &opts, &err), 0);
	assert_int_equal(window.nr_blame, 3);
	assert_int_equal(blamed(groups[0]->path, "(gone)"), 16);
	assert_int_equal(blamed("(gone)", groups[0]->path), 5);
	assert_int_equal(blamed("(gone)", "(gone)"), 4);
	finish();
}

/* --per comm with --cgroup /app: tasks named nginx run inside and outside of /app. */
TEST(commands)
{
	begin(ROLLUP_COMM);
	ask_for("/app");
	waited(1, "/app/a", 3, 500, RUNQ_SAME);
	waited(2, "/app/b", 4, 500, RUNQ_SAME);
	waited(3, "/other", 100, 500, RUNQ_SAME);
	waited(4, "/app/a", 1, 700, RUNQ_SAME);
	for (size_t i = 0; i < 3; i++)
		strcpy(groups[i]->comm, "nginx");
	strcpy(groups[3]->comm, "sh");
	window.per = RUNQ_PER_COMM;
	charged(1, 3, 20);
	charged(2, 3, 3);
	charged(3, 1, 1000);
	close_window();
	assert_int_equal(window.nr_groups, 2);
	assert_int_equal(row("nginx")->count, 7);
	assert_int_equal(row("sh")->count, 1);
	assert_int_equal(window.nr_blame, 1);
	assert_int_equal(blamed("nginx", "nginx"), 23);
	finish();
}

/* Excluded culprits are shown by name, or merged into one row per victim with fold_excluded. */
TEST(excluded)
{
	static const enum runq_rollup_by sums[] = {ROLLUP_NONE, ROLLUP_POD};
	struct runq_rules rules = {0};
	struct err err = {0};

	assert_int_equal(runq_rules_add(&rules, false, "cgroup=/system.slice", &err), 0);
	for (int i = 0; i < 4; i++) {
		begin(sums[i % 2]);
		opts.fold_excluded = i / 2;
		filter.rules = &rules;
		waited(1, "/a", 1, 100, RUNQ_OTHER);
		waited(5, "/system.slice/ssh", 1, 100, RUNQ_OTHER);
		waited(6, "/system.slice/cron", 1, 100, RUNQ_OTHER);
		charged(1, 5, 10);
		charged(1, RUNQ_KEY_EXCLUDED, 40); /* excluded culprits merged by BPF */
		charged(1, 6, 200);
		charged(1, 1, 1000);
		charged(5, 1, 3000);
		close_window();
		assert_int_equal(window.nr_groups, 1);
		assert_int_equal(row("/a")->count, 1);
		assert_int_equal(blamed("/a", "(excluded)"), i / 2 ? 250 : 40);
		assert_int_equal(blamed("/a", "/a"), 1000);
		if (!opts.fold_excluded)
			assert_int_equal(blamed("/a", "/system.slice/cron"), 200);
		assert_int_equal(window.nr_blame, i / 2 ? 2 : 4);
		finish();
	}
	runq_rules_free(&rules);
}

TEST(depth)
{
	begin(ROLLUP_DEPTH);
	rollup.depth = 2;
	two_pods();
	waited(6, "/", 5, 100, RUNQ_OTHER);
	waited(7, "/system.slice", 1, 100, RUNQ_OTHER);
	close_window();
	assert_int_equal(row("/kubepods/burstable")->count, 100);
	assert_int_equal(row("/kubepods.slice/kubepods-besteffort.slice")->count, 10);
	assert_int_equal(row("/system.slice/kubelet.service")->count, 2);
	assert_int_equal(row("/system.slice")->count, 1);
	assert_int_equal(row("/")->count, 5);
	assert_int_equal(row("/system.slice")->party.group->cgroup_id, 70);
	finish();
}

/*
 * --depth does not shorten a path whose beginning is missing, because two shortened paths could
 * become equal.
 */
TEST(depth_of_a_cut_path)
{
	begin(ROLLUP_DEPTH);
	rollup.depth = 1;
	waited(1, "/…(5)/a/b", 1, 100, RUNQ_OTHER);
	groups[0]->cut = true;
	close_window();
	assert_int_equal(row("/…(5)/a/b")->count, 1);
	finish();
}

/* If a pod is selected by its path, its row has the waits of its containers. */
TEST(asked)
{
	begin(ROLLUP_REQUESTED);
	ask_for(POD_A);
	ask_for("/silent");
	two_pods();
	waited(RUNQ_KEY_OTHER, "(other)", 1, 1000, RUNQ_OTHER);
	charged(1, 2, 40);
	charged(2, 3, 2);
	charged(3, 1, 50);
	close_window();
	assert_int_equal(window.nr_groups, 3);
	assert_int_equal(row(POD_A)->count, 100);
	assert_int_equal(row("/silent")->count, 0);
	assert_int_equal(row("(other)")->count, 1);
	assert_int_equal(window.waits_seen, 113);
	assert_int_equal(blamed(POD_A, POD_A), 40);
	/* If a pod is selected by path, the culprits of blame are cgroups and not pods. */
	assert_int_equal(blamed(POD_A, POD_B "/cri-containerd-" HEX "3.scope"), 2);
	assert_int_equal(window.nr_blame, 2);
	finish();
}

/* Rows of nested selected cgroups do not overlap, so each wait counts once. */
TEST(asked_inside_asked)
{
	begin(ROLLUP_REQUESTED);
	ask_for("/");
	ask_for("/a/b");
	ask_for("/a");
	waited(1, "/a/b/c", 1, 100, RUNQ_OTHER);
	waited(2, "/a/bc", 2, 100, RUNQ_OTHER);
	waited(3, "/ab", 4, 100, RUNQ_OTHER);
	waited(4, "/a", 8, 100, RUNQ_OTHER);
	close_window();
	assert_int_equal(row("/a/b")->count, 1);
	assert_int_equal(row("/a")->count, 10);
	assert_int_equal(row("/")->count, 4);
	finish();
}

TEST(at_boundaries_only)
{
	begin(ROLLUP_POD);
	window.steps_only = true;
	waited_steps(1, POD_A "/" HEX "1", 90, 1, 200000);
	waited_steps(2, POD_A "/" HEX "2", 9, 0, 900);
	close_window();
	assert_int_equal(window.nr_groups, 1);
	assert_int_equal(row(POD_A)->count, 100);
	assert_int_equal(row(POD_A)->le_count[0], 99);
	assert_int_equal(row(POD_A)->max_ns, 200000);
	assert_int_equal(row(POD_A)->sum_ns, 200900);
	finish();
}

TEST(end)
{
	begin(ROLLUP_POD);
	group_of(1, POD_A "/" HEX "1")->gone = true;
	waited(1, POD_A "/" HEX "1", 1, 100, RUNQ_OTHER);
	group_of(2, POD_A "/" HEX "2"); /* a live container without waits */
	close_window();
	assert_false(row(POD_A)->ended);
	groups[1]->gone = true;
	close_window();
	assert_true(row(POD_A)->ended);
	finish();
}

/* A row keeps its key until its last cgroup is removed. A new window resets its counters. */
TEST(kept)
{
	const struct runq_group *pod;
	uint64_t key;

	begin(ROLLUP_POD);
	waited(1, POD_A "/" HEX "1", 5, 100, RUNQ_OTHER);
	waited(3, POD_B "/" HEX "3", 1, 100, RUNQ_OTHER);
	close_window();
	pod = row(POD_A)->party.group;
	key = pod->key;
	runq_waits_clear(&list);
	close_window();
	assert_int_equal(window.nr_groups, 0);
	assert_int_equal(rollup.nr, 2);
	waited(2, POD_A "/" HEX "2", 2, 100, RUNQ_OTHER);
	close_window();
	assert_ptr_equal(row(POD_A)->party.group, pod);
	assert_int_equal(row(POD_A)->party.group->key, key);
	assert_int_equal(row(POD_A)->count, 2);
	runq_waits_clear(&list);
	runq_group_put(groups[0]);
	groups[0] = groups[--nr_groups];
	close_window();
	assert_ptr_equal(runq_rollup_find(&rollup, key), pod);
	/*
	 * When the last cgroup of a pod ends, the row of the pod is removed. The row of a new pod
	 * has a new key.
	 */
	while (nr_groups)
		runq_group_put(groups[--nr_groups]);
	close_window();
	assert_int_equal(rollup.nr, 0);
	assert_null(runq_rollup_find(&rollup, key));
	waited(7, POD_A "/" HEX "7", 3, 100, RUNQ_OTHER);
	close_window();
	assert_int_equal(row(POD_A)->count, 3);
	assert_true(row(POD_A)->party.group->key > key);
	finish();
}

TEST(many)
{
	begin(ROLLUP_DEPTH);
	rollup.depth = 1;
	for (unsigned int i = 0; i < 3000; i++) {
		char path[32];
		struct runq_group *group;
		struct runq_group_window row = {
			.count = i + 1, .hist = hist_of((const uint64_t[6]){[5] = i + 1}, 6)};
		struct err err = {0};

		snprintf(path, sizeof(path), "/g%u/c%u", i % 1000, i);
		group = runq_group_new(&(struct runq_group){.key = i + 1}, path);
		row.party.group = group;
		assert_int_equal(runq_waits_append(&list, row, &err), 0);
		runq_group_put(group);
	}
	close_window();
	assert_int_equal(window.nr_groups, 1000);
	assert_int_equal(row("/g0")->count, 1 + 1001 + 2001);
	assert_int_equal(row("/g999")->count, 1000 + 2000 + 3000);
	assert_int_equal(window.waits_seen, 3000 * 3001 / 2);
	finish();
}

TEST_MAIN()
