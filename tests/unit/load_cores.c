/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the BPF programs of `subtick load` on two hyperthreads with random events. */
#include "load_schedule.h"

#include "base/clock.h"
#include "stats/load.h"

#define STEPS	  4000
#define NR_EVENTS (STEPS * 6)

struct record {
	u64 at;
	u32 cpu;
	bool busy; /* the CPU was busy from its previous record to this record */
	/*
	 * An interrupt occurred in the idle period before this event, which shows whether the CPU
	 * halted again.
	 */
	bool tail;
	bool is_switch, begins;
	enum core_event event;
	u32 arg;
	struct task_struct *next, *current;
};

static struct record records[2 * NR_EVENTS];
static size_t nr_records;
static u32 recorded_cpu;
static u64 busy_before;

static struct record *record_add(void)
{
	u64 busy = core.now - core.part_ns[LOAD_PART_IDLE] - core.part_ns[LOAD_PART_POLL_IDLE];
	struct record *r = &records[nr_records++];

	assert_true(nr_records < 2 * NR_EVENTS);
	*r = (struct record){.at = core.now, .cpu = recorded_cpu, .busy = busy != busy_before,
			     .tail = core.window == WOKEN && !core.softirq && !core.handler,
			     .current = shim_current};
	busy_before = busy;
	return r;
}

static void record_event(enum core_event event, bool begins, u32 arg)
{
	struct record *r = record_add();

	r->event = event;
	r->begins = begins;
	r->arg = arg;
}

static void record_switch(struct task_struct *next)
{
	struct record *r = record_add();

	r->is_switch = true;
	r->next = next;
	shim_current = next;
}

static int by_time(const void *a, const void *b)
{
	const struct record *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->cpu != right->cpu ? (int)left->cpu - (int)right->cpu : left < right ? -1 : 1;
}

static void replay(const struct record *r)
{
	static struct task_struct of_cpu[2][NR_TASKS];

	shim_cpu = r->cpu;
	at(r->at);
	if (r->is_switch) {
		struct task_struct *prev = &of_cpu[r->cpu][0], *next = &of_cpu[r->cpu][1];
		u64 args[3] = {0, (unsigned long)prev, (unsigned long)next};

		*prev = *r->current;
		*next = *r->next;
		prev->cpu = next->cpu = next->thread_info.cpu = r->cpu;
		load_switch(args);
		return;
	}
	shim_current = r->current;
	if (r->event == EVENT_IDLE)
		load_idle(NULL, r->begins ? r->arg : PWR_EVENT_EXIT, r->cpu);
	else
		load_event(r->event, r->begins, r->arg);
}

/* Records random events of two hyperthreads, and sorts the events by time. */
static void record_both(void **state, u64 seed)
{
	nr_records = 0;
	core_event = record_event;
	core_switch = record_switch;
	for (recorded_cpu = 0; recorded_cpu < 2; recorded_cpu++) {
		busy_before = 0;
		schedule_begin(state, seed * 2 + recorded_cpu);
		for (int i = 0; i < STEPS; i++)
			step();
	}
	qsort(records, nr_records, sizeof(records[0]), by_time);
	reset(state);
	want_cores = true;
	for (u32 cpu = 0; cpu < 2; cpu++) {
		memset(&cores[cpu], 0, sizeof(cores[cpu]));
		cores[cpu].load.poll_states = 1;
		cores[cpu].load.start_ns = START;
		cores[cpu].smt.sibling = !cpu;
		cores[cpu].smt.seed = 1; /* a task runs */
	}
}

/*
 * True times with 0, 1 and 2 busy hyperthreads, up to the current record. After an interrupt in an
 * idle period, only the next event of the CPU shows whether the CPU halted again. Until the next
 * event of the CPU, doubt_ns limits the error of the stored times.
 */
struct truth {
	u64 ns[LOAD_NR_SIBLINGS], busy_ns[2], doubt_ns;
};

static bool busy_next(size_t from, u32 cpu)
{
	for (size_t i = from; i < nr_records; i++)
		if (records[i].cpu == cpu)
			return records[i].busy;
	return true;
}

static bool tail_next(size_t from, u32 cpu)
{
	for (size_t i = from; i < nr_records; i++)
		if (records[i].cpu == cpu)
			return records[i].tail && records[i].busy;
	return false;
}

static void expect_near(u64 value, u64 truth, u64 doubt)
{
	if (value - truth + doubt > 2 * doubt)
		fail_msg("%lld instead of %lld, doubt %lld", (long long)value, (long long)truth,
			 (long long)doubt);
}

static void check(const struct truth *truth, u64 now)
{
	struct load_smt_sample sample;

	shim_now = START + now;
	load_smt_read(&cores[0].smt, &cores[1].smt, START, &sample);
	assert_false(sample.torn);
	assert_int_equal(sample.now_ns, now);
	for (u32 cpu = 0; cpu < 2; cpu++) {
		assert_int_equal(sample.busy_ns[cpu], truth->busy_ns[cpu]);
		expect_near(sample.both_ns[cpu], truth->ns[LOAD_SIBLINGS_ALL], truth->doubt_ns);
	}
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	*ts = clock_timespec(shim_now);
	return 0;
}

TEST(siblings)
{
	for (u64 seed = 1; seed <= 10; seed++) {
		struct truth truth = {0};
		u64 last = 0, tail_since[2] = {0};
		size_t exact = 0;

		exit_first = seed & 1;
		record_both(state, seed);
		for (size_t i = 0; i < nr_records; i++) {
			const struct record *r = &records[i];
			u64 passed = r->at - last, before = cores[r->cpu].smt.busy;
			bool busy[2] = {busy_next(i, 0), busy_next(i, 1)};

			truth.ns[busy[0] + busy[1]] += passed;
			for (u32 cpu = 0; cpu < 2; cpu++)
				truth.busy_ns[cpu] += busy[cpu] * passed;
			last = r->at;
			replay(r);
			/*
			 * The BPF program counted the sibling as idle, although the sibling was
			 * awake after an interrupt.
			 */
			if (cores[r->cpu].smt.busy != before && tail_next(i, !r->cpu))
				truth.doubt_ns += r->at - tail_since[!r->cpu];
			tail_since[r->cpu] = r->at;
			/*
			 * After an interrupt in idle, readers count the time until the next event
			 * as idle, although the CPU may be busy. Skip the check.
			 */
			if (tail_next(i + 1, 0) || tail_next(i + 1, 1))
				continue;
			check(&truth, r->at);
			exact++;
		}
		assert_true(exact > nr_records / 2 && truth.ns[LOAD_SIBLINGS_ALL] > 1000000);
		assert_true(exit_first ? !truth.doubt_ns :
					 truth.doubt_ns < truth.ns[LOAD_SIBLINGS_ALL] / 10);
		assert_int_equal(cores[0].load.odd_edges + cores[1].load.odd_edges, 0);
	}
}

/*
 * Until its first event a CPU counts as busy if the task iterator found a running task at the
 * start.
 */
TEST(seeds)
{
	struct load_smt a = {.seed = 1}, b = {0};
	struct load_smt_sample sample;

	shim_now = START + 500;
	load_smt_read(&a, &b, START, &sample);
	assert_int_equal(sample.busy_ns[0], 500);
	assert_int_equal(sample.busy_ns[1] + sample.both_ns[0] + sample.both_ns[1], 0);
	b.seed = 1;
	load_smt_read(&a, &b, START, &sample);
	assert_int_equal(sample.both_ns[0], 500);
	assert_int_equal(sample.both_ns[1], 500);
	/* The words `busy` and `both` are not from the same update. */
	a = (struct load_smt){.busy = 1, .both = 2};
	load_smt_read(&a, &b, START, &sample);
	assert_true(sample.torn);
}

static struct load_core core_of(u64 busy_a, u64 busy_b, u64 both_a, u64 both_b, u32 flags)
{
	struct load_smt_sample prev = {.now_ns = 50}, cur = {.now_ns = 1050,
							     .busy_ns = {busy_a, busy_b},
							     .both_ns = {both_a, both_b}};
	struct load_cpu_window a = {.window_ns = 1000, .part_ns[LOAD_PART_IDLE] = 1000 - busy_a};
	struct load_cpu_window b = {.window_ns = 1000, .part_ns[LOAD_PART_IDLE] = 1000 - busy_b,
				    .flags = flags};
	struct load_core result = {0};

	load_core_subtract(&prev, &cur, &a, &b, &result);
	return result;
}

TEST(windows)
{
	struct load_core c = core_of(600, 500, 300, 300, 0);

	assert_int_equal(c.busy_ns[LOAD_SIBLINGS_ALL], 300);
	assert_int_equal(c.busy_ns[LOAD_SIBLINGS_ONE], 500);
	assert_int_equal(c.busy_ns[LOAD_SIBLINGS_NONE], 200);
	assert_true(c.closure_error_ratio == 0.0);
	/*
	 * If the hyperthreads counted different times with both hyperthreads busy, the result is
	 * the mean of the two counts. The upper limit is the smaller busy time, and the lower limit
	 * is the sum of the busy times minus the window.
	 */
	c = core_of(600, 500, 320, 300, 0);
	assert_int_equal(c.busy_ns[LOAD_SIBLINGS_ALL], 310);
	assert_true(c.closure_error_ratio == 0.02);
	c = core_of(900, 500, 200, 200, 0);
	assert_int_equal(c.busy_ns[LOAD_SIBLINGS_ALL], 400);
	assert_int_equal(c.busy_ns[LOAD_SIBLINGS_NONE], 0);
	c = core_of(600, 500, 300, 300, LOAD_OFFLINE);
	assert_int_equal(c.flags, LOAD_OFFLINE);
	assert_int_equal(c.busy_ns[LOAD_SIBLINGS_NONE] + c.window_ns, 0);
}

TEST_MAIN()
