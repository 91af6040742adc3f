/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The witness notices each kind of disturbance of a core, and nothing on a quiet core. */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "judge.h"
#include "live.h"

#define WINDOW_MS 1000
#define SHORT	  60 /* tasks that come and go */
#define IPIS	  2000

static int cpu, other;
/* Pipe of which this program holds the write end. Strangers exit when it closes. */
static int lifeline[2];

/* Report of a stranger process about itself. */
struct stranger {
	int pid;
	uint64_t cpu_ns;
	unsigned int forked;
};

static volatile struct stranger *stranger;
static struct stranger noted[2]; /* at both ends of note_second() */

static const struct witness_limits strict = {.taken = 0.003, .waited = 0.003};

static bool test_lives(void)
{
	char byte;

	return read(lifeline[0], &byte, 1) < 0 && errno == EAGAIN;
}

static void burn(uint64_t ns)
{
	uint64_t end = clock_mono_ns() + ns;

	while (clock_mono_ns() < end)
		;
}

static void note_second(void)
{
	noted[0] = *stranger;
	live_sleep_ms(WINDOW_MS);
	noted[1] = *stranger;
}

static void burn_long(void)
{
	burn(WINDOW_MS * NSEC_PER_MSEC);
}

static void burn_always(void)
{
	while (test_lives()) {
		burn(NSEC_PER_MSEC);
		stranger->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
}

/* Occupies the core for 30 ms with real-time priority. */
static void burn_first(void)
{
	const struct sched_param high = {.sched_priority = 50};

	if (sched_setscheduler(0, SCHED_FIFO, &high))
		_exit(1);
	while (test_lives()) {
		burn(30 * NSEC_PER_MSEC);
		live_sleep_ms(70);
	}
}

static void fork_some(void)
{
	for (int i = 0; i < SHORT; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		stranger->forked++;
		live_sleep_ms(2);
	}
	while (test_lives())
		live_sleep_ms(20);
}

/*
 * Starts a process that is not a descendant: its grandparent exits. Its parent reaps it at once.
 * init may need a second, and a zombie still has its CPU time in /proc.
 */
static void start_stranger(int on, void (*run)(void))
{
	pid_t pid;

	fflush(stdout);
	stranger->pid = 0;
	stranger->cpu_ns = 0;
	stranger->forked = 0;
	pid = fork();
	if (!pid) {
		if (fork())
			_exit(0);
		close(lifeline[1]);
		pid = fork();
		if (pid) {
			waitpid(pid, NULL, 0);
			_exit(0);
		}
		live_pin(on);
		/* The process counts as a descendant until its grandparent exits. */
		live_sleep_ms(20);
		stranger->pid = getpid();
		run();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	for (int i = 0; i < 200 && !stranger->pid; i++)
		live_sleep_ms(10);
}

static void stop_stranger(void)
{
	if (stranger->pid > 0)
		kill(stranger->pid, SIGKILL);
	live_sleep_ms(20);
}

/* Burns for a while and exits before the next reading. */
static void burn_and_go(void)
{
	live_sleep_ms(300);
	burn(400 * NSEC_PER_MSEC);
}

/* Moves to the core between two readings, and is on its own core at both. */
static void visit(void)
{
	live_sleep_ms(300);
	live_pin(cpu);
	burn(100 * NSEC_PER_MSEC);
	live_pin(other);
	stranger->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (test_lives())
		live_sleep_ms(20);
}

static struct witness_seen watch(const struct witness_limits *limits, void (*meanwhile)(void))
{
	struct witness witness;
	struct witness_seen seen;

	witness_open(&witness, cpu, limits);
	if (limits->late_ns)
		live_sleep_ms(100);
	witness_begin(&witness);
	if (meanwhile)
		meanwhile();
	else
		live_sleep_ms(WINDOW_MS);
	witness_end(&witness, &seen);
	witness_close(&witness);
	return seen;
}

/* In units of 10 ms, kept precisely where ticks stop on idle cores. */
static double idle_share(long long before, long long after, double seconds)
{
	return (double)(after - before) / (double)sysconf(_SC_CLK_TCK) / seconds;
}

static void test_quiet(void)
{
	long long before = live_idle_ticks(cpu);
	struct witness_seen seen = watch(&strict, NULL);
	double idle = idle_share(before, live_idle_ticks(cpu), seen.seconds);
	char why[600];

	/* By /proc/stat, whose idle column the witness does not use. */
	if (idle < 0.985)
		live_skip("quiet", "not judged: CPU %d is idle %.1f %% of the time only", cpu,
			  idle * 100.0);
	else
		live_figure(seen.others + seen.threads < 0.02,
			    "quiet: tasks have %.2f %% of a core that is idle for %.1f %%",
			    (seen.others + seen.threads) * 100.0, idle * 100.0);
	seen = (struct witness_seen){.taken = 0.002, .waited = 0.002};
	live_ok(!witness_disturbed(&strict, &seen, why, sizeof(why)) && !*why,
		"less than the limits is no disturbance");
	seen = (struct witness_seen){.taken = 0.004};
	live_ok(witness_disturbed(&strict, &seen, why, sizeof(why)) && strstr(why, "0.40 %"),
		"more is one, and it is named: %s", why);
}

static void test_burner(void)
{
	struct witness_seen seen;
	char why[600];
	double burnt;

	start_stranger(cpu, burn_always);
	seen = watch(&strict, note_second);
	burnt = (double)(noted[1].cpu_ns - noted[0].cpu_ns) / 1e9 / seen.seconds;
	stop_stranger();
	live_ok(witness_disturbed(&strict, &seen, why, sizeof(why)), "a burner disturbs: %s", why);
	/* Its accounting may be a tick late at either end. */
	live_figure(seen.others > burnt - 0.02,
		    "others have %.1f %%, what it burnt at least: %.1f %%", seen.others * 100.0,
		    burnt * 100.0);
}

static void test_visitor(void)
{
	struct witness_seen seen;
	double burnt;

	start_stranger(other, visit);
	seen = watch(&strict, note_second);
	burnt = (double)(noted[1].cpu_ns - noted[0].cpu_ns) / 1e9 / seen.seconds;
	stop_stranger();
	if (access("/proc/self/sched", R_OK))
		live_skip("visitor", "this kernel does not say how often a task moved");
	else if (burnt < 0.02)
		live_skip("visitor", "not judged: it had the core for %.1f %% only", burnt * 100.0);
	else
		live_ok(seen.others > burnt - 0.01,
			"others have %.1f %%, a visitor between two looks at least %.1f %%",
			seen.others * 100.0, burnt * 100.0);
}

static void test_waiting(void)
{
	struct witness_seen seen;
	char why[600];

	start_stranger(other, burn_always);
	seen = watch(&strict, burn_long);
	stop_stranger();
	seen.taken = 0.0;
	live_figure(witness_disturbed(&strict, &seen, why, sizeof(why)) && seen.waited > 0.1,
		    "a test that shares its core waits: %s", why);
}

static void test_late(void)
{
	const struct witness_limits limits = {.taken = INFINITY, .waited = -1, .late_ns = 3000000};
	struct witness_seen seen;
	char why[600];

	start_stranger(cpu, burn_first);
	if (kill(stranger->pid, 0)) {
		live_skip("late", "no real-time priority here");
		return;
	}
	seen = watch(&limits, NULL);
	stop_stranger();
	live_figure(witness_disturbed(&limits, &seen, why, sizeof(why)) && seen.late_ns > 3000000 &&
			    seen.late_ns < 1000000000,
		    "a core that a real-time task has for 30 ms: %s", why);
}

static void test_short_tasks(void)
{
	struct witness_limits limits = strict;
	struct witness_seen seen;
	unsigned int forked;

	start_stranger(other, fork_some);
	seen = watch(&limits, note_second);
	stop_stranger();
	forked = noted[1].forked - noted[0].forked;
	if (forked)
		live_ok(seen.nr_gone + 1 >= forked, "%llu tasks came and went, %u of the test's",
			(unsigned long long)seen.nr_gone, forked);
	else
		live_skip("short tasks", "not judged: the program that starts some got no core");
	limits.own_forks = 1000000;
	seen = watch(&limits, NULL);
	live_ok(!seen.nr_gone, "those that the test itself starts do not count");
}

static volatile bool over;
static volatile uint64_t spun_ns; /* what the thread had of the core so far */

static void test_gone(void)
{
	struct witness_limits limits = strict;
	struct witness_seen seen;
	char why[600];

	start_stranger(cpu, burn_and_go);
	/* The second reading notices it only because the core was not idle. */
	seen = watch(&limits, NULL);
	if (isnan(seen.idle))
		live_skip("gone", "this kernel does not say how long a core is idle");
	else if (1.0 - seen.idle - seen.others - seen.threads - seen.steal < 0.2)
		live_skip("gone", "not judged: other programs had the core for %.0f %%",
			  seen.others * 100.0);
	else
		live_figure(witness_disturbed(&limits, &seen, why, sizeof(why)) &&
				    seen.gone > 0.1 && seen.taken > 0.1,
			    "a burner that has gone: %s", why);
	/* With these limits the idle time is not used: the stranger is found by user-mode time. */
	limits.own_interrupts = true;
	limits.own_forks = UINT_MAX;
	start_stranger(cpu, burn_and_go);
	seen = watch(&limits, NULL);
	if (1.0 - seen.idle - seen.others - seen.threads - seen.steal < 0.2)
		live_skip("gone, own interrupts",
			  "not judged: other programs had the core for %.0f %%",
			  seen.others * 100.0);
	else
		live_figure(witness_disturbed(&limits, &seen, why, sizeof(why)) &&
				    seen.gone > 0.1 && seen.taken > 0.1,
			    "a burner that has gone, beside the test's own interrupts: %s", why);
}

static void *spin(void *arg)
{
	const struct sched_param high = {.sched_priority = 1};

	live_pin(cpu);
	sched_setscheduler(0, SCHED_FIFO, &high);
	while (!over)
		spun_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return arg;
}

static double on_core; /* the share of the calls during which the thread had the core */

/* Each call interrupts the core if it runs a thread of ours. */
static void interrupt_many(void)
{
	uint64_t from_ns, from_spun_ns;
	pthread_t thread;

	over = false;
	if (pthread_create(&thread, NULL, spin, NULL))
		return;
	live_sleep_ms(50);
	from_ns = clock_mono_ns();
	from_spun_ns = spun_ns;
	for (int i = 0; i < IPIS; i++)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	on_core = (double)(spun_ns - from_spun_ns) / (double)(clock_mono_ns() - from_ns);
	over = true;
	pthread_join(thread, NULL);
}

static void test_interrupts(void)
{
	struct witness_limits limits = strict;
	struct witness_seen seen;

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0)) {
		live_skip("interrupts", "no membarrier() to send them with");
		return;
	}
	seen = watch(&limits, interrupt_many);
	if (on_core < 0.9)
		live_skip("interrupts", "not judged: our thread had %.0f %% of its core",
			  on_core * 100.0);
	else
		live_figure(seen.nr_irqs >= IPIS * 8 / 10, "%llu interrupts for %d calls",
			    (unsigned long long)seen.nr_irqs, IPIS);
	limits.own_irqs = 100000000;
	seen = watch(&limits, interrupt_many);
	live_ok(!seen.nr_irqs, "those that the test itself sends do not count");
}

static int tries_made;

static void always_wrong(void *arg, struct verdict *verdict)
{
	tries_made++;
	live_sleep_ms(200);
	verdict_figure(verdict, false, "a figure that is wrong every time");
}

/* judge() with the real witness, its TAP apart from ours. */
static enum judged judge_wrong(const struct witness_limits *limits)
{
	struct judge_opts opts = {
		.cpu = cpu, .limits = *limits, .tries = 3, .measure = always_wrong};
	int pipes[2], result[2] = {-1, -1};
	pid_t pid;

	fflush(stdout);
	tries_made = 0;
	if (pipe(pipes))
		abort();
	pid = fork();
	if (!pid) {
		int quiet = open("/dev/null", O_WRONLY);

		dup2(quiet, STDOUT_FILENO);
		unsetenv("SUBTICK_EMULATED");
		result[0] = judge(&opts);
		result[1] = tries_made;
		_exit(write(pipes[1], result, sizeof(result)) != sizeof(result));
	}
	close(pipes[1]);
	if (read(pipes[0], result, sizeof(result)) != sizeof(result))
		live_note("judge() ended early");
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	tries_made = result[1];
	return result[0];
}

static void test_judge(void)
{
	const struct witness_limits lenient = {.taken = INFINITY, .waited = -1};
	enum judged judged;

	judged = judge_wrong(&lenient);
	live_ok(judged == JUDGED_FAILED && tries_made == 1,
		"wrong and undisturbed fails after %d try", tries_made);
	start_stranger(cpu, burn_always);
	judged = judge_wrong(&strict);
	live_ok(judged == NOT_JUDGED && tries_made == 3,
		"wrong beside a burner is not judged after %d tries", tries_made);
	stop_stranger();
}

int main(void)
{
	struct witness_tasks tasks;

	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs");
	if (!witness_tasks_read(&tasks))
		live_skip_all("this kernel keeps no run time and delay of tasks "
			      "(CONFIG_SCHED_INFO)");
	witness_tasks_free(&tasks);
	stranger = mmap(NULL, sizeof(*stranger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (stranger == MAP_FAILED || pipe2(lifeline, O_NONBLOCK | O_CLOEXEC))
		live_fail_all("no memory or pipe to share");
	live_pin(other);
	test_quiet();
	test_burner();
	test_visitor();
	test_waiting();
	test_late();
	test_short_tasks();
	test_gone();
	test_interrupts();
	test_judge();
	return live_done();
}
