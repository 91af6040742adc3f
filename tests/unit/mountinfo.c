/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the parsing of mountinfo, and the detection of cgroup v1 and v2 from it. */
#include "host/mountinfo.h"

#include "host/cgroup.h"
#include "test.h"
#include "tree.h"

static int count(const struct mount *mount, void *arg)
{
	struct mount *last = arg;

	*last = *mount;
	return 0;
}

static int parse(const char *text, struct mount *ret_last)
{
	return mountinfo_parse(text, strlen(text), count, ret_last);
}

TEST(test_lines)
{
	struct mount m;

	assert_int_equal(parse("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root "
			       "rw,errors=continue\n",
			       &m),
			 0);
	assert_string_equal(m.root, "/mnt1");
	assert_string_equal(m.point, "/mnt2");
	assert_string_equal(m.fstype, "ext3");
	assert_string_equal(m.options, "rw,errors=continue");
	assert_int_equal(parse("1 2 0:1 / /a\\040b\\134c\\011 rw - tmpfs none rw\n", &m), 0);
	assert_string_equal(m.point, "/a b\\c\t");
	assert_int_equal(
		parse("1 2 0:1 / /x rw shared:1 master:2 unbindable - tracefs tracefs rw\n", &m),
		0);
	assert_string_equal(m.fstype, "tracefs");
	/* If the source of a mount is empty, the line has two blanks in a row. */
	assert_int_equal(parse("1 2 0:1 / /x rw - tmpfs  rw,size=1k\n", &m), 0);
	assert_string_equal(m.options, "rw,size=1k");
	assert_int_equal(parse("", &m), 0);
}

TEST(test_malformed)
{
	static const char *const bad[] = {
		"\n",
		"36\n",
		"36 35 98:0 /mnt1\n",
		"36 35 98:0 /mnt1 /mnt2 rw master:1 ext3 /dev/root rw\n",
		"36 35 98:0 /mnt1 /mnt2 rw -\n",
		"36 35 98:0 /mnt1 /mnt2 rw - ext3\n",
		"36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root\n",
		"36 35 98:0 /mnt1 /mnt2 rw - ext3 /dev/root rw",
		"36 35 98:0 / /a\\04 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\ rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\x40 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\400 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\501 rw - ext3 /dev/root rw\n",
		"36 35 98:0 / /a\\000 rw - ext3 /dev/root rw\n",
		"36 35 98:0 /  rw - ext3 /dev/root rw\n",
	};
	char longer[PATH_MAX + 128];
	struct mount m;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], &m) != -EINVAL)
			fail_msg("taken: \"%s\"", bad[i]);
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "1 2 0:1 / /", 11);
	strcpy(longer + PATH_MAX + 32, " rw - tmpfs none rw\n");
	assert_int_equal(parse(longer, &m), -ENAMETOOLONG);
}

TEST(test_options)
{
	assert_true(mount_has_option("rw,cpu,cpuacct", "cpu"));
	assert_true(mount_has_option("cpu", "cpu"));
	assert_false(mount_has_option("rw,cpuacct,cpuset", "cpu"));
	assert_false(mount_has_option("", "cpu"));
}

#define M(line) "1 2 0:1 " line "\n"
#define V2(at)	M("/ " at " rw - cgroup2 cgroup2 rw,nsdelegate")
#define CPU	M("/ /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct")
#define MEM	M("/ /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory")
#define NAMED	M("/ /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd")
#define OTHER	M("/ / rw - ext4 /dev/sda rw")

TEST_WITH(test_cgroup_layouts, tree_setup, tree_teardown)
{
	static const struct {
		const char *text;
		enum cgroup_mode mode;
		const char *v2, *v1_cpu;
		bool subtree;
	} cases[] = {
		{OTHER, CGROUP_NONE, "", "", false},
		{OTHER V2("/sys/fs/cgroup"), CGROUP_V2, "/sys/fs/cgroup", "", false},
		{OTHER V2("/sys/fs/cgroup") V2("/var/lib/x"), CGROUP_V2, "/sys/fs/cgroup", "",
		 false},
		{OTHER MEM CPU, CGROUP_V1, "", "/sys/fs/cgroup/cpu,cpuacct", false},
		{OTHER MEM, CGROUP_V1, "", "", false},
		{CPU MEM NAMED V2("/sys/fs/cgroup/unified"), CGROUP_HYBRID,
		 "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu,cpuacct", false},
		{NAMED V2("/sys/fs/cgroup/unified"), CGROUP_HYBRID, "/sys/fs/cgroup/unified", "",
		 false},
		{M("/../../pod1 /sys/fs/cgroup ro - cgroup2 cgroup rw"), CGROUP_V2,
		 "/sys/fs/cgroup", "", true},
	};
	const struct tree *tree = *state;
	struct cgroup_layout layout;
	char point[64];

	assert_int_equal(cgroup_layout(tree->root, &layout), -ENOENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tree_file(tree, "/proc/self/mountinfo", cases[i].text);
		assert_int_equal(cgroup_layout(tree->root, &layout), 0);
		assert_int_equal(layout.mode, cases[i].mode);
		assert_string_equal(layout.v2, cases[i].v2);
		assert_string_equal(layout.v1_cpu, cases[i].v1_cpu);
		assert_int_equal(layout.subtree, cases[i].subtree);
	}
	assert_int_equal(mountinfo_find(tree->root, "cgroup2", NULL, point, sizeof(point)), 0);
	assert_string_equal(point, "/sys/fs/cgroup");
	assert_int_equal(mountinfo_find(tree->root, "tracefs", NULL, point, sizeof(point)), -ENOENT);
	assert_int_equal(mountinfo_find(tree->root, "cgroup2", NULL, point, 5), -ENAMETOOLONG);
	tree_file(tree, "/proc/self/mountinfo", "nonsense\n");
	assert_int_equal(cgroup_layout(tree->root, &layout), -EINVAL);
}

/*
 * If cgroup v1 and v2 are both mounted, the hierarchy in which the CPU controller has cgroups is
 * used.
 */
TEST_WITH(test_cgroup_of_cpu, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cgroup_layout both = {0}, v1 = {0}, v2 = {0}, none = {0};

	tree_file(tree, "/v1/tasks", "");
	tree_file(tree, "/v2/cgroup.procs", "");
	snprintf(both.v1_cpu, sizeof(both.v1_cpu), "%s/v1", tree->root);
	snprintf(both.v2, sizeof(both.v2), "%s/v2", tree->root);
	strcpy(v1.v1_cpu, both.v1_cpu);
	strcpy(v2.v2, both.v2);
	assert_true(cgroup_cpu_is_v1(&v1));
	assert_false(cgroup_cpu_is_v1(&v2));
	assert_false(cgroup_cpu_is_v1(&none));
	assert_true(cgroup_cpu_is_v1(&both));
	tree_file(tree, "/v2/system.slice/cgroup.procs", "");
	assert_false(cgroup_cpu_is_v1(&both));
	tree_file(tree, "/v1/docker/tasks", "");
	assert_true(cgroup_cpu_is_v1(&both));
}

TEST_MAIN()
