/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the exporter: attach, drop privileges, serve, stop. */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "api.h"
#include "base/clock.h"
#include "http.h"
#include "log.h"
#include "history_http.h"
#include "resource_limits.h"
#include "sandbox.h"
#include "scrape.h"
#include "stream.h"
#include "traces.h"

static void on_stop(evutil_socket_t signal, short what, void *arg)
{
	struct server *server = arg;

	log_line("stopping on signal: %s", strsignal(signal));
	event_base_loopbreak(server->base);
}

/* Applies settings that can change while running; logs the first one that needs a restart. */
static void apply_live(struct server *server, struct config *fresh)
{
	struct config *now = &server->config;
	const char *fixed = config_needs_restart(now, fresh);

	if (fixed)
		log_line("%s was changed; restart to apply it", fixed);
	pthread_mutex_lock(&server->store.lock);
	config_swap_live(now, fresh);
	pthread_mutex_unlock(&server->store.lock);
	server->conns.max = now->max_connections;
	server->conns.timeout_ns = now->timeout_ns;
	sampler_wake(&server->sampler);
	http_warn_open(server);
}

static void on_reload(evutil_socket_t signal, short what, void *arg)
{
	struct server *server = arg;
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
		/* A stream is one request: its client may not know the token of now. */
		if (server->auth.changes != changes)
			stream_close(server);
	}
	notify_send(&server->notify, "READY=1");
}

static void on_updated(evutil_socket_t fd, short what, void *arg)
{
	struct server *server = arg;
	uint64_t count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		return;
	scrape_forget(server);
	api_forget(server);
	stream_update(server);
	history_http_update(server);
}

/* Notifies the service manager's watchdog only while windows end. */
static void on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	struct server *server = arg;

	if (sampler_alive(&server->sampler))
		notify_send(&server->notify, "WATCHDOG=1");
}

static int add_event(struct event **at, struct event *event, const struct timeval *after,
		     struct err *err)
{
	if (!event || event_add(event, after))
		return err_set(err, -ENOMEM, "cannot add an event");
	*at = event;
	return 0;
}

static int open_events(struct server *s, struct err *err)
{
	uint64_t beat_ns = s->notify.watchdog_ns / 3;
	struct timeval beat = {.tv_sec = beat_ns / NSEC_PER_SEC,
			       .tv_usec = beat_ns % NSEC_PER_SEC / 1000};
	int rc;

	signal(SIGPIPE, SIG_IGN);
	rc = add_event(&s->signals[0], evsignal_new(s->base, SIGTERM, on_stop, s), NULL, err);
	if (!rc)
		rc = add_event(&s->signals[1], evsignal_new(s->base, SIGINT, on_stop, s), NULL, err);
	if (!rc)
		rc = add_event(&s->signals[2], evsignal_new(s->base, SIGHUP, on_reload, s), NULL,
			       err);
	if (!rc)
		rc = add_event(&s->updated,
			       event_new(s->base, s->sampler.notify_fd, EV_READ | EV_PERSIST,
					 on_updated, s),
			       NULL, err);
	if (!rc && beat_ns)
		rc = add_event(&s->watchdog, event_new(s->base, -1, EV_PERSIST, on_watchdog, s),
			       &beat, err);
	return rc;
}

static void close_events(struct server *s)
{
	struct event *events[] = {s->signals[0], s->signals[1], s->signals[2], s->updated,
				  s->watchdog};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	if (s->base)
		event_base_free(s->base);
}

/* Everything that needs privileges. */
static int attach(struct server *s, struct err *err)
{
	struct resources needs;
	struct err why = {0};
	int rc;

	resources_raise_files(&s->config);
	s->config.no_blame = !s->config.blame_limit;
	rc = auth_read(&s->auth, s->config.token_file, err);
	if (!rc)
		rc = traces_open(s, err);
	if (!rc)
		rc = resources_check_memory(&s->config, &needs, err);
	if (!rc)
		rc = collectors_open(s->collectors, &s->config, err);
	if (!rc)
		rc = resources_check_files(&s->config, &s->conns.files, err);
	if (rc)
		return rc;
	log_line("memory: up to %llu MiB for BPF maps, %llu MiB for series, and 96 MiB for responses "
		 "to clients that read slowly",
		 RESOURCES_MIB(needs.map_bytes), RESOURCES_MIB(needs.heap_bytes));
	store_init(&s->store, &s->config);
	store_init(&s->own, &s->config);
	sys_bpf_own_find(&s->bpf);
	s->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (api_doctor(s, &why))
		log_line("no /api/v1/doctor: %s", why.what);
	if (history_http_open(s))
		return err_set(err, -ENOMEM, "out of memory");
	notify_open(&s->notify);
	s->base = event_base_new();
	if (!s->base)
		return err_set(err, -ENOMEM, "cannot create the event loop");
	rc = http_open(s, err);
	if (!rc)
		rc = sampler_open(&s->sampler, err);
	if (!rc)
		rc = open_events(s, err);
	/* The first call uses system calls that the filter will not allow. */
	self_metrics_collect(s);
	return rc;
}

/*
 * Capabilities belong to threads, so they are dropped before there is a second thread. The filter
 * is installed on all threads, so it comes after that and need not allow creating threads.
 */
static int drop_privileges(struct server *s, struct err *err)
{
	int rc = s->config.no_sandbox ? 0 : sandbox_drop(s->config.user, s->config.keep_bpf, err);

	if (!rc)
		rc = sampler_start(&s->sampler, err);
	if (!rc && !s->config.no_sandbox)
		rc = sandbox_filter(err);
	if (!rc && s->config.no_sandbox)
		log_line("warning: running with all privileges, because of --no-sandbox");
	return rc;
}

int server_run(struct server *s, struct err *err)
{
	int rc;

	/* Responses may be large and rare: return their memory to the system when freed. */
	mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
	s->start_unix_ns = clock_unix_ns();
	s->statm_fd = s->auth.fd = s->notify.fd = s->traces_fd = -1;
	s->sampler = (struct sampler){.collectors = s->collectors,
				      .store = &s->store,
				      .config = &s->config,
				      .wake_fd = -1,
				      .notify_fd = -1,
				      .log = log_line};
	s->conns.max = s->config.max_connections;
	s->conns.timeout_ns = s->config.timeout_ns;
	rc = attach(s, err);
	if (!rc)
		rc = drop_privileges(s, err);
	if (!rc) {
		notify_send(&s->notify, "READY=1");
		if (event_base_dispatch(s->base) < 0)
			rc = err_set(err, -EIO, "the event loop failed");
		notify_send(&s->notify, "STOPPING=1");
	}
	stream_close(s);
	sampler_close(&s->sampler);
	http_close(s);
	scrape_forget(s);
	api_forget(s);
	api_close(s);
	history_http_close(s);
	close_events(s);
	collectors_close(s->collectors);
	for (int i = 0; i < FAMILY_NR; i++)
		series_copy_free(&s->copy[i]);
	store_free(&s->store);
	store_free(&s->own);
	notify_close(&s->notify);
	auth_close(&s->auth);
	traces_close(s);
	if (s->statm_fd >= 0)
		close(s->statm_fd);
	config_free(&s->config);
	return rc;
}
