/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a timeline as Chrome trace JSON: a row per CPU, on which slices contain each other. */
#include "view/timeline.h"

#include <inttypes.h>
#include <stdbool.h>

#include "view/output.h"
#include "view/view.h"

#define MAX_DEPTH 16

struct writer {
	FILE *out;
	const struct timeline *timeline;
	bool comma;
	uint32_t cpu;
	/* The slices that are open on this CPU, by the kind that began them. */
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

/* Ends the innermost slice of that kind and what is inside; none is open if it began before the trace. */
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

static void put_frequency(struct writer *w, const struct timeline_event *e)
{
	head(w, "C", e->ns);
	fprintf(w->out, ",\"name\":\"frequency of CPU %" PRIu32 "\",\"args\":{\"kHz\":%" PRIu32 "}}",
		e->other, e->arg);
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
		put_frequency(w, e);
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

/* Holds of several tasks overlap on one CPU: each task has a row of its own for them. */
static void put_hold(struct writer *w, const struct timeline_hold *hold)
{
	static const char *const phases[] = {"b", "e"};
	uint64_t ns[] = {hold->from_ns, hold->to_ns};

	w->cpu = hold->cpu;
	for (int i = 0; i < 2; i++) {
		head(w, phases[i], ns[i]);
		fprintf(w->out, ",\"cat\":\"%s\",\"id\":%" PRIu32 ",\"name\":",
			hold->avoidable ? "avoidable" : "quota", hold->pid);
		json_put_text(w->out, timeline_comm(w->timeline, hold->pid));
		putc('}', w->out);
	}
}

int timeline_chrome(FILE *out, const struct timeline *timeline)
{
	struct writer w = {.out = out, .timeline = timeline, .cpu = UINT32_MAX};
	struct output output;
	int rc = output_begin(&output, out);

	if (rc)
		return rc;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	for (size_t i = 0; i < timeline->nr_events; i++) {
		const struct timeline_event *e = &timeline->events[i];

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
	for (size_t i = 0; i < timeline->nr_holds; i++)
		put_hold(&w, &timeline->holds[i]);
	fputs("\n]}\n", out);
	return output_end(&output, 0);
}
