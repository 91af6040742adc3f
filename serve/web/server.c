/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the exporter: attaches BPF programs, drops privileges, serves clients, and stops. */
#include "serve/web/server.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "host/file.h"
#include "serve/web/http.h"
#include "serve/log.h"
#include "measure/runq/runq.h"
#include "serve/export/resource_limits.h"
#include "serve/sandbox/sandbox.h"

/* Applies live settings, and logs the first changed setting that needs a restart. */
static void apply_live(struct server *server, struct config *fresh)
{
	struct meter *runq = server->collectors.list[CONFIG_COLLECT_runq].meter;
	struct config *now = &server->config;
	const char *fixed = config_needs_restart(now, fresh);

	if (fixed)
		log_line("%s was changed; restart to apply it", fixed);
	store_show_le(&server->store, fresh->le_ns, fresh->nr_le);
	pthread_mutex_lock(&server->store.lock);
	config_swap_live(now, fresh);
	pthread_mutex_unlock(&server->store.lock);
	server->conns.max = now->max_connections;
	server->conns.timeout_ns = now->timeout_ns;
	pthread_mutex_lock(&server->collectors.lock);
	if (runq)
		runq_set_sample(runq, now->sample_ratio);
	pthread_mutex_unlock(&server->collectors.lock);
	sampler_wake(&server->sampler);
	http_warn_open(server);
}

static void reload(struct server *server)
{
	unsigned int changes = server->auth.changes;
	struct config fresh;
	struct err err = {0};

	notify_send(&server->notify, "RELOADING=1");
	if (server->reload(server->reload_arg, &fresh, &err)) {
		log_line("reload failed, keeping the old settings: %s", err.what);
	} else if (auth_read(&server->auth, fresh.token_file, &err)) {
		log_line("reload failed, keeping the old settings: %s", err.what);
		config_free(&fresh);
	} else {
		apply_live(server, &fresh);
		config_free(&fresh);
		log_line("reloaded the settings");
		/* Close the streams, because their clients authenticated with the old token. */
		if (server->auth.changes != changes)
			stream_close(server);
	}
	notify_send(&server->notify, "READY=1");
}

/* Reaps the helper process, the only child. The seccomp filter prevents a restart of the helper. */
static void reap_helper(struct server *server)
{
	if (waitpid(-1, NULL, WNOHANG) <= 0)
		return;
	server->degraded = true;
	log_line("the process that reads names of container runtimes has ended: names of new "
		 "containers stay unknown until a restart");
	notify_send(&server->notify, "STATUS=degraded: no names of new containers");
}

static void on_signal(void *arg)
{
	struct server *server = arg;
	struct signalfd_siginfo info;

	if (read(server->signals.fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		reload(server);
	} else if (info.ssi_signo == SIGCHLD) {
		reap_helper(server);
	} else {
		log_line("stopping on signal: %s", strsignal((int)info.ssi_signo));
		server->stopped = true;
	}
}

static void on_updated(void *arg)
{
	struct server *server = arg;
	uint64_t count;

	if (read(server->updated.fd, &count, sizeof(count)) != sizeof(count))
		return;
	scrape_forget(server);
	for (size_t i = 0; i < CONFIG_NR_COLLECTORS; i++)
		collector_forget_report(&server->collectors.list[i]);
	stream_update(server);
	history_http_update(server);
}

static int open_events(struct server *s, struct err *err)
{
	static const int handled[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	for (size_t i = 0; i < ARRAY_SIZE(handled); i++)
		sigaddset(&signals, handled[i]);
	/* Threads inherit the signal mask. */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	s->signals = (struct source){.fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK),
				     .ready = on_signal,
				     .arg = s};
	s->updated = (struct source){.fd = s->sampler.notify_fd, .ready = on_updated, .arg = s};
	if (source_want(s->loop, &s->signals, EPOLLIN) ||
	    source_want(s->loop, &s->updated, EPOLLIN))
		return err_set(err, -ENOMEM, "cannot add an event: %s", strerror(errno));
	return 0;
}

/* Returns the earlier of two deadlines. A deadline of 0 means no deadline. */
static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a && (!b || a < b) ? a : b;
}

static int run(struct server *s)
{
	uint64_t beat_ns = s->notify.watchdog_ns / 3, now_ns = clock_mono_ns();
	uint64_t next_ns = beat_ns ? now_ns + beat_ns : 0;
	int rc = 0;

	/* The helper may have exited before SIGCHLD was blocked. */
	reap_helper(s);
	while (!s->stopped && !rc) {
		rc = loop_step(s->loop, earlier(next_ns, s->conns.sweep_ns));
		now_ns = clock_mono_ns();
		if (s->conns.sweep_ns && now_ns >= s->conns.sweep_ns)
			conns_sweep(&s->conns, now_ns);
		conns_reap(&s->conns);
		if (!next_ns || now_ns < next_ns)
			continue;
		next_ns = now_ns + beat_ns;
		/* Without WATCHDOG=1 the service manager restarts the exporter. */
		if (sampler_alive(&s->sampler))
			notify_send(&s->notify, "WATCHDOG=1");
	}
	return rc;
}

static int history_open(struct server *s, struct err *err)
{
	uid_t uid = 0;
	gid_t gid = 0;
	int rc = 0;

	s->files.keep = &s->config.keep;
	if (!s->config.history)
		return 0;
	if (!s->config.no_sandbox && !geteuid())
		rc = sandbox_user(s->config.user, &uid, &gid, err);
	return rc ? rc : history_files_open(&s->files, s->config.history, uid, gid, err);
}

/* Runs the start-up steps that need privileges. */
static int attach(struct server *s, struct err *err)
{
	struct resources needs;
	struct err why = {0};
	int rc;

	sys_more_descriptors();
	s->config.no_blame = !s->config.blame_limit;
	rc = auth_read(&s->auth, s->config.token_file, err) ?: traces_open(s, err) ?:
	     history_open(s, err) ?: resources_check_memory(&s->config, &needs, err) ?:
	     collectors_open(&s->collectors, &s->config, err) ?:
	     resources_check_files(&s->config, err);
	if (rc)
		return rc;
	log_line("memory: up to %llu MiB for BPF maps, %llu MiB for series, and 96 MiB for "
		 "responses "
		 "to clients that read slowly",
		 RESOURCES_MIB(needs.map_bytes), RESOURCES_MIB(needs.heap_bytes));
	store_init(&s->store, &s->config);
	store_init(&s->own, &s->config);
	collectors_add_refused(&s->collectors, &s->store);
	self_bpf_find(&s->bpf);
	s->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (api_doctor(s, &why))
		log_line("no /api/v1/doctor: %s", why.what);
	if (history_http_open(s))
		return err_set(err, -ENOMEM, "out of memory");
	notify_open(&s->notify);
	s->loop = epoll_create1(EPOLL_CLOEXEC);
	if (s->loop < 0)
		return err_set(err, -errno, "cannot create the event loop: %s", strerror(errno));
	rc = http_open(s, err) ?: sampler_open(&s->sampler, err) ?: open_events(s, err);
	/* The first call makes system calls that the seccomp filter refuses. */
	self_metrics_collect(s);
	return rc;
}

/*
 * Capabilities are per thread, so drop them before the sampler's thread starts. The seccomp filter
 * refuses new threads, so install the filter on all threads after the sampler's thread starts.
 */
static int drop_privileges(struct server *s, struct err *err)
{
	int rc = s->config.no_sandbox ? 0 : sandbox_drop(s->config.user, s->config.keep_bpf, err);

	if (!rc && s->config.history)
		rc = history_files_start(&s->files, s->config.history, err);
	if (!rc && s->config.history && !s->config.no_sandbox)
		rc = sandbox_confine(s->files.dir, err);
	if (!rc)
		rc = sampler_start(&s->sampler, err);
	if (!rc && !s->config.no_sandbox)
		rc = sandbox_filter(s->files.dir, err);
	if (!rc && s->config.no_sandbox)
		log_line("warning: running with all privileges, because of --no-sandbox");
	return rc;
}

int server_run(struct server *s, struct err *err)
{
	int rc;

	/* Allocations above 1 MiB use mmap(), so that free() returns their memory to the kernel. */
	mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
	s->start_unix_ns = clock_unix_ns();
	s->statm_fd = s->auth.fd = s->notify.fd = s->traces_fd = s->loop = -1;
	s->files.dir = s->files.fd = -1;
	s->signals.fd = -1;
	s->sampler = (struct sampler){.collectors = &s->collectors,
				      .store = &s->store,
				      .config = &s->config,
				      .wake_fd = -1,
				      .notify_fd = -1};
	s->conns.max = s->config.max_connections;
	s->conns.timeout_ns = s->config.timeout_ns;
	rc = attach(s, err);
	if (!rc)
		rc = drop_privileges(s, err);
	if (!rc) {
		notify_send(&s->notify, "READY=1");
		rc = run(s);
		if (rc)
			err_set(err, rc, "the event loop failed: %s", strerror(-rc));
		notify_send(&s->notify, "STOPPING=1");
	}
	conns_free(&s->conns);
	sampler_close(&s->sampler);
	scrape_forget(s);
	api_close(s);
	history_http_close(s);
	source_close(&s->signals);
	fd_close(&s->loop);
	collectors_close(&s->collectors);
	for (int i = 0; i < FAMILY_NR; i++)
		series_copy_free(&s->copy[i]);
	store_free(&s->store);
	store_free(&s->own);
	fd_close(&s->notify.fd);
	auth_close(&s->auth);
	fd_close(&s->traces_fd);
	fd_close(&s->statm_fd);
	config_free(&s->config);
	return rc;
}
