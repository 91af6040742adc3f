/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests which cgroups --cgroup, --include and --exclude select, with and without names. */
#include "test.h"

#include "measure/runq/filter.h"

static struct runq_group_names web = {.namespace = "shop", .pod = "web-1", .container = "nginx"};
static struct runq_group_names box = {.container = "box"};
static const struct runq_group service = {.path = "/system.slice/ssh"};
static const struct runq_group slicer = {.path = "/system.slicer"};
static const struct runq_group nginx = {.path = "/kubepods/burstable/pod1/c1",
					.pod_uid = "1",
					.container_id = "c1",
					.qos = "burstable",
					.names = &web};
static const struct runq_group unnamed = {
	.path = "/kubepods/pod2/c2", .pod_uid = "2", .container_id = "c2", .qos = "guaranteed"};
static const struct runq_group podman = {
	.path = "/libpod/c3", .container_id = "c3", .names = &box};

static struct runq_rules rules;
static struct runq_filter filter = {.rules = &rules};

static void rule(bool include, const char *text)
{
	struct err err = {0};

	assert_int_equal(runq_rules_add(&rules, include, text, &err), 0);
}

static int setup(void **state)
{
	runq_rules_free(&rules);
	return 0;
}

#define passes(group) runq_filter_passes(&filter, &(group))
#define never(group)  runq_filter_never(&filter, &(group))

TEST_WITH(test_without_rules, setup, NULL)
{
	assert_false(runq_filter_any(&filter));
	assert_true(passes(service) && passes(nginx) && passes(unnamed));
	assert_false(never(service) || never(nginx) || never(unnamed));
}

/* Rules by path and by QoS class need no name, so they apply as soon as the cgroup is found. */
TEST_WITH(test_by_path, setup, NULL)
{
	rule(false, "cgroup=/system.slice");
	rule(false, "qos=guaranteed");
	assert_true(runq_filter_any(&filter));
	assert_true(!passes(service) && never(service));
	assert_true(passes(slicer) && !never(slicer));
	assert_true(!passes(unnamed) && never(unnamed));
	assert_true(passes(nginx) && !never(nginx));
}

TEST_WITH(test_order, setup, NULL)
{
	rule(true, "qos=burstable");
	rule(false, "namespace=shop");
	assert_true(passes(nginx) && !never(nginx));
	assert_true(!passes(service) && never(service));
}

/* A rule by pod name or namespace does not match before the name is known. */
TEST_WITH(test_by_name, setup, NULL)
{
	rule(true, "namespace=sh*");
	assert_true(passes(nginx) && !never(nginx));
	assert_true(!passes(unnamed) && !never(unnamed));
	assert_true(!passes(service) && never(service));
	setup(NULL);
	rule(false, "pod=web-?");
	assert_true(!passes(nginx) && never(nginx));
	assert_true(passes(unnamed) && !never(unnamed));
	/*
	 * If the container name is unknown, only the rules that precede the first rule by container
	 * name apply.
	 */
	setup(NULL);
	rule(false, "qos=guaranteed");
	rule(true, "container=nginx");
	assert_true(!passes(unnamed) && never(unnamed));
	setup(NULL);
	rule(true, "container=nginx");
	rule(false, "qos=guaranteed");
	assert_true(!passes(unnamed) && !never(unnamed));
}

TEST_WITH(test_renamed, setup, NULL)
{
	rule(false, "container=box");
	assert_true(!passes(podman) && !never(podman));
	setup(NULL);
	rule(true, "namespace=shop");
	assert_true(!passes(podman) && never(podman));
}

/* With --cgroup, a cgroup must pass both --cgroup and the rules of --include and --exclude. */
TEST_WITH(test_with_asked, setup, NULL)
{
	struct runq_group *asked = runq_group_new(&(struct runq_group){0}, "/kubepods");

	filter.requested = &asked;
	filter.nr = 1;
	rule(false, "pod=web-*");
	assert_true(!passes(service) && never(service));
	assert_true(!passes(nginx) && passes(unnamed));
	filter.nr = 0;
	runq_group_put(asked);
}

/* A row without a cgroup, such as "(other)", passes every exclude rule, but no include rule. */
TEST_WITH(test_no_group, setup, NULL)
{
	struct runq_party other = {.kind = RUNQ_PARTY_OTHER};

	rule(false, "namespace=shop");
	assert_true(runq_filter_passes_party(&filter, &other));
	rule(true, "namespace=shop");
	assert_false(runq_filter_passes_party(&filter, &other));
	runq_rules_free(&rules);
}

TEST_MAIN()
