/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a timeline as a Perfetto trace. The field numbers are from trace_packet.proto and ftrace/
 * in google/perfetto.
 */
#include "view/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "base/array.h"
#include "view/proto.h"

enum { TRACE_PACKET = 1 };
enum {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK = 60,
};
enum { TRACK_UUID = 1, TRACK_NAME = 2 };
enum { SLICE_TYPE = 9, SLICE_TRACK = 11, SLICE_NAME = 23 };
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT = 2, BUNDLE_LOST = 3 };
enum {
	EVENT_TIME = 1,
	EVENT_PID = 2,
	EVENT_SWITCH = 4,
	EVENT_FREQUENCY = 11,
	EVENT_IDLE = 13,
	EVENT_WAKEUP = 17,
	EVENT_WAKING = 20,
	EVENT_SOFTIRQ_ENTRY = 24,
	EVENT_SOFTIRQ_EXIT = 25,
	EVENT_IRQ_ENTRY = 36,
	EVENT_IRQ_EXIT = 37,
	EVENT_WAKEUP_NEW = 114,
};
enum { SWITCH_PREV_COMM = 1, SWITCH_PREV_PID, SWITCH_PREV_PRIO, SWITCH_PREV_STATE, SWITCH_NEXT_COMM, SWITCH_NEXT_PID, SWITCH_NEXT_PRIO };
enum { WAKE_COMM = 1, WAKE_PID, WAKE_PRIO, WAKE_SUCCESS, WAKE_CPU };
enum { IRQ_NUMBER = 1, IRQ_NAME };
enum { POWER_STATE = 1, POWER_CPU }; /* field numbers of the events cpu_idle and cpu_frequency */
enum { THREAD_TID = 1, THREAD_NAME, THREAD_TGID };
enum { TREE_PROCESS = 1, TREE_THREAD };
enum { PROCESS_PID = 1, PROCESS_CMDLINE = 3 };
enum { CLOCKS_CLOCK = 1 };
enum { CLOCK_ID = 1, CLOCK_TIME };
enum { ID_REALTIME = 1, ID_MONOTONIC = 3, ID_BOOTTIME = 6 };

/* Priority of every task: Perfetto requires a priority, but the recording contains none. */
#define PRIO_DEFAULT 120
/* State of a cpu_idle event that means idle exit. */
#define IDLE_ENDS UINT32_MAX
/* Number of buffered bytes at which a packet is written to the file. */
#define PACKET_FULL (64 << 10)
#define SEQUENCE 1
/* Flags of a track number in Perfetto, whose low 32 bits are a pid or, for TRACK_TICKS, a CPU. */
#define TRACK_HOLDS	(1ULL << 32)
#define TRACK_TICKS	(1ULL << 33)
#define TRACK_AVOIDABLE (1ULL << 34)

struct writer {
	FILE *out;
	const struct timeline *timeline;
	struct proto_msg m;
	/* CPU of the event bundle that is being written, and pid of the current task on this CPU */
	uint32_t cpu, current;
	/* nesting depth of interrupts; only the outermost interrupt is written to the file */
	int depth;
};

static void flush(struct writer *w)
{
	if (!w->m.failed && w->m.len)
		fwrite(w->m.data, 1, w->m.len, w->out);
	w->m.len = 0;
}

static void put_clock(struct writer *w, uint32_t id, uint64_t ns)
{
	size_t begin = w->m.len;

	proto_u64(&w->m, CLOCK_ID, id);
	proto_u64(&w->m, CLOCK_TIME, ns);
	proto_close(&w->m, CLOCKS_CLOCK, begin);
}

static void close_packet(struct writer *w, size_t begin)
{
	proto_u64(&w->m, PACKET_SEQUENCE, SEQUENCE);
	proto_close(&w->m, TRACE_PACKET, begin);
	flush(w);
}

static void put_clocks(struct writer *w)
{
	const struct timeline *t = w->timeline;
	size_t packet = w->m.len, begin = packet;

	put_clock(w, ID_BOOTTIME, t->boot_ns);
	put_clock(w, ID_MONOTONIC, t->end_ns);
	put_clock(w, ID_REALTIME, t->unix_ns);
	proto_close(&w->m, PACKET_CLOCKS, begin);
	close_packet(w, packet);
}

static void put_tasks(struct writer *w)
{
	const struct timeline *t = w->timeline;
	size_t packet = w->m.len, begin = packet;

	array_for_each(task, t->tasks, t->nr_tasks) {
		size_t at = w->m.len;

		if (task->pid == task->tgid) {
			proto_u64(&w->m, PROCESS_PID, task->pid);
			proto_str(&w->m, PROCESS_CMDLINE, task->comm);
			proto_close(&w->m, TREE_PROCESS, at);
			continue;
		}
		proto_u64(&w->m, THREAD_TID, task->pid);
		proto_str(&w->m, THREAD_NAME, task->comm);
		proto_u64(&w->m, THREAD_TGID, task->tgid);
		proto_close(&w->m, TREE_THREAD, at);
	}
	proto_close(&w->m, PACKET_PROCESS_TREE, begin);
	close_packet(w, packet);
}

static void put_switch(struct writer *w, const struct timeline_event *e)
{
	const struct timeline *t = w->timeline;

	proto_str(&w->m, SWITCH_PREV_COMM, e->pid ? timeline_comm(t, e->pid) : "swapper");
	proto_u64(&w->m, SWITCH_PREV_PID, e->pid);
	proto_u64(&w->m, SWITCH_PREV_PRIO, PRIO_DEFAULT);
	proto_u64(&w->m, SWITCH_PREV_STATE, e->arg);
	proto_str(&w->m, SWITCH_NEXT_COMM, e->other ? timeline_comm(t, e->other) : "swapper");
	proto_u64(&w->m, SWITCH_NEXT_PID, e->other);
	proto_u64(&w->m, SWITCH_NEXT_PRIO, PRIO_DEFAULT);
	w->current = e->other;
	w->depth = 0;
}

static void put_wake(struct writer *w, const struct timeline_event *e)
{
	proto_str(&w->m, WAKE_COMM, timeline_comm(w->timeline, e->pid));
	proto_u64(&w->m, WAKE_PID, e->pid);
	proto_u64(&w->m, WAKE_PRIO, PRIO_DEFAULT);
	proto_u64(&w->m, WAKE_SUCCESS, 1);
	proto_u64(&w->m, WAKE_CPU, e->arg);
	w->current = e->other;
}

/*
 * Writes an event as an ftrace event. Returns false if Perfetto has no ftrace event of this kind,
 * or if the event is a nested interrupt.
 */
static bool put_kind(struct writer *w, const struct timeline_event *e)
{
	static const unsigned char fields[TIMELINE_NR_KINDS] = {
		[TIMELINE_SWITCH] = EVENT_SWITCH,
		[TIMELINE_WAKING] = EVENT_WAKING,
		[TIMELINE_WAKEUP] = EVENT_WAKEUP,
		[TIMELINE_WAKEUP_NEW] = EVENT_WAKEUP_NEW,
		[TIMELINE_IRQ_ENTER] = EVENT_IRQ_ENTRY,
		[TIMELINE_IRQ_LEAVE] = EVENT_IRQ_EXIT,
		[TIMELINE_SOFTIRQ_ENTER] = EVENT_SOFTIRQ_ENTRY,
		[TIMELINE_SOFTIRQ_LEAVE] = EVENT_SOFTIRQ_EXIT,
		[TIMELINE_IDLE_ENTER] = EVENT_IDLE,
		[TIMELINE_IDLE_LEAVE] = EVENT_IDLE,
		[TIMELINE_FREQUENCY] = EVENT_FREQUENCY,
	};
	enum timeline_kind kind = e->kind;
	size_t begin = w->m.len;

	if (!fields[kind] || (kind == TIMELINE_IRQ_ENTER && w->depth++) ||
	    (kind == TIMELINE_IRQ_LEAVE && (!w->depth || --w->depth)))
		return false;
	if (kind == TIMELINE_SWITCH) {
		put_switch(w, e);
	} else if (kind <= TIMELINE_WAKEUP_NEW) {
		put_wake(w, e);
	} else if (kind <= TIMELINE_SOFTIRQ_LEAVE) {
		proto_u64(&w->m, IRQ_NUMBER, e->arg);
		if (kind == TIMELINE_IRQ_ENTER && e->name)
			proto_str(&w->m, IRQ_NAME, e->name);
	} else {
		proto_u64(&w->m, POWER_STATE, kind == TIMELINE_IDLE_LEAVE ? IDLE_ENDS : e->arg);
		proto_u64(&w->m, POWER_CPU, kind == TIMELINE_FREQUENCY ? e->other : w->cpu);
	}
	proto_close(&w->m, fields[kind], begin);
	return true;
}

static void close_bundle(struct writer *w)
{
	if (!w->m.len)
		return;
	proto_close(&w->m, PACKET_FTRACE, 0);
	close_packet(w, 0);
}

static void open_bundle(struct writer *w, const struct timeline_event *e)
{
	if (e->cpu != w->cpu) {
		w->current = 0;
		w->depth = 0;
	}
	w->cpu = e->cpu;
	proto_u64(&w->m, BUNDLE_CPU, w->cpu);
	if (e->kind == TIMELINE_GAP)
		proto_u64(&w->m, BUNDLE_LOST, true);
}

static void put_event(struct writer *w, const struct timeline_event *e)
{
	/* Perfetto timestamps are CLOCK_BOOTTIME, which includes suspend. */
	uint64_t boot_ns = w->timeline->boot_ns - w->timeline->end_ns;
	uint32_t pid;
	size_t begin;

	/* BUNDLE_LOST marks lost events before the first event, so a gap starts a new bundle. */
	if (e->cpu != w->cpu || e->kind == TIMELINE_GAP || w->m.len > PACKET_FULL)
		close_bundle(w);
	if (!w->m.len)
		open_bundle(w, e);
	begin = w->m.len;
	if (e->kind >= TIMELINE_WAKING && e->kind <= TIMELINE_MIGRATE)
		pid = e->other;
	else
		pid = e->kind == TIMELINE_SWITCH ? e->pid : w->current;
	proto_u64(&w->m, EVENT_TIME, e->ns + boot_ns);
	proto_u64(&w->m, EVENT_PID, pid);
	if (put_kind(w, e))
		proto_close(&w->m, BUNDLE_EVENT, begin);
	else
		w->m.len = begin;
}

static void put_track(struct writer *w, uint64_t track, const char *name)
{
	size_t packet = w->m.len, begin = packet;

	proto_u64(&w->m, TRACK_UUID, track);
	proto_str(&w->m, TRACK_NAME, name);
	proto_close(&w->m, PACKET_TRACK, begin);
	close_packet(w, packet);
}

static void put_on_track(struct writer *w, uint64_t track, uint64_t ns, uint32_t type, const char *name)
{
	size_t packet = w->m.len, begin;

	proto_u64(&w->m, PACKET_TIME, ns + w->timeline->boot_ns - w->timeline->end_ns);
	begin = w->m.len;
	proto_u64(&w->m, SLICE_TYPE, type);
	proto_u64(&w->m, SLICE_TRACK, track);
	if (name)
		proto_str(&w->m, SLICE_NAME, name);
	proto_close(&w->m, PACKET_TRACK_EVENT, begin);
	close_packet(w, packet);
}

/*
 * Each task has its own track, because waits of several tasks overlap. Perfetto accepts repeated
 * track descriptors.
 */
static void put_hold(struct writer *w, const struct timeline_hold *hold)
{
	uint64_t track = (hold->avoidable ? TRACK_AVOIDABLE : TRACK_HOLDS) | hold->pid;
	char name[64];

	snprintf(name, sizeof(name), "%s %s (%" PRIu32 ")",
		 hold->avoidable ? "avoidable waits of" : "quota holds", timeline_comm(w->timeline, hold->pid), hold->pid);
	put_track(w, track, name);
	put_on_track(w, track, hold->from_ns, TYPE_BEGIN,
		     hold->avoidable ? "another allowed CPU is idle" : "held by CPU quota");
	put_on_track(w, track, hold->to_ns, TYPE_END, NULL);
}

/* Ticks have their own track, because ftrace events do not distinguish ticks from other timers. */
static void put_ticks(struct writer *w)
{
	uint32_t cpu = UINT32_MAX;
	char name[32];

	array_for_each(e, w->timeline->events, w->timeline->nr_events) {
		if (e->kind != TIMELINE_TICK)
			continue;
		if (e->cpu != cpu) {
			cpu = e->cpu;
			snprintf(name, sizeof(name), "ticks of CPU %" PRIu32, cpu);
			put_track(w, TRACK_TICKS | cpu, name);
		}
		put_on_track(w, TRACK_TICKS | cpu, e->ns, TYPE_INSTANT, "tick");
	}
}

int timeline_perfetto(FILE *out, const struct timeline *timeline)
{
	struct writer w = {.out = out, .timeline = timeline, .cpu = UINT32_MAX};

	put_clocks(&w);
	put_tasks(&w);
	array_for_each(e, timeline->events, timeline->nr_events)
		put_event(&w, e);
	close_bundle(&w);
	array_for_each(hold, timeline->holds, timeline->nr_holds)
		put_hold(&w, hold);
	put_ticks(&w);
	free(w.m.data);
	return stream_end(out, w.m.failed ? -ENOMEM : 0);
}
