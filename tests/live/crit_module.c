/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests every debugfs file of module tracerbench with good and bad input. */
#include "crit_module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "host/meminfo.h"

static void check_mode(const char *path, mode_t mode)
{
	char full[128];
	struct stat st;

	snprintf(full, sizeof(full), TREE "%s", path);
	live_ok(!stat(full, &st) && S_ISREG(st.st_mode) && (st.st_mode & 07777) == mode,
		"%s is there with mode %o", path, mode);
}

static void test_tree(void)
{
	char path[64];

	check_mode("nr_samples", 0644);
	check_mode("nr_highest", 0644);
	check_mode("do_work", 0644);
	check_mode("benchmark", 0200);
	check_mode("percentile", 0200);
	check_mode("percentile_milli", 0200);
	for (int op = 0; op < 3; op++) {
		for (int stat = 0; stat < 4; stat++) {
			snprintf(path, sizeof(path), "%s/%s", tree_ops[op], tree_stats[stat]);
			check_mode(path, 0444);
		}
		snprintf(path, sizeof(path), "%s/percentile", tree_ops[op]);
		check_mode(path, 0444);
		snprintf(path, sizeof(path), "%s/per_cpu", tree_ops[op]);
		check_mode(path, 0444);
	}
	live_ok(numbers_are(10000, 100, 0), "the defaults are 10000, 100 and 0");
	live_ok(file_read("irq/per_cpu", path, sizeof(path)) == -ENODATA &&
			file_read("irq/median", path, sizeof(path)) == -ENODATA &&
			file_read("preempt/percentile", path, sizeof(path)) == -ENODATA,
		"there are no figures before the first run");
	live_ok(file_read("benchmark", path, sizeof(path)) == -EINVAL &&
			file_read("percentile", path, sizeof(path)) == -EINVAL &&
			file_write("irq/median", "1") == -EINVAL,
		"triggers can't be read, results can't be written");
}

static void refuse(const char *path, const char *text, int err)
{
	int got = file_write(path, text);

	live_ok(got == err, "%s refuses \"%s\"%s: %s (got %d)", path,
		text[strspn(text, "\n")] ? text : "", text[0] == '\n' ? " (newline)" : "",
		strerror(-err), got);
}

static void test_bad_input(void)
{
	static const char *const files[] = {"nr_samples", "nr_highest", "do_work", "percentile",
					    "percentile_milli"};
	static const char *const words[] = {"-1", "text", "", "\n", "1e3", "12 34", "99.9", "1x"};
	static const char *const huge[] = {"18446744073709551616", "99999999999999999999999999"};

	for (int file = 0; file < 5; file++) {
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			refuse(files[file], words[i], -EINVAL);
		for (size_t i = 0; i < sizeof(huge) / sizeof(*huge); i++)
			refuse(files[file], huge[i], -ERANGE);
	}
	refuse("nr_samples", "0", -EINVAL);
	refuse("nr_highest", "0", -EINVAL);
	refuse("do_work", "2", -EINVAL);
	refuse("percentile", "0", -EINVAL);
	refuse("percentile", "101", -EINVAL);
	refuse("percentile_milli", "0", -EINVAL);
	refuse("percentile_milli", "100001", -EINVAL);
	refuse("percentile_milli", "18446744073709551615", -EINVAL);
	refuse("percentile", "18446744073709551615", -EINVAL);
	refuse("benchmark", "", -EINVAL);
	live_ok(file_write_bytes("nr_samples", (void *)16, 4) == -EFAULT,
		"a bad address is refused");
	live_ok(numbers_are(10000, 100, 0), "refused input changed nothing");
}

/*
 * Starts a run whose samples fit into half of the available memory, but whose samples and heaps
 * together do not fit. Module tracerbench must refuse a run that does not fit before the module
 * allocates memory.
 */
static void test_heaps_fit(void)
{
	uint64_t cpus = sysconf(_SC_NPROCESSORS_ONLN), available, nr;
	double begin;
	int rc;

	/*
	 * With more than 4 CPUs the heaps of the highest samples are a small part of the memory of
	 * a run, so allocations of other programs could change the result.
	 */
	if (cpus > 4 || meminfo_available(NULL, &available)) {
		live_skip("a benchmark whose highest samples do not fit is refused",
			  "more than 4 CPUs");
		return;
	}
	/*
	 * Choose @nr so that half of the available memory holds the samples of all CPUs, but not of
	 * one additional CPU.
	 */
	nr = (uint64_t)((double)available / 2.0 / (24.0 * ((double)cpus + 0.5)));
	configure(nr, nr, 0);
	begin = now_s();
	rc = file_write("benchmark", "1");
	live_ok(rc == -ENOMEM, "nor does one whose highest samples do not fit beside them (%d)", rc);
	live_note("refused after %.3f s", now_s() - begin);
}

/* Checks the figures of each CPU, and the figures for all CPUs that are computed from them. */
static void check_per_cpu(const char *op)
{
	unsigned long long median, average, max, highest = 0, lowest = UINT64_MAX, mid_max = 0;
	char text[4096], path[64], *at = text;
	int lines = 0, used;
	unsigned int cpu;

	snprintf(path, sizeof(path), "%s/per_cpu", op);
	if (!live_ok(!file_read(path, text, sizeof(text)), "%s is readable", path))
		return;
	while (sscanf(at, "%u %llu %llu %llu%n", &cpu, &median, &average, &max, &used) == 4) {
		lines++;
		at += used;
		highest = max > highest ? max : highest;
		lowest = median < lowest ? median : lowest;
		mid_max = median > mid_max ? median : mid_max;
		if (median > max || average > max)
			live_fail_all("%s: CPU %u has a median or average above its maximum", op,
				      cpu);
	}
	live_ok(lines == sysconf(_SC_NPROCESSORS_ONLN) && highest == result(op, "max") &&
			lowest <= result(op, "median") && result(op, "median") <= mid_max,
		"%s: a line per CPU (%d), their highest maximum is that of all, their medians "
		"enclose that of all",
		op, lines);
}

static void test_good_input(void)
{
	live_ok(!file_write("nr_samples", "123") && file_u64("nr_samples") == 123,
		"without newline");
	live_ok(!file_write("nr_highest", "45\n") && file_u64("nr_highest") == 45, "with newline");
	live_ok(!file_write("do_work", "1") && numbers_are(123, 45, 1), "do_work on");
	live_ok(!file_write("do_work", "0\n") && numbers_are(123, 45, 0), "do_work off");
	live_ok(!file_write("nr_samples", "18446744073709551615") &&
			file_u64("nr_samples") == UINT64_MAX,
		"the largest count is a setting like any other");
	live_ok(file_write("benchmark", "1") == -ENOMEM,
		"but a benchmark of that size does not fit in memory");
	live_ok(file_write("percentile", "50") == -ENOMEM, "nor do its percentiles");
	test_heaps_fit();
	live_ok(!configure(1ULL << 40, 100, 0) && file_write("benchmark", "1") == -ENOMEM,
		"nor does a terabyte-sized one");
}

static void check_figures(const char *when)
{
	for (int i = 0; i < 3; i++) {
		const char *op = tree_ops[i];
		uint64_t median = result(op, "median"), average = result(op, "average");
		uint64_t max = result(op, "max"), max_avg = result(op, "max_avg");

		live_ok(median <= max && average <= max_avg && max_avg <= max && max != UINT64_MAX,
			"%s, %s: median and average ≤ max, average ≤ max_avg ≤ max", when, op);
		live_note("%s median %llu average %llu max %llu max_avg %llu cycles", op,
			  (unsigned long long)median, (unsigned long long)average,
			  (unsigned long long)max, (unsigned long long)max_avg);
	}
}

static void test_benchmark(void)
{
	configure(2000, 50, 0);
	live_ok(!file_write("benchmark", "anything\n"), "anything starts a benchmark");
	check_figures("do_work 0");
	for (int op = 0; op < 3; op++)
		check_per_cpu(tree_ops[op]);
	configure(2000, 50, 1);
	live_ok(!file_write("benchmark", "1\n"), "a benchmark with work");
	check_figures("do_work 1");
	live_ok(result("irq", "percentile") == UINT64_MAX, "a benchmark yields no percentile");

	configure(2000, 1, 0);
	live_ok(!file_write("benchmark", "1") && result("irq", "max_avg") == result("irq", "max") &&
			result("irq_save", "max_avg") == result("irq_save", "max"),
		"the average of the one highest sample is the maximum");
	configure(1, 1000, 0);
	live_ok(!file_write("benchmark", "1") && result("irq", "max_avg") == result("irq", "max") &&
			result("preempt", "max_avg") == result("preempt", "max"),
		"nr_highest above nr_samples counts as nr_samples");
	live_ok(numbers_are(1, 1000, 0), "but the setting stays");
}

static void test_percentile(void)
{
	uint64_t low, high;

	configure(2000, 50, 0);
	live_ok(!file_write("percentile", "1\n"), "percentile 1");
	low = result("irq", "percentile");
	live_ok(!file_write("percentile", "100"), "percentile 100");
	high = result("irq", "percentile");
	live_ok(low <= high && high != UINT64_MAX,
		"the lowest per cent is no higher than the maximum");
	for (int i = 0; i < 3; i++)
		live_ok(result(tree_ops[i], "percentile") != UINT64_MAX, "%s has one", tree_ops[i]);
	live_ok(!file_write("percentile_milli", "99900"), "percentile 99.9");
	high = result("irq", "percentile");
	live_ok(high != UINT64_MAX, "it is %llu cycles", (unsigned long long)high);
	/* Every percentile of a single sample is this sample. */
	configure(1, 1, 0);
	live_ok(!file_write("percentile_milli", "1") && !file_write("percentile_milli", "100000"),
		"the lowest and the highest of them");
	configure(2000, 50, 0);
	live_ok(!file_write("percentile", "0x32"), "hexadecimal, as everywhere in debugfs");
}

/* Runs the example session from the written requirements of module tracerbench, unchanged. */
static void test_session(void)
{
	static const char session[] = "cd /sys/kernel/debug/tracerbench/\n"
				      "echo 50000 > nr_samples\n"
				      "echo 250 > nr_highest\n"
				      "echo 1 > benchmark\n"
				      "cat irq/average\n"
				      "cat preempt/max\n"
				      "cat irq_save/average\n"
				      "echo 1 > do_work\n"
				      "echo 1 > benchmark\n"
				      "cat irq/average\n"
				      "echo 99 > percentile\n"
				      "cat irq/percentile\n"
				      "cat preempt/percentile\n"
				      "cat irq_save/percentile\n";
	FILE *shell;
	char line[64];
	int numbers = 0, others = 0;

	configure(10000, 100, 0);
	shell = popen(session, "r");
	while (shell && fgets(line, sizeof(line), shell)) {
		unsigned long long value;
		char end;

		if (sscanf(line, "%llu%c", &value, &end) == 2 && end == '\n')
			numbers++;
		else
			others++;
	}
	live_ok(shell && !pclose(shell) && numbers == 7 && !others,
		"the example session prints seven numbers (%d)", numbers);
	live_ok(numbers_are(50000, 250, 1), "and leaves its settings");
}

int main(void)
{
	const char *complaint, *module_path;
	int err;

	module_path = getenv("TRACERBENCH_KO");
	if (!module_path && !access(MODULE_IN_GUEST, R_OK))
		module_path = MODULE_IN_GUEST;
	if (!module_path)
		live_skip_all("name tracerbench.ko in TRACERBENCH_KO");
	if (geteuid())
		live_skip_all("only root can load modules");
	/* mount() fails with EBUSY if debugfs is already mounted. */
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	err = module_load(module_path);
	if (err == -ENOSYS || err == -EPERM)
		live_skip_all("this kernel loads no modules: %s", strerror(-err));
	if (!live_ok(!err, "%s loads (%s)", module_path, strerror(-err)))
		return live_done();
	live_ok(module_load(module_path) == -EEXIST, "only once");

	test_tree();
	test_bad_input();
	test_good_input();
	test_benchmark();
	test_percentile();
	module_under_fire();
	test_session();
	module_comes_and_goes(module_path);

	complaint = kernel_complaint();
	live_ok(!complaint, "the kernel's log has no complaint%s%s", complaint ? ": " : "",
		complaint ?: "");
	return live_done();
}
