/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the exporter's collectors on a kernel that refuses the BPF programs for noise. */
#include "serve/export/collector.h"

#include "measure/load/load.h"
#include "measure/noise/noise.h"
#include "serve_store.h"

static struct collectors collectors;
static bool accepts;	      /* the kernel accepts the BPF programs of the noise collector */
/* the load collector uses another source if the kernel refuses the source bpf */
static bool falls_back;
static bool shared;	      /* true if load and noise share one set of BPF programs */
static int nr_load, nr_noise; /* number of open meters */
static struct load_window window;

static int start_load(struct meter *meter, struct err *err)
{
	return 0;
}

static void close_load(struct meter *meter)
{
	nr_load--;
}

static int start_noise(struct meter *meter, struct err *err)
{
	return err_set(err, -EIO, "cannot start");
}

static void close_noise(struct meter *meter)
{
	nr_noise--;
}

static const struct meter_ops load_ops = {.start = start_load, .close = close_load};
static const struct meter_ops noise_ops = {.start = start_noise, .close = close_noise};
static struct meter load_meter = {&load_ops}, noise_meter = {&noise_ops};

int __wrap_load_open(const struct load_opts *opts, struct meter **ret_meter, struct err *err)
{
	static const struct err why = {.code = -EACCES, .what = "bpf is refused"};

	if (opts->noise && !accepts && !falls_back)
		return err_set(err, -EACCES, "bpf is refused");
	shared = opts->noise && accepts;
	window.passed_over = opts->noise && falls_back ? &why : NULL;
	nr_load++;
	*ret_meter = &load_meter;
	return 0;
}

const struct load_window *__wrap_load_window(const struct meter *meter)
{
	return &window;
}

int __wrap_noise_open(const struct noise_opts *opts, struct meter **ret_meter, struct err *err)
{
	if (!accepts)
		return err_unsupported(err, -ENOENT, "use another kernel", "no such tracepoint");
	nr_noise++;
	*ret_meter = &noise_meter;
	return 0;
}

static int open_them(uint32_t collect, struct err *err)
{
	config.collect = collect;
	return collectors_open(&collectors, &config, err);
}

#define LOAD  (1u << CONFIG_COLLECT_load)
#define NOISE (1u << CONFIG_COLLECT_noise)

static void assert_without_noise(const char *reason)
{
	const struct collector *noise = &collectors.list[CONFIG_COLLECT_noise];

	assert_ptr_equal(collectors.list[CONFIG_COLLECT_load].meter, &load_meter);
	assert_null(noise->meter);
	assert_string_equal(noise->refused.what, reason);
	assert_int_equal(collectors.list[CONFIG_COLLECT_load].refused.code, 0);
	assert_int_equal(nr_load, 1);
	assert_int_equal(nr_noise, 0);
	collectors_add_refused(&collectors, &store);
	assert_int_equal(words(F_UP, "collector=\"noise\"")[0].u64, 0);
	assert_null(find(F_UP, "collector=\"load\""));
	collectors_close(&collectors);
	assert_int_equal(nr_load, 0);
}

TEST_WITH(test_refused, setup, teardown)
{
	struct err err = {0};

	assert_int_equal(open_them(LOAD | NOISE, &err), 0);
	assert_int_equal(err.code, 0);
	assert_false(shared);
	assert_without_noise("no such tracepoint");
}

TEST_WITH(test_falls_back, setup, teardown)
{
	struct err err = {0};

	falls_back = true;
	assert_int_equal(open_them(LOAD | NOISE, &err), 0);
	falls_back = false;
	assert_null(window.passed_over);
	assert_without_noise("no such tracepoint");
}

TEST_WITH(test_fails_to_start, setup, teardown)
{
	struct err err = {0};

	accepts = true;
	assert_int_equal(open_them(LOAD | NOISE, &err), 0);
	accepts = false;
	assert_true(shared);
	assert_without_noise("cannot start");
}

TEST_WITH(test_no_room, setup, teardown)
{
	struct err err = {0};

	accepts = true;
	config.no_room = NOISE;
	assert_int_equal(open_them(LOAD | NOISE, &err), 0);
	accepts = false;
	assert_false(shared);
	assert_without_noise("all BPF maps and series would take more than half of the memory");
}

/* With noise as the only collector and a refusing kernel, the exporter does not start. */
TEST_WITH(test_alone, setup, teardown)
{
	struct err err = {0};

	assert_int_equal(open_them(NOISE, &err), -ENOENT);
	assert_string_equal(err.what, "noise: no such tracepoint");
	assert_true(err.unsupported);
}

TEST_WITH(test_default, setup, teardown)
{
	assert_int_equal(config.collect, (1u << CONFIG_NR_COLLECTORS) - 1);
}

TEST_MAIN()
