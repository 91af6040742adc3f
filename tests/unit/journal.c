/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that idle states are forced, and settings restored after a normal end and SIGKILL. */
#include "test.h"
#include "tree.h"

#include <linux/net_tstamp.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/wake/force.h"
#include "host/file.h"
#include "host/journal.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define RESTORE "/run/subtick/restore"

static const struct tree *tree;
static struct journal r;
static struct err err;

static void begin(void)
{
	assert_int_equal(journal_open(&r, tree->root, &err), 0);
}

/* Two CPUs with POLL, C1, C1E and C6. The administrator has disabled C1E of CPU 1. */
static int machine_setup(void **state)
{
	static const char *const names[] = {"POLL", "C1", "C1E", "C6"};
	static const char *const latency[] = {"0", "2", "10", "133"};
	char path[128];

	if (tree_setup(state))
		return -1;
	tree = *state;
	tree_file(tree, CPU_DIR "/online", "0-1\n");
	tree_file(tree, CPU_DIR "/possible", "0-1\n");
	tree_file(tree, CPU_DIR "/cpuidle/current_driver", "intel_idle\n");
	tree_file(tree, "/run/keep", "");
	for (int cpu = 0; cpu < 2; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
		tree_file(tree, path, "1\n");
		for (int i = 0; i < 4; i++) {
			char dir[96];
			const char *zero = "0\n";

			snprintf(dir, sizeof(dir), CPU_DIR "/cpu%d/cpuidle/state%d", cpu, i);
			snprintf(path, sizeof(path), "%s/name", dir);
			tree_file(tree, path, names[i]);
			snprintf(path, sizeof(path), "%s/latency", dir);
			tree_file(tree, path, latency[i]);
			snprintf(path, sizeof(path), "%s/disable", dir);
			tree_file(tree, path, cpu == 1 && i == 2 ? "1\n" : "0\n");
			snprintf(path, sizeof(path), "%s/usage", dir);
			tree_file(tree, path, zero);
			snprintf(path, sizeof(path), "%s/time", dir);
			tree_file(tree, path, zero);
		}
	}
	return 0;
}

static void disables_are(const char *want)
{
	char got[9] = "", path[128], value[8];

	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/cpuidle/state%d/disable", i / 4,
			 i % 4);
		assert_true(sys_read_file(tree->root, path, value, sizeof(value)) > 0);
		got[i] = value[0];
	}
	assert_string_equal(got, want);
}

static void online_is(int cpu, const char *want)
{
	char path[64], value[8];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
	assert_true(sys_read_file(tree->root, path, value, sizeof(value)) > 0);
	assert_string_equal(value, want);
}

static void journal_is_empty(void)
{
	char text[8];

	assert_int_equal(sys_read_file(tree->root, RESTORE, text, sizeof(text)), 0);
}

static int apply(const struct wake_force *force, const char *cpus)
{
	struct cpuset set;

	assert_int_equal(cpuset_parse(cpus, &set), 0);
	return wake_force_apply(&r, tree->root, force, &set, CPUSET_MAX, &err);
}

TEST_WITH(test_force_and_restore, machine_setup, tree_teardown)
{
	struct wake_force force = {.state = "c6"};

	begin();
	assert_int_equal(apply(&force, "0-1"), 0);
	disables_are("11101110");
	journal_close(&r);
	disables_are("00000010");
	journal_is_empty();

	force = (struct wake_force){.deepest = "C1"};
	begin();
	assert_int_equal(apply(&force, "1"), 0);
	disables_are("00000011");
	journal_close(&r);
	disables_are("00000010");

	force = (struct wake_force){.alone = true};
	begin();
	assert_int_equal(apply(&force, "1"), 0);
	online_is(0, "0");
	online_is(1, "1");
	journal_close(&r);
	online_is(0, "1");
}

TEST_WITH(test_unknown_state, machine_setup, tree_teardown)
{
	struct wake_force force = {.state = "C9"};

	begin();
	assert_int_equal(apply(&force, "0"), -ENOENT);
	assert_true(err.unsupported);
	assert_non_null(strstr(err.what, "POLL, C1, C1E, C6"));
	journal_close(&r);
	disables_are("00000010");
}

/* A second run would save changes of the first as original values, so it is refused. */
TEST_WITH(test_locked, machine_setup, tree_teardown)
{
	struct journal one, two;

	assert_int_equal(journal_open(&one, tree->root, &err), 0);
	assert_int_equal(journal_open(&two, tree->root, &err), -EBUSY);
	journal_close(&one);
	assert_int_equal(journal_open(&two, tree->root, &err), 0);
	journal_close(&two);
}

/*
 * Without write permission the error message advises to become root, and does not claim that
 * another subtick is running.
 */
TEST_WITH(test_not_allowed, machine_setup, tree_teardown)
{
	int status;
	pid_t pid;

	if (geteuid()) {
		print_message("needs root to become somebody else\n");
		skip();
	}
	tree_file(tree, RESTORE, "");
	pid = fork();
	if (!pid) {
		if (setuid(65534))
			_exit(1);
		if (journal_open(&r, tree->root, &err) != -EACCES || !err.unsupported)
			_exit(2);
		_exit(strstr(err.what, "another") || !strstr(err.fix, "root") ? 3 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void killed_child(bool kill_guard)
{
	struct wake_force force = {.state = "C6", .alone = true};
	int ready[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct cpuset set = {0};

		cpuset_add(&set, 1);
		if (journal_open(&r, tree->root, NULL) ||
		    wake_force_apply(&r, tree->root, &force, &set, CPUSET_MAX, NULL))
			_exit(1);
		if (kill_guard) {
			kill(r.guard.pid, SIGKILL);
			waitpid(r.guard.pid, NULL, 0);
		}
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	disables_are("00001110");
	online_is(0, "0");
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

TEST_WITH(test_killed_guard_restores, machine_setup, tree_teardown)
{
	struct timespec delay = clock_timespec(10 * NSEC_PER_MSEC);
	char value[8] = "0";

	killed_child(false);
	for (int i = 0; i < 500 && value[0] != '1'; i++) {
		nanosleep(&delay, NULL);
		sys_read_file(tree->root, CPU_DIR "/cpu0/online", value, sizeof(value));
	}
	for (int i = 0; i < 100; i++) {
		char text[4096];

		if (!sys_read_file(tree->root, RESTORE, text, sizeof(text)))
			break;
		nanosleep(&delay, NULL);
	}
	disables_are("00000010");
	online_is(0, "1");
	journal_is_empty();
}

TEST_WITH(test_killed_both_next_restores, machine_setup, tree_teardown)
{
	killed_child(true);
	disables_are("00001110");
	assert_true(journal_replay(tree->root) > 0);
	disables_are("00000010");
	online_is(0, "1");
	assert_int_equal(journal_replay(tree->root), 0);

	killed_child(true);
	begin();
	disables_are("00000010");
	journal_close(&r);
}

/* No path outside of /sys and /proc is written. A truncated last line is ignored. */
TEST_WITH(test_journal_is_checked, machine_setup, tree_teardown)
{
	tree_file(tree, "/etc/passwd", "root\n");
	tree_file(tree, RESTORE,
		  CPU_DIR "/cpu0/online\t7\n" CPU_DIR "/cpu1/online\t8");
	assert_int_equal(journal_replay(tree->root), 1);
	online_is(0, "7");
	online_is(1, "1");
	tree_file(tree, RESTORE, "/etc/passwd\tx\n");
	assert_int_equal(journal_replay(tree->root), -EIO);
	tree_file(tree, RESTORE, "/sys/../etc/passwd\tx\n");
	assert_int_equal(journal_replay(tree->root), -EIO);
}

/* After a refused write the journal must be empty, so that subtick can run again. */
TEST_WITH(test_refused_write, machine_setup, tree_teardown)
{
	tree_link(tree, CPU_DIR "/cpu0/refuses", "/proc/version");
	begin();
	assert_int_equal(journal_set(&r, CPU_DIR "/cpu1/online", "0", &err), 0);
	assert_true(journal_set(&r, CPU_DIR "/cpu0/refuses", "1", &err) < 0);
	assert_non_null(strstr(err.what, "refuses"));
	assert_int_equal(journal_set(&r, CPU_DIR "/cpu0/online", "0", &err), 0);
	journal_close(&r);
	assert_int_equal(r.failed, 0);
	online_is(0, "1");
	online_is(1, "1");
	journal_is_empty();
}

#define ONLINE(cpu) CPU_DIR "/cpu" #cpu "/online"

/* journal_close() restores a file only if it has the value that journal_trial() read. */
TEST_WITH(test_trial, machine_setup, tree_teardown)
{
	char was[JOURNAL_VALUE], now[JOURNAL_VALUE];

	tree_file(tree, "/sys/lines", "1\n2\n");
	tree_link(tree, "/sys/refuses", "/proc/version");
	begin();
	assert_int_equal(journal_trial(&r, ONLINE(0), "0", was, now, &err), 0);
	assert_string_equal(was, "1");
	assert_string_equal(now, "0");
	online_is(0, "1");
	assert_int_equal(journal_trial(&r, ONLINE(1), "1", was, now, &err), -EALREADY);
	assert_int_equal(journal_trial(&r, "/sys/lines", "1", was, now, &err), -EINVAL);
	assert_int_equal(journal_trial(&r, "/etc/passwd", "1", was, now, &err), -EPERM);
	assert_int_equal(journal_trial(&r, "/sys/none", "1", was, now, &err), -ENOENT);
	assert_true(journal_trial(&r, "/sys/refuses", "1", was, now, &err) < 0);
	assert_int_equal(journal_trial(&r, ONLINE(1), "0", was, now, &err), 0);
	/* Another program writes the trial value for CPU 0 and another value for CPU 1. */
	assert_int_equal(sys_write_file(tree->root, ONLINE(0), "0"), 0);
	assert_int_equal(sys_write_file(tree->root, ONLINE(1), "7"), 0);
	journal_close(&r);
	assert_int_equal(r.failed, 0);
	online_is(0, "1");
	online_is(1, "7");
	journal_is_empty();
}

/* All files changed by a trial are restored, except the file `keep` of the journal. */
TEST_WITH(test_trial_keep, machine_setup, tree_teardown)
{
	char was[JOURNAL_VALUE], now[JOURNAL_VALUE];

	begin();
	assert_int_equal(journal_trial(&r, ONLINE(0), "0", was, now, &err), 0);
	assert_int_equal(journal_trial(&r, ONLINE(1), "0", was, now, &err), 0);
	assert_int_equal(sys_write_file(tree->root, ONLINE(0), "0"), 0);
	assert_int_equal(sys_write_file(tree->root, ONLINE(1), "0"), 0);
	r.keep = ONLINE(1);
	journal_close(&r);
	online_is(0, "1");
	online_is(1, "0");

	/*
	 * The journal has an empty value, the file of a removed cgroup, and a file that another
	 * program changed.
	 */
	tree_file(tree, "/sys/cpus", "0-1\n");
	tree_file(tree, RESTORE,
		  "/sys/cpus\t\t0-1\n/sys/gone\t1\t2\n" ONLINE(0) "\t5\t6\n");
	assert_int_equal(journal_replay(tree->root), 3);
	assert_int_equal(sys_read_file(tree->root, "/sys/cpus", was, sizeof(was)), 0);
	online_is(0, "1");
	journal_is_empty();
}

/* The setting of a removed device is not restored. An unreadable journal is kept. */
TEST_WITH(test_journal_odd, machine_setup, tree_teardown)
{
	char path[128], text[8];

	tree_file(tree, RESTORE,
		  CPU_DIR "/cpu9/online\t1\n" CPU_DIR "/cpu0/online\t1\n");
	assert_int_equal(journal_replay(tree->root), 2);
	journal_is_empty();

	tree_file(tree, RESTORE, CPU_DIR "/cpu0/online\t0\n");
	snprintf(path, sizeof(path), "%s/run/subtick/restore", tree->root);
	assert_int_equal(truncate(path, (16 << 20) + 1), 0);
	assert_int_equal(journal_replay(tree->root), -EIO);
	assert_int_equal(journal_open(&r, tree->root, &err), -EIO);
	assert_non_null(strstr(err.what, "remove this file"));
	assert_int_equal(sys_read_file(tree->root, RESTORE, text, sizeof(text)), -ENOSPC);
	online_is(0, "1");
}

TEST_WITH(test_guard_gone, machine_setup, tree_teardown)
{
	signal(SIGPIPE, SIG_DFL);
	begin();
	assert_int_equal(journal_set(&r, CPU_DIR "/cpu1/online", "0", &err), 0);
	kill(r.guard.pid, SIGKILL);
	waitid(P_PID, r.guard.pid, NULL, WEXITED | WNOWAIT);
	journal_close(&r);
	online_is(1, "1");
	journal_is_empty();
}

static struct hwtstamp_config card;

int __wrap_netdev_ioctl(const char *device, unsigned long command, void *data)
{
	if (strcmp(device, "eth7"))
		return -ENODEV;
	if (command == SIOCGHWTSTAMP)
		memcpy(data, &card, sizeof(card));
	else
		memcpy(&card, data, sizeof(card));
	return 0;
}

/* After a crash transmit timestamps are off again, and receive timestamps stay on. */
TEST_WITH(test_transmit_stamps, machine_setup, tree_teardown)
{
	card = (struct hwtstamp_config){.tx_type = HWTSTAMP_TX_OFF, .rx_filter = HWTSTAMP_FILTER_ALL};
	begin();
	assert_int_equal(journal_txstamp(&r, "eth7", HWTSTAMP_TX_OFF, &err), 0);
	card.tx_type = HWTSTAMP_TX_ON;
	journal_close(&r);
	assert_int_equal(card.tx_type, HWTSTAMP_TX_OFF);
	assert_int_equal(card.rx_filter, HWTSTAMP_FILTER_ALL);
	journal_is_empty();
	card.tx_type = HWTSTAMP_TX_ON;
	tree_file(tree, RESTORE, "txstamp\teth7 0\ntxstamp\teth8 0\n");
	assert_int_equal(journal_replay(tree->root), 2);
	assert_int_equal(card.tx_type, HWTSTAMP_TX_OFF);
	tree_file(tree, RESTORE, "txstamp\teth7\n");
	assert_int_equal(journal_replay(tree->root), -EIO);
}

TEST_MAIN()
