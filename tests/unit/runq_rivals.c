/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tests for defects that other tools for run-queue latency had: waits of the idle task, waits of
 * 2^64 ns, impossibly long sums of waits, and a filter that selects the waker.
 */
#include "runq_switch.h"

#define CROWD 12

/* AddressSanitizer makes a step 30 times as slow. */
#ifdef __SANITIZE_ADDRESS__
#define NR_STEPS 2000
#else
#define NR_STEPS 20000
#endif

/* Programs under test. If `own` is true, a BPF program uses its own timestamps, not sched_info. */
static const struct {
	int (*program)(u64 *);
	bool own, filter, sample, shared, old;
} rows[] = {
	{.program = runq_general},
	{.program = runq_general, .own = true},
	{.program = runq_plain},
	{.program = runq_plain, .old = true},
	{.program = runq_causes},
	{.program = runq_causes, .old = true},
	{.program = runq_causes, .shared = true},
	{.program = runq_some, .filter = true},
	{.program = runq_some, .filter = true, .old = true},
	{.program = runq_some, .sample = true},
	{.program = runq_some, .sample = true, .old = true},
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static void load_row(u32 row)
{
	reset(NULL);
	program = rows[row].program;
	by_wakeup = rows[row].own;
	want_filter = rows[row].filter;
	want_causes = want_blame = !rows[row].filter;
	want_sample = rows[row].sample;
	fake.old = rows[row].old;
	layout.kind = rows[row].shared ? RUNQ_SHARED : 0;
}

static void wake_by(u64 ns, struct task_struct *who)
{
	wake(ns, who);
	if (by_wakeup)
		runq_wakeup(NULL, who);
}

static struct fake_totals all_waits(void)
{
	struct fake_totals sum = {0};

	for (u32 i = 0; i < fake.nr_index; i++) {
		struct fake_totals one = sum_of(fake.index[i].key - 1000);

		sum.count += one.count;
		sum.sum_ns += one.sum_ns;
	}
	return sum;
}

/* The idle task is always runnable, and here also has a queueing timestamp. */
static void idle_waits(u64 queued)
{
	struct fake_totals sum;

	for (u32 row = 0; row < NR_ROWS; row++) {
		load_row(row);
		for (u64 turn = 0, ns = 1000; turn < 200; turn++, ns += 100000) {
			idle.sched_info.last_queued = queued ? fake.rq[0].clock - queued : 0;
			idle.se.exec_start = fake.rq[0].clock;
			wake_by(ns, &task[1]);
			swap(ns + 300, &idle, &task[1], false);
			swap(ns + 5000, &task[1], &idle, true);
		}
		sum = all_waits();
		assert_int_equal(sum.count, 200);
		assert_int_equal(sum.sum_ns, 200 * 300);
		assert_null(fake_head(1000));
	}
}

TEST_WITH(idle_is_no_task, reset, NULL)
{
	idle_waits(0);
	idle_waits(1);
	idle_waits(40000);
	idle_waits(50000000);
}

static u64 random_state;

static u64 below(u64 end)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % end;
}

static struct task_struct *pick(const bool *waits, u32 first)
{
	for (u32 i = 0; i < CROWD; i++)
		if (waits[(first + i) % CROWD])
			return &task[(first + i) % CROWD + 1];
	return &idle;
}

/* The run queue's clock stands still, or jumps forwards or backwards by at most @jump_ns. */
static void clock_jumps(u64 jump_ns)
{
	fake.rq_behind[0] = 1000000 + (jump_ns ? below(jump_ns) : 0);
}

static void born_again(u64 ns, struct task_struct *who)
{
	who->sched_info.run_delay = who->se.sum_exec_runtime = 0;
	who->start_time += 1000;
	wake(ns, who);
	runq_wakeup_new(NULL, who);
}

/*
 * Many tasks share one core for some milliseconds. The tasks sleep, are preempted and exit, and new
 * tasks reuse pids. Returns the elapsed time. *ret_waited is the true wait time of all tasks.
 */
static u64 crowd_runs(u64 jump_ns, u64 *ret_waited, u64 *ret_waits)
{
	struct task_struct *runs = &idle;
	bool waits[CROWD] = {0};
	u64 since[CROWD] = {0}, ns = 1000;

	*ret_waited = *ret_waits = 0;
	for (u32 step = 0; step < NR_STEPS; step++) {
		u32 who = below(CROWD);
		struct task_struct *next;
		bool sleeps = below(2);

		ns += 1 + below(2000);
		clock_jumps(jump_ns);
		if (!waits[who] && runs != &task[who + 1]) {
			if (below(8) == 0)
				born_again(ns, &task[who + 1]);
			else
				wake_by(ns, &task[who + 1]);
			waits[who] = true;
			since[who] = ns;
			continue;
		}
		next = pick(waits, who);
		if (next == &idle && (runs == &idle || !sleeps))
			continue;
		swap(ns, runs, next, runs == &idle || sleeps);
		if (runs != &idle && !sleeps) {
			waits[runs - task - 1] = true;
			since[runs - task - 1] = ns;
		}
		if (next != &idle) {
			*ret_waited += ns - since[next - task - 1];
			waits[next - task - 1] = false;
			++*ret_waits;
		}
		runs = next;
	}
	return ns;
}

/* Another tool reported 137 s of waiting in one second. Every wait is counted once. */
TEST_WITH(crowd_waits_at_most_all_the_time, reset, NULL)
{
	for (u32 row = 0; row < NR_ROWS; row++) {
		u64 ns, waited, waits;
		struct fake_totals sum;

		load_row(row);
		random_state = 77 + row;
		ns = crowd_runs(0, &waited, &waits);
		sum = all_waits();
		assert_true(sum.sum_ns <= CROWD * ns);
		assert_true(sum.max_ns <= ns);
		assert_int_equal(sum.count, waits);
		assert_int_equal(sum.sum_ns, waited);
		assert_true(waited > 2 * ns);
	}
}

/* A clock that jumps lengthens a wait by at most the jumps, and never by 2^64 ns. */
TEST_WITH(clocks_that_go_back, reset, NULL)
{
	static const u64 jumps[] = {100, 5000, 300000, 40000000};

	for (u32 i = 0; i < 4 * NR_ROWS; i++) {
		u64 jump = jumps[i % 4], ns, waited, waits;
		struct fake_totals sum;

		load_row(i / 4);
		random_state = 99 + i;
		ns = crowd_runs(jump, &waited, &waits);
		sum = all_waits();
		/* A clock jump can change the start, the end and the correction of a wait. */
		assert_true(sum.max_ns <= ns + 3 * jump);
		assert_true(sum.sum_ns <= CROWD * ns + 3 * jump * waits);
		/* Impossible waits are dropped and counted. */
		assert_int_equal(sum.count + cores[0].runq.negative +
					 cores[0].runq.unknown_start, waits);
	}
}

static u64 count_of(u32 group)
{
	struct fake_totals sum = sum_of(group);

	return sum.count;
}

/* Only group 1 is selected. Tasks of group 1 and of group 2 wake each other. */
TEST_WITH(filter_by_the_woken, reset, NULL)
{
	for (u32 row = 0; row < NR_ROWS; row++) {
		struct task_struct *waker = &task[2], *woken = &task[1];
		u64 was[2];

		load_row(row);
		if (!want_filter && !by_wakeup)
			continue;
		want_filter = true;
		wake_by(0, &task[1]);
		wake_by(0, &task[2]);
		swap(100, &idle, &task[1], true);
		swap(200, &task[1], &task[2], true);
		fake_unwanted(1002);
		was[0] = count_of(1);
		was[1] = count_of(2);
		for (u64 turn = 0; turn < 500; turn++) {
			struct task_struct *both[] = {woken, waker};

			wake_by(1000 * (turn + 1), woken);
			swap(1000 * (turn + 1) + 50, waker, woken, true);
			waker = both[0];
			woken = both[1];
		}
		assert_int_equal(count_of(1), was[0] + 250);
		assert_int_equal(count_of(2), was[1]);
	}
}

TEST_MAIN()
