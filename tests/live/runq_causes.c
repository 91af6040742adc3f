/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is charged for a wake-up between cgroups, and what quota and idle cores look like. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cgroups.h"
#include "live.h"
#include "runq_window.h"

static struct runq_opts opts;

/* Answers each byte; its waits are what is measured. */
static pid_t start_wakee(const char *cgroup, int cpu, int in, int out)
{
	const struct sched_param batch = {0};
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!cgroups_enter(cgroup, 0))
		_exit(1);
	live_pin(cpu);
	/* Does not preempt whoever wakes it: then there is something to wait for. */
	if (sched_setscheduler(0, SCHED_BATCH, &batch))
		_exit(1);
	while (read(in, &byte, 1) == 1)
		if (write(out, &byte, 1) != 1)
			break;
	_exit(0);
}

/* Wakes, works on with the wakee queued behind it, then waits for the answer. */
static void wake_many(int in, int out, int times)
{
	char byte = 0;

	for (int i = 0; i < times; i++) {
		uint64_t until;

		if (write(in, &byte, 1) != 1)
			return;
		until = clock_mono_ns() + 50000;
		while (clock_mono_ns() < until)
			;
		if (read(out, &byte, 1) != 1)
			return;
	}
}

static pid_t start_waker(const char *cgroup, int cpu, int in, int out, int times)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!cgroups_enter(cgroup, 0))
		_exit(1);
	live_pin(cpu);
	wake_many(in, out, times);
	_exit(0);
}

static bool wakee_fits(const char *waker, const char *wakee, int cpu)
{
	struct meter *meter = window_open(&opts);
	struct load_stat s0, s1;
	struct report *report;
	int in[2], out[2];
	pid_t pid, waker_pid;
	double count, sum, behind;
	int times = live_times(3000);
	bool fits;

	if (pipe(in) || pipe(out))
		live_skip_all("no pipes");
	pid = start_wakee(wakee, cpu, in[0], out[1]);
	live_sleep_ms(100);
	window_begin(meter);
	s0 = load_schedstat(pid);
	waker_pid = start_waker(waker, cpu, in[1], out[0], times);
	waitpid(waker_pid, NULL, 0);
	s1 = load_schedstat(pid);
	report = window_end(meter, 10);
	load_kill(pid);
	count = window_group(report, wakee, "count");
	sum = window_group(report, wakee, "sum_ns");
	behind = window_blame(report, wakee, waker);
	live_note(
		"wakee: %.0f waits (kernel %.0f), %.2f ms (kernel %.2f), %.2f ms of it behind the "
		"waker; the waker's group waited %.0f times",
		count, s1.count - s0.count, sum / 1e6, (s1.waited_ns - s0.waited_ns) / 1e6,
		behind / 1e6, window_group(report, waker, "count"));
	/* What the waker did after waking is the least that the wakee waited behind it. */
	fits = fabs(count - (s1.count - s0.count)) <= 2 && count >= times &&
	       fabs(sum - (s1.waited_ns - s0.waited_ns)) <= live_bound(0.05) * sum &&
	       behind > 0.5 * sum;
	report_free(report);
	meter->ops->close(meter);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
	return fits;
}

/* Held by quota: by our books, and by the kernel's. */
static bool quota_fits(const char *cgroup)
{
	double unit = cgroups_v2() ? 1000.0 : 1.0;
	const char *word = cgroups_v2() ? "throttled_usec" : "throttled_time";
	struct meter *meter = window_open(&opts);
	struct report *report;
	double told, held, sum, blamed;
	bool fits;

	window_begin(meter);
	told = cgroups_stat(cgroup, "cpu.stat", word);
	report = window_end(meter, 2000);
	told = (cgroups_stat(cgroup, "cpu.stat", word) - told) * unit;
	held = window_group(report, cgroup, "causes.throttled_ns");
	sum = window_group(report, cgroup, "sum_ns");
	blamed = window_blame(report, cgroup, "(quota)");
	live_note("quota: held %.0f ms of %.0f ms waited, %.0f ms by cpu.stat, blamed %.0f ms",
		  held / 1e6, sum / 1e6, told / 1e6, blamed / 1e6);
	/* Others on that core may make it wait, too; quota alone accounts for what cpu.stat has. */
	fits = told > 0.0 && held <= sum && fabs(held - told) < live_bound(0.1) * told &&
	       blamed == held;
	report_free(report);
	meter->ops->close(meter);
	return fits;
}

/* Ticks that a core was idle so far. */
static double idle_ticks(int cpu)
{
	char line[512], name[16];
	double idle = NAN, user, nice, system;
	FILE *file = fopen("/proc/stat", "r");

	snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, strlen(name)) &&
		    sscanf(line + strlen(name), "%lf %lf %lf %lf", &user, &nice, &system, &idle) !=
			    4)
			idle = NAN;
	if (file)
		fclose(file);
	return idle;
}

/* Sleeps and wakes on a core that has nothing else to do. */
static bool idle_fits(const char *cgroup, int cpu, bool *ret_busy)
{
	struct meter *meter = window_open(&opts);
	struct report *report;
	double idle, sum, ticks;
	pid_t pid = fork();
	bool fits;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!cgroups_enter(cgroup, 0))
			_exit(1);
		live_pin(cpu);
		/* PREEMPT_RT handles the timers of other tasks in ksoftirqd: waits behind that. */
		if (live_realtime())
			sched_setscheduler(0, SCHED_FIFO,
					   &(struct sched_param){.sched_priority = 1});
		for (;;)
			usleep(2000);
	}
	live_sleep_ms(50);
	window_begin(meter);
	ticks = idle_ticks(cpu);
	report = window_end(meter, 1000);
	*ret_busy = !(idle_ticks(cpu) - ticks > 10.0);
	load_kill(pid);
	idle = window_group(report, cgroup, "causes.idle_exit_ns");
	sum = window_group(report, cgroup, "sum_ns");
	live_note("idle core: %.3f ms of %.3f ms in %.0f waits was the way out of idle", idle / 1e6,
		  sum / 1e6, window_group(report, cgroup, "count"));
	/* Other people's tasks may have the core now and then; our own never do. */
	fits = idle > 0.0 && window_group(report, cgroup, "causes.same_group_ns") == 0.0;
	report_free(report);
	meter->ops->close(meter);
	return fits;
}

int main(void)
{
	const char *waker, *wakee, *bound, *sleeper;
	bool fits = false, busy = false;
	int cpu, other;
	pid_t pid;

	cgroups_open();
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	opts = (struct runq_opts){
		.blame = true, .hierarchy = cgroups_v2() ? RUNQ_HIERARCHY_V2 : RUNQ_HIERARCHY_V1};
	waker = cgroups_make("waker");
	wakee = cgroups_make("wakee");
	bound = cgroups_make("bound");
	sleeper = cgroups_make("sleeper");
	live_pin(other);
	for (int i = 0; i < 4 && !fits; i++)
		fits = wakee_fits(waker, wakee, cpu);
	live_ok(fits, "the wakee's cgroup is charged, not the waker's");

	if (!cgroups_quota(bound, 10000, 50000)) {
		live_skip("quota", "no CPU quota here");
	} else {
		pid = load_burner(bound, cpu);
		fits = false;
		for (int i = 0; i < 4 && !fits; i++)
			fits = quota_fits(bound);
		load_kill(pid);
		live_ok(fits, "a group held by its quota shows as throttled");
	}
	fits = false;
	for (int i = 0; i < 4 && !fits; i++)
		fits = idle_fits(sleeper, cpu, &busy);
	if (busy && !fits)
		live_skip("idle exit", "CPU %d is never idle here", cpu);
	else
		live_ok(fits, "waits on an idle core are the way out of idle");
	return live_done();
}
