/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the exporter is ready only while windows are read, and frees removed series. */
#include "test.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/export/collector.h"
#include "serve/export/sampler.h"

static atomic_bool broken;
static unsigned int reads; /* number of reads of the CPU time of the sampler's thread */
/* if not NULL, the next read sets the interval of this sampler to an hour */
static struct sampler *lengthened;
/* Number of reads before each attempt of the sampler to return free memory to the kernel. */
static unsigned int looks[8];
static atomic_uint nr_looks;

void __wrap_meminfo_trim(void)
{
	unsigned int nr = atomic_load(&nr_looks);

	if (nr == sizeof(looks) / sizeof(looks[0]))
		return;
	looks[nr] = reads;
	atomic_store(&nr_looks, nr + 1);
}

static void set_interval(struct sampler *sampler, uint64_t ns)
{
	pthread_mutex_lock(&sampler->store->lock);
	((struct config *)sampler->config)->interval_ns = ns;
	pthread_mutex_unlock(&sampler->store->lock);
}

static int fake_read(struct meter *meter, struct err *err)
{
	reads++;
	if (lengthened)
		set_interval(lengthened, 3600 * NSEC_PER_SEC);
	lengthened = NULL;
	if (atomic_load(&broken))
		return err_set(err, -EIO, "broken on purpose");
	return 0;
}

static void fake_absorb(struct store *store, const struct meter *meter)
{
}

static const struct meter_ops fake_meter_ops = {.read = fake_read};
static struct meter fake_meter = {.ops = &fake_meter_ops};
static const struct collector_ops fake_ops = {.name = "fake", .absorb = fake_absorb};

struct run {
	struct collectors collectors;
	struct config config;
	struct store store;
	struct sampler sampler;
};

static void run_begin(struct run *run)
{
	struct err err = {0};

	*run = (struct run){.collectors.list = {{.ops = &fake_ops, .meter = &fake_meter}}};
	assert_int_equal(config_init(&run->config), 0);
	run->config.interval_ns = NSEC_PER_MSEC;
	store_init(&run->store, &run->config);
	run->sampler = (struct sampler){.collectors = &run->collectors,
					.store = &run->store,
					.config = &run->config};
	assert_int_equal(sampler_open(&run->sampler, &err), 0);
	assert_int_equal(sampler_start(&run->sampler, &err), 0);
}

static void run_end(struct run *run)
{
	store_free(&run->store);
	config_free(&run->config);
}

static bool is_round_over(const struct sampler *sampler)
{
	uint64_t count;

	return read(sampler->notify_fd, &count, sizeof(count)) > 0;
}

static bool is_unready(const struct sampler *sampler)
{
	return !sampler_ready(sampler);
}

/* Waits up to five seconds until @predicate returns true, because a loaded machine may be slow. */
static bool becomes(const struct sampler *sampler, bool (*predicate)(const struct sampler *sampler))
{
	const struct timespec ms = {.tv_nsec = 1000000};
	bool is = false;

	for (int i = 0; i < 5000 && !(is = predicate(sampler)); i++)
		nanosleep(&ms, NULL);
	return is;
}

TEST(test_ready)
{
	struct run run;

	atomic_store(&broken, true);
	run_begin(&run);
	for (int i = 0; i < 3; i++)
		assert_true(becomes(&run.sampler, is_round_over));
	assert_false(sampler_ready(&run.sampler));
	assert_true(sampler_alive(&run.sampler));
	atomic_store(&broken, false);
	assert_true(becomes(&run.sampler, sampler_ready));
	/* The exporter is ready until one second and three intervals after the last good window. */
	atomic_store(&broken, true);
	assert_true(becomes(&run.sampler, is_unready));
	assert_true(sampler_alive(&run.sampler));
	sampler_close(&run.sampler);
	run_end(&run);
}

/*
 * The interval is set to an hour during a read, and shortened afterwards. Shortening the interval
 * ends the current window at once.
 */
TEST(test_interval_changes_during_read)
{
	const struct timespec moment = {.tv_nsec = 50000000};
	struct run run;

	atomic_store(&broken, false);
	lengthened = &run.sampler;
	run_begin(&run);
	assert_true(becomes(&run.sampler, is_round_over));
	/* Wait until the sampler sleeps. */
	nanosleep(&moment, NULL);
	set_interval(&run.sampler, NSEC_PER_MSEC);
	sampler_wake(&run.sampler);
	assert_true(becomes(&run.sampler, is_round_over));
	sampler_close(&run.sampler);
	run_end(&run);
}

/* The sampler returns free memory to the kernel after every 16 reads. */
TEST(test_trim)
{
	const struct timespec ms = {.tv_nsec = 1000000};
	struct run run;

	atomic_store(&broken, false);
	atomic_store(&nr_looks, 0);
	reads = 0;
	run_begin(&run);
	for (int i = 0; i < 20000 && atomic_load(&nr_looks) < 8; i++)
		nanosleep(&ms, NULL);
	sampler_close(&run.sampler);
	assert_int_equal(atomic_load(&nr_looks), 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(looks[i], 16 * (i + 1));
	run_end(&run);
}

/* Simulates a collector in which a cgroup ends in every window. */
static void churn_absorb(struct store *store, const struct meter *meter)
{
	struct series_table *table = &store->tables[F_RUNQ];
	char path[32];

	if (table->nr)
		series_remove(table, table->rows[0]);
	snprintf(path, sizeof(path), "/%u", store->last_cgroup_id++);
	store_row(store, F_RUNQ, &(struct label)LABEL("cgroup", path), 1);
}

static const struct collector_ops churn_ops = {.name = "churn", .absorb = churn_absorb};

static void windows(struct collector *collector, struct store *store)
{
	struct err err = {0};

	for (int i = 0; i < 10; i++)
		assert_int_equal(collector_update(collector, store, &err), 0);
}

static size_t retired(const struct store *store)
{
	size_t nr = 0;

	for (const struct labels *l = store->tables[F_RUNQ].retired; l; l = l->next)
		nr++;
	return nr;
}

TEST(test_removed_labels)
{
	struct collector collector = {.ops = &churn_ops, .meter = &fake_meter};
	struct series_table copy[FAMILY_NR] = {0};
	struct config config;
	struct store store;

	atomic_store(&broken, false);
	assert_int_equal(config_init(&config), 0);
	store_init(&store, &config);
	windows(&collector, &store);
	assert_int_equal(store.tables[F_RUNQ].nr, 1);
	assert_int_equal(retired(&store), 0);
	/* The labels on a page are not freed while the page is being rendered. */
	assert_int_equal(store_copy(&store, copy), 0);
	windows(&collector, &store);
	assert_int_equal(retired(&store), 10);
	assert_string_equal(copy[F_RUNQ].rows[0]->labels->data, "cgroup=\"/9\"");
	store_copy_done(&store);
	assert_int_equal(retired(&store), 0);
	for (int id = 0; id < FAMILY_NR; id++)
		series_copy_free(&copy[id]);
	store_free(&store);
	config_free(&config);
}

TEST_MAIN()
