/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests files of `subtick trace`. Protobuf is decoded with Perfetto's field numbers. */
#include "report_rows.h"

#include <inttypes.h>

static struct timeline_event events[] = {
	{.ns = 1000, .kind = TIMELINE_IRQ_ENTER, .cpu = 0, .arg = 11, .name = "arch_timer"},
	{.ns = 1001, .kind = TIMELINE_IRQ_ENTER, .cpu = 0, .name = "Rescheduling interrupts"},
	{.ns = 1002, .kind = TIMELINE_WAKING, .cpu = 0, .pid = 7, .other = 9, .arg = 1},
	{.ns = 1003, .kind = TIMELINE_IRQ_LEAVE, .cpu = 0},
	{.ns = 1004, .kind = TIMELINE_IRQ_LEAVE, .cpu = 0},
	{.ns = 1500, .kind = TIMELINE_SWITCH, .cpu = 0, .pid = 9, .other = 0, .arg = 1},
	{.ns = 2000, .kind = TIMELINE_IDLE_ENTER, .cpu = 0, .arg = 2},
	{.ns = 3000, .kind = TIMELINE_IDLE_LEAVE, .cpu = 0},
	{.ns = 3100, .kind = TIMELINE_FREQUENCY, .cpu = 0, .other = 1, .arg = 1800000},
	{.ns = 3200, .kind = TIMELINE_TICK, .cpu = 0},
	/*
	 * The softirq that ends at 1010 ns and the interrupt that ends at 1150 ns began before the
	 * trace.
	 */
	{.ns = 1010, .kind = TIMELINE_SOFTIRQ_LEAVE, .cpu = 1, .arg = 3, .name = "NET_RX"},
	{.ns = 1100, .kind = TIMELINE_SWITCH, .cpu = 1, .pid = 0, .other = 7},
	{.ns = 1150, .kind = TIMELINE_IRQ_LEAVE, .cpu = 1},
	{.ns = 1200, .kind = TIMELINE_SOFTIRQ_ENTER, .cpu = 1, .arg = 3, .name = "NET_RX"},
	{.ns = 1300, .kind = TIMELINE_SOFTIRQ_LEAVE, .cpu = 1, .arg = 3, .name = "NET_RX"},
	{.ns = 1300, .kind = TIMELINE_GAP, .cpu = 1},
	{.ns = 4000, .kind = TIMELINE_SWITCH, .cpu = 1, .pid = 5, .other = 7, .held = true},
};

static struct timeline_task tasks[] = {
	{.pid = 7, .tgid = 7, .comm = "a\"b"},
	{.pid = 9, .tgid = 7, .comm = "nine"},
};

static struct timeline_slice page_slices[] = {
	{.from_ns = 1000, .to_ns = 1500, .part = "task", .cpu = 0, .pid = 9},
	{.from_ns = 1500, .to_ns = 3000, .part = "idle", .cpu = 0, .state = 2},
	{.from_ns = 1100, .to_ns = 1200, .part = "task", .cpu = 3, .pid = 7},
	{.from_ns = 1200, .to_ns = 1300, .part = "softirq_on_task", .cpu = 3, .pid = 7, .name = "NET_RX"},
	{.from_ns = 1300, .to_ns = 4000, .part = "hardirq", .cpu = 3, .name = "</script>"},
};

static struct timeline_wait waits[] = {
	{.from_ns = 1003,
	 .to_ns = 1100,
	 .waking_ns = 1002,
	 .cpu = 3,
	 .pid = 7,
	 .woken = true,
	 .waker = 9,
	 .culprit = 9,
	 .culprit_ns = 60,
	 .held = true,
	 .throttled_ns = 50},
	{.from_ns = 1003,
	 .to_ns = 1050,
	 .waking_ns = 1002,
	 .cpu = 3,
	 .pid = 7,
	 .woken = true,
	 .waker = 9,
	 .waker_irq = "timer",
	 .culprit = UINT32_MAX},
};

static struct timeline_hold holds[] = {{.from_ns = 1010, .to_ns = 1060, .cpu = 1, .pid = 7}};

static const struct timeline timeline = {
	.holds = holds,
	.nr_holds = 1,
	.slices = page_slices,
	.nr_slices = sizeof(page_slices) / sizeof(page_slices[0]),
	.all_slices = 7,
	.waits = waits,
	.nr_waits = 2,
	.all_waits = 4,
	.machine = "a host, Linux 6.18",
	.ended = (char *)"ended at 1 ms by a wait",
	.start_ns = 400,
	.from_ns = 1000,
	.to_ns = 4000,
	.events = events,
	.nr_events = sizeof(events) / sizeof(events[0]),
	.tasks = tasks,
	.nr_tasks = 2,
	.end_ns = 5000,
	.boot_ns = 105000,
	.unix_ns = 9000000,
};

static char *text;
static size_t text_len;

static void write_timeline(int (*write)(FILE *out, const struct timeline *t),
			   const struct timeline *t)
{
	FILE *out = open_memstream(&text, &text_len);

	assert_int_equal(write(out, t), 0);
	fclose(out);
}

static void write_with(int (*write)(FILE *out, const struct timeline *t))
{
	write_timeline(write, &timeline);
}

/* A gap ends all open slices, and so does the end of the recording. */
TEST(chrome_slices_contain_each_other)
{
	write_with(timeline_chrome);
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
	write_with(timeline_lines);
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
		"1", "1.6", "1.6.1", "1.2", "1.2.1", "1.2.2", "1.1", "1.1.2", "1.1.2.4",
		"1.1.2.11", "1.1.2.13", "1.1.2.17", "1.1.2.20", "1.1.2.24", "1.1.2.25", "1.1.2.36",
		"1.1.2.37", "1.1.2.114", "1.60", "1.11", NULL};

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

	write_with(timeline_perfetto);
	flatten(out, text, text + text_len, "");
	fclose(out);
	assert_string_equal(seen, expected);
	free(seen);
	free(text);
}

/* The running task is stored per CPU: the first event of CPU 1 does not get the task of CPU 0. */
TEST(perfetto_first_event_of_a_cpu)
{
	struct timeline_event two[] = {
		{.ns = 1000, .kind = TIMELINE_SWITCH, .cpu = 0, .pid = 0, .other = 9},
		{.ns = 1001, .kind = TIMELINE_IDLE_LEAVE, .cpu = 1},
	};
	struct timeline t = timeline;
	char *seen;
	size_t len;
	FILE *out = open_memstream(&seen, &len);

	t.events = two;
	t.nr_events = ARRAY_SIZE(two);
	write_timeline(timeline_perfetto, &t);
	flatten(out, text, text + text_len, "");
	fclose(out);
	assert_non_null(strstr(seen, "1.1: 1=1\n1.1.2: 1=101001 2=0\n"));
	free(seen);
	free(text);
}

/* A name must not end the script element, because the rest of the data would be cut off. */
TEST(the_page_has_every_slice)
{
	static const char *const parts[] = {
		"The picture has 5 of 7 slices",
		"2 of 4 waits",
		"a host, Linux 6.18, 1970-01-01 00:00:00 UTC: 4.60 µs of every context change, "
		"ended at 1 ms by a wait.",
		"<td>nine (9)</td><td class=\"number\">0</td><td>nine (9)</td>",
		"<td>timer</td><td class=\"number\">0</td>",
		"<td>nine (9)</td><td class=\"number\">60 ns</td><td class=\"number\">50 ns</td>",
	};

	write_with(timeline_html);
	expect_quoted(
		text,
		"id='data'>{'from':600,'to':3600,\n"
		"'cpus':[\n"
		"{'cpu':0,'at':600,'slices':[500,0,9,1500,1,2]},\n"
		"{'cpu':3,'at':700,'slices':[100,0,7,100,2,0,2700,3,1]}],\n"
		"'waits':[\n"
		"{'from':603,'to':700,'cpu':3,'pid':7,'woken':true,'held':true,'hold':50,'waking':"
		"602,"
		"'waker':9,'waker_cpu':0,'irq':0,'softirq':0,'idle':0,'culprit':9,'of_it':60},\n"
		"{'from':603,'to':650,'cpu':3,'pid':7,'woken':true,'held':false,'hold':0,'waking':"
		"602,'waker':9,'waker_cpu':0,'irq':0,'softirq':0,'idle':0,'by':'timer'}],\n"
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
