/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs `noise` together with `rtla osnoise top` and `rtla timerlat top`. The counts of rtla must
 * lie between the counts of noise in windows inside of rtla's sample and in windows that contain
 * the sample.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "live.h"
#include "measure/noise/noise.h"
#include "host/file.h"
#include "host/mountinfo.h"
#include "host/procstat.h"

/* Options of osnoise: one sample of RUNTIME_US per period. */
#define PERIOD_US  "5000000"
#define RUNTIME_US "4000000"
#define RUNTIME_MS 4000
/* Safety margin between the inner window and the sample: the tracer uses another clock. */
#define MARGIN_MS 50
#define PART_MS	  100
#define WINDOW_MS 3000
#define POLL_MS	  20
/* An emulated rtla reads the list of events for a minute. */
#define LOOKS 6000
/* rtla reads the trace every second. After this time rtla has read all earlier events. */
#define READ_MS 3000

enum {
	IRQS,
	TIMERS,
	SOFTIRQS,
	THREADS, /* all kernel threads except the tracer's */
	TRACER,
	KSOFTIRQD,
	STOPPER, /* the only kernel thread that preempts the thread of timerlat */
	NMIS,
	TASK_NS, /* run time of user tasks */
	LOST,
	NR_COUNTS
};

struct counts {
	uint64_t of[NR_COUNTS];
};

/* One tool of rtla on one core, and the counts of noise on that core. */
struct beside {
	const char *tool;
	int cpu, fd;
	pid_t rtla, thread;
	unsigned int looks;
	struct meter *meter;
	struct counts inside, around;
	char out[16384];
};

static char root[TRACEFS_PATH];

struct thread_look {
	char state;
	uint64_t ticks; /* CPU time in ticks of 10 ms */
};

/* Minimum CPU time of an osnoise thread that takes samples: it spins. */
#define SPINS 10

/* Finds tracefs. Skips the program if the kernel lacks one of the tracers. */
static void need_tracers(void)
{
	char path[2 * TRACEFS_PATH], text[512];
	struct err err = {0};

	if (tracefs_root(root, sizeof(root), &err))
		live_skip_all("%s", err.what);
	snprintf(path, sizeof(path), "%s/available_tracers", root);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0 || !strstr(text, "osnoise") ||
	    !strstr(text, "timerlat"))
		live_skip_all("this kernel has no tracers osnoise and timerlat");
}

/* Thread id of tracer @tool on @cpu, or 0. */
static pid_t tracer_thread(const char *tool, int cpu)
{
	char wanted[32], path[300], name[64];
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	pid_t pid = 0;

	snprintf(wanted, sizeof(wanted), "%s/%d", tool, cpu);
	while (dir && !pid && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		if (atoi(entry->d_name) && sys_read_file(NULL, path, name, sizeof(name)) > 0 &&
		    !strcmp(name, wanted))
			pid = atoi(entry->d_name);
	}
	if (dir)
		closedir(dir);
	return pid;
}

/* State and CPU time of a thread. Returns false if the thread has ended. */
static bool thread_look(pid_t pid, struct thread_look *ret_look)
{
	char path[32], text[1024], *rest;
	struct pidstat stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (sys_read_file(NULL, path, text, sizeof(text)) < 0 || pidstat_parse(text, &stat))
		return false;
	rest = strrchr(text, ')');
	*ret_look = (struct thread_look){rest[2], stat.system_ticks + stat.user_ticks};
	return true;
}

/*
 * Number of events that noise counted on @cpu, of kinds @first to @last, and of name @name unless
 * it is NULL.
 */
static uint64_t noise_count(const struct noise_window *w, uint32_t cpu, enum noise_kind first,
			    enum noise_kind last, const char *name)
{
	uint64_t count = 0;

	for (size_t i = 0; i < w->nr_sources; i++) {
		const struct noise_source *source = &w->sources[i];

		if (source->cpu == cpu && source->kind >= first && source->kind <= last &&
		    (!name || !strcmp(source->name, name)))
			count += source->count;
	}
	return count;
}

/* rtla gets SIGINT when this program exits, and then resets the tracer. */
static void start_rtla(struct beside *b, const char *const args[])
{
	char cpu[16];
	const char *argv[16] = {"rtla", b->tool, "top", "-q", "-c", cpu};
	int out[2];

	snprintf(cpu, sizeof(cpu), "%d", b->cpu);
	for (int i = 0; args[i] && i < 9; i++)
		argv[6 + i] = args[i];
	fflush(stdout);
	if (pipe2(out, O_CLOEXEC) || (b->rtla = fork()) < 0)
		live_fail_all("cannot start rtla");
	if (!b->rtla) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGINT);
		dup2(out[1], STDOUT_FILENO);
		dup2(out[1], STDERR_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	setpgid(b->rtla, b->rtla);
	close(out[1]);
	b->fd = out[0];
}

/* Sends SIGINT to rtla. Returns the row of the measured core in rtla's output. */
static const char *stop_rtla(struct beside *b)
{
	int code = live_stop(b->rtla, SIGINT, b->fd, b->out, sizeof(b->out));
	const char *row = NULL;

	for (char *line = strtok(b->out, "\n"); line; line = strtok(NULL, "\n")) {
		int cpu, used = 0;

		live_note("rtla: %s", line);
		if (sscanf(line, " %d #%n", &cpu, &used) == 1 && used && cpu == b->cpu)
			row = line;
	}
	if (code || !row)
		live_fail_all("rtla %s top: exit %d, and %s", b->tool, code,
			      row ? "a row" : "no row of our core");
	return row;
}

static uint64_t count_thread(const struct beside *b, const struct noise_window *w, const char *name)
{
	char full[32];

	snprintf(full, sizeof(full), "%s/%d", name, b->cpu);
	return noise_count(w, b->cpu, NOISE_KIND_THREAD, NOISE_KIND_THREAD, full);
}

static void add_counts(struct counts *sum, const struct counts *more)
{
	for (int i = 0; i < NR_COUNTS; i++)
		sum->of[i] += more->of[i];
}

/* Ends a window, adds its counts to b->around, and begins the next window. */
static struct counts add_window(struct beside *b)
{
	const struct noise_window *w;
	struct counts c = {0};
	struct err err = {0};

	if (b->meter->ops->read(b->meter, &err))
		live_fail_all("%s", err.what);
	w = noise_window(b->meter);
	c.of[IRQS] = noise_count(w, b->cpu, NOISE_KIND_IRQ, NOISE_KIND_VECTOR, NULL);
	c.of[TIMERS] = noise_count(w, b->cpu, NOISE_KIND_IRQ, NOISE_KIND_IRQ, "arch_timer") +
		       noise_count(w, b->cpu, NOISE_KIND_VECTOR, NOISE_KIND_VECTOR,
				       "Local timer interrupts");
	c.of[SOFTIRQS] = noise_count(w, b->cpu, NOISE_KIND_SOFTIRQ, NOISE_KIND_SOFTIRQ, NULL);
	c.of[TRACER] = count_thread(b, w, b->tool);
	c.of[KSOFTIRQD] = count_thread(b, w, "ksoftirqd");
	c.of[STOPPER] = count_thread(b, w, "migration");
	c.of[THREADS] = noise_count(w, b->cpu, NOISE_KIND_THREAD, NOISE_KIND_THREAD, NULL) -
			c.of[TRACER];
	c.of[NMIS] = noise_count(w, b->cpu, NOISE_KIND_NMI, NOISE_KIND_NMI, NULL);
	for (size_t i = 0; i < w->nr_cores; i++)
		if (w->cores[i].cpu == (uint32_t)b->cpu)
			c.of[TASK_NS] = w->cores[i].task_ns;
	c.of[LOST] = w->noise_losses.sources;
	if (w->losses.recursion_misses != LOAD_NO_LOSS)
		c.of[LOST] += w->losses.recursion_misses;
	add_counts(&b->around, &c);
	return c;
}

/*
 * Windows that end before @ends_ns are inside of rtla's sample. A guest that the host stopped for a
 * while has fewer such windows.
 */
static void add_inside(struct beside *b, uint64_t ends_ns)
{
	while (clock_mono_ns() < ends_ns) {
		struct counts c;

		live_sleep_ms(PART_MS);
		c = add_window(b);
		if (clock_mono_ns() < ends_ns)
			add_counts(&b->inside, &c);
	}
}

/* Waits for the next poll. Fails the program after too many polls. */
static void next_look(struct beside *b, const char *waits_for)
{
	if (++b->looks > LOOKS) {
		stop_rtla(b);
		live_fail_all("rtla %s top: %s never came", b->tool, waits_for);
	}
	live_sleep_ms(POLL_MS);
}

/* @why: reason for having no upper bound, or NULL. */
static void judge(const struct beside *b, const char *what, int kind, uint64_t theirs,
		  const char *why)
{
	uint64_t least = b->inside.of[kind], most = b->around.of[kind] + b->around.of[LOST];

	live_ok(least <= theirs && (why || theirs <= most),
		"%s: rtla %s counts %llu, noise %llu inside, %llu around%s%s", what, b->tool,
		(unsigned long long)theirs, (unsigned long long)least, (unsigned long long)most,
		why ? "; no upper bound: " : "", why ?: "");
}

static bool says(const char *tool, const char *file, const char *wanted)
{
	char path[2 * TRACEFS_PATH], text[32];

	snprintf(path, sizeof(path), "%s/instances/%s_top/%s", root, tool, file);
	return sys_read_file(NULL, path, text, sizeof(text)) > 0 && !strcmp(text, wanted);
}

/* rtla counts events while tracing is on. Tracing is off when the tracer is selected. */
static bool recording(const char *tool)
{
	return says(tool, "current_tracer", tool) && says(tool, "tracing_on", "1");
}

/*
 * Waits until the thread of osnoise spins. The thread sleeps for a period before its first sample.
 * Returns a time before the first sample; all later events are in b->around.
 */
static uint64_t await_sample(struct beside *b)
{
	struct thread_look look = {0};
	uint64_t at_ns, before_ns = 0;

	while (look.ticks < SPINS) {
		next_look(b, "its sample");
		add_window(b);
		at_ns = clock_mono_ns();
		if (!b->thread && says(b->tool, "current_tracer", b->tool))
			b->thread = tracer_thread(b->tool, b->cpu);
		if (b->thread && !thread_look(b->thread, &look))
			live_fail_all("the thread of osnoise ended");
		if (b->thread && look.state != 'S')
			continue;
		before_ns = at_ns;
		b->around = (struct counts){0};
	}
	add_window(b);
	return before_ns;
}

static void await_sleep(struct beside *b)
{
	struct thread_look look;

	while (thread_look(b->thread, &look) && look.state != 'S')
		next_look(b, "a sleep of its thread");
}

static void judge_osnoise(const struct beside *b, const char *row, bool nmi_known)
{
	unsigned long long periods, nmis, irqs, softirqs, threads;

	if (sscanf(row, " %*d #%llu %*u %*u %*f %*u %*u %*u %llu %llu %llu %llu", &periods, &nmis,
		   &irqs, &softirqs, &threads) != 5)
		live_fail_all("cannot parse the row of rtla");
	live_ok(periods == 1, "rtla osnoise took %llu sample", periods);
	judge(b, "interrupts", IRQS, irqs, NULL);
	if (live_realtime())
		live_skip("softirqs beside rtla osnoise",
			  "to osnoise they are threads on PREEMPT_RT");
	else
		judge(b, "softirqs", SOFTIRQS, softirqs,
		      b->around.of[KSOFTIRQD] ? "some ran in ksoftirqd, whose time that is" : NULL);
	/* rtla counts every task as a thread. */
	judge(b, "threads", THREADS, threads,
	      b->around.of[TASK_NS] ? "tasks ran there that are no kernel threads" : NULL);
	if (nmi_known)
		judge(b, "NMIs", NMIS, nmis, NULL);
	else
		live_skip("NMIs beside rtla osnoise", "this kernel does not tell noise of them");
}

static void beside_osnoise(struct beside *b)
{
	static const char *const args[] = {"-p", PERIOD_US, "-r", RUNTIME_US, NULL};
	uint64_t ends_ns;

	start_rtla(b, args);
	ends_ns = await_sample(b) + RUNTIME_MS * NSEC_PER_MSEC;
	add_inside(b, ends_ns - MARGIN_MS * NSEC_PER_MSEC);
	await_sleep(b);
	add_window(b);
	live_sleep_ms(READ_MS);
	if (!b->inside.of[IRQS])
		live_skip("what rtla osnoise counts at least", "no window was read in time");
	judge_osnoise(b, stop_rtla(b), noise_window(b->meter)->nmi_known);
}

/*
 * Each timer of timerlat is one interrupt, because the woken thread sets the next timer. If a timer
 * expires before the thread sleeps, the thread handles it without another switch.
 */
static void judge_timerlat(const struct beside *b, const char *row)
{
	unsigned long long timers, runs = b->inside.of[TRACER];

	if (sscanf(row, " %*d #%llu", &timers) != 1)
		live_fail_all("cannot parse the row of rtla");
	live_ok(timers <= b->around.of[TIMERS] + b->around.of[LOST],
		"timers: rtla timerlat counts %llu, noise %llu interrupts of the timer around",
		timers, (unsigned long long)b->around.of[TIMERS]);
	live_ok(runs > 0 && runs <= timers + b->inside.of[STOPPER],
		"timerlat's thread: noise counts %llu runs inside, rtla %llu timers", runs, timers);
	live_figure(timers <= b->around.of[TRACER] + b->around.of[LOST],
		    "timerlat's thread: rtla counts %llu timers, noise %llu runs around", timers,
		    (unsigned long long)b->around.of[TRACER]);
}

static void beside_timerlat(struct beside *b)
{
	const char *args[] = {"-p", live_emulated() ? "10000" : "1000", NULL, NULL};
	const char *row;

	/* Newer versions of rtla start user threads and count with BPF by default. */
	if (!system("rtla timerlat top -h 2>&1 | grep -q -e --kernel-threads"))
		args[2] = "-k";
	setenv("RTLA_NO_BPF", "1", 1);
	start_rtla(b, args);
	do {
		next_look(b, "its trace");
		b->around = (struct counts){0};
		add_window(b);
	} while (!recording(b->tool));
	while (!(b->thread = tracer_thread(b->tool, b->cpu)))
		next_look(b, "its kernel thread");
	/* The first timer ends the first sleep. */
	await_sleep(b);
	add_window(b);
	add_inside(b, clock_mono_ns() + WINDOW_MS * NSEC_PER_MSEC);
	live_sleep_ms(READ_MS);
	row = stop_rtla(b);
	add_window(b);
	judge_timerlat(b, row);
}

int main(void)
{
	static struct beside osnoise = {.tool = "osnoise"}, timerlat = {.tool = "timerlat"};
	struct noise_opts opts = {0};
	struct err err = {0};
	int cpu, other;

	live_needs(ARGS("noise", "0.01", "1"));
	need_tracers();
	if (system("command -v rtla >/dev/null"))
		live_skip_all("no rtla (package rtla)");
	if (!live_two_cpus(&cpu, &other))
		live_skip_all("needs two CPUs: the tracer has one for itself");
	if (tracer_thread("osnoise", cpu) || tracer_thread("timerlat", cpu))
		live_skip_all("another program uses the tracer osnoise or timerlat");
	live_pin(other);
	if (noise_open(&opts, &osnoise.meter, &err) ||
	    osnoise.meter->ops->start(osnoise.meter, &err))
		live_fail_all("%s", err.what);
	timerlat.meter = osnoise.meter;
	osnoise.cpu = timerlat.cpu = cpu;
	beside_osnoise(&osnoise);
	beside_timerlat(&timerlat);
	osnoise.meter->ops->close(osnoise.meter);
	return live_done();
}
