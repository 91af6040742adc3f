/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests how a process without CAP_DAC_READ_SEARCH finds the names of cgroups. */
#include "measure/noise/names.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char mount[] = "/tmp/noise-names-XXXXXX";

/* Test double of cgroup_path(), which needs CAP_DAC_READ_SEARCH; see meson.build. */
int __wrap_cgroup_path(const struct cgroup_paths *paths, uint64_t id, char *buf, size_t size)
{
	return -EPERM;
}

static uint64_t make(const char *name)
{
	char path[128];
	struct stat made;

	snprintf(path, sizeof(path), "%s%s", mount, name);
	if (name[0])
		assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(stat(path, &made), 0);
	return made.st_ino;
}

static void remove_dir(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", mount, name);
	assert_int_equal(rmdir(path), 0);
}

TEST(walks)
{
	struct noise_names names;
	struct noise_hit hits[6];

	assert_non_null(mkdtemp(mount));
	hits[0].key = make("");
	hits[1].key = make("/a");
	hits[2].key = make("/a/b c");
	hits[3].key = NOISE_ON_IDLE;
	hits[4].key = NOISE_ON_THREAD;
	hits[5].key = 12345678901ULL;
	noise_names_open(&names, mount);
	noise_names_fill(&names, hits, 6);
	assert_string_equal(hits[0].cgroup, "/");
	assert_string_equal(hits[1].cgroup, "/a");
	assert_string_equal(hits[2].cgroup, "/a/b c");
	assert_string_equal(hits[3].cgroup, "(idle)");
	assert_string_equal(hits[4].cgroup, "(kernel threads)");
	assert_string_equal(hits[5].cgroup, "(gone)");
	assert_true(names.next_walk_ns > 0);
	/*
	 * A new cgroup has no name until the next search of the cgroup directories, which starts at
	 * next_walk_ns at the earliest.
	 */
	names.next_walk_ns = UINT64_MAX;
	hits[5].key = make("/late");
	noise_names_fill(&names, hits, 6);
	assert_string_equal(hits[1].cgroup, "/a");
	assert_string_equal(hits[5].cgroup, "(new)");
	names.next_walk_ns = 1;
	noise_names_fill(&names, hits, 6);
	assert_string_equal(hits[5].cgroup, "/late");
	noise_names_close(&names);
	remove_dir("/late");
	remove_dir("/a/b c");
	remove_dir("/a");
	remove_dir("");
}

TEST_MAIN()
