/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Source nic: finds card and clock, sets IRQ affinity and queue, and sends timed packets. */
#include "measure/wake/nic.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "measure/wake/dma.h"
#include "host/cpuidle.h"
#include "host/file.h"
#include "host/journal.h"
#include "host/qdisc.h"
#include "host/txtime.h"

/*
 * Time before the launch time at which the ETF queue with offload passes a packet to the card: at
 * once, because OFFLOAD_DELTA_NS is longer than any launch distance.
 */
#define OFFLOAD_DELTA_NS (500 * NSEC_PER_MSEC)
/*
 * Time before the launch time at which the timer of the ETF queue without offload sends a packet.
 */
#define SOFTWARE_DELTA_NS (500 * NSEC_PER_USEC)
/*
 * Maximum offset of the card's clock from CLOCK_TAI. open_clock() fails above this offset, because
 * the ETF queue compares launch times with CLOCK_TAI.
 */
#define MAX_TAI_OFFSET_NS (100 * (int64_t)NSEC_PER_USEC)
/*
 * Time from the launch until the worker's own timer expires. AFTER_NS is much longer than the time
 * from the launch to the interrupt of the card.
 */
#define AFTER_NS NSEC_PER_MSEC
#define MAX_IRQS 64

#define CARD                                                                                     \
	"install an Intel i210 (igb), i225 or i226 (igc), or use a board with enetc or stmmac, " \
	"load its driver, connect a cable; or test the path with --device NAME --software"

/*
 * Maximum exit latency of idle states that are at most as deep as C1E. In deeper idle states a DMA
 * read waits until the package has woken up.
 */
#define SHALLOW_NS (20 * NSEC_PER_USEC)

struct wake_nic {
	struct wake_nic_opts opts;
	const char *root;
	struct journal *journal;
	/* first idle state whose wake-up overlaps the DMA read; see wake_nic_offset() */
	unsigned int deep_from;
	/* network card; only wake_nic_card() sets the members `method` and `disciplines` */
	struct wake_card card;
	int ifindex;
	int phc; /* file descriptor of the card's hardware clock, or -1 */
	int socket;
	uint32_t delta_ns;
	uint32_t irqs[MAX_IRQS];
	unsigned int nr_irqs;
	enum ptp_method method;
	struct wake_clock_map map;
};

/*
 * Reads CLOCK_TAI. The error bound is half the time between two reads of CLOCK_MONOTONIC.
 * Preemption between the two reads makes the error bound large.
 */
static struct wake_clock_fix read_tai(void)
{
	int64_t width, ahead = clock_offset_ns(CLOCK_TAI, &width), now = clock_mono_ns();

	return (struct wake_clock_fix){now + ahead, now, (width + 1) / 2};
}

/* Reads the clock that determines when packets are launched. */
static int read_fix(struct wake_nic *nic, struct wake_clock_fix *ret_fix, struct err *err)
{
	struct ptp_reading readings[PTP_MAX_READINGS];
	struct wake_clock_sample samples[PTP_MAX_READINGS];
	int nr, rc;

	if (nic->opts.software) {
		*ret_fix = read_tai();
		return 0;
	}
	nr = ptp_read(nic->phc, readings, &nic->method);
	for (int i = 0; i < nr; i++)
		samples[i] = (struct wake_clock_sample){
			readings[i].before_ns, readings[i].device_ns, readings[i].after_ns};
	rc = nr < 0 ? nr : wake_clock_tightest(samples, nr, ret_fix);
	return rc ? err_set(err, rc, "cannot read the hardware clock of %s: %s", nic->card.device,
			    strerror(-rc))
		  : 0;
}

static int open_clock(struct wake_nic *nic, struct err *err)
{
	struct wake_clock_fix card, tai;
	int64_t ahead;
	char fix[160];
	int index = ptp_index(nic->card.device), rc;

	if (index < 0 && nic->opts.software)
		return 0;
	if (index < 0)
		return err_unsupported(err, index, CARD, "%s has no hardware clock (%s)",
				       nic->card.device, strerror(-index));
	nic->phc = ptp_open(index, err);
	if (nic->phc < 0)
		return nic->phc;
	if (nic->opts.software)
		return 0;
	rc = read_fix(nic, &card, err);
	if (rc)
		return rc;
	tai = read_tai();
	ahead = wake_clock_ahead(&card, &tai);
	if (llabs(ahead) <= MAX_TAI_OFFSET_NS)
		return 0;
	snprintf(fix, sizeof(fix),
		 "phc2sys -c %s -s CLOCK_REALTIME -O %lld, and wait until it settles", nic->card.device,
		 (long long)((clock_ns(CLOCK_TAI) - clock_unix_ns() + NSEC_PER_SEC / 2) /
			     NSEC_PER_SEC));
	return err_unsupported(
		err, -ETIME, fix,
		"the clock of %s differs from CLOCK_TAI, which the packet queue uses, by %lld us",
		nic->card.device, (long long)(ahead / 1000));
}

static int check_link(const struct wake_nic *nic, struct err *err)
{
	const char *path = SYS_PATH("/sys/class/net/%s/carrier", nic->card.device);
	uint64_t carrier = 0;

	if (!sys_read_u64(nic->root, path, &carrier) && carrier)
		return 0;
	return err_unsupported(
		err, -ENETDOWN, "bring it up (ip link set DEVICE up) and connect a cable",
		"%s has no link, and a card without a link sends nothing", nic->card.device);
}

static unsigned int count_queues(const struct wake_nic *nic)
{
	const char *device = nic->card.device;
	unsigned int nr = 0;

	while (nr < 1024 &&
	       sys_exists(nic->root, SYS_PATH("/sys/class/net/%s/queues/tx-%u", device, nr)))
		nr++;
	return nr ? nr : 1;
}

/* Moves all interrupts of the card. Drivers use different interrupts to report sent packets. */
static int set_irq_affinity(struct wake_nic *nic, unsigned int cpu, struct err *err)
{
	const char *irqs = SYS_PATH("/sys/class/net/%s/device/msi_irqs", nic->card.device);
	char path[PATH_MAX], value[16];
	struct dirent *entry;
	unsigned int set = 0;
	DIR *dir;

	snprintf(value, sizeof(value), "%u", cpu);
	dir = sys_path(nic->root, irqs, path, sizeof(path)) ? NULL : opendir(path);
	nic->nr_irqs = 0;
	while (dir && (entry = readdir(dir)) && nic->nr_irqs < MAX_IRQS) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		nic->irqs[nic->nr_irqs++] = strtoul(entry->d_name, NULL, 10);
		/*
		 * the kernel refuses to move managed interrupts, but moving one interrupt of the
		 * card is sufficient
		 */
		set += !journal_set(
			nic->journal,
			SYS_PATH("/proc/irq/%u/smp_affinity_list", nic->irqs[nic->nr_irqs - 1]),
			value, err);
	}
	if (dir)
		closedir(dir);
	if (set)
		return 0;
	return err_set(err, -EIO,
		       "cannot set the IRQ affinity of %s to CPU %u (%u interrupts found)",
		       nic->card.device, cpu, nic->nr_irqs);
}

int wake_nic_aim(struct wake_nic *nic, unsigned int cpu, struct err *err)
{
	struct cpuidle_state states[CPUIDLE_MAX_STATES];
	int nr = cpuidle_states(nic->root, cpu, states);

	nic->deep_from = UINT_MAX;
	for (int i = nr; i-- > 0 && states[i].latency_ns > SHALLOW_NS;)
		nic->deep_from = i;
	return nic->opts.software ? 0 : set_irq_affinity(nic, cpu, err);
}

static int set_queue(struct wake_nic *nic, struct err *err)
{
	struct qdisc_etf etf = {
		.device = nic->card.device,
		.ifindex = nic->ifindex,
		.nr_queues = count_queues(nic),
		.delta_ns = nic->delta_ns,
		.offload = !nic->opts.software,
	};
	struct rtnl_request undo;

	return qdisc_undo(nic->ifindex, &undo, err) ?:
	       journal_netlink(nic->journal, &undo.head, err) ?: qdisc_etf_set(&etf, err);
}

static void close_card(struct wake_nic *nic)
{
	fd_close(&nic->socket);
	fd_close(&nic->phc);
}

void wake_nic_close(struct wake_nic *nic)
{
	if (nic)
		close_card(nic);
	free(nic);
}

/* Opens the card nic->card.device. set_queue() fails if the card does not support launch times. */
static int open_card(struct wake_nic *nic, unsigned int cpu, struct err *err)
{
	struct wake_dma *dma = &nic->card.dma;
	int rc;

	nic->ifindex = if_nametoindex(nic->card.device);
	if (!nic->ifindex)
		return err_set(err, -ENODEV, "no network device %s", nic->card.device);
	rc = open_clock(nic, err) ?: check_link(nic, err) ?: set_queue(nic, err) ?:
	     wake_nic_aim(nic, cpu, err);
	if (rc)
		return rc;
	nic->socket = txtime_open(nic->ifindex, QDISC_ETF_PRIORITY, err);
	dma->median_ns = nic->opts.software ? 0 : nic->opts.dma_ns;
	if (nic->socket < 0 || dma->median_ns >= 0)
		return nic->socket < 0 ? nic->socket : 0;
	return wake_dma_measure(
		&(struct wake_dma_card){nic->card.device, nic->ifindex, nic->phc}, nic->journal,
		dma, err);
}

/* Filter of scandir(): network devices with a hardware clock. */
static int has_clock(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strlen(entry->d_name) < IFNAMSIZ &&
	       ptp_index(entry->d_name) >= 0;
}

static void add_other(struct wake_nic *nic, const char *device, const char *why)
{
	size_t used = strlen(nic->card.others);

	snprintf(nic->card.others + used, sizeof(nic->card.others) - used, "%s%s (%s)",
		 used ? ", " : "", device, why);
}

/*
 * Opens the first suitable network card. Lists all other cards with a hardware clock in
 * nic->card.others, each with the reason why the card is not used.
 */
static int open_first(struct wake_nic *nic, unsigned int cpu, struct err *err)
{
	struct dirent **entries = NULL;
	struct err why = {0};
	char path[PATH_MAX];
	bool opened = false;
	int nr = sys_path(nic->root, "/sys/class/net", path, sizeof(path))
			 ? 0
			 : scandir(path, &entries, has_clock, alphasort);

	for (int i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;

		if (opened) {
			add_other(nic, name, "not tried");
		} else {
			strcpy(nic->card.device, name);
			why = (struct err){0};
			opened = !open_card(nic, cpu, &why);
			if (!opened) {
				close_card(nic);
				add_other(nic, name, why.what);
			}
		}
		free(entries[i]);
	}
	free(entries);
	if (opened)
		return 0;
	if (nr <= 0)
		return err_unsupported(err, -ENODEV, CARD,
				       "no network device has a hardware clock");
	if (nr > 1)
		return err_unsupported(err, why.code, CARD, "no network card fits: %s",
				       nic->card.others);
	*err = why;
	return why.code;
}

int wake_nic_open(const struct wake_nic_opts *opts, unsigned int cpu, const char *root,
		  struct journal *journal, struct wake_nic **ret_nic, struct err *err)
{
	struct wake_nic *nic = calloc(1, sizeof(*nic));
	int rc;

	if (!nic)
		return err_set(err, -ENOMEM, "out of memory");
	nic->opts = *opts;
	nic->root = root;
	nic->journal = journal;
	nic->phc = nic->socket = -1;
	nic->card.software = opts->software;
	nic->card.dma_given = opts->dma_ns >= 0;
	nic->delta_ns = opts->software ? SOFTWARE_DELTA_NS : OFFLOAD_DELTA_NS;
	if (opts->software)
		nic->opts.irq_offset_ns = 0;
	if (opts->device)
		snprintf(nic->card.device, sizeof(nic->card.device), "%s", opts->device);
	rc = opts->device ? open_card(nic, cpu, err) : open_first(nic, cpu, err);
	if (rc)
		wake_nic_close(nic);
	else
		*ret_nic = nic;
	return rc;
}

int wake_nic_batch_begin(struct wake_worker *worker)
{
	struct wake_nic *nic = worker->plan->nic;
	int rc = read_fix(nic, &nic->map.a, &worker->err);

	nic->map.b = nic->map.a;
	return rc;
}

static bool irq_ours(const struct wake_nic *nic, const struct wake_kpoint *k)
{
	/*
	 * If a kernel timer sends the packets, accept any interrupt except IPIs, because the kind
	 * of the timer interrupt depends on the architecture.
	 */
	if (nic->opts.software)
		return k->irqs && k->irq_kind != WAKE_IRQ_IPI;
	array_for_each(irq, nic->irqs, nic->nr_irqs)
		if (*irq == k->irq)
			return k->irq_kind == WAKE_IRQ_DEVICE;
	return false;
}

void wake_nic_point(struct wake_worker *worker, uint64_t distance_ns, struct wake_point *ret_point)
{
	struct wake_nic *nic = worker->plan->nic;
	struct wake_kpoint k;
	struct wake_raw raw = wake_raw_of(worker, WAKE_NIC, distance_ns, &k);
	uint64_t launch_dev = wake_clock_to_device(&nic->map, raw.launch_ns);
	struct timespec until = clock_timespec(raw.launch_ns + AFTER_NS);
	int rc;

	wake_arm(worker, raw.launch_ns);
	rc = txtime_send(nic->socket, nic->ifindex,
			 launch_dev + (nic->opts.software ? nic->delta_ns : 0));
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	wake_disarm(worker, &k);
	raw.irq_ours = irq_ours(nic, &k);
	raw.offset_ns = wake_nic_offset(k.state >= nic->deep_from, nic->card.dma.median_ns,
					nic->opts.irq_offset_ns);
	wake_judge(&raw, ret_point);
	/*
	 * the interrupt of the card wakes the core but not the worker, which sleeps until its own
	 * timer expires
	 */
	ret_point->switch_ns = ret_point->user_ns = 0;
	if (rc || txtime_missed(nic->socket)) {
		nic->card.missed++;
		ret_point->reject = WAKE_REJ_LOST;
	}
}

/* Corrects the launch time of a wake-up after wake_nic_batch_end() has read the card's clock. */
static void move_launch(struct wake_point *p, uint64_t launch_ns)
{
	int64_t by = (int64_t)(launch_ns - p->launch_ns);

	p->launch_ns = launch_ns;
	p->exit_ns -= by;
	if (p->irq_ns != INT32_MIN)
		p->irq_ns -= by;
	if (p->reject != WAKE_TAKEN)
		return;
	if ((int64_t)p->silent_ns + by <= 0) {
		p->reject = WAKE_REJ_BEFORE_IDLE;
		return;
	}
	p->silent_ns += by;
	p->latency_ns -= by;
	if (p->latency_ns < 0)
		p->reject = WAKE_REJ_NEGATIVE;
}

int wake_nic_batch_end(struct wake_worker *worker, size_t first)
{
	struct wake_nic *nic = worker->plan->nic;
	struct wake_clock_map before = nic->map; /* clock conversion that wake_nic_point() used */
	int rc = read_fix(nic, &nic->map.b, &worker->err);

	if (rc)
		return rc;
	array_for_each(p, worker->points + first, worker->nr - first) {
		int64_t launch_dev = wake_clock_to_device(&before, p->launch_ns);
		uint64_t half = wake_clock_uncertainty(&nic->map, launch_dev);

		if (p->source != WAKE_NIC)
			continue;
		if (half > nic->card.half_window_ns)
			nic->card.half_window_ns = half;
		move_launch(p, wake_clock_to_system(&nic->map, launch_dev));
	}
	nic->card.drift_ppb = fmax(nic->card.drift_ppb, fabs(wake_clock_drift_ppb(&nic->map)));
	return 0;
}

void wake_nic_card(const struct wake_nic *nic, struct wake_card *ret_card)
{
	*ret_card = nic->card;
	ret_card->method = ptp_method_name(nic->method);
	ptp_disciplines(nic->root, ret_card->disciplines, sizeof(ret_card->disciplines));
}
