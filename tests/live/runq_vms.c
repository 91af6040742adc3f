/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the "CPU ready" time of a VM: two busy vCPUs of QEMU and a busy task share one core. A
 * stopped VM must not accumulate wait time.
 */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cgroups.h"
#include "judge.h"
#include "live.h"
#include "runq_window.h"

#define QEMU	  "/usr/bin/qemu-system-aarch64"
#define BOUND	  0.01
/*
 * Allowed relative difference between blamed time and run time of a task. A difference arises
 * because the test reads run times with a delay, and because interrupts occur while the task runs.
 */
#define BOUND_RAN 0.05
#define WINDOW_MS 2000
#define STOP_MS	  700

static const struct witness_limits limits = {.taken = BOUND_RAN / 2, .waited = BOUND};

/*
 * Guest code for arm64: starts CPU 1 by PSCI CPU_ON, then both CPUs loop at the last instruction.
 */
static const uint32_t image[] = {0x52800060, 0x72b88000, 0xd2800021, 0x10000062,
				 0xd2800003, 0xd4000002, 0x14000000};

struct setup {
	pid_t vm, vcpu[2], hog;
	const char *hog_path, *name;
	struct runq_opts opts;
	bool stop;
};

/* Tasks whose schedstat is read at both ends of the window. */
enum { VCPU0, VCPU1, HOG, NR_TASKS };

static pid_t start_vm(const char *cgroup, int cpu)
{
	int fd = memfd_create("image", 0);
	char loader[96];
	pid_t pid;

	if (fd < 0 || write(fd, image, sizeof(image)) != sizeof(image))
		live_fail_all("no memory for the image of the VM");
	snprintf(loader, sizeof(loader), "loader,file=/proc/self/fd/%d,addr=0x41000000,cpu-num=0", fd);
	pid = load_fork(cgroup, cpu);
	if (!pid) {
		execl(QEMU, QEMU, "-name", "guest=red,debug-threads=on", "-machine", "virt", "-cpu",
		      "cortex-a57", "-accel", "tcg,thread=multi", "-smp", "2", "-m", "64",
		      "-nodefaults", "-nographic", "-device", loader, NULL);
		_exit(1);
	}
	close(fd);
	return pid;
}

/*
 * Returns the TID of a thread with name @name that has run for 20 ms, or 0 without such a thread.
 * After 20 ms of run time, the vCPU of the thread has started.
 */
static pid_t find_thread(pid_t process, const char *name)
{
	char path[96], comm[32];
	pid_t found = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", process, tid);
		file = tid ? fopen(path, "r") : NULL;
		if (file && fgets(comm, sizeof(comm), file) && !strcmp(comm, name) &&
		    load_schedstat(tid).ran_ns > 20e6)
			found = tid;
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Returns figure @key of the row with name @name, or NAN. */
static double row_of(const struct report *report, const char *name, const char *key)
{
	const struct table *table = report_find(report, "groups");

	for (size_t row = 0; table && row < table->nr_rows; row++)
		if (!strcmp(table_str(table, row, "name"), name))
			return table_number(table, row, key);
	return NAN;
}

static void read_all(const struct setup *setup, struct load_stat ret_stats[NR_TASKS])
{
	ret_stats[VCPU0] = load_schedstat(setup->vcpu[0]);
	ret_stats[VCPU1] = load_schedstat(setup->vcpu[1]);
	ret_stats[HOG] = load_schedstat(setup->hog);
}

static struct report *measure_window(const struct setup *setup, struct load_schedstats tasks[NR_TASKS])
{
	struct load_stat stats[4][NR_TASKS];
	struct meter *meter = window_open(&setup->opts);
	struct report *report;

	window_begin(meter);
	report_free(window_end(meter, 200));
	read_all(setup, stats[0]);
	report_free(window_end(meter, 0));
	read_all(setup, stats[1]);
	if (setup->stop) {
		kill(setup->vm, SIGSTOP);
		window_wait(meter, STOP_MS);
		kill(setup->vm, SIGCONT);
	}
	window_wait(meter, setup->stop ? WINDOW_MS - STOP_MS : WINDOW_MS);
	read_all(setup, stats[2]);
	report = window_end(meter, 0);
	read_all(setup, stats[3]);
	meter->ops->close(meter);
	for (int i = 0; i < NR_TASKS; i++)
		tasks[i] = (struct load_schedstats){stats[0][i], stats[1][i], stats[2][i], stats[3][i]};
	return report;
}

static void judge_wait(const struct setup *setup, const struct report *report, const char *name,
		       double least_ns, double most_ns, struct verdict *verdict)
{
	double sum = row_of(report, name, "sum_ns");

	verdict_figure(verdict,
		       sum >= least_ns * (1.0 - BOUND) && sum <= most_ns * (1.0 + BOUND),
		       "%s: %s waited %.2f ms, %.2f to %.2f by the kernel's accounting, within %.0f %%",
		       setup->name, name, sum / 1e6, least_ns / 1e6, most_ns / 1e6, BOUND * 100.0);
}

static void judge_blame(const struct setup *setup, const struct report *report, const char *victim,
			const char *culprit, const struct load_schedstats *ran,
			struct verdict *verdict)
{
	double blamed = window_blame(report, victim, culprit);
	double least = load_least(ran).ran_ns, most = load_most(ran).ran_ns;

	verdict_figure(verdict,
		       blamed >= least * (1.0 - BOUND_RAN) && blamed <= most * (1.0 + BOUND_RAN),
		       "%s: %s waited %.2f ms behind %s, which ran %.2f to %.2f, within %.0f %%",
		       setup->name, victim, blamed / 1e6, culprit, least / 1e6, most / 1e6,
		       BOUND_RAN * 100.0);
}

static void measure(void *arg, struct verdict *verdict)
{
	static const char *const names[] = {"red/vcpu0", "red/vcpu1"};
	const struct setup *setup = arg;
	struct load_schedstats tasks[NR_TASKS];
	struct report *report = measure_window(setup, tasks);
	double least[2], most[2];

	for (int i = 0; i < 2; i++) {
		least[i] = load_least(&tasks[i]).waited_ns;
		most[i] = load_most(&tasks[i]).waited_ns;
	}
	if (setup->opts.sum == ROLLUP_VM) {
		judge_wait(setup, report, "red", least[0] + least[1], most[0] + most[1], verdict);
		verdict_always(verdict, row_of(report, "red", "tgid") == setup->vm,
			       "%s: the process of the row is that of the VM", setup->name);
	} else {
		for (int i = 0; i < 2; i++) {
			judge_wait(setup, report, names[i], least[i], most[i], verdict);
			verdict_always(verdict, row_of(report, names[i], "vcpu") == i,
				       "%s: %s has number %d", setup->name, names[i], i);
		}
	}
	if (setup->stop)
		for (int i = 0; i < 2; i++)
			verdict_figure(verdict,
				       row_of(report, names[i], "sum_ns") <
					       (WINDOW_MS - STOP_MS) * 1e6 * (1.0 + BOUND_RAN),
				       "%s: %s did not wait in the %d ms in which the VM was stopped",
				       setup->name, names[i], STOP_MS);
	else if (setup->opts.sum == ROLLUP_VCPU)
		for (int i = 0; i < 2; i++) {
			judge_blame(setup, report, names[i], setup->hog_path, &tasks[HOG], verdict);
			judge_blame(setup, report, names[i], names[1 - i], &tasks[1 - i], verdict);
		}
	report_free(report);
}

int main(void)
{
	struct setup setup = {.opts = {.per = RUNQ_PER_TASK, .sum = ROLLUP_VCPU, .blame = true}};
	struct judge_opts opts = {.limits = limits, .measure = measure, .arg = &setup};
	const char *cgroup;
	int other;

	if (access(QEMU, X_OK))
		live_skip_all("%s is not installed", QEMU);
	cgroups_open();
	if (!live_two_cpus(&opts.cpu, &other))
		live_skip_all("needs two CPUs");
	setup.opts.hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1;
	cgroup = cgroups_make("vm");
	setup.hog_path = cgroups_make("hog");
	live_pin(other);
	live_first();
	setup.vm = start_vm(cgroup, opts.cpu);
	for (int tries = 0; tries < 300 && (!setup.vcpu[0] || !setup.vcpu[1]); tries++) {
		live_sleep_ms(100);
		setup.vcpu[0] = find_thread(setup.vm, "CPU 0/TCG\n");
		setup.vcpu[1] = find_thread(setup.vm, "CPU 1/TCG\n");
	}
	if (!setup.vcpu[0] || !setup.vcpu[1])
		live_fail_all("the vCPUs of the VM do not run");
	setup.hog = load_burner(setup.hog_path, opts.cpu);

	setup.name = "vcpu";
	judge(&opts);
	setup.name = "stopped";
	setup.stop = true;
	judge(&opts);
	setup.name = "vm";
	setup.stop = false;
	setup.opts.sum = ROLLUP_VM;
	judge(&opts);
	load_kill(setup.hog);
	load_kill(setup.vm);
	return live_done();
}
