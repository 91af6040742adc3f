/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the times of `subtick load` for random events with the simulated times. */
#include "load_schedule.h"

static void switch_to(struct task_struct *next)
{
	to_task(core.now, next);
}

static void check(void)
{
	u64 later = below(200);
	struct load_sample s = see(core.now + later);

	for (int i = 0; i < LOAD_NR_PARTS; i++)
		assert_int_equal(s.part_ns[i],
				 core.part_ns[i] +
					 (part_now(false) == (enum load_part)i ? later : 0));
	/* Busy time excludes the idle time in which the core is halted or polls. */
	assert_int_equal(s.busy,
			 s.total - s.part_ns[LOAD_PART_IDLE] - s.part_ns[LOAD_PART_POLL_IDLE]);
	for (u32 i = 0; i < LOAD_NR_VECS; i++) {
		assert_int_equal(slot->vec_count[i], core.vec_count[i]);
		if (!core.softirq)
			assert_int_equal(slot->vec_ns[i], core.vec_ns[i]);
	}
	assert_int_equal(slot->odd_edges + slot->paused_lost, 0);
}

TEST(schedule)
{
	core_event = load_event;
	core_switch = switch_to;
	for (u64 seed = 1; seed <= 20; seed++) {
		schedule_begin(state, seed);
		/* Half of the random seeds simulate a kernel with PREEMPT_RT. */
		shim_fields = seed & 1 ? " softirq_disable_cnt " : "";
		for (int i = 0; i < 5000; i++) {
			step();
			check();
		}
	}
}

TEST_MAIN()
