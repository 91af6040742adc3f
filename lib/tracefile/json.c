/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a trace as JSON Lines, or in the Chrome trace format with one row per CPU. */
#include "tracefile/tracefile.h"

#include <inttypes.h>
#include <stdbool.h>

#include "view/view.h"

#define MAX_DEPTH 16

struct writer {
	FILE *out;
	const struct trace_window *window;
	/* only for the Chrome format */
	uint64_t end_ns; /* end of the recording, CLOCK_MONOTONIC */
	bool comma;
	uint32_t cpu;
	/* Kinds of the events that began the open slices on the current CPU, outermost first. */
	enum trace_kind open[MAX_DEPTH];
	unsigned int depth;
};

static void put_task(FILE *out, const struct trace_window *w, const char *prefix, uint32_t pid)
{
	fprintf(out, ",\"%spid\":%" PRIu32 ",\"%scomm\":", prefix, pid, prefix);
	json_put_text(out, trace_comm(w, pid));
}

static void line_event(void *arg, const struct tracefile_event *e)
{
	static const char *const kinds[TRACEFILE_NR_KINDS] = {
		[TRACE_SWITCH] = "switch",
		[TRACE_WAKING] = "waking",
		[TRACE_WAKEUP] = "wakeup",
		[TRACE_WAKEUP_NEW] = "wakeup_new",
		[TRACE_MIGRATE] = "migrate",
		[TRACE_IRQ_ENTER] = "irq_enter",
		[TRACE_IRQ_LEAVE] = "irq_leave",
		[TRACE_SOFTIRQ_ENTER] = "softirq_enter",
		[TRACE_SOFTIRQ_LEAVE] = "softirq_leave",
		[TRACE_IDLE_ENTER] = "idle_enter",
		[TRACE_IDLE_LEAVE] = "idle_leave",
		[TRACE_FREQUENCY] = "frequency",
		[TRACE_TICK] = "tick",
		[TRACEFILE_GAP] = "gap",
	};
	const struct trace_window *w = ((struct writer *)arg)->window;
	FILE *out = ((struct writer *)arg)->out;

	fprintf(out, "{\"time_monotonic_ns\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"event\":\"%s\"",
		e->ns, e->cpu, kinds[e->kind]);
	switch (e->kind) {
	case TRACE_SWITCH:
		put_task(out, w, "prev_", e->pid);
		fprintf(out, ",\"prev_state\":%" PRIu32, e->arg);
		put_task(out, w, "next_", e->other);
		fputs(e->throttled ? ",\"quota_held\":true" : "", out);
		break;
	case TRACE_WAKING:
	case TRACE_WAKEUP:
	case TRACE_WAKEUP_NEW:
	case TRACE_MIGRATE:
		put_task(out, w, "", e->pid);
		put_task(out, w, "by_", e->other);
		fprintf(out, ",\"to_cpu\":%" PRIu32 "%s", e->arg,
			e->throttled ? ",\"quota_held\":true" : "");
		break;
	case TRACE_IRQ_ENTER:
	case TRACE_SOFTIRQ_ENTER:
	case TRACE_SOFTIRQ_LEAVE:
		fprintf(out,
			",\"%s\":%" PRIu32 ",\"name\":", e->kind == TRACE_IRQ_ENTER ? "irq" : "vec",
			e->arg);
		json_put_text(out, e->name ?: "");
		break;
	case TRACE_IDLE_ENTER:
		fprintf(out, ",\"state\":%" PRIu32, e->arg);
		break;
	case TRACE_FREQUENCY:
		fprintf(out, ",\"of_cpu\":%" PRIu32 ",\"frequency_hz\":%" PRIu64, e->other,
			e->arg * UINT64_C(1000));
		break;
	default:
		break;
	}
	fputs("}\n", out);
}

static void line_part(void *arg, const struct tracefile_part *part)
{
	FILE *out = ((struct writer *)arg)->out;

	fprintf(out, "{\"time_monotonic_ns\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"event\":\"%s\"",
		part->from_ns, part->cpu, part->avoidable ? "avoidable_wait" : "quota_hold");
	put_task(out, ((struct writer *)arg)->window, "", part->pid);
	fprintf(out, ",\"%s_ns\":%" PRIu64 "}\n", part->avoidable ? "avoidable" : "hold",
		part->to_ns - part->from_ns);
}

int tracefile_lines(FILE *out, const struct tracefile *file)
{
	struct writer w = {.out = out, .window = file->window};

	tracefile_events(w.window, line_event, &w);
	tracefile_parts(w.window, line_part, &w);
	return stream_end(out, 0);
}

static void head(struct writer *w, const char *phase, uint64_t ns)
{
	fprintf(w->out, "%s\n{\"ph\":\"%s\",\"pid\":0,\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".%03u",
		w->comma ? "," : "", phase, w->cpu, ns / 1000, (unsigned int)(ns % 1000));
	w->comma = true;
}

static void begin(struct writer *w, const struct tracefile_event *e, const char *category,
		  const char *name, const char *key, uint32_t number)
{
	if (w->depth == MAX_DEPTH)
		return;
	w->open[w->depth++] = e->kind;
	head(w, "B", e->ns);
	fprintf(w->out, ",\"cat\":\"%s\",\"name\":", category);
	json_put_text(w->out, name);
	fprintf(w->out, ",\"args\":{\"%s\":%" PRIu32 "}}", key, number);
}

static void end_one(struct writer *w, uint64_t ns)
{
	w->depth--;
	head(w, "E", ns);
	putc('}', w->out);
}

/*
 * Ends the innermost open slice of @kind and all slices inside it. Writes nothing if the slice
 * began before the trace.
 */
static void end(struct writer *w, enum trace_kind kind, uint64_t ns)
{
	unsigned int at = w->depth;

	while (at && w->open[at - 1] != kind)
		at--;
	while (at && w->depth >= at)
		end_one(w, ns);
}

static void end_all(struct writer *w, uint64_t ns)
{
	while (w->depth)
		end_one(w, ns);
}

static void instant(struct writer *w, uint64_t ns, const char *what, const char *name)
{
	head(w, "i", ns);
	fprintf(w->out, ",\"s\":\"t\",\"cat\":\"%s\",\"name\":", what);
	json_put_text(w->out, name);
	putc('}', w->out);
}

static void put_event(void *arg, const struct tracefile_event *e)
{
	struct writer *w = arg;
	char idle[24];

	if (e->cpu != w->cpu) {
		end_all(w, w->end_ns);
		w->cpu = e->cpu;
		head(w, "M", 0);
		fprintf(w->out,
			",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU %" PRIu32 "\"}}",
			e->cpu);
	}
	switch (e->kind) {
	case TRACE_SWITCH:
		end_all(w, e->ns);
		if (e->other)
			begin(w, e, "task", trace_comm(w->window, e->other), "pid", e->other);
		break;
	case TRACE_WAKEUP:
	case TRACE_WAKEUP_NEW:
		instant(w, e->ns, "wakeup", trace_comm(w->window, e->pid));
		break;
	case TRACE_IRQ_ENTER:
		begin(w, e, "irq", e->name, "irq", e->arg);
		break;
	case TRACE_IRQ_LEAVE:
		end(w, TRACE_IRQ_ENTER, e->ns);
		break;
	case TRACE_SOFTIRQ_ENTER:
		begin(w, e, "softirq", e->name, "vec", e->arg);
		break;
	case TRACE_SOFTIRQ_LEAVE:
		end(w, TRACE_SOFTIRQ_ENTER, e->ns);
		break;
	case TRACE_IDLE_ENTER:
		snprintf(idle, sizeof(idle), "idle %" PRIu32, e->arg);
		end_all(w, e->ns);
		begin(w, e, "idle", idle, "state", e->arg);
		break;
	case TRACE_IDLE_LEAVE:
		end(w, TRACE_IDLE_ENTER, e->ns);
		break;
	case TRACE_FREQUENCY:
		head(w, "C", e->ns);
		fprintf(w->out,
			",\"name\":\"frequency of CPU %" PRIu32 "\",\"args\":{\"kHz\":%" PRIu32
			"}}",
			e->other, e->arg);
		break;
	case TRACE_TICK:
		instant(w, e->ns, "tick", "tick");
		break;
	case TRACEFILE_GAP:
		end_all(w, e->ns);
		instant(w, e->ns, "gap", "gap: events are missing");
		break;
	default:
		break;
	}
}

/* Each task has its own row, because waits of several tasks overlap on one CPU. */
static void put_part(void *arg, const struct tracefile_part *part)
{
	struct writer *w = arg;

	w->cpu = part->cpu;
	for (int end = 0; end < 2; end++) {
		head(w, end ? "e" : "b", end ? part->to_ns : part->from_ns);
		fprintf(w->out, ",\"cat\":\"%s\",\"id\":%" PRIu32 ",\"name\":",
			part->avoidable ? "avoidable" : "quota", part->pid);
		json_put_text(w->out, trace_comm(w->window, part->pid));
		putc('}', w->out);
	}
}

int tracefile_chrome(FILE *out, const struct tracefile *file)
{
	const struct trace_window *window = file->window;
	struct writer w = {.out = out,
			   .window = window,
			   .cpu = UINT32_MAX,
			   .end_ns = window->start_mono_ns + window->to_ns};

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	tracefile_events(window, put_event, &w);
	end_all(&w, w.end_ns);
	tracefile_parts(window, put_part, &w);
	fputs("\n]}\n", out);
	return stream_end(out, 0);
}
