/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metrics about the exporter itself. */
#include "self_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"

static void collect_memory(struct server *server, struct series_row *row)
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
	row_set(row, PROCESS_VIRTUAL, size * page);
	row_set(row, PROCESS_RSS, resident * page);
}

/* While the kernel does not count (kernel.bpf_stats_enabled is off), there are no series. */
static void collect_bpf(struct server *server)
{
	for (size_t i = 0; i < server->bpf.nr_progs; i++) {
		struct sys_bpf_own_cost cost;
		struct series_row *row;

		if (sys_bpf_own_cost(server->bpf.progs[i], &cost) || !cost.runs)
			continue;
		row = store_row(&server->own, STORE_PROGRAMS, labels_hash(HASH_START, cost.name),
				&(struct label){"program", cost.name}, 1);
		row_set(row, PROGRAM_TIME, cost.run_ns);
		row_set(row, PROGRAM_RUNS, cost.runs);
	}
}

static void collect_build(struct server *server)
{
	/* The node's name in a cluster; the host name would be the pod's. */
	const char *node = getenv("NODE_NAME");
	struct utsname name;
	const struct label pairs[] = {{"version", SUBTICK_VERSION},
				      {"kernel", name.release},
				      {"machine", name.machine},
				      {"node", node}};

	if (server->own.tables[STORE_BUILD].nr || uname(&name))
		return;
	row_set(store_row(&server->own, STORE_BUILD, 0, pairs, node && *node ? 4 : 3), 0, 1);
}

_Static_assert(CONN_NR_CUTS == PROCESS_NR_WORDS - PROCESS_CUT, "a word for each reason");

void self_metrics_collect(struct server *server)
{
	struct series_row *row = store_single(&server->own, STORE_PROCESS);

	collect_build(server);
	collect_memory(server, row);
	collect_bpf(server);
	if (server->bpf.map_bytes)
		row_set(row, PROCESS_BPF_MEMORY, server->bpf.map_bytes);
	row_set(row, PROCESS_CPU, clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	row_set(row, PROCESS_START, server->start_unix_ns);
	row_set(row, PROCESS_HISTORY, server->history.bytes);
	/* The kept windows are bodies, too. */
	row_set(row, PROCESS_RESPONSES, body_total() - server->history.bytes);
	row_set(row, PROCESS_CONNECTIONS, server->conns.nr);
	for (int i = 0; i < CONN_NR_CUTS; i++)
		row_set(row, PROCESS_CUT + i, server->conns.cut[i]);
}
