/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sends rtnetlink requests, sets the ETF qdisc, and saves the previous qdisc as a message. */
#include "host/qdisc.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"

void rtnl_init(struct rtnl_request *request, int type, int flags, size_t body)
{
	memset(request, 0, sizeof(*request));
	request->head.nlmsg_len = NLMSG_LENGTH(body);
	request->head.nlmsg_type = type;
	request->head.nlmsg_flags = NLM_F_REQUEST | flags;
}

struct rtattr *rtnl_attr(struct rtnl_request *request, int type, const void *data, size_t len)
{
	struct rtattr *attr = (void *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));

	attr->rta_type = type;
	attr->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(attr), data, len);
	request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) + RTA_ALIGN(attr->rta_len);
	return attr;
}

void rtnl_nest_end(struct rtnl_request *request, struct rtattr *nest)
{
	nest->rta_len = (char *)request + request->head.nlmsg_len - (char *)nest;
}

int rtnl_talk(const struct nlmsghdr *message)
{
	return rtnl_dump(message, NULL, NULL);
}

int rtnl_dump(const struct nlmsghdr *message,
	      int (*each)(const struct nlmsghdr *message, void *arg), void *arg)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), rc = 0;
	bool done = false;
	char buf[32768];

	if (fd < 0)
		return -errno;
	if (send(fd, message, message->nlmsg_len, 0) < 0)
		rc = -errno;
	while (!rc && !done) {
		ssize_t got = recv(fd, buf, sizeof(buf), 0);
		unsigned int len = got > 0 ? got : 0;

		if (got <= 0)
			rc = got ? -errno : -EPROTO;
		for (const struct nlmsghdr *m = (void *)buf; NLMSG_OK(m, len) && !rc && !done;
		     m = NLMSG_NEXT(m, len)) {
			done = m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR;
			/* An NLMSG_ERROR with error 0 is the acknowledgement of NLM_F_ACK. */
			if (m->nlmsg_type == NLMSG_ERROR)
				rc = ((const struct nlmsgerr *)NLMSG_DATA(m))->error;
			else if (!done)
				rc = each ? each(m, arg) : -EPROTO;
		}
	}
	close(fd);
	return rc;
}

int netdev_ioctl(const char *device, unsigned long command, void *data)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;
	struct ifreq request = {.ifr_data = data};

	if (fd < 0)
		return -errno;
	strncpy(request.ifr_name, device, IFNAMSIZ - 1);
	if (ioctl(fd, command, &request))
		rc = -errno;
	close(fd);
	return rc;
}

#ifndef CLOCK_TAI
#define CLOCK_TAI 11
#endif

/* Handle of the mqprio qdisc of subtick. Handles that the kernel assigns start at 8000:. */
#define MQPRIO_HANDLE (0x5b71u << 16)

/*
 * True for a classless qdisc. A classful qdisc (htb, hfsc …) cannot be restored, because a dump of
 * qdiscs contains no classes.
 */
static bool kind_is_whole(const char *kind)
{
	static const char *const whole[] = {
		"pfifo",    "bfifo", "pfifo_head_drop", "pfifo_fast", "noqueue", "fq",
		"fq_codel", "codel", "fq_pie",		"pie",	      "sfq",	 "cake",
		"etf",	    "mq",
	};

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (!strcmp(kind, whole[i]))
			return true;
	return false;
}

/* Begins a request that adds or replaces a qdisc. */
static void qdisc_new(struct rtnl_request *request, int ifindex, uint32_t parent, uint32_t handle)
{
	rtnl_init(request, RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE,
		  sizeof(struct tcmsg));
	request->tc = (struct tcmsg){
		.tcm_ifindex = ifindex, .tcm_parent = parent, .tcm_handle = handle};
}

int qdisc_look(const struct nlmsghdr *message, void *arg)
{
	struct qdisc_found *found = arg;
	const struct tcmsg *tc = NLMSG_DATA(message);
	int len = message->nlmsg_len - NLMSG_LENGTH(sizeof(*tc));

	if (message->nlmsg_type != RTM_NEWQDISC || tc->tcm_ifindex != found->ifindex)
		return 0;
	if (tc->tcm_parent != TC_H_ROOT) {
		/* The qdiscs clsact and ingress are not part of the egress tree. */
		if (TC_H_MAJ(tc->tcm_handle) && tc->tcm_parent != TC_H_INGRESS)
			found->tree = true;
		return 0;
	}
	/* Handle 0 is the default qdisc, which the kernel restores when the root is deleted. */
	found->own = tc->tcm_handle != 0;
	if (!found->own)
		return 0;
	qdisc_new(&found->undo, tc->tcm_ifindex, TC_H_ROOT, tc->tcm_handle);
	for (const struct rtattr *a = (const void *)((const char *)tc + NLMSG_ALIGN(sizeof(*tc)));
	     RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type != TCA_KIND && a->rta_type != TCA_OPTIONS)
			continue;
		if (a->rta_type == TCA_KIND && !kind_is_whole(RTA_DATA(a)))
			found->tree = true;
		if (found->undo.head.nlmsg_len + RTA_ALIGN(a->rta_len) > sizeof(found->undo))
			return -E2BIG;
		rtnl_attr(&found->undo, a->rta_type, RTA_DATA(a), RTA_PAYLOAD(a));
	}
	return 0;
}

int qdisc_undo(int ifindex, struct rtnl_request *ret_undo, struct err *err)
{
	struct qdisc_found found = {.ifindex = ifindex};
	struct rtnl_request ask;
	int rc;

	rtnl_init(&ask, RTM_GETQDISC, NLM_F_DUMP, sizeof(struct tcmsg));
	ask.tc.tcm_ifindex = ifindex;
	rc = rtnl_dump(&ask.head, qdisc_look, &found);
	if (rc)
		return err_set(err, rc, "cannot list the queueing disciplines: %s", strerror(-rc));
	if (found.own && found.tree)
		return err_set(
			err, -EBUSY,
			"the device has a tree of queueing disciplines that could not be restored: "
			"delete it first (tc qdisc del dev DEVICE root)");
	if (!found.own) {
		rtnl_init(&found.undo, RTM_DELQDISC, NLM_F_ACK, sizeof(struct tcmsg));
		found.undo.tc = (struct tcmsg){.tcm_ifindex = ifindex, .tcm_parent = TC_H_ROOT};
	}
	*ret_undo = found.undo;
	return 0;
}

void qdisc_etf_request(const struct qdisc_etf *etf, uint32_t parent,
		       struct rtnl_request *ret_request)
{
	struct tc_etf_qopt options = {
		.delta = etf->delta_ns,
		.clockid = CLOCK_TAI,
		.flags = etf->offload ? TC_ETF_OFFLOAD_ON : 0,
	};
	struct rtattr *nest;

	qdisc_new(ret_request, etf->ifindex, parent, 0);
	rtnl_attr(ret_request, TCA_KIND, "etf", 4);
	nest = rtnl_attr(ret_request, TCA_OPTIONS, NULL, 0);
	rtnl_attr(ret_request, TCA_ETF_PARMS, &options, sizeof(options));
	rtnl_nest_end(ret_request, nest);
}

/* Queue 0 is for packets of priority QDISC_ETF_PRIORITY, other queues for all other packets. */
static int set_mqprio(const struct qdisc_etf *etf)
{
	struct tc_mqprio_qopt options = {
		.num_tc = 2,
		.count = {1, etf->nr_queues - 1},
		.offset = {0, 1},
	};
	struct rtnl_request request;

	for (int i = 0; i <= TC_QOPT_BITMASK; i++)
		options.prio_tc_map[i] = i != QDISC_ETF_PRIORITY;
	qdisc_new(&request, etf->ifindex, TC_H_ROOT, MQPRIO_HANDLE);
	rtnl_attr(&request, TCA_KIND, "mqprio", 7);
	rtnl_attr(&request, TCA_OPTIONS, &options, sizeof(options));
	return rtnl_talk(&request.head);
}

static int fail(const struct qdisc_etf *etf, int rc, const char *kind, struct err *err)
{
	if (rc == -ENOENT)
		return err_unsupported(
			err, rc,
			"modprobe sch_etf sch_mqprio, or a kernel with CONFIG_NET_SCH_ETF "
			"and CONFIG_NET_SCH_MQPRIO",
			"this kernel has no queueing discipline %s", kind);
	if (rc == -EOPNOTSUPP || (rc == -EINVAL && etf->offload))
		return err_unsupported(
			err, rc,
			"use an Intel i210 (igb), i225 or i226 (igc), or a board with "
			"enetc or stmmac; --software tests the path without a card",
			"%s cannot send at a set time: it refuses ETF offload", etf->device);
	if (rc == -EPERM)
		return err_unsupported(err, rc, "run as root, or with CAP_NET_ADMIN",
				       "not permitted to set a queueing discipline");
	return err_set(err, rc, "cannot set %s on %s: %s", kind, etf->device, strerror(-rc));
}

int qdisc_etf_set(const struct qdisc_etf *etf, struct err *err)
{
	uint32_t parent = TC_H_ROOT;
	struct rtnl_request request;
	int rc;

	if (etf->nr_queues > 1) {
		rc = set_mqprio(etf);
		if (rc)
			return fail(etf, rc, "mqprio", err);
		parent = MQPRIO_HANDLE | 1;
	}
	qdisc_etf_request(etf, parent, &request);
	rc = rtnl_talk(&request.head);
	return rc ? fail(etf, rc, "etf", err) : 0;
}
