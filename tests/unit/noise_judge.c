/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests limits on noise, advised settings, and the list of isolated CPUs. */
#include "test.h"

#include <math.h>

#include "measure/noise/cells.h"
#include "measure/noise/noise.h"
#include "host/cpu.h"
#include "tree.h"

TEST(limits_parse)
{
	struct noise_limits l = noise_no_limits;

	assert_true(noise_limit_parse("max=50us", &l));
	assert_int_equal(l.max_ns, 50000);
	assert_true(isnan(l.rate_hz) && isnan(l.share_ratio));
	assert_true(noise_limit_parse("rate=10/s", &l));
	assert_true(l.rate_hz == 10.0);
	assert_true(noise_limit_parse("share=0.1%", &l));
	assert_true(fabs(l.share_ratio - 0.001) < 1e-12);
}

TEST(limits_refused)
{
	static const char *const words[] = {"", "max", "max=", "max=x", "rate=10", "rate=-1/s",
					    "rate=/s", "rate=nan/s", "share=0.1", "share=101%",
					    "share=%", "p99=1ms", "max=61s"};
	struct noise_limits l = {1, 2.0, 3.0};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_false(noise_limit_parse(words[i], &l));
	assert_true(l.max_ns == 1 && l.rate_hz == 2.0 && l.share_ratio == 3.0);
}

/*
 * A core exceeds the limits if a value is above its limit, not equal to the limit. A core without
 * values exceeds no limit.
 */
TEST(verdicts)
{
	struct noise_core core = {.window_ns = 1000000000, .class_ns = {400000, 500000, 100000},
				  .events = 10, .longest_ns = 50000};
	struct noise_limits none = noise_no_limits, l;

	assert_false(noise_exceeds(&core, &none));
	assert_false(noise_exceeds(&core, &noise_isolated_limits));
	l = none;
	l.max_ns = 49999;
	assert_true(noise_exceeds(&core, &l));
	l = none;
	l.rate_hz = 9.5;
	assert_true(noise_exceeds(&core, &l));
	l = none;
	l.share_ratio = 0.00099;
	assert_true(noise_exceeds(&core, &l));
	core.flags = LOAD_OFFLINE;
	assert_false(noise_exceeds(&core, &l));
}

static const char *knob(enum noise_kind kind, const char *name)
{
	struct noise_source source = {.kind = kind};

	snprintf(source.name, sizeof(source.name), "%s", name);
	return noise_knob(&source);
}

/*
 * The first rule that matches the name of a noise source determines the advised setting, so
 * specific rules come first.
 */
TEST(knobs)
{
	assert_non_null(strstr(knob(NOISE_KIND_IRQ, "eth0-rx-0"), "smp_affinity_list"));
	assert_non_null(strstr(knob(NOISE_KIND_IRQ, "arch_timer"), "nohz_full"));
	assert_non_null(strstr(knob(NOISE_KIND_VECTOR, "Local timer interrupts"), "nohz_full"));
	assert_non_null(strstr(knob(NOISE_KIND_SOFTIRQ, "RCU"), "rcu_nocbs"));
	assert_non_null(strstr(knob(NOISE_KIND_THREAD, "kworker/u8:1"), "workqueue/cpumask"));
	assert_null(strstr(knob(NOISE_KIND_THREAD, "kworker/0:1"), "workqueue/cpumask"));
	assert_non_null(strstr(knob(NOISE_KIND_THREAD, "anything"), "taskset"));
	assert_null(knob(NOISE_KIND_VECTOR, "Spurious interrupts"));
}

TEST_WITH(isolated, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset set;
	char list[64];

	isolated_cpus(tree->root, "/sys/fs/cgroup", &set);
	assert_int_equal(cpuset_count(&set), 0);
	/* If the kernel was booted without nohz_full=, the file nohz_full contains "(null)". */
	tree_file(tree, "/sys/devices/system/cpu/nohz_full", "(null)\n");
	tree_file(tree, "/sys/devices/system/cpu/isolated", "2-3\n");
	tree_file(tree, "/sys/fs/cgroup/cpuset.cpus.isolated", "5\n");
	isolated_cpus(tree->root, "/sys/fs/cgroup", &set);
	cpuset_format(&set, list, sizeof(list));
	assert_string_equal(list, "2-3,5");
	tree_file(tree, "/sys/devices/system/cpu/nohz_full", "3-4\n");
	isolated_cpus(tree->root, "", &set);
	cpuset_format(&set, list, sizeof(list));
	assert_string_equal(list, "2-4");
}

TEST_MAIN()
