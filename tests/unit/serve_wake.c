/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows of wake latency become counters: each state its own series, sums exact. */
#include "serve/export/collector.h"

#include "measure/wake/wake.h"

#include "serve_store.h"

/* @count wake-ups of 3 µs each: between the 2nd and the 3rd boundary. */
static struct wake_state state_of(uint32_t cpu, const char *name, uint64_t count)
{
	struct wake_state s = {.cpu = cpu, .summary = {.count = count}, .sum_ns = count * 3000};

	snprintf(s.name, sizeof(s.name), "%s", name);
	for (unsigned int i = 0; i < WAKE_NR_LE; i++)
		s.le[i] = wake_le_ns(i) >= 3000 ? count : 0;
	return s;
}

TEST_WITH(test_absorb, setup, teardown)
{
	struct wake_state states[] = {state_of(0, "C1", 5), state_of(0, "C6", 2),
				      state_of(7, "C1", 1)};
	struct wake_window window = {.states = states, .nr_states = 3};
	const union word *found;

	wake_absorb(&store, &window);
	wake_absorb(&store, &window);
	assert_int_equal(count(F_WAKE), 3);
	assert_int_equal(store.series[F_WAKE].nr_le, WAKE_NR_LE);
	found = words(F_WAKE, "cpu=\"0\",state=\"C1\"");
	for (unsigned int i = 0; i < WAKE_NR_LE; i++) {
		assert_int_equal(store.series[F_WAKE].le_ns[i], wake_le_ns(i));
		assert_int_equal(found[i].u64, i < 2 ? 0 : 10);
	}
	assert_int_equal(found[WAKE_NR_LE].u64, 10);
	assert_int_equal(found[WAKE_NR_LE + 1].u64, 30000);
	assert_int_equal(words(F_WAKE, "cpu=\"0\",state=\"C6\"")[WAKE_NR_LE].u64, 4);
	assert_int_equal(words(F_WAKE, "cpu=\"7\",state=\"C1\"")[WAKE_NR_LE + 1].u64, 6000);
}

TEST_MAIN()
