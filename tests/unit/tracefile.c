/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests files of `subtick trace`. Protobuf is decoded with Perfetto's field numbers. */
#include "report_rows.h"

#include <inttypes.h>

#include "tracefile/tracefile.h"

#define START_NS 400
#define EDGE(ns, kind, what)                        \
	{                                           \
		((ns)-START_NS) << 8 | (kind), what \
	}

static struct trace_edge edges_of_0[] = {
	EDGE(1000, TRACE_IRQ_ENTER, 11),
	EDGE(1001, TRACE_IPI_ENTER, 5),
	EDGE(1002, TRACE_WAKING, TRACE_WHAT(7, 9, 1)),
	EDGE(1003, TRACE_IRQ_LEAVE, 0),
	EDGE(1004, TRACE_IRQ_LEAVE, 0),
	EDGE(1500, TRACE_SWITCH, TRACE_WHAT(9, 0, 1)),
	EDGE(2000, TRACE_IDLE_ENTER, 2),
	EDGE(3000, TRACE_IDLE_LEAVE, 0),
	EDGE(3100, TRACE_FREQUENCY, TRACE_WHAT(0, 1800000, 1)),
	EDGE(3200, TRACE_TICK, 0),
};

static struct trace_edge edges_of_1[] = {
	/*
	 * The softirq that ends at 1010 ns and the interrupt that ends at 1150 ns began before the
	 * trace.
	 */
	EDGE(1010, TRACE_SOFTIRQ_LEAVE, 3),
	EDGE(1100, TRACE_SWITCH, TRACE_WHAT(0, 7, 0)),
	EDGE(1150, TRACE_IRQ_LEAVE, 0),
	EDGE(1200, TRACE_SOFTIRQ_ENTER, 3),
	EDGE(1300, TRACE_SOFTIRQ_LEAVE, 3),
	EDGE(4000, TRACE_THROTTLE, TRACE_THROTTLE_WHAT(7, 50)), /* in no file */
	EDGE(4000, TRACE_SWITCH, TRACE_WHAT(5, 7, 0) | TRACE_THROTTLED),
};

static size_t gaps[] = {ARRAY_SIZE(edges_of_1) - 2};

/* The first and the last slice of CPU 0 are outside the picture. */
static struct trace_slice slices_of_0[] = {
	{.from_ns = 0,
	 .to_ns = 600,
	 .part = LOAD_PART_HARDIRQ,
	 .what = 11,
	 .kind = TRACE_IRQ_ENTER},
	{.from_ns = 600, .to_ns = 1100, .part = LOAD_PART_TASK, .pid = 9},
	{.from_ns = 1100, .to_ns = 2600, .part = LOAD_PART_IDLE, .what = 2},
	{.from_ns = 3600, .to_ns = 4600, .part = LOAD_PART_TASK, .pid = 9},
};

static struct trace_slice slices_of_3[] = {
	{.from_ns = 640, .to_ns = 700, .part = LOAD_PART_TASK, .pid = 9},
	{.from_ns = 700, .to_ns = 800, .part = LOAD_PART_TASK, .pid = 7},
	{.from_ns = 800, .to_ns = 900, .part = LOAD_PART_SOFTIRQ_ON_TASK, .what = 3, .pid = 7},
	{.from_ns = 900,
	 .to_ns = 3600,
	 .part = LOAD_PART_HARDIRQ,
	 .what = 12,
	 .kind = TRACE_IRQ_ENTER},
};

static struct trace_cpu cpus[] = {
	{.core = {.edges = edges_of_0, .nr_edges = ARRAY_SIZE(edges_of_0)},
	 .slices = slices_of_0,
	 .nr_slices = ARRAY_SIZE(slices_of_0)},
	{.core = {.edges = edges_of_1,
		  .nr_edges = ARRAY_SIZE(edges_of_1),
		  .gaps = gaps,
		  .nr_gaps = 1}},
	{.nr_slices = 0},
	{.slices = slices_of_3, .nr_slices = ARRAY_SIZE(slices_of_3)},
};

static struct trace_task tasks[] = {
	{.pid = 7, .tgid = 7, .comm = "a\"b"},
	{.pid = 9, .tgid = 7, .comm = "nine"},
};

static struct trace_irq irqs[] = {
	{TRACE_IRQ_ENTER, 11, "arch_timer"},
	{TRACE_IPI_ENTER, 5, "Rescheduling interrupts"},
	{TRACE_IRQ_ENTER, 12, "</script>"},
};

static struct trace_wait throttled[] = {
	{.from_ns = 610, .to_ns = 670, .throttled_ns = 50, .cpu = 1, .pid = 7}};

static struct trace_wait waits[] = {
	{.from_ns = 600, .to_ns = 640, .cpu = 1, .pid = 9},
	{.from_ns = 603,
	 .to_ns = 650,
	 .waking_ns = 502,
	 .cpu = 1,
	 .pid = 7,
	 .woken = true,
	 .waker = 9},
	{.from_ns = 640, .to_ns = 680, .cpu = 1, .pid = 9},
	{.from_ns = 603,
	 .to_ns = 700,
	 .waking_ns = 602,
	 .cpu = 3,
	 .pid = 7,
	 .woken = true,
	 .waker = 9,
	 .throttled = true,
	 .throttled_ns = 50},
};

static const struct trace_window window = {
	.start_mono_ns = START_NS,
	.to_ns = 4600,
	.time_boot_ns = 105000,
	.time_unix_ns = 9000000,
	.cpu = cpus,
	.nr_cpus = ARRAY_SIZE(cpus),
	.waits = {.list = throttled, .nr = 1},
	.names = tasks,
	.nr_names = ARRAY_SIZE(tasks),
	.irqs = irqs,
	.nr_irqs = ARRAY_SIZE(irqs),
	.event = TRACE_EVENT_WAIT,
	.event_ns = 2100,
};

static char *text;
static size_t text_len;

static void write_window(tracefile_writer *write, const struct trace_window *w)
{
	struct tracefile file = {
		.window = w, .machine = "a host, Linux 6.18", .max_slices = 6, .max_waits = 2};
	FILE *out = open_memstream(&text, &text_len);

	assert_int_equal(write(out, &file), 0);
	fclose(out);
}

/* A gap ends all open slices, and so does the end of the recording. */
TEST(chrome_slices_contain_each_other)
{
	write_window(tracefile_chrome, &window);
	expect_quoted(
		text,
		"{'displayTimeUnit':'ns','traceEvents':[\n"
		"{'ph':'M','pid':0,'tid':0,'ts':0.000,'name':'thread_name','args':{'name':'CPU "
		"0'}},\n"
		"{'ph':'B','pid':0,'tid':0,'ts':1.000,'cat':'irq','name':'arch_timer',"
		"'args':{'irq':11}},\n"
		"{'ph':'B','pid':0,'tid':0,'ts':1.001,'cat':'irq','name':'Rescheduling interrupts',"
		"'args':{'irq':0}},\n"
		"{'ph':'E','pid':0,'tid':0,'ts':1.003},\n"
		"{'ph':'E','pid':0,'tid':0,'ts':1.004},\n"
		"{'ph':'B','pid':0,'tid':0,'ts':2.000,'cat':'idle','name':'idle "
		"2','args':{'state':2}},\n"
		"{'ph':'E','pid':0,'tid':0,'ts':3.000},\n"
		"{'ph':'C','pid':0,'tid':0,'ts':3.100,'name':'frequency of CPU 1',"
		"'args':{'kHz':1800000}},\n"
		"{'ph':'i','pid':0,'tid':0,'ts':3.200,'s':'t','cat':'tick','name':'tick'},\n"
		"{'ph':'M','pid':0,'tid':1,'ts':0.000,'name':'thread_name','args':{'name':'CPU "
		"1'}},\n"
		"{'ph':'B','pid':0,'tid':1,'ts':1.100,'cat':'task','name':'a\\'b','args':{'pid':7}}"
		",\n"
		"{'ph':'B','pid':0,'tid':1,'ts':1.200,'cat':'softirq','name':'NET_RX',"
		"'args':{'vec':3}},\n"
		"{'ph':'E','pid':0,'tid':1,'ts':1.300},\n"
		"{'ph':'E','pid':0,'tid':1,'ts':1.300},\n"
		"{'ph':'i','pid':0,'tid':1,'ts':1.300,'s':'t','cat':'gap',"
		"'name':'gap: events are missing'},\n"
		"{'ph':'B','pid':0,'tid':1,'ts':4.000,'cat':'task','name':'a\\'b','args':{'pid':7}}"
		",\n"
		"{'ph':'E','pid':0,'tid':1,'ts':5.000},\n"
		"{'ph':'b','pid':0,'tid':1,'ts':1.010,'cat':'quota','id':7,'name':'a\\'b'},\n"
		"{'ph':'e','pid':0,'tid':1,'ts':1.060,'cat':'quota','id':7,'name':'a\\'b'}\n"
		"]}\n");
	free(text);
}

TEST(each_event_is_a_line)
{
	write_window(tracefile_lines, &window);
	expect_quoted(
		text,
		"{'time_monotonic_ns':1000,'cpu':0,'event':'irq_enter','irq':11,'name':'arch_timer'"
		"}\n"
		"{'time_monotonic_ns':1001,'cpu':0,'event':'irq_enter','irq':0,"
		"'name':'Rescheduling interrupts'}\n"
		"{'time_monotonic_ns':1002,'cpu':0,'event':'waking','pid':7,'comm':'a\\'b','by_pid'"
		":9,'by_comm':'nine','to_cpu':1}\n"
		"{'time_monotonic_ns':1003,'cpu':0,'event':'irq_leave'}\n"
		"{'time_monotonic_ns':1004,'cpu':0,'event':'irq_leave'}\n"
		"{'time_monotonic_ns':1500,'cpu':0,'event':'switch','prev_pid':9,'prev_comm':'nine'"
		",'prev_state':1,'next_pid':0,'next_comm':'idle'}\n"
		"{'time_monotonic_ns':2000,'cpu':0,'event':'idle_enter','state':2}\n"
		"{'time_monotonic_ns':3000,'cpu':0,'event':'idle_leave'}\n"
		"{'time_monotonic_ns':3100,'cpu':0,'event':'frequency','of_cpu':1,"
		"'frequency_hz':1800000000}\n"
		"{'time_monotonic_ns':3200,'cpu':0,'event':'tick'}\n"
		"{'time_monotonic_ns':1010,'cpu':1,'event':'softirq_leave','vec':3,'name':'NET_RX'}"
		"\n"
		"{'time_monotonic_ns':1100,'cpu':1,'event':'switch','prev_pid':0,'prev_comm':'idle'"
		",'prev_state':0,'next_pid':7,'next_comm':'a\\'b'}\n"
		"{'time_monotonic_ns':1150,'cpu':1,'event':'irq_leave'}\n"
		"{'time_monotonic_ns':1200,'cpu':1,'event':'softirq_enter','vec':3,'name':'NET_RX'}"
		"\n"
		"{'time_monotonic_ns':1300,'cpu':1,'event':'softirq_leave','vec':3,'name':'NET_RX'}"
		"\n"
		"{'time_monotonic_ns':1300,'cpu':1,'event':'gap'}\n"
		"{'time_monotonic_ns':4000,'cpu':1,'event':'switch','prev_pid':5,'prev_comm':'',"
		"'prev_state':0,'next_pid':7,'next_comm':'a\\'b','quota_held':true}\n"
		"{'time_monotonic_ns':1010,'cpu':1,'event':'quota_hold','pid':7,'comm':'a\\'b',"
		"'hold_ns':50}\n");
	free(text);
}

static uint64_t varint(const char **at)
{
	uint64_t value = 0;
	int shift = 0;

	do {
		value |= (uint64_t)(**at & 0x7f) << shift;
		shift += 7;
	} while (*(*at)++ & 0x80);
	return value;
}

/*
 * True if the field numbers in @path lead to a message of Perfetto's schema. All other
 * length-delimited fields are strings.
 */
static bool is_message(const char *path)
{
	static const char *const messages[] = {
		"1",	    "1.6",	"1.6.1",    "1.2",	 "1.2.1",    "1.2.2",	 "1.1",
		"1.1.2",    "1.1.2.4",	"1.1.2.11", "1.1.2.13",	 "1.1.2.17", "1.1.2.20", "1.1.2.24",
		"1.1.2.25", "1.1.2.36", "1.1.2.37", "1.1.2.114", "1.60",     "1.11",	 NULL};

	for (int i = 0; messages[i]; i++)
		if (!strcmp(path, messages[i]))
			return true;
	return false;
}

static void flatten(FILE *out, const char *at, const char *end, const char *path)
{
	while (at < end) {
		uint64_t key = varint(&at), value = varint(&at);
		char inner[64];

		snprintf(inner, sizeof(inner), "%s%s%" PRIu64, path, *path ? "." : "", key >> 3);
		if ((key & 7) == 2 && is_message(inner)) {
			fprintf(out, "\n%s:", inner);
			flatten(out, at, at + value, inner);
		} else {
			if ((key & 7) == 2)
				fprintf(out, " %" PRIu64 "=%.*s", key >> 3, (int)value, at);
			else
				fprintf(out, " %" PRIu64 "=%" PRIu64, key >> 3, value);
		}
		if ((key & 7) == 2)
			at += value;
	}
}

TEST(perfetto_has_the_numbers_of_its_schema)
{
	static const char expected[] =
		"\n1:\n1.6:\n1.6.1: 1=6 2=105000\n1.6.1: 1=3 2=5000\n1.6.1: 1=1 2=9000000 "
		"10=1\n1:\n1.2:\n1.2.1: 1=7 3=a\"b\n1.2.2: 1=9 2=nine 3=7 10=1\n1:\n1.1: "
		"1=0\n1.1.2: 1=101000 2=0\n1.1.2.36: 1=11 2=arch_timer\n1.1.2: 1=101002 "
		"2=9\n1.1.2.20: 1=a\"b 2=7 3=120 4=1 5=1\n1.1.2: 1=101004 2=9\n1.1.2.37: "
		"1=0\n1.1.2: 1=101500 2=9\n1.1.2.4: 1=nine 2=9 3=120 4=1 5=swapper 6=0 "
		"7=120\n1.1.2: 1=102000 2=0\n1.1.2.13: 1=2 2=0\n1.1.2: 1=103000 2=0\n1.1.2.13: "
		"1=4294967295 2=0\n1.1.2: 1=103100 2=0\n1.1.2.11: 1=1800000 2=1 10=1\n1:\n1.1: "
		"1=1\n1.1.2: 1=101010 2=0\n1.1.2.25: 1=3\n1.1.2: 1=101100 2=0\n1.1.2.4: 1=swapper "
		"2=0 3=120 4=0 5=a\"b 6=7 7=120\n1.1.2: 1=101200 2=7\n1.1.2.24: 1=3\n1.1.2: "
		"1=101300 2=7\n1.1.2.25: 1=3 10=1\n1:\n1.1: 1=1 3=1\n1.1.2: 1=104000 2=5\n1.1.2.4: "
		"1= 2=5 3=120 4=0 5=a\"b 6=7 7=120 10=1\n1:\n1.60: 1=4294967303 2=quota holds a\"b "
		"(7) 10=1\n1: 8=101010\n1.11: 9=1 11=4294967303 23=held by CPU quota 10=1\n1: "
		"8=101060\n1.11: 9=2 11=4294967303 10=1\n1:\n1.60: 1=8589934592 2=ticks of CPU 0 "
		"10=1\n1: 8=103200\n1.11: 9=3 11=8589934592 23=tick 10=1";
	char *seen;
	size_t len;
	FILE *out = open_memstream(&seen, &len);

	write_window(tracefile_perfetto, &window);
	flatten(out, text, text + text_len, "");
	fclose(out);
	assert_string_equal(seen, expected);
	free(seen);
	free(text);
}

/* The running task is stored per CPU: the first event of CPU 1 does not get the task of CPU 0. */
TEST(perfetto_first_event_of_a_cpu)
{
	struct trace_edge first = EDGE(1000, TRACE_SWITCH, TRACE_WHAT(0, 9, 0));
	struct trace_edge second = EDGE(1001, TRACE_IDLE_LEAVE, 0);
	struct trace_cpu two[] = {{.core = {.edges = &first, .nr_edges = 1}},
				  {.core = {.edges = &second, .nr_edges = 1}}};
	struct trace_window w = window;
	char *seen;
	size_t len;
	FILE *out = open_memstream(&seen, &len);

	w.cpu = two;
	w.nr_cpus = ARRAY_SIZE(two);
	write_window(tracefile_perfetto, &w);
	flatten(out, text, text + text_len, "");
	fclose(out);
	assert_non_null(strstr(seen, "1.1: 1=1\n1.1.2: 1=101001 2=0\n"));
	free(seen);
	free(text);
}

/* A name must not end the script element, because the rest of the data would be cut off. */
TEST(the_page_has_every_slice)
{
	struct trace_window w = window;
	static const char *const parts[] = {
		"The picture has 6 of 8 slices",
		"2 of 4 waits",
		"a host, Linux 6.18, 1970-01-01 00:00:00 UTC: 4.60 µs of every context change, "
		"ended at 0.002 ms by a wait of 0 ms on CPU 0: task idle (0).",
		"<td>nine (9)</td><td class=\"number\">0</td><td>nine (9)</td>",
		"<td>timer</td><td class=\"number\">0</td>",
		"<td>nine (9)</td><td class=\"number\">60 ns</td><td class=\"number\">50 ns</td>",
	};

	w.waits = (struct trace_waits){.list = waits, .nr = ARRAY_SIZE(waits)};
	write_window(tracefile_html, &w);
	expect_quoted(
		text,
		"id='data'>{'from':600,'to':3600,\n"
		"'cpus':[\n"
		"{'cpu':0,'at':600,'slices':[500,0,9,1500,1,2]},\n"
		"{'cpu':3,'at':640,'slices':[60,0,9,100,0,7,100,2,0,2700,3,1]}],\n"
		"'waits':[\n"
		"{'from':603,'to':700,'cpu':3,'pid':7,'woken':true,'held':true,'hold':50,'waking':"
		"602,"
		"'waker':9,'waker_cpu':0,'irq':0,'softirq':0,'idle':0,'culprit':9,'of_it':60},\n"
		"{'from':603,'to':650,'cpu':1,'pid':7,'woken':true,'held':false,'hold':0,'waking':"
		"502,'waker':9,'waker_cpu':0,'irq':0,'softirq':0,'idle':0,'by':'timer'}],\n"
		"'ticks':[\n"
		"{'cpu':0,'at':[2800]}],\n"
		"'tasks':[[7,'a\\'b'],[9,'nine']],\n");
	expect_quoted(text, "'parts':['task','idle','softirq_on_task','hardirq'],\n"
			    "'names':['NET_RX','\\u003c/script>']}\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strstr(text, parts[i]))
			fail_msg("%s", parts[i]);
	free(text);
}

TEST_MAIN()
