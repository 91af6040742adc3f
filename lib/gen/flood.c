/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends UDP frames into a veth pair. RPS moves the receive processing to another core. */
#include "gen/flood.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/cpuset.h"
#include "host/file.h"
#include "host/qdisc.h"

#define FLOOD_TX   "stflood0"
#define FLOOD_RX   "stflood1"
#define FLOOD_PORT 9 /* UDP port of the discard service */
#define START_NS   (5 * NSEC_PER_SEC)

/*
 * IP addresses that RFC 5737 reserves for documentation. The packets stay in the network namespace
 * of the load generator.
 */
#define FLOOD_FROM 0xc6336401u /* address 198.51.100.1 */
#define FLOOD_TO   0xc6336402u

/* Locally administered MAC addresses of the two veth devices. */
static const uint8_t tx_mac[ETH_ALEN] = {2, 0, 0, 0, 0, 1}, rx_mac[ETH_ALEN] = {2, 0, 0, 0, 0, 2};

enum stage {
	STAGE_NEW,
	STAGE_RUNS,
	STAGE_FAILED
};

struct shared {
	uint32_t stage;
	int32_t code;
	char what[160];
	uint64_t sent;
};

struct frame {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	char data[64];
} __attribute__((packed));

static void fail(struct shared *shared, int code, const char *what)
{
	shared->code = code;
	snprintf(shared->what, sizeof(shared->what), "%s: %s", what, strerror(-code));
	__atomic_store_n(&shared->stage, STAGE_FAILED, __ATOMIC_RELEASE);
}

static uint16_t ip_checksum(const void *header)
{
	uint16_t words[sizeof(struct iphdr) / 2];
	uint32_t sum = 0;

	memcpy(words, header, sizeof(words));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

static void make_frame(struct frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	memcpy(frame->eth.h_dest, rx_mac, ETH_ALEN);
	memcpy(frame->eth.h_source, tx_mac, ETH_ALEN);
	frame->eth.h_proto = htons(ETH_P_IP);
	frame->ip = (struct iphdr){
		.version = 4,
		.ihl = 5,
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.saddr = htonl(FLOOD_FROM),
		.daddr = htonl(FLOOD_TO),
		.tot_len = htons(sizeof(*frame) - sizeof(frame->eth)),
	};
	frame->ip.check = ip_checksum((const char *)frame + sizeof(frame->eth));
	frame->udp.source = frame->udp.dest = htons(FLOOD_PORT);
	frame->udp.len = htons(sizeof(frame->udp) + sizeof(frame->data));
}

/*
 * Sets RPS of the receiving device. A sysfs mount shows the devices of the network namespace in
 * which sysfs was mounted, so steer() mounts sysfs again.
 */
static int steer(int cpu)
{
	char path[96], mask[CPUSET_MASK_SIZE];
	struct cpuset cpus = {0};

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL))
		return -errno;
	cpuset_add(&cpus, cpu);
	cpuset_format_mask(&cpus, mask, sizeof(mask));
	snprintf(path, sizeof(path), "/sys/class/net/%s/queues/rx-0/rps_cpus", FLOOD_RX);
	return sys_write_file(NULL, path, mask);
}

/*
 * Attaches an XDP program that drops all packets. Generic XDP runs on the receiving core after RPS
 * (since Linux 5.2), but native XDP of veth runs on the sender's core. The kernel frees the XDP
 * program together with the network namespace.
 */
static int drop_all(int ifindex)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_DROP},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int rc, fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "subtick_drop", "GPL", insns, 2, NULL);

	if (fd < 0)
		return fd;
	rc = bpf_xdp_attach(ifindex, fd, XDP_FLAGS_SKB_MODE, NULL);
	close(fd);
	return rc;
}

static int set_address(int ifindex, uint32_t address)
{
	struct ifaddrmsg message = {
		.ifa_family = AF_INET, .ifa_prefixlen = 24, .ifa_index = ifindex};
	struct rtnl_request request;

	rtnl_init(&request, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE, sizeof(message));
	memcpy(NLMSG_DATA(&request.head), &message, sizeof(message));
	address = htonl(address);
	rtnl_attr(&request, IFA_LOCAL, &address, sizeof(address));
	return rtnl_talk(&request.head);
}

int veth_create(const char *name, const char *peer, struct veth *ret_veth)
{
	struct rtnl_request request;
	struct ifinfomsg none = {0};
	struct rtattr *info, *data, *other;
	int rc;

	rtnl_init(&request, RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
		  sizeof(struct ifinfomsg));
	request.link.ifi_flags = request.link.ifi_change = IFF_UP;
	rtnl_attr(&request, IFLA_IFNAME, name, strlen(name) + 1);
	rtnl_attr(&request, IFLA_ADDRESS, tx_mac, ETH_ALEN);
	info = rtnl_attr(&request, IFLA_LINKINFO, NULL, 0);
	rtnl_attr(&request, IFLA_INFO_KIND, "veth", 5);
	data = rtnl_attr(&request, IFLA_INFO_DATA, NULL, 0);
	other = rtnl_attr(&request, VETH_INFO_PEER, &none, sizeof(none));
	rtnl_attr(&request, IFLA_IFNAME, peer, strlen(peer) + 1);
	rtnl_attr(&request, IFLA_ADDRESS, rx_mac, ETH_ALEN);
	rtnl_nest_end(&request, other);
	rtnl_nest_end(&request, data);
	rtnl_nest_end(&request, info);
	rc = rtnl_talk(&request.head);
	if (rc)
		return rc;
	ret_veth->ifindex = if_nametoindex(name);
	ret_veth->peer_ifindex = if_nametoindex(peer);
	/* The request that creates a veth pair cannot bring up the peer device. */
	rtnl_init(&request, RTM_NEWLINK, NLM_F_ACK, sizeof(struct ifinfomsg));
	request.link = (struct ifinfomsg){
		.ifi_index = ret_veth->peer_ifindex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
	return rtnl_talk(&request.head);
}

static int open_links(struct veth *veth, int recv_cpu, const char **ret_what)
{
	int rc;

	*ret_what = "cannot create a network namespace";
	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		return -errno;
	*ret_what = "cannot create a veth pair";
	rc = veth_create(FLOOD_TX, FLOOD_RX, veth);
	if (rc)
		return rc;
	*ret_what = "cannot bring the veth pair up";
	rc = set_address(veth->peer_ifindex, FLOOD_TO);
	if (rc)
		return rc;
	*ret_what = "cannot steer received packets with RPS";
	return steer(recv_cpu);
}

/* Opens a socket that is never read: packets pass the whole receive path up to the socket. */
static int open_sink(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(FLOOD_PORT)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) ? -errno : fd;
}

static void send_forever(struct shared *shared, const struct flood_opts *opts, int fd,
			 const struct frame *frame, int ifindex)
{
	struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = ifindex, .sll_halen = 6};
	struct timespec delay = clock_timespec(opts->pause_ns);

	for (;;) {
		for (unsigned int i = 0; i < opts->burst; i++)
			if (sendto(fd, frame, sizeof(*frame), 0, (void *)&to, sizeof(to)) > 0)
				shared->sent++;
		if (opts->pause_ns)
			nanosleep(&delay, NULL);
	}
}

static void run(void *memory, void *arg)
{
	const struct flood_opts *opts = arg;
	struct shared *shared = memory;
	struct veth veth;
	struct frame frame;
	const char *what;
	int rc, fd;

	rc = open_links(&veth, opts->recv_cpu, &what);
	if (rc)
		return fail(shared, rc, what);
	rc = open_sink();
	if (rc < 0)
		return fail(shared, rc, "cannot open the receiving socket");
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(shared, -errno, "cannot open a packet socket");
	make_frame(&frame);
	rc = opts->xdp_drop ? drop_all(veth.peer_ifindex) : 0;
	if (rc)
		return fail(shared, rc, "cannot attach an XDP program");
	__atomic_store_n(&shared->stage, STAGE_RUNS, __ATOMIC_RELEASE);
	send_forever(shared, opts, fd, &frame, veth.ifindex);
}

int flood_start(struct gen_child *flood, const struct flood_opts *opts, struct err *err)
{
	uint64_t end = clock_mono_ns() + START_NS;
	struct flood_opts own = *opts;
	struct timespec delay = clock_timespec(NSEC_PER_MSEC);
	struct shared *shared;
	uint32_t stage;
	int rc = gen_child_start(flood, opts->send_cpu, sizeof(*shared), run, &own, err);

	if (rc)
		return rc;
	shared = flood->shared;
	while (!(stage = __atomic_load_n(&shared->stage, __ATOMIC_ACQUIRE)) &&
	       clock_mono_ns() < end)
		nanosleep(&delay, NULL);
	if (stage == STAGE_RUNS)
		return 0;
	rc = stage == STAGE_FAILED
		     ? err_unsupported(
			       err, shared->code,
			       "run as root on a kernel with CONFIG_VETH, CONFIG_NET_NS and "
			       "CONFIG_RPS",
			       "%s", shared->what)
		     : err_set(err, -ETIMEDOUT, "the packet generator did not start within 5 s");
	gen_child_stop(flood);
	return rc;
}

uint64_t flood_sent(const struct gen_child *flood)
{
	const struct shared *shared = flood->shared;

	return __atomic_load_n(&shared->sent, __ATOMIC_RELAXED);
}
