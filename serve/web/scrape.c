/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Responses to /metrics, and metrics about the exporter itself. */
#include "serve/web/http.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/file.h"
#include "view/prom.h"

static uint64_t number(const char *text, const char *key, int base)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

/* Size of all BPF maps that are mapped into memory, including maps without a descriptor. */
static uint64_t mapped_bytes(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	uint64_t bytes = 0, from, to;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "anon_inode:bpf-map") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
			bytes += to - from;
	if (file)
		fclose(file);
	return bytes;
}

/* Adds the size of BPF map @fd to @mappable if BPF_F_MMAPABLE, else to own->map_bytes. */
static void add_map(struct own_bpf *own, const char *fd, uint64_t *mappable)
{
	char text[1024];

	if (sys_read_file(NULL, SYS_PATH("/proc/self/fdinfo/%s", fd), text, sizeof(text)) < 0)
		return;
	if (number(text, "map_flags:", 16) & BPF_F_MMAPABLE)
		*mappable += number(text, "memlock:", 10);
	else
		own->map_bytes += number(text, "memlock:", 10);
}

void self_bpf_find(struct own_bpf *own)
{
	DIR *dir = opendir("/proc/self/fd");
	uint64_t mappable = 0, mapped = mapped_bytes();
	struct dirent *entry;
	char target[64];
	ssize_t len;

	*own = (struct own_bpf){0};
	while (dir && (entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		if (!strcmp(target, "anon_inode:bpf-prog") && own->nr_progs < BPF_OWN_MAX)
			own->progs[own->nr_progs++] = atoi(entry->d_name);
		else if (!strcmp(target, "anon_inode:bpf-map"))
			add_map(own, entry->d_name, &mappable);
	}
	/* Memory-mapped maps of the runq meter may have no descriptors, so count the mappings. */
	own->map_bytes += mapped > mappable ? mapped : mappable;
	if (dir)
		closedir(dir);
}

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

/* Run times of BPF programs need kernel.bpf_stats_enabled=1; before Linux 5.19 also CAP_BPF. */
static void collect_bpf(struct server *server)
{
	for (size_t i = 0; i < server->bpf.nr_progs; i++) {
		struct bpf_prog_info info = {0};
		__u32 len = sizeof(info);
		struct series_row *row;

		if (bpf_obj_get_info_by_fd(server->bpf.progs[i], &info, &len) || !info.run_cnt)
			continue;
		row = store_row(&server->own, F_BPF_TIME,
				&(struct label)LABEL("program", info.name), 1);
		store_sample(&server->own, row, F_BPF_TIME, 0)->u64 = info.run_time_ns;
		store_sample(&server->own, row, F_BPF_RUNS, 0)->u64 = info.run_cnt;
	}
}

static void collect_build(struct server *server)
{
	/* NODE_NAME is set in a Kubernetes cluster, where the host name is the name of the pod. */
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
	const struct history_files *files = &server->files;
	uint64_t responses;

	collect_build(server);
	collect_memory(server);
	collect_bpf(server);
	if (server->bpf.map_bytes)
		store_single(own, F_BPF_MEMORY, 0)->u64 = server->bpf.map_bytes;
	store_single(own, F_PROC_CPU, 0)->u64 = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	store_single(own, F_PROC_START, 0)->u64 = server->start_unix_ns;
	store_single(own, F_HISTORY, 0)->u64 = server->history.bytes;
	if (server->files.dir >= 0) {
		const uint64_t windows[] = {files->written, files->lost, files->left_out};

		store_single(own, F_HISTORY_FILES, 0)->u64 = files->total;
		for (unsigned int i = 0; i < ARRAY_SIZE(windows); i++)
			store_single(own, F_HISTORY_WINDOWS, i)->u64 = windows[i];
	}
	/* body_total() includes history blocks that are not yet written to disk. Subtract them. */
	responses = body_total();
	for (size_t i = 0; i < HISTORY_COLLECTORS; i++)
		responses -= files->blocks[i].raw ? files->blocks[i].raw->room : 0;
	store_single(own, F_HTTP_RESPONSES, 0)->u64 = responses;
	store_single(own, F_HTTP_CONNECTIONS, 0)->u64 = server->conns.nr;
	for (int i = 0; i < CONN_NR_CUTS; i++)
		store_sample(own, cuts, F_HTTP_CUT, i)->u64 = server->conns.cut[i];
}

static int sink(void *arg, const char *data, size_t len)
{
	struct body *body = arg;

	body_append(body, data, len);
	return body->failed ? -ENOMEM : 0;
}

static struct body *render(struct server *server, enum prom_format format, bool gzip)
{
	struct body *body = body_new(gzip, 1 << 16);
	struct prom *prom = malloc(sizeof(*prom));
	bool complete = false;

	if (body && prom) {
		*prom = (struct prom){.format = format, .sink = sink, .arg = body};
		/* Each table has rows either in the sampler's or in the event loop's store. */
		array_for_each(series, server->store.series, FAMILY_NR) {
			const struct series_table *copy = &server->copy[series->table];

			prom_write(prom, series,
				   copy->nr ? copy : &server->own.tables[series->table]);
		}
		complete = !prom_end(prom);
	}
	free(prom);
	if (complete)
		return body_finish(body);
	body_put(body);
	return NULL;
}

static struct body *refresh(struct server *server, enum prom_format format, bool gzip)
{
	struct body **cached = &server->metrics[format][gzip];

	if (*cached || store_copy(&server->store, server->copy))
		return *cached;
	self_metrics_collect(server);
	*cached = render(server, format, gzip);
	store_copy_done(&server->store);
	return *cached;
}

void scrape_answer(struct server *server, struct request *request)
{
	enum prom_format format = prom_accept(request->accept, server->config.native_histograms);

	answer_body(server, request, prom_content_type(format),
		    refresh(server, format, request_accepts_gzip(request->accept_encoding)),
		    "out of memory");
}

void scrape_forget(struct server *server)
{
	for (int format = 0; format < PROM_NR_FORMATS; format++)
		for (int gzip = 0; gzip < 2; gzip++) {
			body_put(server->metrics[format][gzip]);
			server->metrics[format][gzip] = NULL;
		}
}
