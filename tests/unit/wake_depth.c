/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests residency counters: those of a machine, their idle states, and verdicts. */
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

#include "tree.h"
#include "measure/wake/depth.h"
#include "measure/wake/worker.h"

#define PMUS   "/sys/bus/event_source/devices"
#define POINTS 8

/* Simulated residency counters C1, C6, PC2 and PC6, in this order, and their file descriptors. */
static struct {
	uint64_t cycles[4];
	int fd[4];
	int read_rc;
} model;

/* Test doubles of the perf functions; see meson.build. */
int __wrap_perf_open_cpu(const struct perf_event *event, unsigned int cpu, bool pinned)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(cpu, 3);
	assert_true(pinned && event->config < 4);
	model.fd[event->config] = fd;
	return fd;
}

int __wrap_perf_read(int fd, struct perf_count *ret_count)
{
	for (int i = 0; i < 4; i++)
		if (model.fd[i] == fd)
			*ret_count = (struct perf_count){model.cycles[i], 1, 1};
	return model.read_rc;
}

uint64_t __wrap_cycles_hz(void)
{
	return 2000000000;
}

static void count(const struct tree *tree, int state, unsigned int usage, unsigned int us)
{
	char path[96], text[16];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/usage", state);
	snprintf(text, sizeof(text), "%u\n", usage);
	tree_file(tree, path, text);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/time", state);
	snprintf(text, sizeof(text), "%u\n", us);
	tree_file(tree, path, text);
}

static void add_state(const struct tree *tree, int state, const char *name, const char *desc)
{
	static const char *const zeros[] = {"latency", "disable"};
	char path[96];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/%s",
			 state, zeros[i]);
		tree_file(tree, path, "0\n");
	}
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/name", state);
	tree_file(tree, path, name);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu3/cpuidle/state%d/desc", state);
	tree_file(tree, path, desc);
	count(tree, state, 100, 5000);
}

static void add_cpuidle(const struct tree *tree)
{
	tree_file(tree, "/sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
	add_state(tree, 0, "POLL\n", "CPUIDLE CORE POLL IDLE\n");
	add_state(tree, 1, "C1\n", "MWAIT 0x00\n");
	add_state(tree, 2, "C6\n", "MWAIT 0x20\n");
}

static void add_counters(const struct tree *tree)
{
	memset(&model, 0, sizeof(model));
	tree_file(tree, PMUS "/cstate_core/type", "21\n");
	tree_file(tree, PMUS "/cstate_core/events/c1-residency", "event=0x00\n");
	tree_file(tree, PMUS "/cstate_core/events/c6-residency", "event=0x01\n");
	tree_file(tree, PMUS "/cstate_pkg/type", "22\n");
	tree_file(tree, PMUS "/cstate_pkg/events/c2-residency", "event=0x02\n");
	tree_file(tree, PMUS "/cstate_pkg/events/c6-residency", "event=0x03\n");
}

static struct wake_point point_in(struct wake_depth *d, size_t index, unsigned int state)
{
	struct wake_point point = {.state = state};

	wake_depth_point(d, index, &point);
	return point;
}

TEST_WITH(test_hardware, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct wake_depth d = {0};
	struct wake_point p;

	add_cpuidle(tree);
	add_counters(tree);
	assert_int_equal(wake_depth_begin(&d, tree->root, 3, POINTS), 0);
	assert_int_equal(d.nr_columns, 5);
	assert_string_equal(d.name[3], "PC6");
	assert_string_equal(d.name[4], "cpuidle");
	assert_string_equal(wake_depth_by(&d, 2), "cstate_core");
	assert_string_equal(wake_depth_by(&d, 0), "cpuidle");
	assert_true(d.package_can[2] && !d.package_can[1]);

	/* The core was in C6, but the package was only in PC2, in which its caches stay on. */
	model.cycles[1] += 600;
	model.cycles[2] += 400;
	count(tree, 2, 101, 5007);
	p = point_in(&d, 0, 2);
	assert_int_equal(p.entered, WAKE_ENTERED_YES);
	assert_int_equal(p.package, WAKE_ENTERED_NO);
	assert_int_equal(d.ns[1], 300);
	assert_int_equal(d.ns[2], 200);
	assert_int_equal(d.ns[4], 7000);

	model.cycles[0] += 600;
	count(tree, 2, 102, 5010);
	p = point_in(&d, 1, 2);
	assert_int_equal(p.entered, WAKE_ENTERED_NO);
	assert_int_equal(d.ns[5 + 0], 300);
	assert_int_equal(d.ns[5 + 1], 0);

	model.cycles[1] += 600;
	model.cycles[3] += 200;
	p = point_in(&d, 2, 2);
	assert_int_equal(p.entered, WAKE_ENTERED_YES);
	assert_int_equal(p.package, WAKE_ENTERED_YES);
	assert_int_equal(d.sum[1], 1200);

	model.read_rc = -ENODEV;
	model.cycles[1] += 600;
	p = point_in(&d, 3, 2);
	assert_int_equal(p.entered, WAKE_ENTERED_UNKNOWN);
	assert_int_equal(d.ns[3 * 5], UINT32_MAX);
	model.read_rc = 0;
	wake_depth_close(&d);
	assert_int_equal(fcntl(model.fd[0], F_GETFD), -1);
}

TEST_WITH(test_cpuidle, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct wake_depth d = {0};
	struct wake_point p;

	add_cpuidle(tree);
	assert_int_equal(wake_depth_begin(&d, tree->root, 3, POINTS), 0);
	assert_int_equal(d.nr_columns, 1);
	assert_string_equal(wake_depth_by(&d, 2), "cpuidle");
	count(tree, 2, 101, 5400);
	p = point_in(&d, 0, 2);
	assert_int_equal(p.entered, WAKE_ENTERED_YES);
	assert_int_equal(p.package, WAKE_ENTERED_UNKNOWN);
	assert_int_equal(d.ns[0], 400000);
	/*
	 * The firmware refused the requested idle state, so the usage counter of this state did not
	 * change.
	 */
	count(tree, 1, 101, 5001);
	p = point_in(&d, 1, 2);
	assert_int_equal(p.entered, WAKE_ENTERED_NO);
	assert_int_equal(d.ns[1], 0);
	p = point_in(&d, 2, 7);
	assert_int_equal(p.entered, WAKE_ENTERED_UNKNOWN);
	wake_depth_close(&d);
}

TEST_WITH(test_nothing, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct wake_depth d = {0};

	assert_int_equal(wake_depth_begin(&d, tree->root, 3, POINTS), 0);
	assert_int_equal(d.nr_columns, 0);
	assert_null(wake_depth_by(&d, 1));
	assert_int_equal(point_in(&d, 0, 1).entered, WAKE_ENTERED_UNKNOWN);
	wake_depth_close(&d);
}

static void put(const struct tree *tree, int cpu, const char *package)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		 cpu);
	tree_file(tree, path, package);
}

TEST_WITH(test_sender, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct cpuset online = {0}, measured = {0};

	for (int cpu = 0; cpu < 4; cpu++)
		cpuset_add(&online, cpu);
	cpuset_add(&measured, 1);
	/*
	 * If the packages of the cores are unknown, the sender is the first core that is not
	 * measured.
	 */
	assert_int_equal(wake_sender_choose(tree->root, &online, &measured), 0);
	assert_true(wake_sender_shares_package(tree->root, 0, &measured));
	put(tree, 0, "0\n");
	put(tree, 1, "0\n");
	put(tree, 2, "-1\n");
	put(tree, 3, "1\n");
	assert_int_equal(wake_sender_choose(tree->root, &online, &measured), 3);
	assert_false(wake_sender_shares_package(tree->root, 3, &measured));
	assert_true(wake_sender_shares_package(tree->root, 2, &measured));
	cpuset_add(&measured, 3);
	assert_int_equal(wake_sender_choose(tree->root, &online, &measured), 0);
	cpuset_add(&measured, 0);
	cpuset_add(&measured, 2);
	assert_int_equal(wake_sender_choose(tree->root, &online, &measured), CPUSET_MAX);
}

#define CORE	"/sys/bus/event_source/devices/cstate_core"
#define PACKAGE "/sys/bus/event_source/devices/cstate_pkg"

TEST_WITH(test_list, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct perf_event events[CSTATE_MAX];

	assert_int_equal(cstate_list(tree->root, false, events), 0);
	tree_file(tree, CORE "/type", "21\n");
	assert_int_equal(cstate_list(tree->root, false, events), 0);
	/* Creates the event files for residency counters of the cores of a Skylake server. */
	tree_file(tree, CORE "/events/c1-residency", "event=0x00\n");
	tree_file(tree, CORE "/events/c6-residency", "event=0x02\n");
	tree_file(tree, CORE "/events/c7-residency", "not an event\n");
	assert_int_equal(cstate_list(tree->root, false, events), 2);
	assert_string_equal(events[0].name, "C1");
	assert_string_equal(events[1].name, "C6");
	assert_int_equal(events[1].types[0], 21);
	assert_int_equal(events[1].config, 2);
	assert_int_equal(cstate_list(tree->root, true, events), 0);
	tree_file(tree, PACKAGE "/type", "22\n");
	tree_file(tree, PACKAGE "/events/c2-residency", "event=0x00\n");
	tree_file(tree, PACKAGE "/events/c6-residency", "event=0x02\n");
	assert_int_equal(cstate_list(tree->root, true, events), 2);
	assert_string_equal(events[1].name, "PC6");
	assert_int_equal(events[1].types[0], 22);
}

/* Tests C-state numbers from the names and descriptions of the kernel's cpuidle drivers. */
TEST(test_numbers)
{
	assert_int_equal(cstate_number("intel_idle", "C1", "MWAIT 0x00"), 1);
	assert_int_equal(cstate_number("intel_idle", "C1E", "MWAIT 0x01"), 1);
	assert_int_equal(cstate_number("intel_idle", "C6SP", "MWAIT 0x23"), 6);
	assert_int_equal(cstate_number("intel_idle", "C10", "MWAIT 0x60"), 10);
	/*
	 * The MWAIT hints of an Atom have another meaning, so the number is taken from the name of
	 * the idle state.
	 */
	assert_int_equal(cstate_number("intel_idle", "C6", "MWAIT 0x58"), 6);
	/* ACPI numbers are chosen by the firmware. */
	assert_int_equal(cstate_number("intel_idle", "C2_ACPI", "ACPI FFH MWAIT 0x20"), 6);
	assert_int_equal(cstate_number("acpi_idle", "C2", "ACPI FFH MWAIT 0x10"), 3);
	assert_int_equal(cstate_number("acpi_idle", "C2", "ACPI IOPORT 0x814"), -1);
	assert_int_equal(cstate_number("intel_idle", "POLL", "CPUIDLE CORE POLL IDLE"), -1);
	assert_int_equal(cstate_number("psci_idle", "deep-sleep", "deep-sleep"), -1);
}

TEST(test_counters)
{
	struct cstate_set set = {
		.nr = 5, .number = {1, 3, 6, 7, 6}, .package = {false, false, false, false, true}};

	assert_int_equal(cstate_counter(&set, 6), 2);
	assert_int_equal(cstate_counter(&set, 1), 0);
	/* The residency counter of C7 also runs in C8 and deeper states. */
	assert_int_equal(cstate_counter(&set, 10), 3);
	set.nr = 2;
	/* The residency counter of C3 does not run in C6. */
	assert_int_equal(cstate_counter(&set, 6), -1);
	set.nr = 0;
	assert_int_equal(cstate_counter(&set, 1), -1);
}

TEST_MAIN()
