/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests the files of a trace: the JSON is parsed, and the protobuf is decoded with the field
 * numbers of Perfetto's schema.
 */
#include "test.h"

#include <inttypes.h>

#include <jansson.h>

#include "view/view.h"

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
	/* Exit events whose entry events came before the trace. */
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
	{.from_ns = 1003, .to_ns = 1100, .waking_ns = 1002, .cpu = 3, .pid = 7, .woken = true, .waker = 9,
	 .culprit = 9, .culprit_ns = 60, .held = true, .held_ns = 50},
	{.from_ns = 1003, .to_ns = 1050, .waking_ns = 1002, .cpu = 3, .pid = 7, .woken = true, .waker = 9,
	 .waker_irq = "timer", .culprit = UINT32_MAX},
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

static void write_with(int (*write)(FILE *out, const struct timeline *t))
{
	FILE *out = open_memstream(&text, &text_len);

	assert_int_equal(write(out, &timeline), 0);
	fclose(out);
}

static const char *string_of(json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Every slice ends inside the slice around it. Adds up the time of slices by name. */
TEST(chrome_slices_contain_each_other)
{
	struct {
		const char *name;
		double begin;
	} open[2][8];
	int depth[2] = {0}, slices = 0, gaps = 0, holds_seen = 0, counters = 0, ticks = 0;
	double idle = 0, task = 0, irq = 0;
	json_t *root, *e;
	size_t i;

	write_with(timeline_chrome);
	root = json_loadb(text, text_len, 0, NULL);
	assert_non_null(root);
	json_array_foreach(json_object_get(root, "traceEvents"), i, e) {
		int cpu = (int)json_integer_value(json_object_get(e, "tid"));
		const char *phase = string_of(e, "ph");
		double ts = json_number_value(json_object_get(e, "ts"));

		if (phase[0] == 'B') {
			open[cpu][depth[cpu]].name = string_of(e, "name");
			open[cpu][depth[cpu]++].begin = ts;
		} else if (phase[0] == 'E') {
			assert_true(depth[cpu] > 0);
			depth[cpu]--;
			slices++;
			ts -= open[cpu][depth[cpu]].begin;
			assert_true(ts >= 0);
			idle += strcmp(open[cpu][depth[cpu]].name, "idle 2") ? 0 : ts;
			task += strcmp(open[cpu][depth[cpu]].name, "a\"b") ? 0 : ts;
			irq += strcmp(open[cpu][depth[cpu]].name, "arch_timer") ? 0 : ts;
		}
		if (phase[0] == 'b' || phase[0] == 'e') {
			assert_string_equal(string_of(e, "name"), "a\"b");
			assert_int_equal(json_integer_value(json_object_get(e, "id")), 7);
			assert_true(ts == (phase[0] == 'b' ? 1.010 : 1.060));
			holds_seen += phase[0] == 'b' ? 1 : 10;
		}
		if (phase[0] == 'C') {
			assert_string_equal(string_of(e, "name"), "frequency of CPU 1");
			assert_int_equal(json_integer_value(json_object_get(json_object_get(e, "args"), "kHz")),
					 1800000);
			counters++;
		}
		ticks += phase[0] == 'i' && !strcmp(string_of(e, "cat"), "tick");
		gaps += phase[0] == 'i' && !strcmp(string_of(e, "cat"), "gap");
	}
	assert_int_equal(depth[0] + depth[1], 0);
	assert_int_equal(slices, 6);
	assert_int_equal(gaps, 1);
	assert_int_equal(holds_seen, 11);
	assert_int_equal(counters, 1);
	assert_int_equal(ticks, 1);
	assert_true(idle > 0.9999 && idle < 1.0001);
	/* The task runs from 1100 ns to the gap in the recording, and from 4000 ns to the end. */
	assert_true(task > 1.1999 && task < 1.2001);
	assert_true(irq > 0.00399 && irq < 0.00401);
	json_decref(root);
	free(text);
}

TEST(each_event_is_a_line)
{
	size_t nr = 0;
	json_t *e;

	write_with(timeline_lines);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), nr++) {
		e = json_loads(line, 0, NULL);
		assert_non_null(e);
		if (nr == timeline.nr_events) {
			assert_string_equal(string_of(e, "event"), "quota_hold");
			assert_string_equal(string_of(e, "comm"), "a\"b");
			assert_int_equal(json_integer_value(json_object_get(e, "time_monotonic_ns")), 1010);
			assert_int_equal(json_integer_value(json_object_get(e, "hold_ns")), 50);
			json_decref(e);
			continue;
		}
		assert_int_equal(json_integer_value(json_object_get(e, "time_monotonic_ns")),
				 events[nr].ns);
		if (nr == 2) {
			assert_string_equal(string_of(e, "event"), "waking");
			assert_string_equal(string_of(e, "comm"), "a\"b");
			assert_string_equal(string_of(e, "by_comm"), "nine");
			assert_int_equal(json_integer_value(json_object_get(e, "to_cpu")), 1);
		}
		assert_int_equal(json_is_true(json_object_get(e, "quota_held")), events[nr].held);
		if (nr == 8) {
			assert_string_equal(string_of(e, "event"), "frequency");
			assert_int_equal(json_integer_value(json_object_get(e, "of_cpu")), 1);
			assert_int_equal(json_integer_value(json_object_get(e, "frequency_hz")), 1800000000);
		}
		if (nr == 9)
			assert_string_equal(string_of(e, "event"), "tick");
		if (nr == 5) {
			assert_string_equal(string_of(e, "next_comm"), "idle");
			assert_int_equal(json_integer_value(json_object_get(e, "prev_state")), 1);
		}
		json_decref(e);
	}
	assert_int_equal(nr, timeline.nr_events + timeline.nr_holds);
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
 * True if the field numbers of @path lead to a message of the schema: packet, clocks, process tree,
 * event bundle, track, slice. Other fields with a length are strings.
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

/* One line per message that has numbers or strings: "path number=value …". */
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
		"\n1:\n1.6:\n1.6.1: 1=6 2=105000\n1.6.1: 1=3 2=5000\n1.6.1: 1=1 2=9000000 10=1"
		"\n1:\n1.2:\n1.2.1: 1=7 3=a\"b\n1.2.2: 1=9 2=nine 3=7 10=1"
		"\n1:\n1.1: 1=0"
		"\n1.1.2: 1=101000 2=0\n1.1.2.36: 1=11 2=arch_timer"
		"\n1.1.2: 1=101002 2=9\n1.1.2.20: 1=a\"b 2=7 3=120 4=1 5=1"
		"\n1.1.2: 1=101004 2=9\n1.1.2.37: 1=0"
		"\n1.1.2: 1=101500 2=9\n1.1.2.4: 1=nine 2=9 3=120 4=1 5=swapper 6=0 7=120"
		"\n1.1.2: 1=102000 2=0\n1.1.2.13: 1=2 2=0"
		"\n1.1.2: 1=103000 2=0\n1.1.2.13: 1=4294967295 2=0"
		"\n1.1.2: 1=103100 2=0\n1.1.2.11: 1=1800000 2=1 10=1"
		"\n1:\n1.1: 1=1"
		"\n1.1.2: 1=101010 2=0\n1.1.2.25: 1=3"
		"\n1.1.2: 1=101100 2=0\n1.1.2.4: 1=swapper 2=0 3=120 4=0 5=a\"b 6=7 7=120"
		"\n1.1.2: 1=101200 2=7\n1.1.2.24: 1=3"
		"\n1.1.2: 1=101300 2=7\n1.1.2.25: 1=3 10=1"
		"\n1:\n1.1: 1=1 3=1"
		"\n1.1.2: 1=104000 2=5\n1.1.2.4: 1= 2=5 3=120 4=0 5=a\"b 6=7 7=120 10=1"
		"\n1:\n1.60: 1=4294967303 2=quota holds a\"b (7) 10=1"
		"\n1: 8=101010\n1.11: 9=1 11=4294967303 23=held by CPU quota 10=1"
		"\n1: 8=101060\n1.11: 9=2 11=4294967303 10=1"
		"\n1:\n1.60: 1=8589934592 2=ticks of CPU 0 10=1"
		"\n1: 8=103200\n1.11: 9=3 11=8589934592 23=tick 10=1";
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

static json_int_t number_at(json_t *array, size_t at)
{
	return json_integer_value(json_array_get(array, at));
}

static bool page_has(const char *part)
{
	return memmem(text, text_len, part, strlen(part));
}

TEST(the_page_has_every_slice)
{
	static const char open[] = "id=\"data\">", end[] = "</script>";
	static const int seen[] = {100, 0, 7, 100, 2, 0, 2700, 3, 1};
	char *begin, *stop;
	json_t *root, *cpu, *wait;

	write_with(timeline_html);
	begin = memmem(text, text_len, open, strlen(open));
	assert_non_null(begin);
	begin += strlen(open);
	stop = strstr(begin, end);
	/* If a name could end the script element, the JSON would be cut off. */
	root = json_loadb(begin, stop - begin, 0, NULL);
	assert_non_null(root);
	cpu = json_array_get(json_object_get(root, "cpus"), 1);
	assert_int_equal(json_integer_value(json_object_get(cpu, "cpu")), 3);
	assert_int_equal(json_integer_value(json_object_get(cpu, "at")), 700);
	assert_int_equal(json_array_size(json_object_get(cpu, "slices")), 9);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(number_at(json_object_get(cpu, "slices"), i), seen[i]);
	assert_string_equal(json_string_value(json_array_get(json_object_get(root, "names"), 1)), end);
	cpu = json_array_get(json_object_get(root, "ticks"), 0);
	assert_int_equal(json_integer_value(json_object_get(cpu, "cpu")), 0);
	assert_int_equal(number_at(json_object_get(cpu, "at"), 0), 2800);
	wait = json_array_get(json_object_get(root, "waits"), 0);
	assert_int_equal(json_integer_value(json_object_get(wait, "from")), 603);
	assert_int_equal(json_integer_value(json_object_get(wait, "waking")), 602);
	assert_true(page_has("The picture has 5 of 7 slices"));
	assert_true(page_has("2 of 4 waits"));
	assert_true(page_has("a host, Linux 6.18, 1970-01-01 00:00:00 UTC: 4.60 µs of every context "
			     "change, ended at 1 ms by a wait."));
	assert_true(page_has("<td>nine (9)</td><td class=\"number\">0</td><td>nine (9)</td>"));
	assert_true(page_has("<td>timer</td><td class=\"number\">0</td>"));
	assert_null(json_object_get(wait, "by"));
	wait = json_array_get(json_object_get(root, "waits"), 1);
	assert_string_equal(json_string_value(json_object_get(wait, "by")), "timer");
	wait = json_array_get(json_object_get(root, "waits"), 0);
	assert_int_equal(json_integer_value(json_object_get(wait, "hold")), 50);
	assert_true(page_has("<td>nine (9)</td><td class=\"number\">60 ns</td><td class=\"number\">50 ns</td>"));
	json_decref(root);
	free(text);
}

TEST_MAIN()
