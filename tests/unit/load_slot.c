/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests reading the counters of a core: without events, with events after the clock was read, and
 * with half-written counters.
 */
#include "measure/load/slot.h"

#include "test.h"

/*
 * Returns the counters of a core that was idle until @since_ns and has been in context @ctx since
 * @since_ns.
 */
static struct load_slot slot_in(uint32_t ctx, uint64_t since_ns)
{
	struct load_slot slot = {.base = since_ns << 8 | ctx};

	slot.base_ns[LOAD_HALT] = since_ns;
	return slot;
}

static uint64_t sum(const struct load_sample *s)
{
	uint64_t total = 0;

	for (int i = 0; i < LOAD_NR_PARTS; i++)
		total += s->part_ns[i];
	return total;
}

TEST(test_edge_after_now)
{
	struct load_slot slot = slot_in(LOAD_TASK, 1000);
	struct load_sample s;

	assert_true(load_slot_read(&slot, 900, LOAD_UNKNOWN, &s));
	assert_int_equal(s.stamp_ns, 1000);
	assert_int_equal(s.wall_ns, 900);
	assert_int_equal(sum(&s), 1000);
}

TEST(test_seed)
{
	struct load_slot slot = {0};
	struct load_sample s;

	assert_true(load_slot_read(&slot, 700, LOAD_HALT, &s));
	assert_int_equal(s.part_ns[LOAD_PART_IDLE], 700);
	assert_true(load_slot_read(&slot, 700, LOAD_TASK, &s));
	assert_int_equal(s.part_ns[LOAD_PART_TASK], 700);
	assert_true(load_slot_read(&slot, 700, LOAD_UNKNOWN, &s));
	assert_int_equal(s.part_ns[LOAD_PART_UNKNOWN], 700);
	assert_true(load_slot_read(&slot, 700, 99, &s));
	assert_int_equal(s.part_ns[LOAD_PART_UNKNOWN], 700);
}

/* The reader must detect an incomplete read, which contains only some of the words of an update. */
TEST(test_torn)
{
	struct load_slot before = slot_in(LOAD_TASK, 1000), after = before, half;
	struct load_sample s;

	after.base_ns[LOAD_TASK] += 300;
	after.base = 1300ULL << 8 | LOAD_HALT;
	half = before;
	half.base = after.base;
	assert_false(load_slot_read(&half, 1500, 0, &s));
	half = before;
	half.base_ns[LOAD_TASK] = after.base_ns[LOAD_TASK];
	assert_false(load_slot_read(&half, 1500, 0, &s));

	after = before;
	after.hirq = 1200ULL << 8 | 1;
	after.hirq_out_ns = 1200;
	half = before;
	half.hirq = after.hirq;
	assert_false(load_slot_read(&half, 1500, 0, &s));
	half = before;
	half.hirq_out_ns = after.hirq_out_ns;
	assert_false(load_slot_read(&half, 1500, 0, &s));
	assert_true(load_slot_read(&after, 1500, 0, &s));
}

TEST(test_pmu)
{
	struct load_slot slot = slot_in(LOAD_HALT, 1000);
	struct load_stored stored;

	assert_false(load_slot_pmu(&slot, 1500, &stored));
	slot.pmu_cycles = 77;
	slot.pmu_ns = 1000;
	slot.pmu_check = ~(77ULL ^ 1000);
	assert_true(load_slot_pmu(&slot, 1500, &stored));
	assert_int_equal(stored.cycles, 77);
	assert_int_equal(stored.stored_ns, 1000);
	assert_int_equal(stored.holds_ns, 1500);
	slot.base = 1000ULL << 8 | LOAD_TASK;
	assert_true(load_slot_pmu(&slot, 1500, &stored));
	/*
	 * The core is busy, so the stored counter value is valid only for the time at which it was
	 * stored.
	 */
	assert_int_equal(stored.holds_ns, 1000);
	slot.pmu_cycles = 78;
	assert_false(load_slot_pmu(&slot, 1500, &stored));
}

TEST_MAIN()
