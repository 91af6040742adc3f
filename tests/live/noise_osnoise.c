/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Noise beside the kernel's own tracers of it, those of `rtla osnoise` and `rtla timerlat`: as many
 * interrupts, softirqs and runs of kernel threads on the core that they watch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "live.h"
#include "measure/noise/noise.h"
#include "osnoise.h"
#include "host/file.h"
#include "host/mountinfo.h"

#define WINDOW_MS 2000
/*
 * A period of the tracer's thread, which it measures all of; the window lies inside it. A thread that
 * runs before the tracer is on sleeps for one first.
 */
#define PERIOD_US "8000000"
#define PERIOD_MS 8000
/*
 * Our program and the tracer see the same event one after the other; at either end of the window an
 * event may be between the two.
 */
#define BETWEEN 2
#define NAMES	64

/*
 * Number of events of one name in the trace: those certainly inside the window, and those possibly
 * inside.
 */
struct seen {
	char name[48];
	uint64_t surely, perhaps;
};

/* One kind of noise, and its names. */
struct kind {
	struct seen all;
	struct seen names[NAMES];
	size_t nr_names;
};

enum {
	IRQ,
	SOFTIRQ,
	THREAD,
	NR_EVENTS,
	WAKEUP = NR_EVENTS,
	NR_KINDS
};

static const char *const events[NR_EVENTS] = {"irq_noise:", "softirq_noise:", "thread_noise:"};

struct times {
	uint64_t before_begin, after_begin, before_end, after_end;
};

static char root[TRACEFS_PATH];
static struct trace_instance instance;
static char kept_cpus[256], kept_period[32], kept_runtime[32];

static bool put(const char *folder, const char *name, const char *text)
{
	char path[2 * TRACEFS_PATH];
	FILE *file;
	bool done;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	done = file && fputs(text, file) >= 0;
	/* An invalid value is reported when the buffer is flushed. */
	return file && !fclose(file) && done;
}

static bool setting(const char *name, const char *text)
{
	char folder[TRACEFS_PATH + 16];

	snprintf(folder, sizeof(folder), "%s/osnoise", root);
	return put(folder, name, text);
}

static bool tell(const char *name, const char *text)
{
	return put(instance.path, name, text);
}

static void keep(const char *name, char *buf, size_t size)
{
	char path[2 * TRACEFS_PATH];

	snprintf(path, sizeof(path), "%s/osnoise/%s", root, name);
	if (sys_read_file(NULL, path, buf, size) < 0)
		live_skip_all("cannot read the settings of the osnoise tracer");
}

static void restore(void)
{
	if (instance.path[0]) {
		tell("current_tracer", "nop");
		trace_instance_close(&instance);
	}
	setting("cpus", kept_cpus);
	setting("runtime_us", kept_runtime);
	setting("period_us", kept_period);
}

/* Skips the program if the kernel lacks the tracer or another tracer is active. */
static void need_tracers(void)
{
	struct err err = {0};

	osnoise_needed(root, sizeof(root));
	if (tracefs_group_unused(root, "osnoise", &err))
		live_skip_all("%s", err.what);
	keep("cpus", kept_cpus, sizeof(kept_cpus));
	keep("runtime_us", kept_runtime, sizeof(kept_runtime));
	keep("period_us", kept_period, sizeof(kept_period));
	atexit(restore);
	if (trace_instance_open(&instance, root, "osnoise", &err))
		live_fail_all("%s", err.what);
	if (!tell("trace_clock", "mono") || !tell("buffer_size_kb", "8192"))
		live_fail_all("the trace instance does not take its settings");
}

static void start_tracer(const char *tracer, int cpu)
{
	char list[16];

	snprintf(list, sizeof(list), "%d", cpu);
	/* The runtime is never longer than the period. */
	if (!setting("cpus", list) || !setting("period_us", PERIOD_US) ||
	    !setting("runtime_us", PERIOD_US) || !tell("trace", "\n") ||
	    !tell("events/osnoise/irq_noise/enable", "1") ||
	    !tell("events/osnoise/softirq_noise/enable", "1") ||
	    !tell("events/osnoise/thread_noise/enable", "1") || !tell("current_tracer", tracer) ||
	    !tell("tracing_on", "1"))
		live_fail_all("the kernel refuses to start tracer %s", tracer);
}

/*
 * Waits until the tracer's thread takes samples. The thread of osnoise spins; timerlat starts after
 * its first sleep.
 */
static void await_sample(const char *tracer, int cpu)
{
	bool spins = !strcmp(tracer, "osnoise");
	struct osnoise_look look = {0};

	for (int i = 0; i < 2 * PERIOD_MS / 100; i++) {
		live_sleep_ms(100);
		if (osnoise_look(osnoise_thread(tracer, cpu), &look) &&
		    (spins ? look.ticks >= OSNOISE_SPINS : look.state == 'S'))
			return;
	}
	live_fail_all("the thread of %s takes no sample", tracer);
}

static struct seen *of_name(struct kind *kind, const char *name)
{
	for (size_t i = 0; i < kind->nr_names; i++)
		if (!strcmp(kind->names[i].name, name))
			return &kind->names[i];
	if (kind->nr_names == NAMES)
		live_fail_all("the tracer saw more than %d names", NAMES);
	snprintf(kind->names[kind->nr_names].name, sizeof(kind->names[0].name), "%s", name);
	return &kind->names[kind->nr_names++];
}

static void add(struct seen *seen, const struct times *t, uint64_t at_ns)
{
	/* The trace has microseconds. */
	seen->surely += at_ns > t->after_begin && at_ns + NSEC_PER_USEC < t->before_end;
	seen->perhaps += at_ns + NSEC_PER_USEC > t->before_begin && at_ns < t->after_end;
}

/*
 * "osnoise/1-77 [001] d.h.. 12.345678: irq_noise: arch_timer:11 start 12.345670123 duration 520 ns"
 * "timerlat/1-78 [001] ..... 12.345678: #5 context thread timer_latency 4711 ns"
 */
static void parse(char *line, const struct times *t, struct kind *kinds)
{
	char *at = strstr(line, " ["), *end, *what;
	unsigned long long s, us;
	uint64_t at_ns;
	int used = 0;

	if (line[0] == '#' || !at || sscanf(at, " [%*d] %*s %llu.%6llu: %n", &s, &us, &used) != 2 ||
	    !used)
		return;
	what = at + used;
	at_ns = s * NSEC_PER_SEC + us * NSEC_PER_USEC;
	if (what[0] == '#' && strstr(what, "context thread"))
		add(&kinds[WAKEUP].all, t, at_ns);
	for (int i = 0; i < NR_EVENTS; i++) {
		if (strncmp(what, events[i], strlen(events[i])))
			continue;
		add(&kinds[i].all, t, at_ns);
		what += strlen(events[i]);
		what += strspn(what, " ");
		end = strstr(what, " start ");
		while (end && end > what && *end != ':')
			end--;
		if (!end || end == what)
			live_fail_all("cannot parse the trace: %s", line);
		*end = '\0';
		add(of_name(&kinds[i], what), t, at_ns);
		return;
	}
}

static void read_trace(const struct times *t, struct kind *kinds)
{
	char path[2 * TRACEFS_PATH], *line = NULL;
	size_t size = 0, lines = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/trace", instance.path);
	file = fopen(path, "re");
	if (!file)
		live_fail_all("cannot read the trace");
	while (getline(&line, &size, file) > 0) {
		parse(line, t, kinds);
		lines++;
	}
	free(line);
	fclose(file);
	live_note("%zu lines of trace", lines);
}

static void judge(const char *what, uint64_t count, const struct seen *seen)
{
	live_ok(count + BETWEEN >= seen->surely && count <= seen->perhaps + BETWEEN,
		"%s: noise counts %llu, the tracer %llu to %llu", what, (unsigned long long)count,
		(unsigned long long)seen->surely, (unsigned long long)seen->perhaps);
}

/* A window of noise while the tracer runs on @cpu, and what that saw. */
static const struct noise_window *measure(struct meter *meter, const char *tracer, int cpu,
					  struct kind *kinds)
{
	struct err err = {0};
	struct times t;
	int rc;

	start_tracer(tracer, cpu);
	await_sample(tracer, cpu);
	t.before_begin = clock_mono_ns();
	rc = meter->ops->start(meter, &err);
	t.after_begin = clock_mono_ns();
	live_sleep_ms(WINDOW_MS);
	t.before_end = clock_mono_ns();
	rc = rc ? rc : meter->ops->read(meter, &err);
	t.after_end = clock_mono_ns();
	tell("tracing_on", "0");
	if (rc)
		live_fail_all("%s", err.what);
	read_trace(&t, kinds);
	tell("current_tracer", "nop");
	return noise_window(meter);
}

/* Kernel threads but the tracer's own, by name: of other tasks the tracer makes no difference. */
static void judge_threads(const struct noise_window *w, uint32_t cpu, struct kind *threads)
{
	for (size_t i = 0; i < w->nr_sources; i++) {
		const struct noise_source *source = &w->sources[i];

		if (source->cpu == cpu && source->kind == NOISE_KIND_THREAD &&
		    strncmp(source->name, "osnoise/", strlen("osnoise/")))
			judge(source->name, source->count, of_name(threads, source->name));
	}
}

static void beside_osnoise(struct meter *meter, int cpu)
{
	struct kind kinds[NR_KINDS] = {0};
	const struct noise_window *w = measure(meter, "osnoise", cpu, kinds);
	char ksoftirqd[32];

	live_ok(kinds[IRQ].all.surely > 0, "osnoise sees interrupts");
	judge("interrupts", osnoise_counted(w, cpu, NOISE_KIND_IRQ, NOISE_KIND_VECTOR, NULL),
	      &kinds[IRQ].all);
	for (size_t i = 0; i < kinds[IRQ].nr_names; i++)
		live_note("osnoise: %s %llu, noise %llu", kinds[IRQ].names[i].name,
			  (unsigned long long)kinds[IRQ].names[i].perhaps,
			  (unsigned long long)osnoise_counted(w, cpu, NOISE_KIND_IRQ,
							      NOISE_KIND_VECTOR,
							      kinds[IRQ].names[i].name));
	snprintf(ksoftirqd, sizeof(ksoftirqd), "ksoftirqd/%d", cpu);
	if (live_realtime())
		live_skip("softirqs beside osnoise", "to osnoise they are threads on PREEMPT_RT");
	else if (osnoise_counted(w, cpu, NOISE_KIND_THREAD, NOISE_KIND_THREAD, ksoftirqd))
		live_skip("softirqs beside osnoise", "some ran in ksoftirqd, whose time that is");
	else
		judge("softirqs",
		      osnoise_counted(w, cpu, NOISE_KIND_SOFTIRQ, NOISE_KIND_SOFTIRQ, NULL),
		      &kinds[SOFTIRQ].all);
	judge_threads(w, cpu, &kinds[THREAD]);
}

/*
 * Its thread takes a sample for each of its timers. Where the next timer has expired before it
 * sleeps, it goes on: fewer runs than samples. Of other threads it tells only between timer and sample.
 */
static void beside_timerlat(struct meter *meter, int cpu)
{
	struct kind kinds[NR_KINDS] = {0};
	const struct noise_window *w = measure(meter, "timerlat", cpu, kinds);
	uint64_t runs;
	char name[32];

	snprintf(name, sizeof(name), "timerlat/%d", cpu);
	live_ok(kinds[WAKEUP].all.surely > 0, "timerlat wakes its thread");
	runs = osnoise_counted(w, cpu, NOISE_KIND_THREAD, NOISE_KIND_THREAD, name);
	live_ok(runs > 0 && runs <= kinds[WAKEUP].all.perhaps + BETWEEN,
		"timerlat's thread: %llu runs, at most %llu samples", (unsigned long long)runs,
		(unsigned long long)kinds[WAKEUP].all.perhaps);
	judge("interrupts", osnoise_counted(w, cpu, NOISE_KIND_IRQ, NOISE_KIND_VECTOR, NULL),
	      &kinds[IRQ].all);
}

int main(void)
{
	struct noise_opts opts = {0};
	int measured = 0, other = 0;
	struct meter *meter;
	struct err err = {0};

	live_needs(ARGS("noise", "0.01", "1"));
	need_tracers();
	if (!live_two_cpus(&measured, &other))
		live_skip_all("needs two CPUs: the tracer has one for itself");
	live_pin(other);
	if (noise_open(&opts, &meter, &err))
		live_fail_all("%s", err.what);
	beside_osnoise(meter, measured);
	beside_timerlat(meter, measured);
	meter->ops->close(meter);
	return live_done();
}
