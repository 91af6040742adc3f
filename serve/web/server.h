/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a running exporter. */
#ifndef SUBTICK_SERVE_SERVER_H
#define SUBTICK_SERVE_SERVER_H

#include <stdint.h>

#include "serve/http/auth.h"
#include "serve/http/body.h"
#include "serve/export/collector.h"
#include "serve/config.h"
#include "serve/http/conn.h"
#include "serve/export/history.h"
#include "serve/history_file.h"
#include "serve/export/sampler.h"
#include "serve/log.h"
#include "serve/export/store.h"
#include "view/prom.h"

#define SERVER_MAX_STREAMS    64

/* Maximum number of BPF programs of this process. */
#define BPF_OWN_MAX 64

struct own_bpf {
	int progs[BPF_OWN_MAX]; /* descriptors of the BPF programs, owned by the meters */
	size_t nr_progs;
	uint64_t map_bytes;
};

/* A response of /metrics that is shared until scrape_forget(). */
struct cached {
	struct body *body;
	size_t room; /* size in bytes of the last body, used as the estimate for the next body */
};

struct server {
	struct config config;
	struct auth auth;
	struct store store;
	struct collectors collectors;
	struct sampler sampler;
	struct notify notify;
	struct own_bpf bpf;
	int statm_fd; /* descriptor of /proc/self/statm, opened before the user changes */
	uint64_t start_unix_ns;

	int loop; /* epoll descriptor of the event loop */
	bool stopped;
	/* the helper process has exited, so the names of new containers stay unknown */
	bool degraded;
	struct conns conns;
	struct source signals, updated;

	/* copy of the store for scrapes; not freed between scrapes, to reuse its memory */
	struct series_table copy[FAMILY_NR];
	struct store own;	       /* counters of the event loop's thread */
	/* cached responses of /metrics, indexed by format and by gzip (0 or 1) */
	struct cached metrics[PROM_NR_FORMATS][2];
	struct body *doctor[2];
	struct body *host[2];
	char machine[512]; /* description of the machine for the HTML report */
	struct history history;
	struct history_files files;
	/* for each collector, window_seq of the last window written to history files */
	uint64_t files_seq[CONFIG_NR_COLLECTORS];
	/* descriptor of the directory of trace recordings; -1 if recordings are not served */
	int traces_fd;

	/* Reads the settings again after SIGHUP; set by cmd/serve.c. */
	int (*reload)(void *arg, struct config *ret_config, struct err *err);
	void *reload_arg;
	int (*doctor_report)(struct report **ret_report, struct err *err);
};

/* Runs the exporter until SIGTERM or SIGINT. Owns and frees server->config. */
int server_run(struct server *server, struct err *err);

#endif
