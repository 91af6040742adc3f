/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the names of groups, and the output for groups without a name. */
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "measure/runq/filter.h"
#include "measure/runq/group.h"
#include "measure/runq/rollup.h"
#include "measure/runq/window.h"
#include "pods/pods.h"
#include "present/runq.h"
#include "tree.h"

#define UID "0a1b2c3d-4e5f-6789-abcd-ef0123456789"
#define ID  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define POD "/kubepods/burstable/pod" UID

static struct pods *pods;
static char pod_dir[256];

static unsigned int lookups;

bool __real_pods_find(const struct pods *from, const char *uid, const char *id,
		      struct pods_names *ret_names);

bool __wrap_pods_find(const struct pods *from, const char *uid, const char *id,
		      struct pods_names *ret_names)
{
	lookups++;
	return __real_pods_find(from, uid, id, ret_names);
}

static int setup(void **state)
{
	const struct tree *tree;

	if (tree_setup(state))
		return -1;
	tree = *state;
	tree_file(tree, "/var/log/pods/README", "");
	tree_file(tree, "/var/log/containers/README", "");
	snprintf(pod_dir, sizeof(pod_dir), "%s/var/log/pods/shop_web_" UID, tree->root);
	return mkdir(pod_dir, 0755) || pods_open(tree->root, -1, &pods);
}

static int teardown(void **state)
{
	pods_close(pods);
	rmdir(pod_dir);
	return tree_teardown(state);
}

static struct runq_group *named(const char *path, bool sum)
{
	struct runq_group *group = runq_group_new(&(struct runq_group){.key = 1, .sum = sum}, path);

	runq_names_resolve(pods, group);
	return group;
}

static void check_shown(const char *path, bool sum, const char *want)
{
	struct runq_group *group = named(path, sum);
	struct runq_party party = runq_party_of(1, group);
	char buf[32];

	assert_string_equal(runq_party_name(RUNQ_PER_CGROUP, &party, buf), want);
	assert_string_equal(runq_party_key(RUNQ_PER_CGROUP, &party, buf), path);
	runq_group_put(group);
}

TEST_WITH(shown, setup, teardown)
{
	const struct tree *tree = *state;

	check_shown(POD, true, "shop/web");
	check_shown(POD "/" ID, false, "shop/web/001122334455");
	tree_link(tree, "/var/log/containers/web_shop_nginx-" ID ".log", "/nowhere");
	pods_refresh(pods);
	check_shown(POD "/" ID, false, "shop/web/nginx");
	check_shown(POD "/" ID "/init.scope", false, POD "/" ID "/init.scope");
	check_shown("/system.slice/x.service", false, "/system.slice/x.service");
	check_shown("/kubepods/pod0123456789abcdef0123456789abcdef", true,
		    "/kubepods/pod0123456789abcdef0123456789abcdef");
}

/* A container's name that is found later is added to the name of its pod. */
TEST_WITH(later, setup, teardown)
{
	const struct tree *tree = *state;
	struct runq_group *group = named(POD "/" ID, false);

	assert_string_equal(group->names->pod, "web");
	assert_null(group->names->container);
	tree_link(tree, "/var/log/containers/web_shop_nginx-" ID ".log", "/nowhere");
	pods_refresh(pods);
	runq_names_resolve(pods, group);
	assert_string_equal(group->names->container, "nginx");
	runq_names_resolve(NULL, group);
	assert_string_equal(group->names->container, "nginx");
	runq_group_put(group);
}

/* Containers without a name are looked up again only after new names were found. */
TEST_WITH(looked_up_once, setup, teardown)
{
	const struct tree *tree = *state;
	struct runq_group *group = named(POD "/" ID, false);

	lookups = 0;
	for (int window = 0; window < 3; window++) {
		pods_refresh(pods);
		runq_names_resolve(pods, group);
	}
	assert_int_equal(lookups, 0);
	tree_link(tree, "/var/log/containers/web_shop_nginx-" ID ".log", "/nowhere");
	pods_refresh(pods);
	runq_names_resolve(pods, group);
	assert_int_equal(lookups, 1);
	runq_group_put(group);
}

TEST_WITH(namespaces, setup, teardown)
{
	const struct tree *tree = *state;
	struct runq_filter filter = {0};
	struct runq_rollup rollup = {.what = ROLLUP_NAMESPACE, .filter = &filter, .pods = pods};
	struct runq_group *inside = named(POD "/" ID, false), *outside = named("/a", false);
	struct runq_group *unknown = named("/kubepods/pod0123456789abcdef0123456789abcdef", false);

	assert_string_equal(runq_rollup_of(&rollup, inside)->path, "shop");
	assert_string_equal(runq_rollup_of(&rollup, outside)->path, "(no pod)");
	assert_string_equal(runq_rollup_of(&rollup, unknown)->path, "(unknown)");
	/* When a group's namespace becomes known, the group moves to the row of the namespace. */
	tree_file(tree, "/var/log/pods/bar_db_0123456789abcdef0123456789abcdef/log", "");
	pods_refresh(pods);
	runq_names_resolve(pods, unknown);
	assert_string_equal(runq_rollup_of(&rollup, unknown)->path, "bar");
	runq_rollup_close(&rollup);
	runq_group_put(inside);
	runq_group_put(outside);
	runq_group_put(unknown);
}

TEST_WITH(reported, setup, teardown)
{
	struct runq_group *pod = named(POD, true), *other = named("/system.slice", false);
	struct runq_group_window rows[] = {{.party = {.group = pod}, .count = 1},
					   {.party = {.group = other}, .count = 1}};
	struct runq_blame blame = {.victim = {.group = pod}, .culprit = {.group = other}};
	struct runq_window window = {.sum = ROLLUP_POD,
				     .sample_ratio = 1.0,
				     .has_names = true,
				     .groups = rows,
				     .nr_groups = 2,
				     .has_blame = true,
				     .blame = &blame,
				     .nr_blame = 1};
	const struct table *groups, *blamed;
	struct report *report;

	assert_int_equal(runq_report(&window, NULL, &report), 0);
	groups = report_find(report, "groups");
	assert_string_equal(table_str(groups, 0, "cgroup"), POD);
	assert_string_equal(table_str(groups, 0, "name"), "shop/web");
	assert_string_equal(table_str(groups, 0, "namespace"), "shop");
	assert_string_equal(table_str(groups, 0, "pod"), "web");
	assert_null(table_str(groups, 0, "container"));
	assert_string_equal(table_str(groups, 0, "qos"), "burstable");
	assert_string_equal(table_str(groups, 1, "name"), "/system.slice");
	assert_null(table_str(groups, 1, "namespace"));
	assert_null(table_str(groups, 1, "qos"));
	blamed = report_find(report, "blame");
	assert_string_equal(table_str(blamed, 0, "victim"), POD);
	assert_string_equal(table_str(blamed, 0, "victim_name"), "shop/web");
	assert_string_equal(table_str(blamed, 0, "culprit_name"), "/system.slice");
	report_free(report);
	runq_group_put(pod);
	runq_group_put(other);
}

TEST_MAIN()
