/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a scrape costs with many cgroups: adding a window, copying, rendering, compressing. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "serve/body.h"
#include "serve/collectors.h"
#include "view/prom.h"

#define ROUNDS 7

/* CPU time: how long it takes on a core of its own, however busy the machine is. */
static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static double median(double *values)
{
	return bench_spread(values, ROUNDS).median;
}

/* A window in which every cgroup waited, with paths as long as those of pods. */
static struct report *window(const struct config *config, unsigned int nr)
{
	static const char *const causes[] = {"causes.idle_exit_ns",  "causes.same_group_ns",
					     "causes.other_group_ns", "causes.kernel_thread_ns",
					     "causes.preempted_ns",  "causes.throttled_ns",
					     "causes.migrated_ns",   "causes.unknown_ns"};
	struct report *report = report_new("runq");
	struct table *table = report_table(report, "groups", NULL);
	char path[160];

	report->time_unix_ns = clock_unix_ns();
	table_col_as(table, M_DETAIL, "cgroup", NULL);
	table_col_as(table, M_ONLINE, "ended", NULL);
	table_col(table, M_COUNT);
	table_col(table, M_SUM_NS);
	for (size_t i = 0; i < 8; i++)
		table_col_as(table, M_SUM_NS, causes[i], NULL);
	table_col(table, M_BUCKETS);
	for (unsigned int i = 0; i < nr; i++) {
		struct table *le;

		table_row(table);
		snprintf(path, sizeof(path),
			 "/kubepods.slice/kubepods-burstable.slice/"
			 "kubepods-burstable-pod%08x_0000_4000_8000_%012x.slice",
			 i * 2654435761u, i);
		value_str(table_cell(table, i, 0), path);
		value_bool(table_cell(table, i, 1), false);
		value_u64(table_cell(table, i, 2), 1000 + i);
		value_u64(table_cell(table, i, 3), 1234567890ULL + i * 997);
		for (size_t j = 0; j < 8; j++)
			value_u64(table_cell(table, i, 4 + j), 123456789ULL + i * 31 + j);
		le = table_nested(table, i, 12, "le");
		table_col(le, M_BURST_LE_NS);
		table_col(le, M_COUNT);
		for (unsigned int j = 0; j < config->nr_le; j++) {
			table_row(le);
			value_u64(table_cell(le, j, 0), config->le_ns[j]);
			value_u64(table_cell(le, j, 1), (1000 + i) * (j + 1) / config->nr_le);
		}
	}
	return report;
}

static int sink(void *arg, const char *data, size_t len)
{
	body_append(arg, data, len);
	return 0;
}

static struct body *render(const struct series *copy, enum prom_format format, bool gzip)
{
	static struct prom prom;
	struct body *body = body_new(gzip, 65536);

	if (!body)
		return NULL;
	prom = (struct prom){.format = format, .sink = sink, .arg = body};
	for (int id = 0; id < FAMILY_NR; id++)
		prom_write(&prom, &copy[id]);
	if (prom_end(&prom) || body_finish(body)) {
		body_put(body);
		return NULL;
	}
	return body;
}

static void bench_size(unsigned int nr)
{
	double add[ROUNDS], copying[ROUNDS], text[ROUNDS], packed[ROUNDS];
	size_t bytes = 0, small = 0, before = mallinfo2().uordblks, held;
	struct series copy[FAMILY_NR] = {0};
	struct config config;
	struct store store;
	uint64_t generation;

	if (config_init(&config) || store_init(&store, config.le_ns, config.nr_le))
		return;
	config.cgroup_limit = nr;
	for (int i = 0; i < ROUNDS; i++) {
		struct report *report = window(&config, nr);
		struct body *body;
		uint64_t start = cpu_ns();

		runq_absorb(&store, &config, report);
		add[i] = (cpu_ns() - start) / 1e6;
		report_free(report);
		start = cpu_ns();
		if (store_copy(&store, copy, &generation))
			return;
		copying[i] = (cpu_ns() - start) / 1e6;
		start = cpu_ns();
		body = render(copy, PROM_TEXT, false);
		text[i] = (cpu_ns() - start) / 1e6;
		bytes = body ? body->len : 0;
		body_put(body);
		start = cpu_ns();
		body = render(copy, PROM_OPENMETRICS, true);
		packed[i] = (cpu_ns() - start) / 1e6;
		small = body ? body->len : 0;
		body_put(body);
		store_copy_done(&store);
	}
	held = mallinfo2().uordblks - before;
	printf("%7u %12zu %12zu %10.2f %10.2f %10.2f %10.2f %10.1f\n", nr, bytes, small, median(add),
	       median(copying), median(text), median(packed), held / 1048576.0);
	for (int id = 0; id < FAMILY_NR; id++)
		series_copy_free(&copy[id]);
	store_free(&store);
	config_free(&config);
}

int main(void)
{
	printf("cgroups   text bytes   gzip bytes     add ms    copy ms    text ms    gzip ms   held MiB\n");
	bench_size(100);
	bench_size(1000);
	bench_size(10000);
	return 0;
}
