/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests data of trace files that is derived from several events, and which slices a picture of
 * limited size shows.
 */
#include "test.h"

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
	/* The picture covers the longest time that has at most @max slices. */
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

/*
 * If a core wakes a task that last ran on the same core, there is no waking event, so the waker is
 * taken from the wake-up event.
 */
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

/* The waker is the interrupt and not the interrupted task. */
TEST(woken_by_interrupt)
{
	static struct trace_irq irqs[] = {{TRACE_IRQ_ENTER, 11, "arch_timer"},
					  {TRACE_IRQ_ENTER, 12, "eth0"}};
	static struct trace_slice done[] = {
		{.from_ns = 0, .to_ns = 10, .part = LOAD_PART_TASK, .pid = 9},
		{.from_ns = 10, .to_ns = 20, .part = LOAD_PART_HARDIRQ, .what = 11,
		 .kind = TRACE_IRQ_ENTER},
		{.from_ns = 20, .to_ns = 30, .part = LOAD_PART_SOFTIRQ_ON_TASK, .what = 3},
		{.from_ns = 30, .to_ns = 40, .part = LOAD_PART_HARDIRQ, .what = 12,
		 .kind = TRACE_IRQ_ENTER},
		{.from_ns = 40, .to_ns = 50, .part = LOAD_PART_SOFTIRQ_ON_IDLE, .what = 1},
		{.from_ns = 50, .to_ns = 60, .part = LOAD_PART_KSOFTIRQD, .pid = 10},
	};
	static const char *const wakers[] = {NULL,   "timer", "NET_RX", "eth0",
					     "timer", NULL,    NULL};
	struct trace_window w = {.cpu = cpus, .nr_cpus = 2, .irqs = irqs, .nr_irqs = 2};

	memset(cpus, 0, sizeof(cpus));
	cpus[1] = (struct trace_cpu){.slices = done, .nr_slices = 6};
	for (size_t i = 0; i < 7; i++) {
		struct trace_wait wait = {.woken = true, .waker = 9, .waker_cpu = 1,
					  .waking_ns = 10 * i + 5};
		const char *waker = trace_waker_irq(&w, &wait);

		assert_true(wakers[i] ? waker && !strcmp(waker, wakers[i]) : !waker);
		wait.woken = false;
		assert_null(trace_waker_irq(&w, &wait));
		wait = (struct trace_wait){.woken = true, .waking_ns = 15};
		assert_null(trace_waker_irq(&w, &wait));
	}
}

TEST(what_ended_it)
{
	static struct trace_task names[] = {{.pid = 7, .comm = "web"}};
	struct trace_window w = {.names = names, .nr_names = 1, .event_ns = 2070123,
				 .event_len_ns = 330000, .event_cpu = 3, .event_pid = 7,
				 .event_cgroup = "/web", .event_waits = 100, .event_long = 2,
				 .event_window_ns = 1000000000};
	char *text;

	assert_null(trace_ended(&w));
	w.event = TRACE_EVENT_WAIT;
	text = trace_ended(&w);
	assert_string_equal(text, "ended at 2.070 ms by a wait of 0.33 ms on CPU 3: task web (7)");
	free(text);
	w.event = TRACE_EVENT_PERCENTILE;
	text = trace_ended(&w);
	assert_string_equal(text, "ended at 2.070 ms: 2 of 100 waits of /web in 1 s took 0.33 ms "
				  "or longer");
	free(text);
}

TEST_MAIN()
