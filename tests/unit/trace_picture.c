/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What files of a trace have that no edge has, and what a picture shows when it must not show all. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "present/trace.h"

#define NR_CPUS	  3
#define NR_SLICES 40
#define START_NS  1000000

static struct trace_slice slices[NR_CPUS][NR_SLICES];
static struct trace_cpu cpus[NR_CPUS];
static struct trace_wait waits[] = {{.from_ns = 100, .to_ns = 150},
				    {.from_ns = 300, .to_ns = 420, .pid = 5}};
static struct trace_window window = {.start_mono_ns = START_NS,
				     .cpu = cpus,
				     .nr_cpus = NR_CPUS,
				     .waits = {.list = waits, .nr = 2}};

/* Slices of random lengths, which on no two cores begin at the same times. */
static void make_window(void)
{
	srandom(7);
	window.to_ns = 0;
	for (int cpu = 0; cpu < NR_CPUS; cpu++) {
		uint64_t ns = 0;

		for (int i = 0; i < NR_SLICES; i++) {
			slices[cpu][i] =
				(struct trace_slice){.from_ns = ns, .part = LOAD_PART_IDLE};
			ns += 1 + (uint64_t)random() % 40;
			slices[cpu][i].to_ns = ns;
		}
		cpus[cpu] = (struct trace_cpu){.slices = slices[cpu], .nr_slices = NR_SLICES};
		if (ns > window.to_ns)
			window.to_ns = ns;
	}
}

static size_t overlapping(uint64_t from_ns, uint64_t to_ns)
{
	size_t nr = 0;

	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		for (int i = 0; i < NR_SLICES; i++)
			nr += slices[cpu][i].to_ns > from_ns && slices[cpu][i].from_ns < to_ns;
	return nr;
}

static void check(size_t max, uint64_t centre_ns)
{
	struct timeline t = {0};
	uint64_t from, to;

	assert_int_equal(trace_timeline_picture(&window, max, 1, &t), 0);
	from = t.from_ns - START_NS;
	to = t.to_ns - START_NS;
	assert_true(t.nr_slices <= max);
	assert_int_equal(t.nr_slices, overlapping(from, to));
	assert_int_equal(t.all_slices, NR_CPUS * NR_SLICES);
	assert_true(from <= centre_ns && centre_ns <= to);
	/* One ns more at both ends would be too many, or there is no more. */
	if (t.nr_slices < t.all_slices)
		assert_true(overlapping(from ? from - 1 : 0, to + 1) > max);
	assert_int_equal(t.nr_waits, 1);
	assert_int_equal(t.all_waits, 2);
	assert_int_equal(t.waits[0].pid, 5);
	trace_timeline_free(&t);
}

TEST(no_more_slices_than_asked_for)
{
	make_window();
	for (size_t max = NR_CPUS; max <= NR_CPUS * NR_SLICES + 1; max++)
		check(max, 360);
}

TEST(around_the_event)
{
	make_window();
	window.event = TRACE_EVENT_NOISE;
	window.event_ns = 77;
	for (size_t max = NR_CPUS; max <= NR_CPUS * NR_SLICES + 1; max++)
		check(max, 77);
	window.event = TRACE_EVENT_NONE;
}

static void check_event(const struct timeline_event *event, enum timeline_kind kind, uint64_t ns,
			uint32_t pid, uint32_t arg)
{
	assert_int_equal(event->kind, kind);
	assert_int_equal(event->ns, START_NS + ns);
	assert_int_equal(event->cpu, 1);
	assert_int_equal(event->pid, pid);
	assert_int_equal(event->other, 9);
	assert_int_equal(event->arg, arg);
}

/* A core that wakes a task which it had last has no edge of that before the next one. */
TEST(waking_has_the_stamp_of_what_follows)
{
	struct trace_edge edges[] = {
		{10 << 8 | TRACE_WAKEUP, TRACE_WHAT(7, 9, 2) | TRACE_WAKES},
		{20 << 8 | TRACE_MIGRATE, TRACE_WHAT(8, 9, 2) | TRACE_WAKES},
		{30 << 8 | TRACE_WAKEUP, TRACE_WHAT(7, 9, 2)},
	};
	struct trace_window w = {.start_mono_ns = START_NS, .cpu = cpus, .nr_cpus = 2};
	struct timeline t;

	memset(cpus, 0, sizeof(cpus));
	cpus[1].core = (struct trace_core){.edges = edges, .nr_edges = 3};
	assert_int_equal(trace_timeline(&w, &t), 0);
	assert_int_equal(t.nr_events, 5);
	check_event(&t.events[0], TIMELINE_WAKING, 10, 7, 1);
	check_event(&t.events[1], TIMELINE_WAKEUP, 10, 7, 2);
	check_event(&t.events[2], TIMELINE_WAKING, 20, 8, 1);
	check_event(&t.events[3], TIMELINE_MIGRATE, 20, 8, 2);
	check_event(&t.events[4], TIMELINE_WAKEUP, 30, 7, 2);
	trace_timeline_free(&t);
}

TEST_MAIN()
