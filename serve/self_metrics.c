/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics about the exporter itself. */
#include "scrape.h"

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
	store_single(&server->own, F_PROC_VIRTUAL, 0)->u64 = size * page;
	store_single(&server->own, F_PROC_RSS, 0)->u64 = resident * page;
}

/* While the kernel does not count (kernel.bpf_stats_enabled is off), there are no series. */
static void collect_bpf(struct server *server)
{
	for (size_t i = 0; i < server->bpf.nr_progs; i++) {
		struct sys_bpf_own_cost cost;
		struct series_row *row;

		if (sys_bpf_own_cost(server->bpf.progs[i], &cost) || !cost.runs)
			continue;
		row = store_row(&server->own, F_BPF_TIME,
				&(struct label)LABEL("program", cost.name), 1);
		store_sample(&server->own, row, F_BPF_TIME, 0)->u64 = cost.run_ns;
		store_sample(&server->own, row, F_BPF_RUNS, 0)->u64 = cost.runs;
	}
}

static void collect_build(struct server *server)
{
	/* The node's name in a cluster; the host name would be the pod's. */
	const char *node = getenv("NODE_NAME");
	struct utsname name;
	const struct label pairs[] = {LABEL("version", SUBTICK_VERSION),
				      LABEL("kernel", name.release), LABEL("machine", name.machine),
				      LABEL("node", node)};
	struct series_row *row;

	if (server->own.tables[F_BUILD].nr || uname(&name))
		return;
	row = store_row(&server->own, F_BUILD, pairs, node && *node ? 4 : 3);
	store_sample(&server->own, row, F_BUILD, 0)->u64 = 1;
}

void self_metrics_collect(struct server *server)
{
	struct store *own = &server->own;
	struct series_row *cuts = store_row(own, F_HTTP_CUT, NULL, 0);

	collect_build(server);
	collect_memory(server);
	collect_bpf(server);
	if (server->bpf.map_bytes)
		store_single(own, F_BPF_MEMORY, 0)->u64 = server->bpf.map_bytes;
	store_single(own, F_PROC_CPU, 0)->u64 = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	store_single(own, F_PROC_START, 0)->u64 = server->start_unix_ns;
	store_single(own, F_HISTORY, 0)->u64 = server->history.bytes;
	/* body_total() includes the kept windows. */
	store_single(own, F_HTTP_RESPONSES, 0)->u64 = body_total() - server->history.bytes;
	store_single(own, F_HTTP_CONNECTIONS, 0)->u64 = server->conns.nr;
	for (int i = 0; i < CONN_NR_CUTS; i++)
		store_sample(own, cuts, F_HTTP_CUT, i)->u64 = server->conns.cut[i];
}
