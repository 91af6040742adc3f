/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a timeline as JSON Lines, or in the Chrome trace format with one row per CPU. */
#include "view/view.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/array.h"

static void put_task(FILE *out, const struct timeline *t, const char *prefix, uint32_t pid)
{
	fprintf(out, ",\"%spid\":%" PRIu32 ",\"%scomm\":", prefix, pid, prefix);
	json_put_text(out, timeline_comm(t, pid));
}

static void line_event(FILE *out, const struct timeline *t, const struct timeline_event *e)
{
	static const char *const kinds[TIMELINE_NR_KINDS] = {
		[TIMELINE_SWITCH] = "switch",
		[TIMELINE_WAKING] = "waking",
		[TIMELINE_WAKEUP] = "wakeup",
		[TIMELINE_WAKEUP_NEW] = "wakeup_new",
		[TIMELINE_MIGRATE] = "migrate",
		[TIMELINE_IRQ_ENTER] = "irq_enter",
		[TIMELINE_IRQ_LEAVE] = "irq_leave",
		[TIMELINE_SOFTIRQ_ENTER] = "softirq_enter",
		[TIMELINE_SOFTIRQ_LEAVE] = "softirq_leave",
		[TIMELINE_IDLE_ENTER] = "idle_enter",
		[TIMELINE_IDLE_LEAVE] = "idle_leave",
		[TIMELINE_FREQUENCY] = "frequency",
		[TIMELINE_TICK] = "tick",
		[TIMELINE_GAP] = "gap",
	};

	fprintf(out, "{\"time_monotonic_ns\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"event\":\"%s\"", e->ns,
		e->cpu, kinds[e->kind]);
	switch (e->kind) {
	case TIMELINE_SWITCH:
		put_task(out, t, "prev_", e->pid);
		fprintf(out, ",\"prev_state\":%" PRIu32, e->arg);
		put_task(out, t, "next_", e->other);
		fputs(e->held ? ",\"quota_held\":true" : "", out);
		break;
	case TIMELINE_WAKING:
	case TIMELINE_WAKEUP:
	case TIMELINE_WAKEUP_NEW:
	case TIMELINE_MIGRATE:
		put_task(out, t, "", e->pid);
		put_task(out, t, "by_", e->other);
		fprintf(out, ",\"to_cpu\":%" PRIu32 "%s", e->arg, e->held ? ",\"quota_held\":true" : "");
		break;
	case TIMELINE_IRQ_ENTER:
	case TIMELINE_SOFTIRQ_ENTER:
	case TIMELINE_SOFTIRQ_LEAVE:
		fprintf(out, ",\"%s\":%" PRIu32 ",\"name\":",
			e->kind == TIMELINE_IRQ_ENTER ? "irq" : "vec", e->arg);
		json_put_text(out, e->name ?: "");
		break;
	case TIMELINE_IDLE_ENTER:
		fprintf(out, ",\"state\":%" PRIu32, e->arg);
		break;
	case TIMELINE_FREQUENCY:
		fprintf(out, ",\"of_cpu\":%" PRIu32 ",\"frequency_hz\":%" PRIu64, e->other,
			e->arg * UINT64_C(1000));
		break;
	default:
		break;
	}
	fputs("}\n", out);
}

static void line_hold(FILE *out, const struct timeline *t, const struct timeline_hold *hold)
{
	fprintf(out, "{\"time_monotonic_ns\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"event\":\"%s\"",
		hold->from_ns, hold->cpu, hold->avoidable ? "avoidable_wait" : "quota_hold");
	put_task(out, t, "", hold->pid);
	fprintf(out, ",\"%s_ns\":%" PRIu64 "}\n", hold->avoidable ? "avoidable" : "hold",
		hold->to_ns - hold->from_ns);
}

int timeline_lines(FILE *out, const struct timeline *timeline)
{
	array_for_each(e, timeline->events, timeline->nr_events)
		line_event(out, timeline, e);
	array_for_each(hold, timeline->holds, timeline->nr_holds)
		line_hold(out, timeline, hold);
	return stream_end(out, 0);
}

#define MAX_DEPTH 16

struct writer {
	FILE *out;
	const struct timeline *timeline;
	bool comma;
	uint32_t cpu;
	/* Kinds of the events that began the open slices on the current CPU, outermost first. */
	enum timeline_kind open[MAX_DEPTH];
	unsigned int depth;
};

static void head(struct writer *w, const char *phase, uint64_t ns)
{
	fprintf(w->out, "%s\n{\"ph\":\"%s\",\"pid\":0,\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".%03u",
		w->comma ? "," : "", phase, w->cpu, ns / 1000, (unsigned int)(ns % 1000));
	w->comma = true;
}

static void begin(struct writer *w, const struct timeline_event *e, const char *category,
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
static void end(struct writer *w, enum timeline_kind kind, uint64_t ns)
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

static void put_event(struct writer *w, const struct timeline_event *e)
{
	const struct timeline *t = w->timeline;
	char idle[24];

	switch (e->kind) {
	case TIMELINE_SWITCH:
		end_all(w, e->ns);
		if (e->other)
			begin(w, e, "task", timeline_comm(t, e->other), "pid", e->other);
		break;
	case TIMELINE_WAKEUP:
	case TIMELINE_WAKEUP_NEW:
		instant(w, e->ns, "wakeup", timeline_comm(t, e->pid));
		break;
	case TIMELINE_IRQ_ENTER:
		begin(w, e, "irq", e->name, "irq", e->arg);
		break;
	case TIMELINE_IRQ_LEAVE:
		end(w, TIMELINE_IRQ_ENTER, e->ns);
		break;
	case TIMELINE_SOFTIRQ_ENTER:
		begin(w, e, "softirq", e->name, "vec", e->arg);
		break;
	case TIMELINE_SOFTIRQ_LEAVE:
		end(w, TIMELINE_SOFTIRQ_ENTER, e->ns);
		break;
	case TIMELINE_IDLE_ENTER:
		snprintf(idle, sizeof(idle), "idle %" PRIu32, e->arg);
		end_all(w, e->ns);
		begin(w, e, "idle", idle, "state", e->arg);
		break;
	case TIMELINE_IDLE_LEAVE:
		end(w, TIMELINE_IDLE_ENTER, e->ns);
		break;
	case TIMELINE_FREQUENCY:
		head(w, "C", e->ns);
		fprintf(w->out,
			",\"name\":\"frequency of CPU %" PRIu32 "\",\"args\":{\"kHz\":%" PRIu32
			"}}",
			e->other, e->arg);
		break;
	case TIMELINE_TICK:
		instant(w, e->ns, "tick", "tick");
		break;
	case TIMELINE_GAP:
		end_all(w, e->ns);
		instant(w, e->ns, "gap", "gap: events are missing");
		break;
	default:
		break;
	}
}

/* Each task has its own row, because waits of several tasks overlap on one CPU. */
static void put_hold(struct writer *w, const struct timeline_hold *hold)
{
	w->cpu = hold->cpu;
	for (int end = 0; end < 2; end++) {
		head(w, end ? "e" : "b", end ? hold->to_ns : hold->from_ns);
		fprintf(w->out, ",\"cat\":\"%s\",\"id\":%" PRIu32 ",\"name\":",
			hold->avoidable ? "avoidable" : "quota", hold->pid);
		json_put_text(w->out, timeline_comm(w->timeline, hold->pid));
		putc('}', w->out);
	}
}

int timeline_chrome(FILE *out, const struct timeline *timeline)
{
	struct writer w = {.out = out, .timeline = timeline, .cpu = UINT32_MAX};

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	array_for_each(e, timeline->events, timeline->nr_events) {
		if (e->cpu != w.cpu) {
			end_all(&w, timeline->end_ns);
			w.cpu = e->cpu;
			head(&w, "M", 0);
			fprintf(out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU %" PRIu32 "\"}}",
				e->cpu);
		}
		put_event(&w, e);
	}
	end_all(&w, timeline->end_ns);
	array_for_each(hold, timeline->holds, timeline->nr_holds)
		put_hold(&w, hold);
	fputs("\n]}\n", out);
	return stream_end(out, 0);
}
