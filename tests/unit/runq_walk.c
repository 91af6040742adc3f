/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares the division of a wait among tasks with a division nanosecond by nanosecond. */
#include "test.h"
#include "tests/random.h"

#include <linux/types.h>

typedef __u64 u64;
typedef __u32 u32;

#include "abi/runq.h"

#define VICTIM_SLOT 3
#define VICTIM_KEY  103
#define VICTIM_PID  33
#define NR_WHO	    8

static u64 blamed[NR_WHO], blamed_unknown, blamed_quota, blamed_moved;
static uint64_t random_state = 1;

static u64 key_of(u32 who)
{
	return who == RUNQ_WHO_IDLE ? RUNQ_KEY_IDLE : who == RUNQ_WHO_KTHREAD ? RUNQ_KEY_KTHREAD : who;
}

static int blame_add(u64 victim, u64 culprit, u64 ns, u32 cpu)
{
	assert_int_equal(victim, VICTIM_KEY);
	if (culprit == RUNQ_KEY_UNKNOWN)
		blamed_unknown += ns;
	else if (culprit == RUNQ_KEY_QUOTA)
		blamed_quota += ns;
	else if (culprit == RUNQ_KEY_MOVED)
		blamed_moved += ns;
	else if (culprit == RUNQ_KEY_IDLE)
		blamed[0] += ns;
	else if (culprit == RUNQ_KEY_KTHREAD)
		blamed[1] += ns;
	else
		blamed[culprit] += ns;
	return 0;
}

static int blame_who(u64 victim, u32 who, u64 ns, u32 cpu)
{
	return blame_add(victim, key_of(who), ns, cpu);
}

static const bool want_blame = true;

#include "bpf/runq_walk.bpf.h"

static void walk_all(struct runq_cpu *pc, u32 cpu)
{
	walk_begin(&pc->walk);
	for (u32 first = 0; first < RUNQ_NR_WALK && walk_part(pc, first, cpu); first += RUNQ_NR_STEP)
		;
	walk_end(&pc->walk, cpu);
}

static u64 next_random(u64 below)
{
	return xorshift64(&random_state) % below;
}

static void blame_reset(void)
{
	memset(blamed, 0, sizeof(blamed));
	blamed_unknown = blamed_quota = blamed_moved = 0;
}

static u64 cause_sum(const struct runq_walk *w)
{
	u64 sum = 0;

	for (int i = 0; i < RUNQ_NR_CAUSES; i++)
		sum += w->cause_ns[i];
	return sum;
}

static u64 blame_sum(void)
{
	u64 sum = blamed_unknown + blamed_quota + blamed_moved;

	for (int i = 0; i < NR_WHO; i++)
		sum += blamed[i];
	return sum;
}

static u32 index_of(u32 who)
{
	return who == RUNQ_WHO_IDLE ? 0 : who == RUNQ_WHO_KTHREAD ? 1 : who;
}

/*
 * Fills the history of a core with @nr run segments of random length and owner. Returns the end
 * time of the last segment.
 */
static u64 fill(struct runq_cpu *pc, unsigned int nr)
{
	u64 now = 1000;

	memset(pc, 0, sizeof(*pc));
	for (unsigned int i = 0; i < nr; i++) {
		u32 pick = next_random(NR_WHO), head = pc->head / RUNQ_SEG_STEP + 1;

		pc->head = head * RUNQ_SEG_STEP;
		pc->segs[head % RUNQ_NR_SEGS] = (struct runq_seg){
			.start_ns = now,
			.ran = RUNQ_RAN(pick == 0 ? RUNQ_WHO_IDLE :
					 pick == 1 ? RUNQ_WHO_KTHREAD : pick,
					100 + pick),
		};
		now += 1 + next_random(50);
	}
	return now;
}

/*
 * Returns the task that ran at time @ns, or UINT32_MAX - 9 (no task) if the history begins after
 * @ns.
 */
static u32 who_ran(const struct runq_cpu *pc, u64 ns)
{
	for (u32 i = 0; i < RUNQ_NR_WALK; i++) {
		const struct runq_seg *seg = &pc->segs[(pc->head / RUNQ_SEG_STEP - i) % RUNQ_NR_SEGS];

		if (!seg->start_ns)
			break;
		if (seg->start_ns <= ns)
			return RUNQ_RAN_WHO(seg->ran);
	}
	return UINT32_MAX - 9;
}

TEST(test_every_nanosecond)
{
	static struct runq_cpu pc;

	for (int round = 0; round < 20000; round++) {
		u64 end = fill(&pc, 1 + next_random(240)), want[NR_WHO] = {0}, unknown = 0;
		u64 from = end - 1 - next_random(end - 1), throttled_from = from,
		    throttled_to = from;
		struct runq_walk *w = &pc.walk;

		if (round % 3 == 0) {
			throttled_from = from + next_random(end - from);
			throttled_to = throttled_from + next_random(end - throttled_from + 1);
		}
		*w = (struct runq_walk){.key = VICTIM_KEY,
					.pid = VICTIM_PID,
					.slot = VICTIM_SLOT,
					.from = from,
					.to = end,
					.throttled_from = throttled_from,
					.throttled_to = throttled_to,
					.moved_ns = next_random(2) * 77};
		for (u64 ns = from; ns < end; ns++) {
			u32 who = who_ran(&pc, ns);

			if (ns >= throttled_from && ns < throttled_to)
				continue;
			if (who == UINT32_MAX - 9)
				unknown++;
			else
				want[index_of(who)]++;
		}
		blame_reset();
		walk_all(&pc, 0);
		for (int i = 0; i < NR_WHO; i++)
			assert_int_equal(blamed[i], want[i]);
		assert_int_equal(blamed_unknown, unknown);
		assert_int_equal(blamed_quota, throttled_to - throttled_from);
		assert_int_equal(blamed_moved, w->moved_ns);
		/* The rows and the causes of a victim add up to its wait, to the nanosecond. */
		assert_int_equal(blame_sum(), end - from + w->moved_ns);
		assert_int_equal(cause_sum(w), end - from + w->moved_ns);
		assert_int_equal(w->cause_ns[RUNQ_SAME], want[VICTIM_SLOT]);
		assert_int_equal(w->cause_ns[RUNQ_IDLE], want[0]);
		assert_int_equal(w->cause_ns[RUNQ_KTHREAD], want[1]);
	}
}

/* The victim was preempted, so its wait begins at the end of its run segment. */
TEST(test_preempted)
{
	static struct runq_cpu pc;
	struct runq_walk *w = &pc.walk;

	memset(&pc, 0, sizeof(pc));
	pc.head = 3 * RUNQ_SEG_STEP;
	pc.segs[1] = (struct runq_seg){.start_ns = 100, .ran = RUNQ_RAN(VICTIM_SLOT, VICTIM_PID)};
	pc.segs[2] = (struct runq_seg){.start_ns = 200, .ran = RUNQ_RAN(5, 55)};
	pc.segs[3] = (struct runq_seg){.start_ns = 260, .ran = RUNQ_RAN(RUNQ_WHO_KTHREAD, 9)};
	*w = (struct runq_walk){.key = VICTIM_KEY, .pid = VICTIM_PID, .slot = VICTIM_SLOT,
				.from = 200, .to = 300};
	blame_reset();
	walk_all(&pc, 0);
	assert_int_equal(w->cause_ns[RUNQ_PREEMPTED], 100);
	assert_int_equal(cause_sum(w), 100);
	assert_int_equal(blamed[5], 60);
	assert_int_equal(blamed[1], 40);
	assert_int_equal(w->culprit, 5);
	assert_int_equal(w->culprit_ns, 60);
}

/*
 * The victim's group was throttled at an unknown time before the BPF programs were attached. The
 * cause of the first 200 ns of the wait is unknown.
 */
TEST(test_throttled_before_attach)
{
	static struct runq_cpu pc;
	struct runq_walk *w = &pc.walk;

	memset(&pc, 0, sizeof(pc));
	pc.head = 2 * RUNQ_SEG_STEP;
	pc.segs[1] = (struct runq_seg){.start_ns = 100, .ran = RUNQ_RAN(RUNQ_WHO_IDLE, 0)};
	pc.segs[2] = (struct runq_seg){.start_ns = 260, .ran = RUNQ_RAN(5, 55)};
	*w = (struct runq_walk){.key = VICTIM_KEY,
				.pid = VICTIM_PID,
				.slot = VICTIM_SLOT,
				.from = 50,
				.to = 300,
				.throttled_from = 50,
				.throttled_to = 250,
				.throttled_unknown = 1};
	blame_reset();
	walk_all(&pc, 0);
	assert_int_equal(w->cause_ns[RUNQ_UNKNOWN], 200);
	assert_int_equal(w->cause_ns[RUNQ_IDLE], 10);
	assert_int_equal(w->cause_ns[RUNQ_OTHER], 40);
	assert_int_equal(w->cause_ns[RUNQ_THROTTLED], 0);
	assert_int_equal(blamed_unknown, 200);
	assert_int_equal(blamed_quota, 0);
	assert_int_equal(cause_sum(w), 250);
	assert_int_equal(w->culprit, 5);
}

TEST_MAIN()
