/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that each rule of `subtick noise` gives a finding only above the limit of the rule. */
#include "test.h"

#include "present/noise.h"
#include "report/findings.h"

#define WINDOW_NS 1000000000ULL
#define MS	  1000000ULL

static struct noise_source source = {.cpu = 1, .count = 100};
static struct noise_function work = {.cpu = 1};
static struct noise_delay delay = {.cpu = 1, .vec = 3, .times = {.count = 250}};
static struct noise_sender sender = {.cpu = 1};
static struct noise_hit hit = {.key = 7, .cgroup = "/app"};
static struct noise_window w;

static int begin(void **state)
{
	w = (struct noise_window){.window_ns = WINDOW_NS, .sources = &source, .functions = &work,
				  .delays = &delay, .hits = &hit, .senders.list = &sender};
	return 0;
}

static void expect(const char *rule, const char *culprit, const char *victim)
{
	struct report *report = report_new("noise");
	const struct table *found;

	report->window_ns = WINDOW_NS;
	findings_begin(report);
	noise_findings(&w, NULL, report);
	found = findings_of(report);
	assert_int_equal(found ? found->nr_rows : 0, rule ? 1 : 0);
	if (rule) {
		assert_string_equal(table_str(found, 0, "rule"), rule);
		assert_string_equal(table_str(found, 0, "culprit"), culprit);
		assert_string_equal(table_str(found, 0, "victim") ?: "", victim);
	}
	report_free(report);
}

static void take(enum noise_kind kind, const char *name, uint64_t ns)
{
	w.nr_sources = 1;
	source.kind = kind;
	source.ns = ns;
	source.p99_ns = UINT64_MAX;
	snprintf(source.name, sizeof(source.name), "%s", name);
}

TEST_WITH(sources, begin, NULL)
{
	w.nr_hits = 1;
	hit.ns[NOISE_SOFTIRQ] = hit.ns[NOISE_THREAD] = 1;
	take(NOISE_KIND_SOFTIRQ, "NET_RX", 60 * MS);
	expect("softirq", "NET_RX", "/app");
	take(NOISE_KIND_SOFTIRQ, "NET_RX", 40 * MS);
	expect(NULL, NULL, NULL);
	take(NOISE_KIND_THREAD, "kswapd0", 60 * MS);
	expect("thread_on_core", "kswapd0", "/app");
	take(NOISE_KIND_THREAD, "kswapd0", 40 * MS);
	expect(NULL, NULL, NULL);
	/* For a kworker thread, the finding names the work function and not the thread. */
	take(NOISE_KIND_THREAD, "kworker/1:0", 60 * MS);
	expect(NULL, NULL, NULL);
	w.nr_functions = 1;
	work.ns = 60 * MS;
	snprintf(work.name, sizeof(work.name), "loop_workfn");
	expect("work_function", "loop_workfn", "/app");
	work.ns = 40 * MS;
	expect(NULL, NULL, NULL);
}

/* A finding about delays requires both a large sum of delays and a long 99th percentile. */
TEST_WITH(delays, begin, NULL)
{
	w.nr_delays = 1;
	delay.times.ns = 60 * MS;
	delay.times.p99_ns = 4 * MS;
	expect("softirq_delay", "NET_RX", "");
	delay.times.p99_ns = MS / 2;
	expect(NULL, NULL, NULL);
	delay.times.p99_ns = 4 * MS;
	delay.times.ns = 40 * MS;
	expect(NULL, NULL, NULL);
}

TEST_MAIN()
