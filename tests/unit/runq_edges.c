/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests `subtick runq` at single switches: starts, clock corrections, quota, blame, events. */
#include "runq_switch.h"

/*
 * Waits with an unknown start are not counted: the task was queued before the BPF programs were
 * attached, or was preempted on its way to sleep.
 */
TEST_WITH(unknown_start, reset, NULL)
{
	swap(0, &idle, &task[1], true);
	assert_int_equal(cores[0].runq.unknown_start, 1);
	assert_int_equal(cores[0].runq.switches, 0);
	assert_int_equal(sum_of(1).sum_ns, 0);
	/* Task 1 runs, so task 2 waits behind task 1. */
	wake(100, &task[2]);
	swap(300, &task[1], &task[2], true);
	assert_int_equal(fake_row(1002, 1001)->charge.wait_ns, 200);
}

TEST_WITH(negative_wait, reset, NULL)
{
	wake(0, &task[1]);
	task[1].sched_info.last_queued += 5000;
	swap(1000, &idle, &task[1], true);
	assert_int_equal(cores[0].runq.negative, 1);
	assert_int_equal(cores[0].runq.switches, 0);
	assert_int_equal(fake_waited(), 0);
}

TEST_WITH(wait_of_nothing, reset, NULL)
{
	wake(100, &task[1]);
	swap(100, &idle, &task[1], true);
	assert_int_equal(cores[0].runq.switches, 1);
	assert_int_equal(sum_of(1).bucket[0], 1);
	assert_int_equal(cores[0].runq.negative, 0);
	assert_int_equal(fake.nr_rows, 0);
}

/* A clock correction longer than the wait, or longer than any possible lag, is not applied. */
TEST_WITH(odd_corrections, reset, NULL)
{
	__u64 *word = &tasks_area[task[1].pid].delay;

	*word = DELAY_TAG(task[1].pid) + 10000;
	wake(0, &task[1]);
	swap(500, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 500);
	*word = DELAY_TAG(task[1].pid) + task[1].sched_info.run_delay + CLOCK_JUMP_NS + 1;
	wake(1000, &task[1]);
	swap(1000 + 2 * CLOCK_JUMP_NS, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 500 + 2 * CLOCK_JUMP_NS);
	/* The clock lag stored for another task is not used as a correction. */
	*word = DELAY_TAG(task[1].pid + RUNQ_NR_TASKS) + 77;
	wake(0, &task[1]);
	swap(800, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 500 + 2 * CLOCK_JUMP_NS + 800);
}

/*
 * A task whose table entry belongs to another task is preempted while the run queue's clock lags.
 * The measured wait begins at the preemption.
 */
TEST_WITH(late_with_a_twin, reset, NULL)
{
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	tasks_area[task[1].pid].delay = DELAY_TAG(task[1].pid + RUNQ_NR_TASKS) + 77;
	wake(1000, &task[2]);
	/* The context switch occurs 300 ns after the last update of the run queue's clock. */
	shim_now += 300;
	fake_switch(0, runq_general, &task[1], &task[2], false);
	assert_int_equal(fake_waited(), 100 + 300);
	swap(2000, &task[2], &task[1], true);
	assert_int_equal(fake_waited(), 100 + 300 + 700);
	assert_int_equal(sum_of(1).cause_ns[RUNQ_PREEMPTED], 700);
}

TEST_WITH(skipped_cpu, reset, NULL)
{
	cores[0].runq.skip = 1;
	wake(0, &task[1]);
	swap(1000, &idle, &task[1], true);
	assert_int_equal(cores[0].runq.switches, 0);
	assert_int_equal(cores[0].runq.head, 0);
	assert_null(fake_head(1001));
}

static void hold(u64 ns, u32 group)
{
	cfs_rq[group].throttled_clock_self_time += ns;
}

/* Of a wait of 5000 ns, 4000 ns are charged to the CPU quota and 1000 ns to the running task. */
static void throttled_by(int (*by)(u64 *))
{
	struct fake_totals totals;

	program = by;

	/*
	 * At the first dispatch of a task, the BPF program only reads the kernel's total of
	 * throttled time.
	 */
	hold(123456, 1);
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	assert_int_equal(sum_of(1).cause_ns[RUNQ_THROTTLED], 0);
	swap(1000, &task[1], &task[2], false);
	hold(4000, 1);
	swap(6000, &task[2], &task[1], true);
	totals = sum_of(1);
	assert_int_equal(totals.cause_ns[RUNQ_THROTTLED], 4000);
	assert_int_equal(totals.cause_ns[RUNQ_PREEMPTED], 1000);
	assert_int_equal(totals.sum_ns, 100 + 5000);
	assert_int_equal(fake_row(1001, RUNQ_KEY_QUOTA)->charge.wait_ns, 4000);
	assert_int_equal(fake_row(1001, 1002)->charge.wait_ns, 1000);
	swap(7000, &task[1], &idle, true);
	wake(8000, &task[1]);
	swap(8200, &idle, &task[1], true);
	assert_int_equal(sum_of(1).cause_ns[RUNQ_THROTTLED], 4000);
	/*
	 * The throttling began before the wait. Only the throttled time since the start of the wait
	 * is charged.
	 */
	swap(9000, &task[1], &idle, true);
	wake(10000, &task[1]);
	hold(50000, 1);
	swap(10300, &idle, &task[1], true);
	assert_int_equal(sum_of(1).cause_ns[RUNQ_THROTTLED], 4000 + 300);
}

TEST_WITH(throttled, reset, NULL)
{
	throttled_by(runq_general);
	reset(state);
	throttled_by(runq_causes);
}

/* Before Linux 6.6 the total of throttled time has other names or is missing. */
TEST_WITH(throttled_in_old_kernels, reset, NULL)
{
	static const char *const fields[] = {
		" __state sched_info cfs_rq throttled_clock_task_time __parent ",
		" __state sched_info cfs_rq throttled_clock_pelt_time __parent ",
		" __state sched_info cfs_rq __parent ",
	};

	for (u32 i = 0; i < 3; i++) {
		reset(state);
		shim_fields = fields[i];
		wake(0, &task[1]);
		swap(100, &idle, &task[1], true);
		swap(1000, &task[1], &task[2], false);
		cfs_rq[1].throttled_clock_task_time += i == 0 ? 4000 : 3000;
		cfs_rq[1].throttled_clock_pelt_time += i == 1 ? 4000 : 3000;
		cfs_rq[1].throttled_clock_self_time += 3000;
		swap(6000, &task[2], &task[1], true);
		assert_int_equal(sum_of(1).cause_ns[RUNQ_THROTTLED], i < 2 ? 4000 : 0);
		assert_int_equal(sum_of(1).cause_ns[RUNQ_PREEMPTED], i < 2 ? 1000 : 5000);
	}
}

/* Moves task[@other] into the cgroup of task 1. */
static void join(u32 other)
{
	task[other].cgroups = &css[1];
	task[other].se.cfs_rq = &cfs_rq[1];
}

static u64 throttled_of(u32 pid)
{
	struct runq_head *head = fake_head((7ULL << 22 | pid) & ~(3ULL << 62));

	assert_non_null(head);
	return fake_read(head).cause_ns[RUNQ_THROTTLED];
}

/*
 * --per task: the cgroup of tasks 1, 2 and 3 is throttled while tasks 1 and 2 wait and task 3
 * sleeps. The next wait of task 3 is not throttled.
 */
TEST_WITH(throttled_per_task, reset, NULL)
{
	per = RUNQ_PER_TASK;
	join(2);
	join(3);
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	wake(200, &task[2]);
	wake(250, &task[3]);
	swap(300, &task[1], &task[2], false);
	swap(400, &task[2], &task[3], false);
	swap(1000, &task[3], &task[4], true);
	hold(4000, 1);
	swap(6000, &task[4], &task[1], true);
	wake(6100, &task[3]);
	swap(6500, &task[1], &task[2], false);
	swap(7000, &task[2], &task[3], true);
	/* The cgroup of tasks 1, 2 and 3 was throttled from 2000 to 6000 ns. Then task 1 ran. */
	assert_int_equal(throttled_of(11), 4000);
	assert_int_equal(throttled_of(12), 4000);
	assert_int_equal(throttled_of(13), 0);
	assert_int_equal(fake.nr_throttles, 1);
	/* A second throttling begins before task 3 waits, and ends before task 1 runs again. */
	swap(7100, &task[3], &task[4], true);
	wake(8000, &task[3]);
	hold(2000, 1);
	swap(9000, &task[4], &task[3], true);
	swap(9500, &task[3], &task[1], true);
	assert_int_equal(throttled_of(13), 1000);
	assert_int_equal(throttled_of(11), 4000 + 2000);
}

/*
 * Each wait of tasks 1 and 2 contains two throttled intervals. Task 3 wakes up in the
 * second-to-last throttled interval.
 */
TEST_WITH(throttled_twice_in_a_wait, reset, NULL)
{
	const u64 period = 5000, rounds = 20;

	per = RUNQ_PER_TASK;
	join(2);
	join(3);
	wake(0, &task[1]);
	wake(0, &task[2]);
	wake(0, &task[3]);
	swap(1, &idle, &task[3], true);
	swap(2, &task[3], &task[2], true);
	swap(3, &task[2], &task[1], false);
	for (u64 i = 1; i <= rounds; i++) {
		struct task_struct *ran = &task[1 + (i + 1) % 2], *next = &task[1 + i % 2];

		/* The task runs for 1000 ns, then the cgroup is throttled for 4000 ns. */
		swap(i * period + 1000 - period, ran, &idle, false);
		if (i == rounds - 1)
			wake(i * period - 3000, &task[3]);
		hold(period - 1000, 1);
		swap(i * period, &idle, next, false);
	}
	swap(rounds * period + 500, &task[1], &task[3], false);
	/* The first wait of task 2 contains one throttled interval, and not two. */
	assert_int_equal(throttled_of(11), rounds * (period - 1000));
	assert_int_equal(throttled_of(12), (rounds - 1) * (period - 1000));
	assert_int_equal(throttled_of(13), 3000 + 4000);
}

/* The BPF programs store the last seven throttled intervals. */
TEST_WITH(throttled_often_in_a_wait, reset, NULL)
{
	per = RUNQ_PER_TASK;
	join(2);
	wake(0, &task[1]);
	swap(1, &idle, &task[1], true);
	wake(2, &task[2]);
	for (u64 i = 1; i <= 9; i++) {
		swap(i * 1000 - 900, &task[1], &idle, false);
		hold(900, 1);
		swap(i * 1000, &idle, &task[1], false);
	}
	swap(9100, &task[1], &task[2], false);
	assert_int_equal(throttled_of(11), 9 * 900);
	assert_int_equal(throttled_of(12), 7 * 900);
}

/*
 * The cause of a wait is unknown if the map of throttled time is full, or if the throttling began
 * before the start of the measurement.
 */
TEST_WITH(throttled_per_task_unknown, reset, NULL)
{
	per = RUNQ_PER_TASK;
	hold(777, 1);
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	assert_int_equal(throttled_of(11), 0);
	assert_int_equal(fake_read(fake_head(7ULL << 22 | 11)).cause_ns[RUNQ_UNKNOWN], 100);
	fake.nr_throttles = NR_THROTTLES;
	memset(fake.throttle, 0xff, sizeof(fake.throttle));
	swap(1000, &task[1], &task[2], false);
	hold(4000, 1);
	swap(6000, &task[2], &task[1], true);
	assert_int_equal(throttled_of(11), 0);
	assert_int_equal(fake_read(fake_head(7ULL << 22 | 11)).cause_ns[RUNQ_UNKNOWN], 100 + 5000);
}

/* A CPU quota is a setting of a cgroup. If waits are grouped by CPU, throttled time is unknown. */
TEST_WITH(throttled_per_cpu, reset, NULL)
{
	struct fake_totals totals;

	per = RUNQ_PER_CPU;
	wake(0, &task[1]);
	swap(100, &idle, &task[1], true);
	swap(1000, &task[1], &task[2], false);
	hold(4000, 1);
	swap(6000, &task[2], &task[1], true);
	totals = fake_read(fake_head(1));
	assert_int_equal(totals.cause_ns[RUNQ_THROTTLED], 0);
}

TEST_WITH(long_waits, reset, NULL)
{
	const struct runq_event *event = &fake.event[0];

	memset(fake.event, 0xff, sizeof(fake.event));
	threshold_ns = 1000;
	swap(0, &idle, &task[2], true);
	strcpy(task[3].comm, "last");
	wake(100, &task[1]);
	swap(800, &task[2], &task[3], true);
	swap(1099, &task[3], &task[1], true);
	assert_int_equal(fake.nr_events, 0);
	wake(2000, &task[2]);
	swap(2700, &task[1], &task[3], true);
	swap(3000, &task[3], &task[2], true);
	assert_int_equal(fake.nr_events, 1);
	assert_int_equal(event->kind, RUNQ_EVENT_WAIT);
	assert_int_equal(event->wait_ns, 1000);
	assert_int_equal(event->key, 1002);
	assert_int_equal(event->culprit, 1001);
	assert_int_equal(event->culprit_ns, 700);
	assert_int_equal(event->pid, 12);
	assert_int_equal(event->tgid, 12);
	assert_int_equal(event->cpu, 0);
	assert_int_equal(event->pad, 0);
	assert_int_equal(event->prev_pid, 13);
	assert_string_equal(event->comm, "task");
	assert_string_equal(event->prev_comm, "last");
	assert_int_equal(event->time_ns, shim_now);
	/* A long wait outside the sample has an event, but changes no counter. */
	want_sample = true;
	sample.below = 0;
	wake(4000, &task[1]);
	swap(9000, &task[2], &task[1], true);
	assert_int_equal(fake.nr_events, 2);
	assert_int_equal(fake.event[1].wait_ns, 5000);
	assert_int_equal(sum_of(1).max_ns, 999);
	assert_int_equal(fake_row(1001, 1002)->charge.wait_ns, 700);
	fake.max_events = fake.nr_events;
	wake(10000, &task[3]);
	swap(19000, &task[1], &task[3], true);
	assert_int_equal(cores[0].runq.events_lost, 1);
}

static void behind(u64 ns, struct task_struct *culprit, struct task_struct *victim)
{
	wake(ns, victim);
	swap(ns + 100, culprit, victim, true);
}

/*
 * If the blame table is full, further pairs share one row, and each of their waits is counted as
 * lost.
 */
TEST_WITH(blame_full, reset, NULL)
{
	const struct runq_row *shared = &rows_area[0];

	fake.max_rows = 1;
	swap(0, &idle, &task[2], true);
	behind(100, &task[2], &task[1]);
	assert_int_equal(cores[0].runq.blame_full, 0);
	/* If the map row_of is full, the blame row reserved for a new pair is freed again. */
	behind(400, &task[1], &task[2]);
	assert_int_equal(cores[0].runq.blame_full, 1);
	assert_int_equal(fake.nr_free_rows, 1);
	assert_int_equal(fake.free_row[0], 2);
	assert_int_equal(rows_area[2].pair.victim + rows_area[2].pair.culprit, 0);
	fake.nr_free_rows = 0;
	fake.new_at = fake.new_end;
	behind(800, &task[2], &task[3]);
	assert_int_equal(cores[0].runq.blame_full, 2);
	assert_int_equal(fake_row(1001, 1002)->charge.wait_ns, 100);
	assert_int_equal(shared->charge.wait_ns, 200);
	assert_int_equal(shared->charge.count, 2);
}

/*
 * Two cores create a blame row for the same pair. The row that was created first is used, and the
 * second row is freed.
 */
TEST_WITH(blame_rival, reset, NULL)
{
	swap(0, &idle, &task[2], true);
	fake.competitor = true;
	behind(100, &task[2], &task[1]);
	fake.competitor = false;
	assert_int_equal(fake_row(1001, 1002)->charge.wait_ns, 100);
	assert_ptr_equal(fake_row(1001, 1002), &rows_area[NR_BLAME - 1]);
	assert_int_equal(fake.nr_free_rows, 1);
	assert_int_equal(fake.free_row[0], 1);
	assert_int_equal(rows_area[1].pair.victim + rows_area[1].charge.count, 0);
	assert_int_equal(cores[0].runq.blame_full, 0);
}

/* A core gets a row even while all other cores are reserving a row. */
TEST_WITH(blame_rows_in_hand, reset, NULL)
{
	bool taken[RUNQ_NR_BLAME] = {false};
	u32 at = 0, lane[NR_CPUS - 1] = {0};

	for (u32 i = 0; i < NR_CPUS - 1; i++)
		assert_int_equal(bpf_map_pop_elem(&new_rows, &lane[i]), 0);
	for (u32 i = 0; i < RUNQ_NR_BLAME / NR_CPUS - 1; i++) {
		assert_true(row_take(&at));
		assert_true(at && at < RUNQ_NR_BLAME && !taken[at]);
		taken[at] = true;
	}
	/* All cores but one put their reserved row numbers back into the queue of new rows. */
	for (u32 i = 0; i < NR_CPUS - 1; i++)
		bpf_map_push_elem(&new_rows, &lane[i], 0);
	while (row_take(&at)) {
		assert_true(at && at < RUNQ_NR_BLAME && !taken[at]);
		taken[at] = true;
	}
	for (u32 row = 1; row < RUNQ_NR_BLAME; row++)
		assert_true(taken[row]);
}

/* Each core stores the number of the last blame row that the core took, plus 1. */
TEST_WITH(blame_rows_end, reset, NULL)
{
	struct runq_pair pair = {.victim = 1001, .culprit = 1002};

	for (u32 row = 1; row < 10; row++, pair.culprit++) {
		assert_int_equal(row_new(&pair, row % 2), row);
		assert_int_equal(cores[row % 2].runq.rows, row + 1);
	}
	/* Taking a freed blame row does not change the number of the last blame row. */
	fake.free_row[fake.nr_free_rows++] = 3;
	assert_int_equal(row_new(&pair, 1), 3);
	assert_int_equal(cores[1].runq.rows, 10);
}

/* The counter slot of the culprit was freed during the wait. The whole wait is in one blame row. */
TEST_WITH(blame_of_nobody, reset, NULL)
{
	swap(0, &idle, &task[2], true);
	for (u64 ns = 100; ns < 1000; ns += 300) {
		behind(ns, &task[2], &task[1]);
		behind(ns + 150, &task[1], &task[2]);
		fake_head(1002)->key = 0;
	}
	assert_int_equal(fake_row(1001, 1002)->charge.count, 1);
	assert_int_equal(fake_row(1001, RUNQ_KEY_OTHER)->charge.count, 2);
	assert_null(fake_row(1001, 0));
}

TEST_WITH(boundaries, reset, NULL)
{
	static const uint64_t le[] = {1000, 1000000};
	struct fake_totals totals;
	uint64_t counts[2];

	fake_boundaries(le, 2);
	for (u64 ns = 999; ns <= 1001; ns++) {
		wake(ns * 10000, &task[1]);
		swap(ns * 10000 + ns, &idle, &task[1], true);
	}
	/* A wait in a bucket without a boundary must not count at the last boundary. */
	le_ns[RUNQ_NR_LE - 1] = UINT64_MAX;
	wake(20000000, &task[1]);
	swap(20000000 + 500, &idle, &task[1], true);
	le_ns[RUNQ_NR_LE - 1] = 0;
	totals = sum_of(1);
	assert_int_equal(totals.bucket[HIST_NR + RUNQ_NR_LE - 1], 0);
	fake_le_counts(fake_head(1001), le, 2, counts);
	assert_int_equal(counts[0], 2 + 1);
	assert_int_equal(counts[1], 3 + 1);
	assert_int_equal(totals.max_ns, 1001);
}

static void swap_by_stamps(u64 ns, struct task_struct *prev, struct task_struct *next, bool sleeps)
{
	by_wakeup = true;
	swap(ns, prev, next, sleeps);
}

/*
 * --source wakeup: a wait begins at the first wake-up. A timestamp is used for at most one wait,
 * and only by the task that was woken.
 */
TEST_WITH(stamps_of_wakeups, reset, NULL)
{
	struct task_struct twin = task[1];
	s64 was;

	by_wakeup = true;
	wake(0, &task[1]);
	runq_wakeup(NULL, &task[1]);
	at(500);
	runq_wakeup(NULL, &task[1]);
	swap_by_stamps(700, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 700);
	/*
	 * The task was not woken since the BPF programs were attached, so the start of its wait is
	 * unknown.
	 */
	swap_by_stamps(800, &task[1], &idle, true);
	swap_by_stamps(900, &idle, &task[1], true);
	assert_int_equal(cores[0].runq.unknown_start, 1);
	/* A task that was preempted on its way to sleep is woken and waits. */
	at(1000);
	task[1].__state = 1;
	shim_cpu = 0;
	runq_general((u64[4]){true, (unsigned long)&task[1], (unsigned long)&idle, 0});
	swap_by_stamps(1400, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 700 + 400);
	twin.pid += RUNQ_NR_TASKS;
	at(2000);
	runq_wakeup(NULL, &task[1]);
	was = cores[0].runq.missing_ns;
	swap_by_stamps(2500, &idle, &twin, true);
	assert_int_equal(cores[0].runq.unknown_start, 2);
	assert_int_equal(cores[0].runq.missing_ns, was);
	at(3000);
	runq_wakeup(NULL, &task[1]);
	at(4000);
	runq_wakeup_new(NULL, &task[1]);
	swap_by_stamps(4300, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 700 + 400 + 300);
}

TEST_WITH(woken_while_it_runs, reset, NULL)
{
	by_wakeup = true;
	at(0);
	runq_wakeup(NULL, &task[1]);
	swap_by_stamps(100, &idle, &task[1], true);
	at(200);
	runq_wakeup(NULL, &task[1]);
	swap_by_stamps(300, &task[1], &idle, true);
	at(5000);
	runq_wakeup(NULL, &task[1]);
	swap_by_stamps(5400, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 100 + 400);
	assert_int_equal(cores[0].runq.switches, 2);
	fake.stamp[task[1].pid] = TAG_OF(task[1].pid + RUNQ_NR_TASKS) + 77;
	swap_by_stamps(6000, &task[1], &idle, true);
	assert_int_equal(fake.stamp[task[1].pid], TAG_OF(task[1].pid + RUNQ_NR_TASKS) + 77);
}

TEST_WITH(without_sched_info, reset, NULL)
{
	shim_fields = NO_INFO;
	by_wakeup = true;
	idle.se.cfs_rq = task[1].se.cfs_rq = NULL;
	at(0);
	runq_wakeup(NULL, &task[1]);
	at(400);
	shim_cpu = 0;
	runq_general((u64[4]){0, (unsigned long)&idle, (unsigned long)&task[1], 0});
	assert_int_equal(fake_waited(), 400);
	assert_int_equal(cores[0].runq.missing_ns, 0);
}

/* The wait of a new task that migrates before its first run includes the wait on the first core. */
TEST_WITH(new_task_moved, reset, NULL)
{
	struct cfs_rq there = {.rq = &fake.rq[1]};

	task[1].sched_info.run_delay = 0;
	runq_wakeup_new(NULL, &task[1]);
	at(0);
	fake_clock(1);
	fake_enqueue(&task[1], &there);
	at(3000);
	fake_clock(1);
	fake_dequeue(&task[1]);
	fake_enqueue(&task[1], &cfs_rq[1]);
	swap(3500, &idle, &task[1], true);
	assert_int_equal(fake_waited(), 3500);
	assert_int_equal(sum_of(1).cause_ns[RUNQ_MIGRATED], 3000);
}

/*
 * A hash of the run time decides whether a wait is sampled. The hash of the idle task's run time,
 * which is always 0, must not select the slow path.
 */
TEST_WITH(idle_in_no_sample, reset, NULL)
{
	program = runq_some;
	want_causes = want_blame = false;
	want_sample = true;
	/* The hashed value is 0 for the idle task and at least 1 for a user task. */
	assert_int_equal(idle.start_time + idle.se.sum_exec_runtime, 0);
	sample = (struct runq_sample){.factor = 1, .below = 1};
	wake(0, &task[1]);
	swap(500, &idle, &task[1], true);
	swap(900, &task[1], &idle, true);
	assert_int_equal(cores[0].runq.clock.looks, 0);
	/* The slow path reads the run queue's clock, and counts the reading in clock.looks. */
	sample.factor = 0;
	wake(1000, &task[1]);
	swap(1500, &idle, &task[1], true);
	assert_int_equal(cores[0].runq.clock.looks, 1);
	assert_int_equal(cores[0].runq.switches, 1);
}

/* Wakes task 1 on an idle core @rounds times, 2000 ns before each switch. */
static u64 sleep_for(u64 period, u32 rounds)
{
	u64 before = fake_waited(), start = shim_now - 200000000;

	for (u32 i = 1; i <= rounds; i++) {
		wake(start + i * period, &task[1]);
		shim_now += 2000;
		fake_switch(0, program, &idle, &task[1], false);
		swap(start + i * period + 22000, &task[1], &idle, true);
	}
	return fake_waited() - before;
}

/*
 * The stored difference between CLOCK_MONOTONIC and the run queue's clock is stale after idle, so
 * the BPF programs must read the clocks again.
 */
TEST_WITH(sleeps_between_looks, reset, NULL)
{
	static const u64 periods[] = {1000000, 100000000};

	for (u32 i = 0; i < 32; i++) {
		reset(state);
		program = i % 8 < 4 ? runq_plain : runq_causes;
		fake.old = i % 2;
		shim_fields = i % 2 ? OLD_KERNEL : NEW_KERNEL;
		want_causes = want_blame = i % 8 >= 4;
		want_sample = want_causes && i / 2 % 2;
		want_load = i / 8 % 2;
		sleep_for(periods[i / 16], 1000);
		/* Rounding of the clock drift changes each wait by at most 4 ns. */
		assert_true(sleep_for(periods[i / 16], 1000) / 1000 - 1996 <= 8);
	}
}

TEST_MAIN()
