/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compares avoidable waits with a calculation for every nanosecond of random schedules. */
#include "test.h"

#include "stats/trace.h"
#include "tests/random.h"

#define NR_CPUS 5
#define SPAN_NS 400

static uint64_t seed;

static uint64_t below(uint64_t limit)
{
	return lcg64(&seed) % limit;
}

/* Pid of the task that runs in each nanosecond, or 0 for idle. */
static uint32_t current[NR_CPUS][SPAN_NS];
static struct trace_edge edges[NR_CPUS][SPAN_NS];
static struct trace_core cores[NR_CPUS];
static struct trace_spans idle[NR_CPUS];

static void make_core(int cpu)
{
	struct trace_core *core = &cores[cpu];
	uint32_t pid = below(3);

	*core = (struct trace_core){.edges = edges[cpu], .to_ns = SPAN_NS, .first_pid = pid,
				    .first_known = true};
	for (uint64_t ns = 0; ns < SPAN_NS; ns++) {
		if (ns && !below(12)) {
			uint32_t next = (pid + 1 + below(2)) % 3;

			edges[cpu][core->nr_edges++] = (struct trace_edge){
				ns << 8 | TRACE_SWITCH, TRACE_WHAT(pid, next, 0)};
			pid = next;
		}
		current[cpu][ns] = pid;
	}
	assert_int_equal(trace_find_idle(core, &idle[cpu]), 0);
}

static struct trace_wait make_wait(void)
{
	struct trace_wait wait = {.from_ns = below(SPAN_NS), .pid = 7, .cpu = below(NR_CPUS),
				  .queue_cpu = below(NR_CPUS)};

	wait.to_ns = wait.from_ns + below(SPAN_NS - wait.from_ns);
	wait.moved_ns = below(2) ? wait.to_ns : wait.from_ns + below(wait.to_ns - wait.from_ns + 1);
	wait.throttled = !below(4);
	wait.throttled_ns = wait.throttled ? 1 + below(wait.to_ns - wait.from_ns + 1) : 0;
	if (wait.throttled_ns > wait.to_ns - wait.from_ns)
		wait.throttled_ns = wait.to_ns - wait.from_ns;
	return wait;
}

/*
 * Returns the avoidable time of a wait, computed nanosecond by nanosecond. @ret_first is true if
 * the first nanosecond is avoidable.
 */
static uint64_t walk(const struct trace_wait *wait, const struct cpuset *allowed, bool *ret_first)
{
	uint64_t sum = 0;

	*ret_first = false;
	for (uint64_t ns = wait->from_ns + wait->throttled_ns; ns < wait->to_ns; ns++) {
		uint32_t own = ns < wait->moved_ns ? wait->queue_cpu : wait->cpu;
		bool other = false;

		for (int cpu = 0; cpu < NR_CPUS; cpu++)
			other |= cpuset_has(allowed, cpu) && !current[cpu][ns];
		if (!other || !current[own][ns])
			continue;
		sum++;
		*ret_first |= ns == wait->from_ns + wait->throttled_ns;
	}
	return sum;
}

TEST(avoidable_time_equals_a_walk_through_every_ns)
{
	uint64_t some = 0, none = 0, placed = 0;

	for (seed = 1; seed < 400;) {
		uint64_t round = seed;
		struct cpuset allowed = {{below(1 << NR_CPUS)}};

		for (int cpu = 0; cpu < NR_CPUS; cpu++)
			make_core(cpu);
		for (int i = 0; i < 20; i++) {
			struct trace_wait wait = make_wait();
			struct trace_spans spans = {0};
			uint64_t sum = 0, truth;
			bool first;

			truth = walk(&wait, &allowed, &first);
			assert_int_equal(trace_find_avoidable(idle, NR_CPUS, &allowed, &spans, &wait), 0);
			if (wait.throttled && !wait.throttled_ns) {
				assert_false(wait.avoidable.known);
				continue;
			}
			assert_true(wait.avoidable.known);
			assert_int_equal(wait.avoidable.ns, truth);
			assert_int_equal(wait.avoidable.at_start, first);
			for (size_t at = 0; at < spans.nr; at++) {
				sum += spans.list[at].to_ns - spans.list[at].from_ns;
				if (at)
					assert_true(spans.list[at].from_ns > spans.list[at - 1].to_ns);
			}
			assert_int_equal(sum, truth);
			assert_int_equal(wait.avoidable.nr_spans, spans.nr);
			if (truth)
				assert_true(cpuset_has(&allowed, wait.avoidable.cpu));
			some += truth > 0;
			none += !truth;
			placed += first;
			free(spans.list);
		}
		for (int cpu = 0; cpu < NR_CPUS; cpu++)
			free(idle[cpu].list);
		seed = round + 1;
	}
	assert_true(some > 1000 && none > 1000 && placed > 300 && placed < some);
}

TEST(unknown_mask_or_hold_is_not_zero)
{
	struct trace_wait wait = {.to_ns = 10, .moved_ns = 10, .throttled = true};
	struct trace_spans spans = {0};
	struct cpuset allowed = {{3}};

	memset(idle, 0, sizeof(idle));
	assert_int_equal(trace_find_avoidable(idle, NR_CPUS, &allowed, &spans, &wait), 0);
	assert_false(wait.avoidable.known);
	wait.throttled = false;
	assert_int_equal(trace_find_avoidable(idle, NR_CPUS, NULL, &spans, &wait), 0);
	assert_false(wait.avoidable.known);
	assert_int_equal(trace_find_avoidable(idle, NR_CPUS, &allowed, &spans, &wait), 0);
	assert_true(wait.avoidable.known);
	assert_int_equal(wait.avoidable.ns, 0);
}

/* After missing events a core counts as busy until its next switch. */
TEST(gap_in_the_recording_is_not_idle)
{
	struct trace_edge list[] = {
		{10 << 8 | TRACE_SWITCH, TRACE_WHAT(5, 0, 0)},
		{20 << 8 | TRACE_IRQ_LEAVE, 0},
		{40 << 8 | TRACE_IRQ_LEAVE, 0},
		{50 << 8 | TRACE_SWITCH, TRACE_WHAT(6, 0, 0)},
	};
	size_t gap = 2;
	struct trace_core core = {.edges = list, .nr_edges = 4, .to_ns = 60, .gaps = &gap, .nr_gaps = 1};
	struct trace_spans spans;

	assert_int_equal(trace_find_idle(&core, &spans), 0);
	assert_int_equal(spans.nr, 2);
	assert_int_equal(spans.list[0].from_ns, 10);
	assert_int_equal(spans.list[0].to_ns, 20);
	assert_int_equal(spans.list[1].from_ns, 50);
	assert_int_equal(spans.list[1].to_ns, 60);
	free(spans.list);
}

TEST_MAIN()
