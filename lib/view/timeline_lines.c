/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes a timeline as JSON Lines. */
#include "view/timeline.h"

#include <inttypes.h>

#include "view/output.h"
#include "view/view.h"

static void put_task(FILE *out, const struct timeline *t, const char *prefix, uint32_t pid)
{
	fprintf(out, ",\"%spid\":%" PRIu32 ",\"%scomm\":", prefix, pid, prefix);
	json_put_text(out, timeline_comm(t, pid));
}

static void put_event(FILE *out, const struct timeline *t, const struct timeline_event *e)
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
		json_put_text(out, e->name ? e->name : "");
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

static void put_hold(FILE *out, const struct timeline *t, const struct timeline_hold *hold)
{
	fprintf(out, "{\"time_monotonic_ns\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"event\":\"%s\"",
		hold->from_ns, hold->cpu, hold->avoidable ? "avoidable_wait" : "quota_hold");
	put_task(out, t, "", hold->pid);
	fprintf(out, ",\"%s_ns\":%" PRIu64 "}\n", hold->avoidable ? "avoidable" : "hold",
		hold->to_ns - hold->from_ns);
}

int timeline_lines(FILE *out, const struct timeline *timeline)
{
	struct output output;
	int rc = output_begin(&output, out);

	if (rc)
		return rc;
	for (size_t i = 0; i < timeline->nr_events; i++)
		put_event(out, timeline, &timeline->events[i]);
	for (size_t i = 0; i < timeline->nr_holds; i++)
		put_hold(out, timeline, &timeline->holds[i]);
	return output_end(&output, 0);
}
