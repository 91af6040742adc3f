/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads a trace of interrupt and softirq events and adds up their lengths. */
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

/* One event of the trace. */
struct event {
	uint64_t at_ns;
	char name[48];
	unsigned int vec; /* of a softirq */
	bool idle;	  /* the idle task is current */
};

/* What is open while the events go by. */
struct state {
	uint64_t last_ns;
	int depth; /* of interrupt handlers */
	bool in_softirq;
	unsigned int vec;
	uint64_t from_ns, to_ns;
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

void ftrace_start(int cpu)
{
	char mask[16];

	if (mkdir(INSTANCE, 0700) && errno != EEXIST)
		live_fail_all("no instance of ftrace: %s", strerror(errno));
	snprintf(mask, sizeof(mask), "%x", 1u << cpu);
	if (!put("trace_clock", "mono") || !put("buffer_size_kb", "4096") ||
	    !put("tracing_cpumask", mask) || !put("events/irq/enable", "1"))
		live_fail_all("ftrace does not take its settings: %s", strerror(errno));
	/* arm64 has the one, x86 the other. */
	if (!put("events/irq_vectors/enable", "1") &&
	    (!put("events/ipi/ipi_entry/enable", "1") || !put("events/ipi/ipi_exit/enable", "1")))
		live_fail_all("ftrace shows no interrupts between processors");
	put("trace", "\n");
	put("tracing_on", "1");
}

/* "  <idle>-0  [001] d.s1.  12.345678: softirq_entry: vec=3 [action=NET_RX]" */
static bool parse(const char *line, struct event *ret_event)
{
	const char *at = strchr(line, '['), *vec;
	unsigned long long s, us;

	if (!at || line[0] == '#' ||
	    sscanf(at, "[%*d] %*s %llu.%6llu: %47[^:]:", &s, &us, ret_event->name) != 3)
		return false;
	ret_event->at_ns = s * NSEC_PER_SEC + us * NSEC_PER_USEC;
	ret_event->idle = strstr(line, "<idle>-0 ") && strstr(line, "<idle>-0 ") < at;
	vec = strstr(at, "vec=");
	ret_event->vec = vec ? (unsigned int)atoi(vec + 4) : 0;
	return true;
}

static bool ends(const char *name, const char *tail)
{
	size_t len = strlen(name), tail_len = strlen(tail);

	return len >= tail_len && !strcmp(name + len - tail_len, tail);
}

/* Closes the interval up to this event, then opens the next. */
static void add_event(struct state *s, const struct event *event, struct ftrace_times *times)
{
	uint64_t begin = s->last_ns > s->from_ns ? s->last_ns : s->from_ns;
	uint64_t end = event->at_ns < s->to_ns ? event->at_ns : s->to_ns;
	bool inside = event->at_ns >= s->from_ns && event->at_ns <= s->to_ns;
	uint64_t ns = end > begin ? end - begin : 0;

	s->last_ns = event->at_ns;
	if (s->depth > 0) {
		times->hardirq_ns += ns;
	} else if (s->in_softirq) {
		*(event->idle ? &times->softirq_on_idle_ns : &times->softirq_on_task_ns) += ns;
		if (s->vec < FTRACE_NR_VECS)
			times->vec_ns[s->vec] += ns;
	}
	if (!strcmp(event->name, "softirq_entry")) {
		s->in_softirq = true;
		s->vec = event->vec;
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

void ftrace_stop(uint64_t from_ns, uint64_t to_ns, struct ftrace_times *ret_times)
{
	struct state state = {.from_ns = from_ns, .to_ns = to_ns};
	struct event event;
	char line[512];
	FILE *trace;

	*ret_times = (struct ftrace_times){0};
	put("tracing_on", "0");
	trace = fopen(INSTANCE "/trace", "re");
	while (trace && fgets(line, sizeof(line), trace)) {
		/* "# entries-in-buffer/entries-written: 123/123   #P:2" */
		const char *lost = strstr(line, "entries-in-buffer/entries-written:");
		unsigned long long kept, written;

		if (lost && sscanf(strchr(lost, ':'), ": %llu/%llu", &kept, &written) == 2 &&
		    kept != written)
			live_fail_all("ftrace kept %llu of %llu events", kept, written);
		if (parse(line, &event))
			add_event(&state, &event, ret_times);
	}
	if (trace)
		fclose(trace);
	put("events/enable", "0");
	if (rmdir(INSTANCE))
		live_fail_all("the instance of ftrace does not go away: %s", strerror(errno));
}
