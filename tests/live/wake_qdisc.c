/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests that the journal restores the queueing discipline of a network device, with its options. */
#include <linux/pkt_sched.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live.h"
#include "host/qdisc.h"
#include "host/journal.h"
#include "gen/flood.h"

struct seen {
	int ifindex;
	char kind[16];
	uint32_t limit, handle;
};

static int look(const struct nlmsghdr *message, void *arg)
{
	const struct tcmsg *tc = NLMSG_DATA(message);
	int len = message->nlmsg_len - NLMSG_LENGTH(sizeof(*tc));
	struct seen *seen = arg;

	if (tc->tcm_ifindex != seen->ifindex || tc->tcm_parent != TC_H_ROOT)
		return 0;
	seen->handle = tc->tcm_handle;
	for (const struct rtattr *a = (const void *)((const char *)tc + NLMSG_ALIGN(sizeof(*tc)));
	     RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == TCA_KIND)
			snprintf(seen->kind, sizeof(seen->kind), "%s", (const char *)RTA_DATA(a));
		if (a->rta_type == TCA_OPTIONS && RTA_PAYLOAD(a) >= sizeof(struct tc_fifo_qopt))
			seen->limit = ((const struct tc_fifo_qopt *)RTA_DATA(a))->limit;
	}
	return 0;
}

static struct seen root_of(int ifindex)
{
	struct seen seen = {.ifindex = ifindex};
	struct rtnl_request ask;

	rtnl_init(&ask, RTM_GETQDISC, NLM_F_DUMP, sizeof(struct tcmsg));
	rtnl_dump(&ask.head, look, &seen);
	return seen;
}

static int set_fifo(int ifindex, const char *kind, uint32_t limit)
{
	struct tc_fifo_qopt options = {.limit = limit};
	struct rtnl_request request;

	rtnl_init(&request, RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE,
		  sizeof(struct tcmsg));
	request.tc = (struct tcmsg){.tcm_ifindex = ifindex, .tcm_parent = TC_H_ROOT};
	rtnl_attr(&request, TCA_KIND, kind, strlen(kind) + 1);
	rtnl_attr(&request, TCA_OPTIONS, &options, sizeof(options));
	return rtnl_talk(&request.head);
}

/*
 * Replaces the queueing discipline by bfifo, and restores the original queueing discipline from the
 * journal.
 */
static struct seen there_and_back(const char *root, int ifindex)
{
	struct rtnl_request undo;
	struct journal journal;
	struct err err = {0};

	if (!live_ok(!journal_open(&journal, root, &err), "the journal opens %s", err.what))
		return (struct seen){0};
	live_ok(!qdisc_undo(ifindex, &undo, &err) && !journal_netlink(&journal, &undo.head, &err),
		"what is there is kept %s", err.what);
	live_ok(!set_fifo(ifindex, "bfifo", 5555), "another takes its place");
	live_ok(!strcmp(root_of(ifindex).kind, "bfifo"), "and is there");
	journal_close(&journal);
	live_ok(!journal.failed, "nothing failed on the way back");
	return root_of(ifindex);
}

int main(void)
{
	char root[] = "/tmp/subtick-qdisc-XXXXXX", run[64], command[96];
	struct seen before, after;
	struct veth veth;

	if (geteuid())
		live_skip_all("needs root");
	/* The test runs in a private network namespace, so it changes no other device. */
	if (unshare(CLONE_NEWNET))
		live_skip_all("no network namespaces");
	if (veth_create("wk0", "wk1", &veth))
		live_skip_all("no veth");
	if (!mkdtemp(root))
		return 1;
	snprintf(run, sizeof(run), "%s/run", root);
	mkdir(run, 0755);

	before = root_of(veth.ifindex);
	after = there_and_back(root, veth.ifindex);
	live_ok(!strcmp(before.kind, after.kind) && !after.handle, "the default is back (%s)", after.kind);
	if (set_fifo(veth.ifindex, "pfifo", 77)) {
		live_skip("an own discipline", "this kernel has no pfifo");
	} else {
		before = root_of(veth.ifindex);
		after = there_and_back(root, veth.ifindex);
		live_ok(!strcmp(after.kind, "pfifo") && after.limit == 77 &&
				after.handle == before.handle,
			"an own one is back with handle and options (%s, limit %u)", after.kind,
			after.limit);
	}
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		live_note("%s could not be removed", root);
	return live_done();
}
