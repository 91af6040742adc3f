// SPDX-License-Identifier: GPL-2.0
/*
 * Driver of a simulated network card with a clock and launch times, for guests. QEMU's PCI device
 * `edu` raises the interrupt of the card.
 *
 * At the launch time of a packet, a timer on another core writes the register that makes edu send
 * its MSI. The device interrupt wakes the measured core. The launch of a packet starts no timer on
 * the measured core. The clock of the card is CLOCK_TAI. The driver keeps only the last packet that
 * needs a timestamp. The card receives no packets. The card simulates a DMA read of dma_ns after
 * the launch time. Transmit timestamps and the interrupt are delayed by dma_ns.
 */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/net_tstamp.h>
#include <linux/pci.h>
#include <linux/ptp_clock_kernel.h>
#include <linux/version.h>
#include <linux/workqueue.h>
#include <net/pkt_sched.h>

/* PCI IDs and registers of QEMU's device edu, from docs/specs/edu of QEMU. */
#define EDU_VENDOR	0x1234
#define EDU_DEVICE	0x11e8
#define EDU_IRQ_STATUS	0x24
#define EDU_IRQ_RAISE	0x60
#define EDU_IRQ_ACK	0x64

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
#define kernel_ethtool_ts_info ethtool_ts_info
#endif
/*
 * The card has transmit timestamps only since Linux 6.6, because earlier kernels have another
 * interface for timestamps.
 */
#define CARD_STAMPS (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0))

static int dma_ns = 3000;
module_param(dma_ns, int, 0444);
static bool stamps = CARD_STAMPS;
module_param(stamps, bool, 0444);
static int tx_type; /* latest timestamp mode; the test reads this setting */
module_param(tx_type, int, 0444);

struct card {
	struct pci_dev *pci;
	struct net_device *net;
	void __iomem *registers;
	struct ptp_clock_info clock_info;
	struct ptp_clock *clock;
	struct work_struct arm;
	struct hrtimer launch;
	ktime_t launch_tai;
	struct sk_buff *stamped; /* packet sent at launch_tai that needs a timestamp */
	struct work_struct sent;
};

static irqreturn_t card_interrupt(int irq, void *arg)
{
	struct card *card = arg;
	u32 status = readl(card->registers + EDU_IRQ_STATUS);

	if (!status)
		return IRQ_NONE;
	writel(status, card->registers + EDU_IRQ_ACK);
	return IRQ_HANDLED;
}

static enum hrtimer_restart card_launch(struct hrtimer *timer)
{
	struct card *card = container_of(timer, struct card, launch);

	writel(1, card->registers + EDU_IRQ_RAISE);
	if (READ_ONCE(card->stamped))
		schedule_work(&card->sent);
	return HRTIMER_NORESTART;
}

/* Reports the timestamp in process context, as a driver does in its interrupt thread. */
static void card_sent(struct work_struct *work)
{
	struct card *card = container_of(work, struct card, sent);
	struct sk_buff *skb = xchg(&card->stamped, NULL);
	struct skb_shared_hwtstamps when = {.hwtstamp = ktime_add_ns(card->launch_tai, dma_ns)};

	if (!skb)
		return;
	skb_tstamp_tx(skb, &when);
	dev_consume_skb_any(skb);
}

/* Starts the launch timer on the core that runs this work item. */
static void card_arm(struct work_struct *work)
{
	struct card *card = container_of(work, struct card, arm);

	hrtimer_start(&card->launch, ktime_add_ns(card->launch_tai, dma_ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

static netdev_tx_t card_xmit(struct sk_buff *skb, struct net_device *net)
{
	struct card *card = netdev_priv(net);
	unsigned int other = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());

	if (skb->tstamp && other < nr_cpu_ids) {
		card->launch_tai = skb->tstamp;
		queue_work_on(other, system_highpri_wq, &card->arm);
	}
	net->stats.tx_packets++;
	net->stats.tx_bytes += skb->len;
	if (tx_type == HWTSTAMP_TX_ON && skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP) {
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
		skb = xchg(&card->stamped, skb);
	}
	if (skb)
		dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static int card_setup_tc(struct net_device *net, enum tc_setup_type type, void *data)
{
	return type == TC_SETUP_QDISC_ETF ? 0 : -EOPNOTSUPP;
}

#if CARD_STAMPS
static int card_stamps_get(struct net_device *net, struct kernel_hwtstamp_config *config)
{
	config->tx_type = tx_type;
	config->rx_filter = HWTSTAMP_FILTER_NONE;
	return 0;
}

static int card_stamps_set(struct net_device *net, struct kernel_hwtstamp_config *config,
			   struct netlink_ext_ack *extack)
{
	if (config->tx_type > HWTSTAMP_TX_ON)
		return -ERANGE;
	tx_type = config->tx_type;
	return 0;
}
#endif

static const struct net_device_ops card_net_ops = {
	.ndo_start_xmit = card_xmit,
	.ndo_setup_tc = card_setup_tc,
#if CARD_STAMPS
	.ndo_hwtstamp_get = card_stamps_get,
	.ndo_hwtstamp_set = card_stamps_set,
#endif
};

static int card_ts_info(struct net_device *net, struct kernel_ethtool_ts_info *info)
{
	struct card *card = netdev_priv(net);

	info->so_timestamping = SOF_TIMESTAMPING_RAW_HARDWARE;
	if (stamps) {
		info->so_timestamping |= SOF_TIMESTAMPING_TX_HARDWARE;
		info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	}
	info->phc_index = ptp_clock_index(card->clock);
	return 0;
}

static const struct ethtool_ops card_ethtool_ops = {
	.get_ts_info = card_ts_info,
};

static int card_gettime(struct ptp_clock_info *info, struct timespec64 *ts, struct ptp_system_timestamp *sts)
{
	ptp_read_system_prets(sts);
	*ts = ktime_to_timespec64(ktime_get_clocktai());
	ptp_read_system_postts(sts);
	return 0;
}

static int card_settime(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	return -EOPNOTSUPP;
}

static int card_adjust(struct ptp_clock_info *info, s64 delta)
{
	return -EOPNOTSUPP;
}

static int card_adjust_rate(struct ptp_clock_info *info, long scaled_ppm)
{
	return -EOPNOTSUPP;
}

static int card_clock(struct card *card)
{
	card->clock_info = (struct ptp_clock_info){
		.owner = THIS_MODULE,
		.name = "launchcard",
		.max_adj = 1,
		.gettimex64 = card_gettime,
		.settime64 = card_settime,
		.adjtime = card_adjust,
		.adjfine = card_adjust_rate,
	};
	card->clock = ptp_clock_register(&card->clock_info, &card->pci->dev);
	return PTR_ERR_OR_ZERO(card->clock);
}

static void card_timer(struct card *card)
{
	INIT_WORK(&card->arm, card_arm);
	INIT_WORK(&card->sent, card_sent);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
	hrtimer_init(&card->launch, CLOCK_TAI, HRTIMER_MODE_ABS_PINNED_HARD);
	card->launch.function = card_launch;
#else
	hrtimer_setup(&card->launch, card_launch, CLOCK_TAI, HRTIMER_MODE_ABS_PINNED_HARD);
#endif
}

static int card_start(struct card *card)
{
	int rc;

	rc = pci_alloc_irq_vectors(card->pci, 1, 1, PCI_IRQ_MSI);
	if (rc < 0)
		return rc;
	rc = request_irq(pci_irq_vector(card->pci, 0), card_interrupt, 0, "launchcard", card);
	if (rc)
		goto no_irq;
	rc = card_clock(card);
	if (rc)
		goto no_clock;
	rc = register_netdev(card->net);
	if (!rc)
		return 0;
	ptp_clock_unregister(card->clock);
no_clock:
	free_irq(pci_irq_vector(card->pci, 0), card);
no_irq:
	pci_free_irq_vectors(card->pci);
	return rc;
}

static int card_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct net_device *net = alloc_etherdev(sizeof(struct card));
	struct card *card;
	int rc;

	if (!net)
		return -ENOMEM;
	card = netdev_priv(net);
	card->pci = pci;
	card->net = net;
	SET_NETDEV_DEV(net, &pci->dev);
	strscpy(net->name, "launch%d", IFNAMSIZ);
	net->netdev_ops = &card_net_ops;
	net->ethtool_ops = &card_ethtool_ops;
	eth_hw_addr_random(net);
	card_timer(card);
	pci_set_drvdata(pci, card);
	rc = pcim_enable_device(pci);
	if (!rc) {
		pci_set_master(pci);
		card->registers = pcim_iomap(pci, 0, 0);
		rc = card->registers ? card_start(card) : -ENOMEM;
	}
	if (rc)
		free_netdev(net);
	return rc;
}

static void card_remove(struct pci_dev *pci)
{
	struct card *card = pci_get_drvdata(pci);

	unregister_netdev(card->net);
	cancel_work_sync(&card->arm);
	hrtimer_cancel(&card->launch);
	cancel_work_sync(&card->sent);
	if (card->stamped)
		dev_kfree_skb_any(card->stamped);
	ptp_clock_unregister(card->clock);
	free_irq(pci_irq_vector(pci, 0), card);
	pci_free_irq_vectors(pci);
	free_netdev(card->net);
}

static const struct pci_device_id card_ids[] = {
	{PCI_DEVICE(EDU_VENDOR, EDU_DEVICE)},
	{},
};
MODULE_DEVICE_TABLE(pci, card_ids);

static struct pci_driver card_driver = {
	.name = "launchcard",
	.id_table = card_ids,
	.probe = card_probe,
	.remove = card_remove,
};
module_pci_driver(card_driver);

MODULE_DESCRIPTION("subtick's test card with launch times, on QEMU's edu");
MODULE_LICENSE("GPL");
