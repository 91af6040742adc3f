/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the conversion from a card's clock to the system clock, and its uncertainty. */
#include "test.h"

#include "stats/wake.h"
#include "tests/random.h"

#define SAMPLES 25

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_below(uint64_t end)
{
	return xorshift64(&random_state) % end;
}

struct card {
	int64_t offset_ns;
	double drift; /* relative rate error; a clock with 1e-6 gains a microsecond per second */
};

static int64_t card_at(const struct card *card, int64_t system_ns)
{
	return system_ns + card->offset_ns + (int64_t)((double)system_ns * card->drift);
}

/*
 * Makes SAMPLES readings of the system clock and the card's clock, and stores the best reading in
 * @fix. Each reading takes a random time, and reads the card's clock at a random point of this
 * time.
 */
static void read_fix(const struct card *card, int64_t at, int64_t width, struct wake_clock_fix *fix)
{
	struct wake_clock_sample samples[SAMPLES];

	for (int i = 0; i < SAMPLES; i++) {
		int64_t span = width + random_below(4 * width), inside = random_below(span);

		samples[i] = (struct wake_clock_sample){at, card_at(card, at + inside), at + span};
		at += span + 200;
	}
	assert_int_equal(wake_clock_tightest(samples, SAMPLES, fix), 0);
	assert_true(fix->half_window_ns >= width / 2 && fix->half_window_ns <= 2 * width);
}

TEST(test_tightest)
{
	struct wake_clock_sample samples[] = {
		{1000, 50, 3000},
		{5000, 60, 4000}, /* the system clock was set back during this reading */
		{7000, 70, 7800},
		{9000, 80, 10001},
	};
	struct wake_clock_fix fix;

	assert_int_equal(wake_clock_tightest(samples, 4, &fix), 0);
	assert_int_equal(fix.device_ns, 70);
	assert_int_equal(fix.system_ns, 7400);
	assert_int_equal(fix.half_window_ns, 400);
	assert_int_equal(wake_clock_tightest(&samples[1], 1, &fix), -EINVAL);
	assert_int_equal(wake_clock_tightest(samples, 0, &fix), -EINVAL);
}

/*
 * The true time is within the reported uncertainty, for any drift of the card's clock and any
 * jitter of the readings.
 */
TEST(test_drift_and_jitter)
{
	static const double drifts[] = {0, 1e-9, 37e-6, -25e-6, 100e-6};

	for (size_t d = 0; d < sizeof(drifts) / sizeof(drifts[0]); d++)
		for (int round = 0; round < 50; round++) {
			struct card card = {1700000000000000000ll - 40, drifts[d]};
			int64_t begin = 1000000000ll + random_below(1000000000), end;
			struct wake_clock_map map;

			end = begin + 4000000000ll;
			read_fix(&card, begin, 1400, &map.a);
			read_fix(&card, end, 1400, &map.b);
			for (int i = 0; i < 100; i++) {
				int64_t system = begin + random_below(end - begin);
				int64_t device = card_at(&card, system);
				int64_t off = wake_clock_to_system(&map, device) - system;
				int64_t allowed = wake_clock_uncertainty(&map, device) + 2;

				assert_true(off <= allowed && -off <= allowed);
				off = wake_clock_to_device(&map,
							   wake_clock_to_system(&map, device)) -
				      device;
				assert_true(off <= 1 && -off <= 1);
			}
			/* An error of 1.4 µs in 4 s corresponds to a drift of 0.35 ppm. */
			assert_true(wake_clock_drift_ppb(&map) > drifts[d] * 1e9 - 1500);
			assert_true(wake_clock_drift_ppb(&map) < drifts[d] * 1e9 + 1500);
		}
}

/*
 * A preempted reading of two clocks takes long. The duration of the reading must not count as a
 * difference between the clocks.
 */
TEST(test_ahead)
{
	const struct wake_clock_fix card = {1005000, 1000000, 300};
	const struct wake_clock_fix quick = {2000500, 2000000, 200};
	const struct wake_clock_fix slow = {2000500, 2002315, 2400};

	assert_int_equal(wake_clock_ahead(&card, &quick), 4500 - 500);
	assert_int_equal(wake_clock_ahead(&quick, &card), -(4500 - 500));
	assert_int_equal(wake_clock_ahead(&card, &slow), 6815 - 2700);
	assert_int_equal(wake_clock_ahead(&quick, &slow), 0);
	assert_int_equal(wake_clock_ahead(&slow, &quick), 0);
}

TEST(test_one_fix)
{
	struct wake_clock_map map = {{5000, 1000, 300}, {5000, 1000, 300}};

	assert_int_equal(wake_clock_to_system(&map, 6000), 2000);
	assert_int_equal(wake_clock_to_device(&map, 2000), 6000);
	assert_true(wake_clock_drift_ppb(&map) == 0.0);
	assert_int_equal(wake_clock_uncertainty(&map, 6000), 300);
}

/*
 * The error bound is interpolated between two readings, and grows before the first and after the
 * last reading.
 */
TEST(test_uncertainty)
{
	struct wake_clock_map map = {{0, 0, 100}, {1000000, 1000000, 500}};

	assert_int_equal(wake_clock_uncertainty(&map, 0), 100);
	assert_int_equal(wake_clock_uncertainty(&map, 500000), 300);
	assert_int_equal(wake_clock_uncertainty(&map, 1000000), 500);
	/*
	 * The uncertainty of an extrapolated time is the error of both readings plus the error of
	 * the slope.
	 */
	assert_int_equal(wake_clock_uncertainty(&map, 3000000), 4 * 600);
	assert_int_equal(wake_clock_uncertainty(&map, 1500000), 2.5 * 600);
	assert_int_equal(wake_clock_uncertainty(&map, -1000000), 2 * 600);
}

TEST_MAIN()
