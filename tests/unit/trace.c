/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares traces of random events with the true times and with `subtick load`. */
#include "trace_core.h"

#include "measure/trace/window.h"

#define MAX_MARKS 40000

static struct {
	u64 ns, part_ns[LOAD_NR_PARTS];
} marks[MAX_MARKS];
static size_t nr_marks;

static void mark(void)
{
	assert_true(nr_marks < MAX_MARKS);
	marks[nr_marks].ns = core.now;
	memcpy(marks[nr_marks++].part_ns, core.part_ns, sizeof(core.part_ns));
}

static void both_see(enum core_event event, bool begins, u32 arg)
{
	load_event(event, begins, arg);
	trace_sees(event, begins, arg);
	if (event == EVENT_IDLE)
		mark();
}

static void both_switch(struct task_struct *next)
{
	trace_sees_switch(shim_current, next, false);
	to_task(core.now, next);
	mark();
}

static void begin(void **state, u64 seed, u32 nr_edges)
{
	trace_reset(nr_edges);
	nr_marks = 0;
	core_event = both_see;
	core_switch = both_switch;
	schedule_begin(state, seed);
}

/* Checks that the slices of the trace follow each other without a gap, and adds up their times. */
struct seen {
	u64 at, part_ns[LOAD_NR_PARTS];
};

static void on_slice(void *arg, const struct trace_slice *slice)
{
	struct seen *seen = arg;

	assert_int_equal(slice->from_ns, seen->at);
	assert_true(slice->to_ns > slice->from_ns);
	seen->part_ns[slice->part] += slice->to_ns - slice->from_ns;
	seen->at = slice->to_ns;
	if (slice->part == LOAD_PART_HARDIRQ)
		assert_true(slice->kind == TRACE_IPI_ENTER ? slice->what == 0x800000001234
							   : slice->what == 11);
	if (slice->part == LOAD_PART_TASK)
		assert_true(slice->pid == 10 || slice->pid == 20);
}

static struct trace_replay replay(const struct trace_core *of)
{
	struct seen seen = {.at = of->from_ns};
	struct trace_replay result;

	trace_replay(of, is_softirqd, on_slice, &seen, &result);
	assert_int_equal(seen.at, of->to_ns);
	assert_memory_equal(seen.part_ns, result.part_ns, sizeof(seen.part_ns));
	return result;
}

static void judge(struct trace_reader *reader, u64 later)
{
	struct trace_replay result = replay(&reader->core);
	struct load_sample s = see(core.now + later);

	for (int i = 0; i < LOAD_NR_PARTS; i++) {
		assert_int_equal(result.part_ns[i],
				 core.part_ns[i] +
					 (part_now(false) == (enum load_part)i ? later : 0));
		assert_int_equal(result.part_ns[i], s.part_ns[i]);
	}
	assert_int_equal(result.odd_edges, 0);
	assert_int_equal(reader->lost, 0);
}

TEST(whole_trace_is_the_truth_and_load)
{
	for (u64 seed = 1; seed <= 20; seed++) {
		begin(state, seed, 1 << 15);
		for (int i = 0; i < 5000; i++) {
			step();
			if (i % 500 == 0 || i < 40) {
				u64 later = below(200);
				struct trace_reader reader = read_all(0, core.now + later);

				judge(&reader, later);
				trace_ring_free(&reader);
			}
		}
	}
}

TEST(taken_while_the_core_writes)
{
	for (u64 seed = 1; seed <= 10; seed++) {
		struct trace_reader reader;

		/* The ring buffer is small, but the test reads it before it overflows. */
		begin(state, seed, 128);
		reader = reader_of(0);
		reader.core.poll_states = 1;
		for (int i = 0; i < 5000; i++) {
			step();
			if (i % 8 == 0)
				assert_int_equal(trace_ring_take(&reader, false), 0);
		}
		assert_int_equal(trace_ring_take(&reader, true), 0);
		trace_ring_finish(&reader, core.now + 50);
		judge(&reader, 50);
		trace_ring_free(&reader);
	}
}

TEST(gap_is_unknown_time)
{
	struct trace_replay result;
	u64 sum = 0, before;
	struct trace_reader reader;

	begin(state, 3, 128);
	reader = reader_of(0);
	reader.core.poll_states = 1;
	for (int i = 0; i < 1500; i++) {
		step();
		/* The ring buffer overflows, because the test does not read it for 500 steps. */
		if (i % 8 == 0 && (i < 500 || i > 1000))
			assert_int_equal(trace_ring_take(&reader, false), 0);
	}
	assert_int_equal(trace_ring_take(&reader, true), 0);
	trace_ring_finish(&reader, core.now);
	assert_int_equal(reader.core.nr_gaps, 1);
	assert_true(reader.lost > 0);
	assert_int_equal(reader.lost + reader.core.nr_edges, edges_of(0));
	result = replay(&reader.core);
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		sum += result.part_ns[i];
	assert_int_equal(sum, core.now);
	before = trace_edge_ns(&reader.core.edges[reader.core.gaps[0] - 1]);
	assert_true(result.part_ns[LOAD_PART_UNKNOWN] >=
		    trace_edge_ns(&reader.core.edges[reader.core.gaps[0]]) - before);
	/* If events are lost, each context has at most its true time in the trace. */
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		if (i != LOAD_PART_UNKNOWN)
			assert_true(result.part_ns[i] <= core.part_ns[i]);
	trace_ring_free(&reader);
}

TEST(overwritten_trace_begins_later)
{
	for (u64 seed = 1; seed <= 20; seed++) {
		struct trace_reader reader;
		struct trace_replay result;
		size_t at = 0;

		begin(state, seed, 256);
		for (int i = 0; i < 5000; i++)
			step();
		reader = read_all(0, core.now);
		assert_int_equal(reader.core.nr_edges, 256);
		assert_int_equal(reader.lost + 256, edges_of(0));
		while (at < nr_marks && marks[at].ns < reader.core.from_ns)
			at++;
		/*
		 * If several events have the first timestamp of the trace, the last of these events
		 * determines the state of the core.
		 */
		while (at + 1 < nr_marks && marks[at + 1].ns == reader.core.from_ns)
			at++;
		assert_int_equal(marks[at].ns, reader.core.from_ns);
		result = replay(&reader.core);
		for (int i = 0; i < LOAD_NR_PARTS; i++)
			assert_int_equal(result.part_ns[i],
					 core.part_ns[i] - marks[at].part_ns[i]);
		trace_ring_free(&reader);
	}
}

static int nr_barriers, irq_at;

static void interrupt(void)
{
	if (nr_barriers++ != irq_at)
		return;
	shim_at_barrier = NULL;
	shim_now++;
	trace_irq_enter(NULL, 11);
	shim_now += 5;
	trace_irq_leave(NULL);
	shim_now++;
}

/*
 * An interrupt occurs while a BPF program writes the record of a softirq entry or of a task that
 * wakes itself. Other wake-up events have interrupts disabled.
 */
TEST(interrupted_while_writing)
{
	for (int round = 0; round < 12; round++) {
		bool wakes_itself = round >= 6, interrupted;
		struct trace_reader reader;
		struct trace_replay result;

		irq_at = round % 6;
		reset(state);
		trace_reset(64);
		shim_current = wakes_itself ? &idle : &task;
		at(100);
		trace_sees_switch(&other, &task, false);
		at(200);
		nr_barriers = 0;
		shim_at_barrier = interrupt;
		task.on_cpu = wakes_itself;
		if (wakes_itself)
			trace_wakeup(NULL, &task);
		else
			trace_softirq_enter(NULL, 3);
		task.on_cpu = 0;
		shim_at_barrier = NULL;
		at(300);
		if (!wakes_itself)
			trace_softirq_leave(NULL, 3);
		reader = read_all(0, 400);
		assert_true(nr_barriers);
		interrupted = irq_at < nr_barriers;
		assert_int_equal(reader.core.nr_edges, (wakes_itself ? 2 : 3) + 2 * interrupted);
		result = replay(&reader.core);
		assert_int_equal(result.odd_edges, 0);
		assert_int_equal(result.part_ns[LOAD_PART_HARDIRQ], interrupted ? 5 : 0);
		assert_int_equal(reader.ring->writing, 0);
		for (size_t i = 1; i < reader.core.nr_edges; i++)
			assert_true(trace_edge_ns(&reader.core.edges[i - 1]) <=
				    trace_edge_ns(&reader.core.edges[i]));
		trace_ring_free(&reader);
	}
}

/* An interrupt without tracepoint wakes the core; idle ends at the softirq, as in `load`. */
TEST(softirq_ends_idle)
{
	struct trace_reader reader;
	struct trace_replay result;
	struct load_sample s;

	reset(state);
	trace_reset(64);
	at(100);
	both_see(EVENT_IDLE, true, 1);
	at(300);
	both_see(EVENT_SOFTIRQ, true, 3);
	at(310);
	both_see(EVENT_SOFTIRQ, false, 3);
	at(360);
	both_see(EVENT_IDLE, false, 0);
	reader = read_all(0, 400);
	result = replay(&reader.core);
	s = see(400);
	assert_int_equal(result.part_ns[LOAD_PART_IDLE], 200);
	assert_int_equal(result.part_ns[LOAD_PART_IDLE_LOOP], 190);
	for (int i = 0; i < LOAD_NR_PARTS; i++)
		assert_int_equal(result.part_ns[i], s.part_ns[i]);
	trace_ring_free(&reader);
}

TEST(names_are_noted_once)
{
	struct trace_task *entry;
	struct task_struct late = {.pid = 10 + TRACE_NR_TASKS, .comm = "late", .cgroups = &trace_css};

	reset(state);
	trace_reset(64);
	trace_sees_switch(&idle, &task, false);
	entry = name_at(10);
	assert_int_equal(entry->pid, 10);
	assert_string_equal(entry->comm, "work");
	assert_int_equal(entry->cgroup, 77);
	assert_int_equal(entry->check, trace_task_check(entry));
	assert_int_equal(tasks_lost, 0);
	strcpy(task.comm, "renamed");
	trace_sees_switch(&idle, &task, false);
	assert_string_equal(entry->comm, "work");
	trace_rename(NULL, &task);
	trace_sees_switch(&idle, &task, false);
	assert_string_equal(entry->comm, "renamed");
	assert_int_equal(tasks_lost, 0);
	strcpy(task.comm, "work");
	trace_sees_switch(&task, &late, false);
	assert_string_equal(entry->comm, "late");
	assert_int_equal(tasks_lost, 1);
	trace_sees_switch(&late, &idle, false);
	assert_int_equal(name_at(0)->cgroup, 0);
}

TEST(nothing_before_the_start)
{
	struct trace_reader reader;

	reset(state);
	trace_reset(64);
	ring_of(0)->stopped = 1;
	at(100);
	trace_sees_switch(&idle, &task, false);
	trace_softirq_enter(NULL, 1);
	trace_irq_enter(NULL, 1);
	assert_int_equal(edges_of(0) + ring_of(0)->nested_head, 0);
	assert_int_equal(ring_of(0)->writing, 0);
	/* Events are omitted until recording has begun on all cores. */
	ring_of(0)->stopped = 0;
	at(200);
	trace_irq_enter(NULL, 1);
	at(203);
	trace_irq_leave(NULL);
	at(204);
	trace_irq_enter(NULL, 1);
	reader = reader_of(0);
	reader.start_ns = START + 203;
	assert_int_equal(trace_ring_take(&reader, true), 0);
	assert_int_equal(reader.core.nr_edges, 2);
	assert_int_equal(reader.lost, 0);
	assert_int_equal(reader.core.edges[0].stamp, TRACE_IRQ_LEAVE);
	assert_int_equal(reader.core.edges[1].stamp, 1 << 8 | TRACE_IRQ_ENTER);
	trace_ring_free(&reader);
}

/* After two years of uptime, the timestamps in records lack the upper bits of the clock. */
TEST(long_uptime)
{
	struct trace_reader reader;

	reset(state);
	trace_reset(64);
	shim_now = (1ULL << 56) - 5;
	trace_irq_enter(NULL, 1);
	shim_now += 9;
	trace_irq_leave(NULL);
	reader = reader_of(0);
	reader.start_ns = (1ULL << 56) - 6;
	assert_int_equal(trace_ring_take(&reader, true), 0);
	assert_int_equal(reader.core.nr_edges, 2);
	assert_int_equal(trace_edge_ns(&reader.core.edges[0]), 1);
	assert_int_equal(trace_edge_ns(&reader.core.edges[1]), 10);
	trace_ring_free(&reader);
}

static void wakes_other(u64 ns)
{
	at(ns);
	trace_wakeup(NULL, &other);
}

/*
 * A wake-up event lacks the running task. The running task is taken from the context switch before
 * or after the event, unless events in between are missing.
 */
TEST(current_at_a_wakeup)
{
	struct trace_reader reader;
	size_t gaps[] = {6, 7};

	reset(state);
	trace_reset(64);
	wakes_other(100);
	at(110);
	trace_sees_switch(&task, &ksoftirqd, false);
	wakes_other(120);
	at(130);
	trace_sees_switch(&ksoftirqd, &idle, false);
	wakes_other(140);
	at(150);
	trace_idle(NULL, 1);
	wakes_other(160);
	wakes_other(170);
	at(180);
	trace_sees_switch(&task, &ksoftirqd, false);
	reader = reader_of(0);
	assert_int_equal(trace_ring_take(&reader, true), 0);
	reader.core.gaps = gaps;
	reader.core.nr_gaps = 2;
	trace_ring_finish(&reader, 200);
	assert_int_equal(reader.core.nr_edges, 9);
	assert_int_equal(TRACE_SECOND(reader.core.edges[0].what), task.pid);
	assert_int_equal(TRACE_SECOND(reader.core.edges[2].what), ksoftirqd.pid);
	assert_int_equal(TRACE_SECOND(reader.core.edges[4].what), 0);
	assert_int_equal(TRACE_SECOND(reader.core.edges[6].what), TRACE_NOBODY);
	assert_int_equal(TRACE_SECOND(reader.core.edges[7].what), task.pid);
	reader.core.gaps = NULL;
	trace_ring_free(&reader);
}

TEST(frequencies_and_ticks)
{
	struct hrtimer tick = {.function = &tick}, other_timer = {.function = &other_timer};
	struct trace_window w = {.nr_cpus = 2};
	struct trace_cpu cpus[2] = {0};
	struct trace_reader readers[2];

	reset(state);
	trace_reset(64);
	setup.tick_function = (unsigned long)&tick;
	at(100);
	trace_frequency(NULL, 1800000, 1);
	at(200);
	shim_cpu = 1;
	trace_frequency(NULL, 2400000, 1);
	trace_tick(NULL, &tick);
	trace_tick(NULL, &other_timer);
	/*
	 * From now on only CPU 1 is recorded. CPU 0 and CPU 1 each change the frequency of the
	 * other.
	 */
	setup.some_cpus = true;
	wanted_cpus[0] = 2;
	ring_of(0)->unwanted = 1;
	trace_frequency(NULL, 1000000, 0);
	at(300);
	shim_cpu = 0;
	trace_frequency(NULL, 3600000, 1);
	w.cpu = cpus;
	for (u32 cpu = 0; cpu < 2; cpu++) {
		readers[cpu] = read_all(cpu, 400);
		cpus[cpu].core = readers[cpu].core;
	}
	assert_int_equal(trace_ticks(&cpus[0]), 0);
	assert_int_equal(trace_ticks(&cpus[1]), 1);
	assert_int_equal(trace_last_khz(&w, 0), 0);
	assert_int_equal(trace_last_khz(&w, 1), 3600000);
	assert_int_equal(replay(&readers[1].core).part_ns[LOAD_PART_IDLE], 400);
	trace_ring_free(&readers[0]);
	trace_ring_free(&readers[1]);
}

TEST(cores_that_are_not_wanted)
{
	struct trace_reader reader;

	reset(state);
	trace_reset(64);
	wanted_cpus[0] = 2;
	ring_of(0)->unwanted = 1;
	at(100);
	shim_current = &other;
	trace_sees_switch(&idle, &task, false);
	trace_irq_enter(NULL, 1);
	task.thread_info.cpu = 1;
	trace_wakeup(NULL, &task);
	task.thread_info.cpu = 0;
	trace_wakeup(NULL, &task);
	reader = read_all(0, 200);
	assert_int_equal(reader.core.nr_edges, 1);
	assert_int_equal(trace_edge_kind(&reader.core.edges[0]), TRACE_WAKEUP);
	assert_int_equal(reader.core.edges[0].what, TRACE_WHAT(10, 20, 1));
	trace_ring_free(&reader);
	shim_cpu = 1;
	trace_irq_enter(NULL, 1);
	assert_int_equal(edges_of(1), 1);
	shim_cpu = NR_CPUS;
	trace_irq_enter(NULL, 1);
	assert_int_equal(((struct trace_ring *)((char *)ring_of(0) + NR_CPUS * setup.ring_bytes))->head, 0);
	shim_cpu = 0;
}

TEST_MAIN()
