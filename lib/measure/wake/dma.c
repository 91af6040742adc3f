/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measures the time from the launch time of a packet to its transmit timestamp. */
#include "measure/wake/dma.h"

#include <errno.h>
#include <linux/net_tstamp.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "stats/wake.h"
#include "host/journal.h"
#include "host/qdisc.h"
#include "host/txtime.h"

#define PACKETS	    64
#define LEAST	    16 /* minimum number of transmit timestamps for a median and a spread */
#define HOPELESS    8  /* number of packets without a timestamp after which the measurement ends */
#define AHEAD_NS    (2 * NSEC_PER_MSEC)
#define PATIENCE_NS (50 * NSEC_PER_MSEC)

/*
 * Measures the time in ns from launch to transmit timestamp of a packet, both by the card's clock.
 */
static int one_packet(const struct wake_dma_card *card, int fd, int64_t *ret_ns)
{
	struct ptp_reading readings[PTP_MAX_READINGS];
	enum ptp_method method;
	int64_t launch, stamp;
	int nr = ptp_read(card->phc, readings, &method), rc;

	if (nr <= 0)
		return nr ? nr : -EIO;
	/* drop late timestamps of earlier packets */
	while (!txstamp_wait(fd, 0, &stamp))
		;
	launch = readings[nr - 1].device_ns + (int64_t)AHEAD_NS;
	rc = txtime_send(fd, card->ifindex, (uint64_t)launch);
	if (!rc)
		rc = txstamp_wait(fd, AHEAD_NS + PATIENCE_NS, &stamp);
	if (rc)
		return rc;
	*ret_ns = stamp - launch;
	/* outside of this range, the timestamp is of another packet, or the card's clock was set */
	return *ret_ns >= 0 && *ret_ns <= (int64_t)PATIENCE_NS ? 0 : -ERANGE;
}

/*
 * Sends packets with launch times. On a busy machine some packets miss their launch time and get no
 * transmit timestamp.
 */
static void send_packets(const struct wake_dma_card *card, int fd, struct wake_dma *dma)
{
	double took[PACKETS];
	struct wake_overhead delay;
	size_t nr = 0;

	for (int i = 0; i < PACKETS && (nr || i < HOPELESS); i++) {
		int64_t ns = 0;
		int rc = one_packet(card, fd, &ns);

		took[nr] = ns;
		nr += !rc;
		if (rc)
			err_set(&dma->unknown, rc, "%s did not stamp its packets: %s", card->device,
				strerror(-rc));
	}
	if (nr < LEAST)
		return;
	wake_overhead(took, nr, &delay);
	dma->nr = nr;
	dma->median_ns = delay.median_ns;
	dma->half_spread_ns = delay.spread_ns;
}

int wake_dma_measure(const struct wake_dma_card *card, struct journal *journal,
		     struct wake_dma *ret_dma, struct err *err)
{
	int fd, rc, was = txstamp_can(card->device) ? txstamp_get(card->device) : -EOPNOTSUPP;

	*ret_dma = (struct wake_dma){0};
	if (was < 0) {
		err_set(&ret_dma->unknown, was, "%s has no hardware transmit timestamps",
			card->device);
		return 0;
	}
	fd = txtime_open(card->ifindex, QDISC_ETF_PRIORITY, err);
	if (fd < 0)
		return fd;
	rc = was == HWTSTAMP_TX_ON ? 0 : journal_txstamp(journal, card->device, was, err);
	if (rc)
		goto out;
	rc = was == HWTSTAMP_TX_ON ? 0 : txstamp_set(card->device, HWTSTAMP_TX_ON);
	rc = rc ?: txstamp_ask(fd);
	if (rc)
		err_set(&ret_dma->unknown, rc, "%s refuses transmit timestamps: %s", card->device,
			strerror(-rc));
	else
		send_packets(card, fd, ret_dma);
	/* restore the setting: interrupts for transmit timestamps would wake the measured core */
	rc = txstamp_get(card->device) == was ? 0 : txstamp_set(card->device, was);
	if (rc)
		err_set(err, rc, "cannot switch off the transmit timestamps of %s: %s",
			card->device, strerror(-rc));
out:
	close(fd);
	return rc;
}
