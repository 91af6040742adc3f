/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how a group is read from the header of its counters, and invalid headers. */
#include "test.h"

#include "measure/runq/group.h"

static struct runq_head head;

/* Writes a path to a group's header, which contains the path components from the leaf up. */
static void set_path(const char *const *names, uint32_t depth)
{
	char *at = head.path;

	memset(&head, 0, sizeof(head));
	for (uint32_t i = 0; i < depth; i++)
		at = stpcpy(at, names[i]) + 1;
	head.depth = depth;
}

static void check_path(enum runq_per per, uint64_t key, const char *path)
{
	struct runq_group *group = runq_group_read(per, key, &head);

	assert_non_null(group);
	assert_string_equal(group->path, path);
	assert_true(group->key == key);
	runq_group_put(group);
}

TEST(test_paths)
{
	static const char *const names[] = {"leaf", "b", "a"};
	static const char *const deep[RUNQ_DEPTH] = {"l", "k", "j", "i", "h", "g",
						     "f", "e", "d", "c", "b", "a"};

	set_path(names, 3);
	check_path(RUNQ_PER_CGROUP, 5, "/a/b/leaf");
	check_path(RUNQ_PER_TASK, 5, "/a/b/leaf");
	check_path(RUNQ_PER_CGROUP, RUNQ_KEY_OTHER, "(other)");
	set_path(names, 0);
	check_path(RUNQ_PER_CGROUP, 5, "/");
	/* The path has more components than the header of the group can store. */
	set_path(deep, RUNQ_DEPTH);
	head.cgroup_id = 77;
	check_path(RUNQ_PER_CGROUP, 5, "/…(77)/a/b/c/d/e/f/g/h/i/j/k/l");
	/* Two groups whose truncated paths are equal have different cgroup IDs. */
	head.cgroup_id = UINT64_MAX;
	check_path(RUNQ_PER_CGROUP, 5, "/…(18446744073709551615)/a/b/c/d/e/f/g/h/i/j/k/l");
	set_path(names, 0);
	head.depth = RUNQ_DEPTH;
	check_path(RUNQ_PER_CGROUP, 5, "/…(0)");
}

/* A group with a truncated path has a flag, so that truncated paths can be counted. */
TEST(test_cut)
{
	static const char *const names[RUNQ_DEPTH] = {"a", "a", "a", "a", "a", "a",
						      "a", "a", "a", "a", "a", "a"};

	for (uint32_t depth = 0; depth <= RUNQ_DEPTH; depth++) {
		struct runq_group *group;

		set_path(names, depth);
		group = runq_group_read(RUNQ_PER_CGROUP, 5, &head);
		assert_non_null(group);
		assert_int_equal(group->cut, depth == RUNQ_DEPTH);
		runq_group_put(group);
	}
}

/* A group's header that is only partly written does not cause reads or writes beyond the header. */
TEST(test_torn)
{
	struct runq_group *group;

	memset(&head, 'x', sizeof(head));
	head.depth = 4;
	group = runq_group_read(RUNQ_PER_CGROUP, 5, &head);
	assert_non_null(group);
	assert_int_equal(strlen(group->path), 1 + sizeof(head.path));
	assert_int_equal(strlen(group->comm), sizeof(head.comm));
	runq_group_put(group);
}

TEST(test_others)
{
	struct runq_group *group;

	memset(&head, 0, sizeof(head));
	memcpy(head.comm, "sixteen letters!", 16);
	head.pid = 12;
	head.tgid = 11;
	head.cgroup_id = 99;
	check_path(RUNQ_PER_COMM, 77, "sixteen letters!");
	check_path(RUNQ_PER_CPU, 4, "CPU 3");
	group = runq_group_read(RUNQ_PER_TASK, 77, &head);
	assert_non_null(group);
	assert_string_equal(group->comm, "sixteen letters!");
	assert_int_equal(group->pid, 12);
	assert_int_equal(group->tgid, 11);
	assert_int_equal(group->cgroup_id, 99);
	runq_group_get(group);
	runq_group_put(group);
	assert_int_equal(group->tgid, 11);
	runq_group_put(group);
}

TEST(test_parties)
{
	static const struct {
		uint64_t key;
		enum runq_party_kind kind;
		const char *path;
	} special[] = {
		{RUNQ_KEY_IDLE, RUNQ_PARTY_IDLE, "(idle)"},
		{RUNQ_KEY_KTHREAD, RUNQ_PARTY_KTHREADS, "(kernel threads)"},
		{RUNQ_KEY_QUOTA, RUNQ_PARTY_QUOTA, "(quota)"},
		{RUNQ_KEY_UNKNOWN, RUNQ_PARTY_UNKNOWN, "(unknown)"},
		{RUNQ_KEY_MOVED, RUNQ_PARTY_OTHER_CORE, "(other core)"},
		{RUNQ_KEY_OTHER, RUNQ_PARTY_OTHER, "(other)"},
		{RUNQ_KEY_EXCLUDED, RUNQ_PARTY_EXCLUDED, "(excluded)"},
		{5, RUNQ_PARTY_GONE, "(gone)"},
	};
	const struct runq_group group = {.key = 5, .path = "/a"};
	struct runq_party party;

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		party = runq_party_of(special[i].key, NULL);
		assert_int_equal(party.kind, special[i].kind);
		assert_string_equal(runq_party_path(&party), special[i].path);
	}
	party = runq_party_of(5, &group);
	assert_int_equal(party.kind, RUNQ_PARTY_GROUP);
	assert_string_equal(runq_party_path(&party), "/a");
}

TEST_MAIN()
