/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics about the exporter itself. */
#include "self.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"

static void collect_memory(struct server *server)
{
	unsigned long long size = 0, resident = 0;
	long page = sysconf(_SC_PAGESIZE);
	char text[128];
	ssize_t len = pread(server->statm_fd, text, sizeof(text) - 1, 0);

	if (len <= 0)
		return;
	text[len] = '\0';
	if (sscanf(text, "%llu %llu", &size, &resident) != 2)
		return;
	store_set(&server->own, F_PROC_VIRTUAL, "", size * page);
	store_set(&server->own, F_PROC_RSS, "", resident * page);
}

/* While the kernel does not count (kernel.bpf_stats_enabled is off), there are no series. */
static void collect_bpf(struct server *server)
{
	for (size_t i = 0; i < server->bpf.nr_progs; i++) {
		struct sys_bpf_own_cost cost;
		char *labels;

		if (sys_bpf_own_cost(server->bpf.progs[i], &cost) || !cost.runs)
			continue;
		labels = prom_labels("program", cost.name, NULL);
		store_set(&server->own, F_BPF_TIME, labels, cost.run_ns);
		store_set(&server->own, F_BPF_RUNS, labels, cost.runs);
		free(labels);
	}
	if (server->bpf.map_bytes)
		store_set(&server->own, F_BPF_MEMORY, "", server->bpf.map_bytes);
}

static void collect_build(struct server *server)
{
	/* The node's name in a cluster; the host name would be the pod's. */
	const char *node = getenv("NODE_NAME");
	struct utsname name;
	char *labels;

	if (server->own.series[F_BUILD].nr || uname(&name))
		return;
	labels = prom_labels("version", SUBTICK_VERSION, "kernel", name.release, "machine",
			     name.machine, node && *node ? "node" : NULL, node, NULL);
	store_set(&server->own, F_BUILD, labels, 1);
	free(labels);
}

void self_collect(struct server *server)
{
	static const char *const cuts[CONN_NR_CUTS] = {
		[CONN_CUT_SLOW] = "reason=\"slow\"",
		[CONN_CUT_FULL] = "reason=\"full\"",
		[CONN_CUT_STALLED] = "reason=\"stalled\"",
	};

	collect_build(server);
	collect_memory(server);
	collect_bpf(server);
	store_set(&server->own, F_PROC_CPU, "", clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	store_set(&server->own, F_PROC_START, "", server->start_unix_ns);
	store_set(&server->own, F_HISTORY, "", server->history.bytes);
	/* The kept windows are bodies, too. */
	store_set(&server->own, F_HTTP_RESPONSES, "", body_total() - server->history.bytes);
	store_set(&server->own, F_HTTP_CONNECTIONS, "", server->conns.nr);
	for (int i = 0; i < CONN_NR_CUTS; i++)
		store_set(&server->own, F_HTTP_CUT, cuts[i], server->conns.cut[i]);
}
