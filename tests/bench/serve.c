/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures the CPU time of a scrape with many cgroups: adding a window, copying the counters,
 * rendering the page, compressing the page.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "measure/runq/runq.h"
#include "bench.h"
#include "measure/runq/window.h"
#include "serve/http/body.h"
#include "serve/export/collector.h"
#include "view/prom.h"

#define ROUNDS 7

/*
 * Returns the CPU time of the calling thread. Other work on the machine affects CPU time less than
 * elapsed time.
 */
static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static double median(double *values)
{
	return bench_spread(values, ROUNDS).median;
}

/* A window of `subtick runq`, and the arrays that hold the rows of the window. */
struct fixture {
	struct runq_window window;
	struct runq_group *names;
	char (*paths)[160];
	uint64_t *le_counts;
};

/*
 * Makes a window in which tasks of every cgroup waited for a core. The cgroup paths have the length
 * of real Kubernetes paths.
 */
static void fixture_init(struct fixture *f, const struct config *config, unsigned int nr)
{
	struct runq_group_window *groups = calloc(nr, sizeof(*groups));

	*f = (struct fixture){
		.window = {.time_mono_ns = clock_mono_ns(),
			   .le_ns = config->le_ns,
			   .nr_le = config->nr_le,
			   .causes_known = (1u << RUNQ_NR_CAUSES) - 1,
			   .groups = groups,
			   .nr_groups = nr},
		.names = calloc(nr, sizeof(*f->names)),
		.paths = calloc(nr, sizeof(*f->paths)),
		.le_counts = calloc(nr * config->nr_le, sizeof(*f->le_counts)),
	};
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t *le_count = &f->le_counts[i * config->nr_le];

		snprintf(f->paths[i], sizeof(f->paths[i]),
			 "/kubepods.slice/kubepods-burstable.slice/"
			 "kubepods-burstable-pod%08x_0000_4000_8000_%012x.slice",
			 i * 2654435761u, i);
		f->names[i].path = f->paths[i];
		f->names[i].key = 1000 + i;
		groups[i] = (struct runq_group_window){
			.party = {.group = &f->names[i]},
			.count = 1000 + i,
			.sum_ns = 1234567890ULL + i * 997,
			.le_count = le_count,
		};
		for (int j = 0; j < RUNQ_NR_CAUSES; j++)
			groups[i].cause_ns[j] = 123456789ULL + i * 31 + j;
		for (unsigned int j = 0; j < config->nr_le; j++)
			le_count[j] = (1000 + i) * (j + 1) / config->nr_le;
	}
}

static void fixture_free(struct fixture *f)
{
	free(f->window.groups);
	free(f->names);
	free(f->paths);
	free(f->le_counts);
}

static int sink(void *arg, const char *data, size_t len)
{
	body_append(arg, data, len);
	return 0;
}

static struct body *render(const struct store *store, const struct series_table *copy,
			   enum prom_format format, bool gzip)
{
	static struct prom prom;
	struct body *body = body_new(gzip, 65536);

	if (!body)
		return NULL;
	prom = (struct prom){.format = format, .sink = sink, .arg = body};
	for (int id = 0; id < FAMILY_NR; id++)
		prom_write(&prom, &store->series[id], &copy[store->series[id].table]);
	if (!prom_end(&prom))
		return body_finish(body);
	body_put(body);
	return NULL;
}

static void bench_size(unsigned int nr)
{
	double add[ROUNDS], copying[ROUNDS], text[ROUNDS], gzipped[ROUNDS];
	size_t bytes = 0, small = 0, before = mallinfo2().uordblks, held;
	struct series_table copy[FAMILY_NR] = {0};
	struct config config;
	struct store store;

	if (config_init(&config))
		return;
	store_init(&store, &config);
	config.cgroup_limit = nr;
	for (int i = 0; i < ROUNDS; i++) {
		struct fixture fixture;
		struct body *body;
		uint64_t start;

		fixture_init(&fixture, &config, nr);
		start = cpu_ns();
		runq_absorb(&store, &fixture.window);
		add[i] = (cpu_ns() - start) / 1e6;
		fixture_free(&fixture);
		start = cpu_ns();
		if (store_copy(&store, copy))
			return;
		copying[i] = (cpu_ns() - start) / 1e6;
		start = cpu_ns();
		body = render(&store, copy, PROM_TEXT, false);
		text[i] = (cpu_ns() - start) / 1e6;
		bytes = body ? body->len : 0;
		body_put(body);
		start = cpu_ns();
		body = render(&store, copy, PROM_OPENMETRICS, true);
		gzipped[i] = (cpu_ns() - start) / 1e6;
		small = body ? body->len : 0;
		body_put(body);
		store_copy_done(&store);
	}
	held = mallinfo2().uordblks - before;
	printf("%7u %12zu %12zu %10.2f %10.2f %10.2f %10.2f %10.1f\n", nr, bytes, small,
	       median(add), median(copying), median(text), median(gzipped), held / 1048576.0);
	for (int i = 0; i < FAMILY_NR; i++)
		series_copy_free(&copy[i]);
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
