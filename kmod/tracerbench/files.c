// SPDX-License-Identifier: GPL-2.0
/* Files of the module in debugfs: settings, files that start a run, and results. */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "tracerbench.h"

/*
 * A result that is readable as a debugfs file. Before the first run, reading the file of a result
 * returns ENODATA.
 */
struct tb_result {
	u64 value;
	bool valid;
};

static struct tb_result results[TB_NR_OPS][TB_NR_STATS];
/* Per-CPU results of the last benchmark; NULL before the first benchmark. */
static struct tb_cpu_figures *cpu_figures;
static unsigned int nr_cpu_figures;
static struct tb_config config = {.nr_samples = 10000, .nr_highest = 100};
static struct dentry *root;

/* Serializes runs of benchmark and percentile, because concurrent runs would disturb each other. */
static DEFINE_MUTEX(run_lock);
/*
 * Protects config and results. data_lock is not held during a run, so that settings and results
 * stay readable.
 */
static DEFINE_MUTEX(data_lock);

static ssize_t read_u64(char __user *to, size_t count, loff_t *pos, u64 value)
{
	char text[24];

	return simple_read_from_buffer(to, count, pos, text,
				       scnprintf(text, sizeof(text), "%llu\n", value));
}

/* A setting that users can write to a debugfs file, and the limits of its value. */
struct tb_setting {
	const char *name;
	u64 *value, least, most;
};

static const struct tb_setting settings[] = {
	{"nr_samples", &config.nr_samples, 1, U64_MAX},
	{"nr_highest", &config.nr_highest, 1, U64_MAX},
	{"do_work", &config.do_work, 0, 1},
};

static ssize_t setting_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	const struct tb_setting *setting = file->private_data;
	u64 value;

	mutex_lock(&data_lock);
	value = *setting->value;
	mutex_unlock(&data_lock);
	return read_u64(to, count, pos, value);
}

static ssize_t setting_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	const struct tb_setting *setting = file->private_data;
	u64 value;
	int err;

	err = kstrtoull_from_user(from, count, 0, &value);
	if (err)
		return err;
	if (value < setting->least || value > setting->most)
		return -EINVAL;
	mutex_lock(&data_lock);
	*setting->value = value;
	mutex_unlock(&data_lock);
	return count;
}

/* Makes new results readable in debugfs. publish() takes ownership of the array figures->cpus. */
static void publish(struct tb_figures *figures, enum tb_stat first, enum tb_stat last)
{
	int op, stat;

	mutex_lock(&data_lock);
	for (op = 0; op < TB_NR_OPS; op++)
		for (stat = first; stat <= last; stat++)
			results[op][stat] = (struct tb_result){figures->value[op][stat], true};
	if (figures->cpus) {
		swap(cpu_figures, figures->cpus);
		nr_cpu_figures = figures->nr_cpus;
	}
	mutex_unlock(&data_lock);
	kvfree(figures->cpus);
}

static struct tb_config snapshot(void)
{
	struct tb_config now;

	mutex_lock(&data_lock);
	now = config;
	mutex_unlock(&data_lock);
	now.nr_highest = min(now.nr_highest, now.nr_samples);
	return now;
}

static ssize_t benchmark_write(struct file *file, const char __user *from, size_t count,
			       loff_t *pos)
{
	struct tb_figures figures = {};
	struct tb_config now;
	int err;

	if (!count)
		return -EINVAL;
	if (mutex_lock_killable(&run_lock))
		return -EINTR;
	now = snapshot();
	err = tb_run_benchmark(&now, &figures);
	if (!err)
		publish(&figures, TB_MEDIAN, TB_MAX_AVG);
	mutex_unlock(&run_lock);
	return err ?: count;
}

/*
 * Measures the percentile that a user writes to the file. The unit of the written number is the
 * private data of the file × 0.001 %.
 */
static ssize_t percentile_write(struct file *file, const char __user *from, size_t count,
				loff_t *pos)
{
	unsigned long unit = (unsigned long)file->private_data;
	struct tb_figures figures = {};
	struct tb_config now;
	u64 value;
	int err;

	err = kstrtoull_from_user(from, count, 0, &value);
	if (err)
		return err;
	if (value < 1 || value > 100 * TB_PERCENT / unit)
		return -EINVAL;
	if (mutex_lock_killable(&run_lock))
		return -EINTR;
	now = snapshot();
	err = tb_run_percentile(&now, value * unit, &figures);
	if (!err)
		publish(&figures, TB_PERCENTILE, TB_PERCENTILE);
	mutex_unlock(&run_lock);
	return err ?: count;
}

/* Prints one line per CPU: CPU number, median, average and maximum. */
static int per_cpu_show(struct seq_file *seq, void *unused)
{
	unsigned long op = (unsigned long)seq->private;
	unsigned int i;
	int err = 0;

	mutex_lock(&data_lock);
	if (!cpu_figures)
		err = -ENODATA;
	for (i = 0; !err && i < nr_cpu_figures; i++) {
		const struct tb_summary *summary = &cpu_figures[i].op[op];

		seq_printf(seq, "%u %llu %llu %llu\n", cpu_figures[i].cpu, summary->median,
			   summary->average, summary->max);
	}
	mutex_unlock(&data_lock);
	return err;
}
DEFINE_SHOW_ATTRIBUTE(per_cpu);

static ssize_t result_read(struct file *file, char __user *to, size_t count, loff_t *pos)
{
	struct tb_result result;

	mutex_lock(&data_lock);
	result = *(struct tb_result *)file->private_data;
	mutex_unlock(&data_lock);
	return result.valid ? read_u64(to, count, pos, result.value) : -ENODATA;
}

#define TB_FOPS(name, ...)                                  \
	static const struct file_operations name##_fops = { \
		.owner = THIS_MODULE, .open = simple_open, .llseek = default_llseek, __VA_ARGS__}

TB_FOPS(setting, .read = setting_read, .write = setting_write);
TB_FOPS(benchmark, .write = benchmark_write);
TB_FOPS(percentile, .write = percentile_write);
TB_FOPS(result, .read = result_read);

static void create_results(const char *name, enum tb_op op)
{
	static const char *const file[TB_NR_STATS] = {
		[TB_MEDIAN] = "median",	  [TB_AVERAGE] = "average",	  [TB_MAX] = "max",
		[TB_MAX_AVG] = "max_avg", [TB_PERCENTILE] = "percentile",
	};
	struct dentry *dir = debugfs_create_dir(name, root);
	int stat;

	for (stat = 0; stat < TB_NR_STATS; stat++)
		debugfs_create_file(file[stat], 0444, dir, &results[op][stat], &result_fops);
	debugfs_create_file("per_cpu", 0444, dir, (void *)(unsigned long)op, &per_cpu_fops);
}

/* Creates the debugfs tree. Reports only a failure to create the root directory. */
int tb_files_create(void)
{
	int i;

	root = debugfs_create_dir("tracerbench", NULL);
	if (IS_ERR(root))
		return PTR_ERR(root);
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		debugfs_create_file(settings[i].name, 0644, root, (void *)&settings[i],
				    &setting_fops);
	debugfs_create_file("benchmark", 0200, root, NULL, &benchmark_fops);
	debugfs_create_file("percentile", 0200, root, (void *)TB_PERCENT, &percentile_fops);
	debugfs_create_file("percentile_milli", 0200, root, (void *)1UL, &percentile_fops);
	create_results("irq", TB_IRQ);
	create_results("preempt", TB_PREEMPT);
	create_results("irq_save", TB_IRQ_SAVE);
	return 0;
}

void tb_files_remove(void)
{
	debugfs_remove_recursive(root);
	kvfree(cpu_figures);
}
