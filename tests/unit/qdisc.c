/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests the netlink request for ETF byte by byte, and restoring the old discipline. */
#include "test.h"

#include <linux/pkt_sched.h>
#include <time.h>

#include "host/qdisc.h"

static const struct rtattr *find_attr(const struct rtnl_request *request, int type)
{
	int len = request->head.nlmsg_len - NLMSG_LENGTH(sizeof(struct tcmsg));

	for (const struct rtattr *a = (const void *)((const char *)&request->tc +
						     NLMSG_ALIGN(sizeof(struct tcmsg)));
	     RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == type)
			return a;
	return NULL;
}

TEST(test_etf_request)
{
	struct qdisc_etf etf = {.ifindex = 5, .delta_ns = 500000000, .offload = true};
	const struct rtattr *options, *parms;
	const struct tc_etf_qopt *qopt;
	struct rtnl_request request;

	qdisc_etf_request(&etf, TC_H_ROOT, &request);
	assert_int_equal(request.head.nlmsg_type, RTM_NEWQDISC);
	assert_true(request.head.nlmsg_flags & NLM_F_ACK && request.head.nlmsg_flags & NLM_F_REPLACE);
	assert_int_equal(request.tc.tcm_ifindex, 5);
	assert_int_equal(request.tc.tcm_parent, TC_H_ROOT);
	assert_string_equal(RTA_DATA(find_attr(&request, TCA_KIND)), "etf");
	options = find_attr(&request, TCA_OPTIONS);
	assert_non_null(options);
	parms = RTA_DATA(options);
	assert_int_equal(parms->rta_type, TCA_ETF_PARMS);
	assert_int_equal(RTA_PAYLOAD(options), RTA_SPACE(sizeof(*qopt)));
	qopt = RTA_DATA(parms);
	assert_int_equal(qopt->delta, 500000000);
	assert_int_equal(qopt->clockid, CLOCK_TAI);
	assert_int_equal(qopt->flags, TC_ETF_OFFLOAD_ON);
	etf.offload = false;
	qdisc_etf_request(&etf, 0x5b710001, &request);
	qopt = RTA_DATA((const struct rtattr *)RTA_DATA(find_attr(&request, TCA_OPTIONS)));
	assert_int_equal(qopt->flags, 0);
	assert_int_equal(request.tc.tcm_parent, 0x5b710001);
}

static struct rtnl_request dumped(int ifindex, uint32_t parent, uint32_t handle, const char *kind,
				  const void *options, size_t len)
{
	struct rtnl_request message;

	rtnl_init(&message, RTM_NEWQDISC, 0, sizeof(struct tcmsg));
	message.tc =
		(struct tcmsg){.tcm_ifindex = ifindex, .tcm_parent = parent, .tcm_handle = handle};
	rtnl_attr(&message, TCA_KIND, kind, strlen(kind) + 1);
	rtnl_attr(&message, TCA_OPTIONS, options, len);
	rtnl_attr(&message, TCA_STATS, "not ours to set", 16);
	return message;
}

TEST(test_look)
{
	struct qdisc_found found = {.ifindex = 5};
	struct rtnl_request message;

	/*
	 * subtick does not restore the kernel's default discipline, disciplines of other devices,
	 * or the default children of mq.
	 */
	message = dumped(5, TC_H_ROOT, 0, "mq", NULL, 0);
	assert_int_equal(qdisc_look(&message.head, &found), 0);
	assert_false(found.own);
	message = dumped(6, TC_H_ROOT, 0x80010000, "fq", "o", 1);
	assert_int_equal(qdisc_look(&message.head, &found), 0);
	message = dumped(5, 1, 0, "fq_codel", NULL, 0);
	assert_int_equal(qdisc_look(&message.head, &found), 0);
	message = dumped(5, TC_H_INGRESS, 0xffff0000, "ingress", NULL, 0);
	assert_int_equal(qdisc_look(&message.head, &found), 0);
	assert_true(!found.own && !found.tree);

	/*
	 * A root discipline that the user configured is restored, without the attributes that only
	 * the kernel sets.
	 */
	message = dumped(5, TC_H_ROOT, 0x80020000, "fq_codel", "0123456789", 10);
	assert_int_equal(qdisc_look(&message.head, &found), 0);
	assert_true(found.own && !found.tree);
	assert_int_equal(found.undo.tc.tcm_handle, 0x80020000);
	assert_string_equal(RTA_DATA(find_attr(&found.undo, TCA_KIND)), "fq_codel");
	assert_int_equal(RTA_PAYLOAD(find_attr(&found.undo, TCA_OPTIONS)), 10);
	assert_null(find_attr(&found.undo, TCA_STATS));
	message = dumped(5, 0x80020001, 0x80030000, "pfifo", NULL, 0);
	assert_int_equal(qdisc_look(&message.head, &found), 0);
	assert_true(found.tree);

	/*
	 * A netlink dump of disciplines has no classes, so a discipline with classes cannot be
	 * restored.
	 */
	found = (struct qdisc_found){.ifindex = 5};
	message = dumped(5, TC_H_ROOT, 0x10000, "htb", "0123456789", 10);
	assert_int_equal(qdisc_look(&message.head, &found), 0);
	assert_true(found.own && found.tree);
}

TEST_MAIN()
