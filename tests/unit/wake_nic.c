/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the choice of the network card, and the search for programs that adjust clocks. */
#include "test.h"
#include "tree.h"

#include <fcntl.h>
#include <time.h>

#include "base/clock.h"
#include "measure/wake/nic.h"
#include "host/file.h"
#include "host/journal.h"
#include "host/qdisc.h"
#include "host/txtime.h"

static const char *launches; /* name of the device that supports launch times, or NULL */

/* eth0 has no PTP clock. From eth1 on, each device ethN has the PTP clock N. */
int __wrap_ptp_index(const char *device)
{
	return !strncmp(device, "eth", 3) && device[3] != '0' ? device[3] - '0' : -EOPNOTSUPP;
}

unsigned int __wrap_if_nametoindex(const char *device)
{
	return device[3] - '0' + 10;
}

int __wrap_ptp_open(int index, struct err *err)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The simulated card's clock shows CLOCK_TAI. */
int __wrap_ptp_read(int fd, struct ptp_reading readings[PTP_MAX_READINGS],
		    enum ptp_method *ret_method)
{
	int64_t width, now = clock_mono_ns(), tai = now + clock_offset_ns(CLOCK_TAI, &width);

	readings[0] = (struct ptp_reading){now, tai, now + 1000};
	*ret_method = PTP_PRECISE;
	return 1;
}

int __wrap_journal_netlink(struct journal *journal, const struct nlmsghdr *undo, struct err *err)
{
	return 0;
}

int __wrap_qdisc_undo(int ifindex, struct rtnl_request *ret_undo, struct err *err)
{
	return 0;
}

int __wrap_qdisc_etf_set(const struct qdisc_etf *etf, struct err *err)
{
	return launches && !strcmp(etf->device, launches)
		       ? 0
		       : err_unsupported(err, -EOPNOTSUPP, "", "no launch time");
}

int __wrap_txtime_open(int ifindex, int priority, struct err *err)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int __wrap_wake_dma_measure(const struct wake_dma_card *card, struct journal *journal,
			    struct wake_dma *ret_dma, struct err *err)
{
	return 0;
}

static void plug(const struct tree *tree, int number, const char *carrier)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/class/net/eth%d/carrier", number);
	tree_file(tree, path, carrier);
	snprintf(path, sizeof(path), "/sys/class/net/eth%d/device/msi_irqs/%d", number, 30 + number);
	tree_file(tree, path, "msix\n");
	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", 30 + number);
	tree_file(tree, path, "0-1\n");
}

static void assert_affinity(const struct tree *tree, int irq, const char *list)
{
	char path[64], value[16];

	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", irq);
	assert_true(sys_read_file(tree->root, path, value, sizeof(value)) >= 0);
	assert_string_equal(value, list);
}

static int open_nic(const struct tree *tree, const char *device, struct wake_card *ret_card,
		    struct err *err)
{
	struct wake_nic_opts opts = {.device = device, .dma_ns = -1};
	struct journal journal;
	struct wake_nic *nic;
	int rc;

	tree_file(tree, "/run/file", "");
	assert_int_equal(journal_open(&journal, tree->root, err), 0);
	rc = wake_nic_open(&opts, 1, tree->root, &journal, &nic, err);
	if (!rc) {
		wake_nic_card(nic, ret_card);
		assert_affinity(tree, 31, "0-1");
		assert_affinity(tree, 33, "1");
		wake_nic_close(nic);
	}
	journal_close(&journal);
	return rc;
}

/* eth1 does not support launch times and eth2 has no link, so eth3 is chosen. eth4 is not tried. */
TEST_WITH(test_first_that_fits, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct wake_card card;
	struct err err = {0};

	for (int i = 0; i <= 4; i++)
		plug(tree, i, i == 2 ? "0\n" : "1\n");
	launches = "eth3";
	assert_int_equal(open_nic(tree, NULL, &card, &err), 0);
	assert_string_equal(card.device, "eth3");
	assert_string_equal(card.others,
			    "eth1 (no launch time), eth2 (eth2 has no link, and a card without a "
			    "link sends nothing), eth4 (not tried)");
	assert_string_equal(card.disciplines, "");
	assert_affinity(tree, 33, "0-1");

	assert_int_equal(open_nic(tree, "eth3", &card, &err), 0);
	assert_string_equal(card.others, "");
	assert_int_equal(open_nic(tree, "eth1", &card, &err), -EOPNOTSUPP);
	assert_string_equal(err.what, "no launch time");
}

TEST_WITH(test_none_fits, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	struct wake_card card;
	struct err err = {0};

	launches = NULL;
	plug(tree, 0, "1\n");
	assert_int_equal(open_nic(tree, NULL, &card, &err), -ENODEV);
	assert_non_null(strstr(err.what, "no network device has a hardware clock"));
	plug(tree, 1, "1\n");
	assert_int_equal(open_nic(tree, NULL, &card, &err), -EOPNOTSUPP);
	assert_string_equal(err.what, "no launch time");
	plug(tree, 4, "1\n");
	assert_int_equal(open_nic(tree, NULL, &card, &err), -EOPNOTSUPP);
	assert_true(err.unsupported);
	assert_string_equal(err.what,
			    "no network card fits: eth1 (no launch time), eth4 (no launch time)");
}

/* Each program that adjusts a clock is listed once, for any order of the processes. */
TEST_WITH(test_disciplines, tree_setup, tree_teardown)
{
	const struct tree *tree = *state;
	char found[96];

	tree_file(tree, "/proc/1/comm", "systemd\n");
	ptp_disciplines(tree->root, found, sizeof(found));
	assert_string_equal(found, "");
	tree_file(tree, "/proc/70/comm", "phc2sys\n");
	tree_file(tree, "/proc/71/comm", "phc2sys\n");
	tree_file(tree, "/proc/9/comm", "chronyd\n");
	tree_file(tree, "/proc/8/comm", "chronyd-helper\n");
	ptp_disciplines(tree->root, found, sizeof(found));
	assert_string_equal(found, "chronyd, phc2sys");
}

TEST_MAIN()
