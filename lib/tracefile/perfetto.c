/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a trace as a Perfetto trace. The field numbers are from trace_packet.proto and ftrace/
 * in google/perfetto.
 */
#include "tracefile/tracefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "base/array.h"
#include "view/proto.h"
#include "view/view.h"

enum {
	TRACE_PACKET = 1
};
enum {
	PACKET_FTRACE = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK = 60,
};
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2
};
enum {
	SLICE_TYPE = 9,
	SLICE_TRACK = 11,
	SLICE_NAME = 23
};
enum {
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3
};
enum {
	BUNDLE_CPU = 1,
	BUNDLE_EVENT = 2,
	BUNDLE_LOST = 3
};
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
enum {
	SWITCH_PREV_COMM = 1,
	SWITCH_PREV_PID,
	SWITCH_PREV_PRIO,
	SWITCH_PREV_STATE,
	SWITCH_NEXT_COMM,
	SWITCH_NEXT_PID,
	SWITCH_NEXT_PRIO
};
enum {
	WAKE_COMM = 1,
	WAKE_PID,
	WAKE_PRIO,
	WAKE_SUCCESS,
	WAKE_CPU
};
enum {
	IRQ_NUMBER = 1,
	IRQ_NAME
};
enum {
	POWER_STATE = 1,
	POWER_CPU
}; /* field numbers of the events cpu_idle and cpu_frequency */
enum {
	THREAD_TID = 1,
	THREAD_NAME,
	THREAD_TGID
};
enum {
	TREE_PROCESS = 1,
	TREE_THREAD
};
enum {
	PROCESS_PID = 1,
	PROCESS_CMDLINE = 3
};
enum {
	CLOCKS_CLOCK = 1
};
enum {
	CLOCK_ID = 1,
	CLOCK_TIME
};
enum {
	ID_REALTIME = 1,
	ID_MONOTONIC = 3,
	ID_BOOTTIME = 6
};

/* Priority of every task: Perfetto requires a priority, but the recording contains none. */
#define PRIO_DEFAULT 120
/* State of a cpu_idle event that means idle exit. */
#define IDLE_ENDS UINT32_MAX
/* Number of buffered bytes at which a packet is written to the file. */
#define PACKET_FULL (64 << 10)
#define SEQUENCE    1
/* Flags of a track number in Perfetto, whose low 32 bits are a pid or, for TRACK_TICKS, a CPU. */
#define TRACK_THROTTLED (1ULL << 32)
#define TRACK_TICKS	(1ULL << 33)
#define TRACK_AVOIDABLE (1ULL << 34)

struct writer {
	FILE *out;
	const struct trace_window *window;
	uint64_t end_ns; /* end of the recording, CLOCK_MONOTONIC */
	/*
	 * CLOCK_BOOTTIME minus CLOCK_MONOTONIC. Perfetto timestamps are CLOCK_BOOTTIME, which
	 * includes suspend.
	 */
	uint64_t boot_ns;
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
	size_t packet = w->m.len, begin = packet;

	put_clock(w, ID_BOOTTIME, w->window->time_boot_ns);
	put_clock(w, ID_MONOTONIC, w->end_ns);
	put_clock(w, ID_REALTIME, w->window->time_unix_ns);
	proto_close(&w->m, PACKET_CLOCKS, begin);
	close_packet(w, packet);
}

static void put_tasks(struct writer *w)
{
	size_t packet = w->m.len, begin = packet;

	array_for_each(task, w->window->names, w->window->nr_names) {
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

static void put_switch(struct writer *w, const struct tracefile_event *e)
{
	proto_str(&w->m, SWITCH_PREV_COMM, e->pid ? trace_comm(w->window, e->pid) : "swapper");
	proto_u64(&w->m, SWITCH_PREV_PID, e->pid);
	proto_u64(&w->m, SWITCH_PREV_PRIO, PRIO_DEFAULT);
	proto_u64(&w->m, SWITCH_PREV_STATE, e->arg);
	proto_str(&w->m, SWITCH_NEXT_COMM, e->other ? trace_comm(w->window, e->other) : "swapper");
	proto_u64(&w->m, SWITCH_NEXT_PID, e->other);
	proto_u64(&w->m, SWITCH_NEXT_PRIO, PRIO_DEFAULT);
	w->current = e->other;
	w->depth = 0;
}

static void put_wake(struct writer *w, const struct tracefile_event *e)
{
	proto_str(&w->m, WAKE_COMM, trace_comm(w->window, e->pid));
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
static bool put_kind(struct writer *w, const struct tracefile_event *e)
{
	static const unsigned char fields[TRACEFILE_NR_KINDS] = {
		[TRACE_SWITCH] = EVENT_SWITCH,
		[TRACE_WAKING] = EVENT_WAKING,
		[TRACE_WAKEUP] = EVENT_WAKEUP,
		[TRACE_WAKEUP_NEW] = EVENT_WAKEUP_NEW,
		[TRACE_IRQ_ENTER] = EVENT_IRQ_ENTRY,
		[TRACE_IRQ_LEAVE] = EVENT_IRQ_EXIT,
		[TRACE_SOFTIRQ_ENTER] = EVENT_SOFTIRQ_ENTRY,
		[TRACE_SOFTIRQ_LEAVE] = EVENT_SOFTIRQ_EXIT,
		[TRACE_IDLE_ENTER] = EVENT_IDLE,
		[TRACE_IDLE_LEAVE] = EVENT_IDLE,
		[TRACE_FREQUENCY] = EVENT_FREQUENCY,
	};
	enum trace_kind kind = e->kind;
	size_t begin = w->m.len;

	if (!fields[kind] || (kind == TRACE_IRQ_ENTER && w->depth++) ||
	    (kind == TRACE_IRQ_LEAVE && (!w->depth || --w->depth)))
		return false;
	if (kind == TRACE_SWITCH) {
		put_switch(w, e);
	} else if (kind <= TRACE_WAKEUP_NEW) {
		put_wake(w, e);
	} else if (kind <= TRACE_SOFTIRQ_LEAVE) {
		proto_u64(&w->m, IRQ_NUMBER, e->arg);
		if (kind == TRACE_IRQ_ENTER && e->name)
			proto_str(&w->m, IRQ_NAME, e->name);
	} else {
		proto_u64(&w->m, POWER_STATE, kind == TRACE_IDLE_LEAVE ? IDLE_ENDS : e->arg);
		proto_u64(&w->m, POWER_CPU, kind == TRACE_FREQUENCY ? e->other : w->cpu);
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

static void open_bundle(struct writer *w, const struct tracefile_event *e)
{
	if (e->cpu != w->cpu) {
		w->current = 0;
		w->depth = 0;
	}
	w->cpu = e->cpu;
	proto_u64(&w->m, BUNDLE_CPU, w->cpu);
	if (e->kind == TRACEFILE_GAP)
		proto_u64(&w->m, BUNDLE_LOST, true);
}

static void put_event(void *arg, const struct tracefile_event *e)
{
	struct writer *w = arg;
	uint32_t pid;
	size_t begin;

	/* BUNDLE_LOST marks lost events before the first event, so a gap starts a new bundle. */
	if (e->cpu != w->cpu || e->kind == TRACEFILE_GAP || w->m.len > PACKET_FULL)
		close_bundle(w);
	if (!w->m.len)
		open_bundle(w, e);
	begin = w->m.len;
	if (e->kind >= TRACE_WAKING && e->kind <= TRACE_MIGRATE)
		pid = e->other;
	else
		pid = e->kind == TRACE_SWITCH ? e->pid : w->current;
	proto_u64(&w->m, EVENT_TIME, e->ns + w->boot_ns);
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

static void put_on_track(struct writer *w, uint64_t track, uint64_t ns, uint32_t type,
			 const char *name)
{
	size_t packet = w->m.len, begin;

	proto_u64(&w->m, PACKET_TIME, ns + w->boot_ns);
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
static void put_part(void *arg, const struct tracefile_part *part)
{
	struct writer *w = arg;
	uint64_t track = (part->avoidable ? TRACK_AVOIDABLE : TRACK_THROTTLED) | part->pid;
	char name[64];

	snprintf(name, sizeof(name), "%s %s (%" PRIu32 ")",
		 part->avoidable ? "avoidable waits of" : "quota holds",
		 trace_comm(w->window, part->pid), part->pid);
	put_track(w, track, name);
	put_on_track(w, track, part->from_ns, TYPE_BEGIN,
		     part->avoidable ? "another allowed CPU is idle" : "held by CPU quota");
	put_on_track(w, track, part->to_ns, TYPE_END, NULL);
}

/* Ticks have their own track, because ftrace events do not distinguish ticks from other timers. */
static void put_tick(void *arg, const struct tracefile_event *e)
{
	struct writer *w = arg;
	char name[32];

	if (e->kind != TRACE_TICK)
		return;
	if (e->cpu != w->cpu) {
		w->cpu = e->cpu;
		snprintf(name, sizeof(name), "ticks of CPU %" PRIu32, e->cpu);
		put_track(w, TRACK_TICKS | e->cpu, name);
	}
	put_on_track(w, TRACK_TICKS | e->cpu, e->ns, TYPE_INSTANT, "tick");
}

int tracefile_perfetto(FILE *out, const struct tracefile *file)
{
	const struct trace_window *window = file->window;
	struct writer w = {.out = out,
			   .window = window,
			   .cpu = UINT32_MAX,
			   .end_ns = window->start_mono_ns + window->to_ns};

	w.boot_ns = window->time_boot_ns - w.end_ns;
	put_clocks(&w);
	put_tasks(&w);
	tracefile_events(window, put_event, &w);
	close_bundle(&w);
	tracefile_parts(window, put_part, &w);
	w.cpu = UINT32_MAX;
	tracefile_events(window, put_tick, &w);
	free(w.m.data);
	return stream_end(out, w.m.failed ? -ENOMEM : 0);
}
