/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests launch-to-transmission times of cards with and without hardware timestamps. */
#include "test.h"

#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/net_tstamp.h>
#include <linux/sockios.h>

#include "measure/wake/dma.h"
#include "present/wake.h"
#include "report_rows.h"
#include "host/journal.h"
#include "host/qdisc.h"
#include "host/txtime.h"

static struct {
	bool stamps;
	int tx_type, rx_filter;
	int64_t now_ns, launch_ns;
	const int64_t *took_ns; /* read times of the packets; negative if no timestamp arrives */
	size_t nr_took, sent;
	bool stale;
	int journalled; /* saved TX timestamp setting, or -1 if none was saved */
} card;

static bool refuses; /* the simulated card refuses to change its setting */

int __wrap_netdev_ioctl(const char *device, unsigned long command, void *data)
{
	struct hwtstamp_config *config = data;
	struct ethtool_ts_info *info = data;

	assert_string_equal(device, "eth7");
	switch (command) {
	case SIOCETHTOOL:
		info->so_timestamping = card.stamps ? SOF_TIMESTAMPING_TX_HARDWARE : 0;
		info->tx_types = card.stamps ? 1 << HWTSTAMP_TX_OFF | 1 << HWTSTAMP_TX_ON : 0;
		return 0;
	case SIOCGHWTSTAMP:
		config->tx_type = card.tx_type;
		config->rx_filter = card.rx_filter;
		return 0;
	case SIOCSHWTSTAMP:
		if (refuses)
			return -EBUSY;
		/*
		 * The card's old timestamp setting must be in the journal before the setting
		 * changes.
		 */
		assert_int_equal(card.journalled, HWTSTAMP_TX_OFF);
		assert_int_equal(config->rx_filter, card.rx_filter);
		card.tx_type = config->tx_type;
		return 0;
	}
	return -ENOTTY;
}

int __wrap_ptp_read(int fd, struct ptp_reading readings[PTP_MAX_READINGS],
		    enum ptp_method *ret_method)
{
	card.now_ns += 5000000;
	readings[0] = (struct ptp_reading){.device_ns = card.now_ns};
	*ret_method = PTP_PRECISE;
	return 1;
}

int __wrap_txtime_open(int ifindex, int priority, struct err *err)
{
	assert_int_equal(ifindex, 7);
	assert_int_equal(priority, QDISC_ETF_PRIORITY);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_txtime_send(int fd, int ifindex, uint64_t launch_tai_ns)
{
	assert_int_equal(ifindex, 7);
	assert_int_equal(card.tx_type, HWTSTAMP_TX_ON);
	assert_true((int64_t)launch_tai_ns > card.now_ns);
	card.launch_ns = (int64_t)launch_tai_ns;
	return 0;
}

int __wrap_txstamp_ask(int fd)
{
	return 0;
}

int __wrap_txstamp_wait(int fd, uint64_t patience_ns, int64_t *ret_ns)
{
	int64_t took;

	/*
	 * The late timestamp of an abandoned packet arrives before the timestamp of the next
	 * packet.
	 */
	if (card.stale) {
		card.stale = false;
		*ret_ns = 1;
		return 0;
	}
	if (!patience_ns)
		return -ETIME;
	took = card.took_ns[card.sent++ % card.nr_took];
	card.stale = took == -1;
	*ret_ns = card.launch_ns + took;
	return took == -1 ? -ETIME : 0;
}

int __wrap_journal_txstamp(struct journal *journal, const char *device, int tx_type,
			   struct err *err)
{
	assert_string_equal(device, "eth7");
	card.journalled = tx_type;
	return 0;
}

static void measure(bool stamps, int tx_type, const int64_t *took_ns, size_t nr,
		    struct wake_dma *ret_dma)
{
	struct wake_dma_card is = {"eth7", 7, 3};

	memset(&card, 0, sizeof(card));
	card.stamps = stamps;
	card.tx_type = tx_type;
	card.rx_filter = HWTSTAMP_FILTER_PTP_V2_EVENT;
	card.took_ns = took_ns;
	card.nr_took = nr;
	card.journalled = -1;
	assert_int_equal(wake_dma_measure(&is, NULL, ret_dma, NULL), 0);
	assert_int_equal(card.tx_type, tx_type);
}

TEST(stamped)
{
	/*
	 * One read time is far too low and one far too high, which does not change the median or
	 * the spread.
	 */
	static const int64_t took[] = {900,  1400, 1400, 1450, 1450, 1500, 1500, 1500, 1500, 1500,
				       1500, 1500, 1500, 1500, 1550, 1550, 1550, 1600, 1600, 90000};
	struct wake_dma dma;

	measure(true, HWTSTAMP_TX_OFF, took, 20, &dma);
	assert_int_equal(dma.nr, 64);
	assert_int_equal(dma.median_ns, 1500);
	assert_int_equal(dma.half_spread_ns, 100);
	assert_int_equal(card.journalled, HWTSTAMP_TX_OFF);
}

/* Another program already enabled the card's timestamps, so the timestamps stay enabled. */
TEST(stamped_before)
{
	static const int64_t took[] = {0};
	struct wake_dma dma;

	measure(true, HWTSTAMP_TX_ON, took, 1, &dma);
	assert_int_equal(dma.nr, 64);
	assert_int_equal(dma.median_ns, 0);
	assert_int_equal(card.journalled, -1);
}

/* Packets that miss their launch time have no timestamp and do not count. */
TEST(some_missed)
{
	static const int64_t took[] = {-1, 700, -1};
	struct wake_dma dma;

	measure(true, HWTSTAMP_TX_OFF, took, 3, &dma);
	assert_int_equal(dma.nr, 21);
	assert_int_equal(dma.median_ns, 700);
	assert_int_equal(dma.half_spread_ns, 0);
}

TEST(unknown)
{
	static const int64_t none[] = {-1}, late[] = {200000000}, early[] = {-500},
			     few[] = {700, -1, -1, -1, -1};
	struct wake_dma dma;

	measure(false, HWTSTAMP_TX_OFF, none, 1, &dma);
	assert_int_equal(dma.nr, 0);
	assert_string_equal(dma.unknown.what, "eth7 has no hardware transmit timestamps");
	assert_int_equal(card.sent, 0);
	measure(true, HWTSTAMP_TX_OFF, none, 1, &dma);
	assert_int_equal(dma.nr, 0);
	assert_non_null(strstr(dma.unknown.what, "eth7 did not stamp its packets"));
	/*
	 * A card that sends no timestamps is tried 8 times instead of 64, because each missing
	 * timestamp costs a timeout.
	 */
	assert_int_equal(card.sent, 8);
	/*
	 * Timestamps from before the launch time are ignored. 13 timestamps of 64 packets are too
	 * few.
	 */
	measure(true, HWTSTAMP_TX_OFF, late, 1, &dma);
	assert_int_equal(dma.nr, 0);
	measure(true, HWTSTAMP_TX_OFF, early, 1, &dma);
	assert_int_equal(dma.nr, 0);
	measure(true, HWTSTAMP_TX_OFF, few, 5, &dma);
	assert_int_equal(dma.nr, 0);
	assert_int_equal(dma.median_ns, 0);
	refuses = true;
	measure(true, HWTSTAMP_TX_OFF, none, 1, &dma);
	assert_non_null(strstr(dma.unknown.what, "refuses transmit timestamps"));
	refuses = false;
}

static struct report *report_of(const struct wake_dma *dma, bool given)
{
	struct wake_window window = {.sources = 1u << WAKE_NIC};
	struct report *report = NULL;

	window.card = (struct wake_card){
		.device = "eth7", .method = "precise", .dma = *dma, .dma_given = given};
	assert_int_equal(wake_report(&window, &report), 0);
	return report;
}

/*
 * An unknown read time of the card is not subtracted from the latencies. A measured read time of 0
 * counts as known.
 */
TEST(reported)
{
	struct wake_dma measured = {.half_spread_ns = 40, .nr = 64}, given = {.median_ns = 900},
			none = {0};
	struct report *report = report_of(&measured, false);

	assert_true(table_number(report->quality, 0, "dma_ns") == 0.0);
	assert_true(table_number(report->quality, 0, "dma_half_spread_ns") == 40.0);
	assert_true(notes_say(report, "0.00 us after the launch time (median of 64 packets)"));
	report_free(report);
	report = report_of(&given, true);
	assert_true(table_number(report->quality, 0, "dma_ns") == 900.0);
	expect_row(report->quality, 0, "dma_half_spread_ns=null");
	assert_false(notes_say(report, "DMA"));
	report_free(report);
	err_set(&none.unknown, -EOPNOTSUPP, "eth7 has no hardware transmit timestamps");
	report = report_of(&none, false);
	expect_row(report->quality, 0, "dma_ns=null");
	assert_true(notes_say(report, "not subtracted (eth7 has no hardware transmit timestamps)"));
	report_free(report);
}

TEST_MAIN()
