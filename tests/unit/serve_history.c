/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the exporter's history keeps ten minutes of windows of any size in bounded memory. */
#include "serve/export/history.h"

#include "test.h"

#define SEC 1000000000ULL

static struct history history;

static struct body *filled(size_t size, int byte)
{
	struct body *body = body_new(false, size);
	char block[1024];

	assert_non_null(body);
	memset(block, byte, sizeof(block));
	for (size_t left = size; left;) {
		size_t now = left < sizeof(block) ? left : sizeof(block);

		body_append(body, block, now);
		left -= now;
	}
	return body_finish(body);
}

static int byte_of(uint64_t now, unsigned int collector)
{
	return (int)(now / SEC * 2 + collector) & 0x7f;
}

static void add(uint64_t now, unsigned int collector, size_t size)
{
	struct body *body = filled(size, byte_of(now, collector));

	history_add(&history, now, 1000000 * SEC + now, collector, body);
	body_put(body);
}

/*
 * Checks that moving windows inside history.data does not change them, and that history.data has
 * only stored windows.
 */
static void check_bytes(void)
{
	size_t bytes = 0;

	for (size_t i = 0; i < history.nr; i++) {
		const struct history_entry *entry = &history.entries[i];
		const char *data = history.data + entry->at;

		assert_int_equal(entry->at, bytes);
		for (size_t j = 0; j < entry->len; j += 1999)
			assert_int_equal(data[j], byte_of(entry->mono_ns, entry->collector));
		bytes += entry->len;
	}
	assert_int_equal(bytes, history.bytes);
}

static bool watched = true;

/* Runs for @seconds. If a window is due, two collectors add a window of @size bytes each. */
static void run(uint64_t from, unsigned int seconds, size_t size)
{
	for (unsigned int i = 0; i < seconds; i++) {
		uint64_t now = (from + i) * SEC;

		if (watched)
			history.watched_ns = now;
		if (!history_due(&history, now))
			continue;
		for (unsigned int c = 0; c < 2; c++)
			add(now, c, size);
		check_bytes();
		assert_true(history.bytes <= HISTORY_BYTES);
		assert_true(history.nr <= HISTORY_MAX);
	}
}

static uint64_t span(void)
{
	return history.entries[history.nr - 1].mono_ns - history.entries[0].mono_ns;
}

static int reset_history(void **state)
{
	history = (struct history){0};
	return 0;
}

TEST_WITH(ten_minutes, reset_history, NULL)
{
	run(1000, 3000, 500);
	/* Each of the two collectors added a window every 2 s for ten minutes. */
	assert_int_equal(history.nr, 2 * 301);
	assert_int_equal(span(), HISTORY_SPAN_NS);
	assert_int_equal(history.every_ns, HISTORY_EVERY_NS);
	assert_int_equal(history.bytes, 2 * 301 * 500);
	history_free(&history);
	assert_int_equal(history.nr, 0);
}

/*
 * Without page views a window is stored every 20 s. For ten minutes after a page view, a window is
 * stored every 2 s.
 */
TEST_WITH(unwatched, reset_history, NULL)
{
	watched = false;
	run(1000, 3000, 500);
	assert_int_equal(history.nr, 2 * 31);
	assert_int_equal(span(), HISTORY_SPAN_NS);
	history.watched_ns = 4000 * SEC;
	run(4000, 600, 500);
	assert_int_equal(history.nr, 2 * 300);
	run(4600, 600, 500);
	assert_true(history.nr <= 2 * 32);
	watched = true;
	history_free(&history);
}

/* Large windows are stored less often, but still cover ten minutes. */
TEST_WITH(large_windows, reset_history, NULL)
{
	run(1000, 3000, 20000);
	assert_true(history.nr >= 20 && history.nr < 2 * 301);
	assert_true(span() > HISTORY_SPAN_NS - 2 * history.every_ns);
	assert_true(history.every_ns > HISTORY_EVERY_NS);
	/* The windows in the history are evenly distributed over time. */
	for (size_t i = 2; i < history.nr; i++)
		assert_true(history.entries[i].mono_ns - history.entries[i - 2].mono_ns <=
			    2 * history.every_ns);
	run(4000, 6000, 100);
	assert_int_equal(history.every_ns, HISTORY_EVERY_NS);
	assert_true(span() > HISTORY_SPAN_NS - 10 * SEC);
	history_free(&history);
}

TEST_WITH(huge_window, reset_history, NULL)
{
	assert_true(history_due(&history, SEC));
	add(SEC, 0, HISTORY_LARGEST + 1);
	assert_int_equal(history.nr, 0);
	history_free(&history);
}

TEST_WITH(nearest, reset_history, NULL)
{
	run(1000, 100, 500);
	assert_null(history_find(&history, 5, 1000000 * SEC));
	assert_int_equal(history_find(&history, 1, 1001010 * SEC + SEC / 2)->unix_ns, 1001010 * SEC);
	assert_int_equal(history_find(&history, 1, 1001010 * SEC)->collector, 1);
	assert_int_equal(history_find(&history, 0, 0)->unix_ns, 1001000 * SEC);
	assert_int_equal(history_find(&history, 0, UINT64_MAX)->unix_ns, 1001098 * SEC);
	history_free(&history);
}

TEST_MAIN()
