/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests data of trace files that is derived from several events, and which slices a picture of
 * limited size shows.
 */
#include "test.h"

#include "present/trace.h"
#include "tracefile/tracefile.h"

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
	struct tracefile file = {.window = &window, .max_slices = max, .max_waits = 1};
	struct tracefile_picture p;

	assert_int_equal(tracefile_picture(&file, &p), 0);
	assert_true(p.nr_slices <= max);
	assert_int_equal(p.nr_slices, overlapping(p.from_ns, p.to_ns));
	assert_int_equal(p.all_slices, NR_CPUS * NR_SLICES);
	assert_true(p.from_ns <= centre_ns && centre_ns <= p.to_ns);
	/* The picture covers the longest time that has at most @max slices. */
	if (p.nr_slices < p.all_slices)
		assert_true(overlapping(p.from_ns ? p.from_ns - 1 : 0, p.to_ns + 1) > max);
	assert_int_equal(p.nr_waits, 1);
	assert_int_equal(p.waits[0].pid, 5);
	free(p.waits);
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

static struct tracefile_event seen[8];
static size_t nr_seen;

static void on_event(void *arg, const struct tracefile_event *event)
{
	assert_true(nr_seen < ARRAY_SIZE(seen));
	seen[nr_seen++] = *event;
}

static void check_event(const struct tracefile_event *event, enum trace_kind kind, uint64_t ns,
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

	memset(cpus, 0, sizeof(cpus));
	cpus[1].core = (struct trace_core){.edges = edges, .nr_edges = 3};
	tracefile_events(&w, on_event, NULL);
	assert_int_equal(nr_seen, 5);
	check_event(&seen[0], TRACE_WAKING, 10, 7, 1);
	check_event(&seen[1], TRACE_WAKEUP, 10, 7, 2);
	check_event(&seen[2], TRACE_WAKING, 20, 8, 1);
	check_event(&seen[3], TRACE_MIGRATE, 20, 8, 2);
	check_event(&seen[4], TRACE_WAKEUP, 30, 7, 2);
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
