/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a trace of interrupt and softirq events and sums their durations. */
#include "ftrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "live.h"

#define INSTANCE "/sys/kernel/tracing/instances/truth"

/* State of the traced core, updated with each event in order of time. */
struct state {
	uint64_t last_ns;
	int depth; /* nesting depth of interrupt handlers */
	bool in_softirq;
	unsigned int vec;
	/* time of the first raise of each softirq since its last entry, or 0 */
	uint64_t raised_ns[FTRACE_NR_VECS];
	uint64_t from_ns, to_ns;
	struct ftrace_times *times;
};

static bool put(const char *name, const char *text)
{
	char path[160];
	ssize_t done;
	int fd;

	snprintf(path, sizeof(path), INSTANCE "/%s", name);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return false;
	done = write(fd, text, strlen(text));
	close(fd);
	return done == (ssize_t)strlen(text);
}

static bool enable(const char *events)
{
	char name[80];

	snprintf(name, sizeof(name), "events/%s/enable", events);
	return put(name, "1");
}

void ftrace_begin(unsigned int mask, const char *const *events)
{
	char cpus[16];

	if (mkdir(INSTANCE, 0700) && errno != EEXIST)
		live_fail_all("no instance of ftrace: %s", strerror(errno));
	snprintf(cpus, sizeof(cpus), "%x", mask);
	if (!put("trace_clock", "mono") || !put("buffer_size_kb", "4096") ||
	    !put("tracing_cpumask", cpus))
		live_fail_all("ftrace does not take its settings: %s", strerror(errno));
	for (size_t i = 0; events[i]; i++)
		if (!enable(events[i]))
			live_fail_all("ftrace has no events %s: %s", events[i], strerror(errno));
	/* x86 has the event group irq_vectors, and arm64 has the IPI events. */
	if (!enable("irq_vectors") && (!enable("ipi/ipi_entry") || !enable("ipi/ipi_exit")))
		live_fail_all("ftrace shows no interrupts between processors");
	put("trace", "\n");
	put("tracing_on", "1");
}

void ftrace_start(int cpu)
{
	ftrace_begin(1u << cpu, (const char *const[]){"irq", NULL});
}

/*
 * Parses a line such as "  <idle>-0  [001] d.s1.  12.345678: softirq_entry: vec=3 [action=NET_RX]".
 */
static bool parse(const char *line, struct ftrace_event *ret_event)
{
	const char *at = strchr(line, '['), *pid = at;
	unsigned long long s, us;
	int end = 0;

	if (!at || line[0] == '#' ||
	    sscanf(at, "[%u] %*s %llu.%6llu: %47[^:]:%n", &ret_event->cpu, &s, &us, ret_event->name,
		   &end) != 4)
		return false;
	ret_event->at_ns = s * NSEC_PER_SEC + us * NSEC_PER_USEC;
	while (pid > line && *pid != '-')
		pid--;
	ret_event->pid = atoi(pid + 1);
	ret_event->fields = at + end;
	return true;
}

static bool ends(const char *name, const char *tail)
{
	size_t len = strlen(name), tail_len = strlen(tail);

	return len >= tail_len && !strcmp(name + len - tail_len, tail);
}

static void add_delay(struct state *s, const struct ftrace_event *entry, bool inside)
{
	uint64_t ns;

	if (s->vec >= FTRACE_NR_VECS || !s->raised_ns[s->vec])
		return;
	ns = entry->at_ns - s->raised_ns[s->vec];
	s->raised_ns[s->vec] = 0;
	if (!inside)
		return;
	s->times->delay_count[s->vec]++;
	s->times->delay_ns[s->vec] += ns;
	if (ns > s->times->delay_max_ns[s->vec])
		s->times->delay_max_ns[s->vec] = ns;
}

/* Charges the time since the previous event to the core's context, and updates this context. */
static void add_event(const struct ftrace_event *event, void *arg)
{
	struct state *s = arg;
	struct ftrace_times *times = s->times;
	const char *field = strstr(event->fields, "vec=");
	unsigned int vec = field ? (unsigned int)atoi(field + 4) : FTRACE_NR_VECS;
	uint64_t begin = s->last_ns > s->from_ns ? s->last_ns : s->from_ns;
	uint64_t end = event->at_ns < s->to_ns ? event->at_ns : s->to_ns;
	bool inside = event->at_ns >= s->from_ns && event->at_ns <= s->to_ns;
	uint64_t ns = end > begin ? end - begin : 0;

	s->last_ns = event->at_ns;
	if (s->depth > 0) {
		times->hardirq_ns += ns;
	} else if (s->in_softirq) {
		*(!event->pid ? &times->softirq_on_idle_ns : &times->softirq_on_task_ns) += ns;
		if (s->vec < FTRACE_NR_VECS)
			times->vec_ns[s->vec] += ns;
	}
	if (!strcmp(event->name, "softirq_raise")) {
		if (vec < FTRACE_NR_VECS && !s->raised_ns[vec])
			s->raised_ns[vec] = event->at_ns;
	} else if (!strcmp(event->name, "softirq_entry")) {
		s->in_softirq = true;
		s->vec = vec;
		add_delay(s, event, inside);
	} else if (!strcmp(event->name, "softirq_exit")) {
		if (inside && s->vec < FTRACE_NR_VECS)
			times->vec_count[s->vec]++;
		s->in_softirq = false;
	} else if (ends(event->name, "_entry") && strncmp(event->name, "tasklet", 7)) {
		s->depth++;
	} else if (ends(event->name, "_exit") && strncmp(event->name, "tasklet", 7)) {
		s->depth -= s->depth > 0;
	}
}

void ftrace_end(void (*each)(const struct ftrace_event *event, void *arg), void *arg)
{
	struct ftrace_event event;
	char line[512];
	FILE *trace;

	put("tracing_on", "0");
	trace = fopen(INSTANCE "/trace", "re");
	while (trace && fgets(line, sizeof(line), trace)) {
		/*
		 * Example of a line with event counts:
		 * "# entries-in-buffer/entries-written: 123/123   #P:2"
		 */
		const char *lost = strstr(line, "entries-in-buffer/entries-written:");
		unsigned long long kept, written;

		if (lost && sscanf(strchr(lost, ':'), ": %llu/%llu", &kept, &written) == 2 &&
		    kept != written)
			live_fail_all("ftrace kept %llu of %llu events", kept, written);
		if (parse(line, &event))
			each(&event, arg);
	}
	if (trace)
		fclose(trace);
	put("events/enable", "0");
	if (rmdir(INSTANCE))
		live_fail_all("the instance of ftrace does not go away: %s", strerror(errno));
}

void ftrace_stop(uint64_t from_ns, uint64_t to_ns, struct ftrace_times *ret_times)
{
	struct state state = {.from_ns = from_ns, .to_ns = to_ns, .times = ret_times};

	*ret_times = (struct ftrace_times){0};
	ftrace_end(add_event, &state);
}
