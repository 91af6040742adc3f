/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evhttp neither limits connections nor the whole time of a request: a byte now and then keeps a
 * connection for ever. A filter that passes everything through tells us of each one's beginning
 * and end; those to be ended are shut down, and evhttp cleans up after them.
 */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>

#include "base/clock.h"

/* A client that asked before may keep its connection for two scrapes at Prometheus' default. */
#define KEEP_ALIVE_NS (125 * NSEC_PER_SEC)

static void conn_cut(struct conn *conn, enum conn_cut why)
{
	if (conn->doomed || bufferevent_getfd(conn->inner) < 0)
		return;
	conn->doomed = true;
	conn->all->cut[why]++;
	shutdown(bufferevent_getfd(conn->inner), SHUT_RDWR);
}

static size_t bytes_left(const struct conn *conn)
{
	return evbuffer_get_length(bufferevent_get_output(conn->inner)) +
	       evbuffer_get_length(bufferevent_get_output(conn->outer));
}

static void conn_check(struct conn *conn, uint64_t now_ns)
{
	uint64_t timeout_ns = conn->all->timeout_ns;
	size_t left = bytes_left(conn);

	if (left != conn->left || !left)
		conn->moved_ns = now_ns;
	conn->left = left;
	if (left && now_ns - conn->moved_ns > timeout_ns)
		conn_cut(conn, CONN_CUT_STALLED);
	else if (!conn->asked && now_ns - conn->since_ns > timeout_ns)
		conn_cut(conn, CONN_CUT_SLOW);
	else if (!left && !conn->stream && now_ns - conn->since_ns > KEEP_ALIVE_NS)
		conn_cut(conn, CONN_CUT_SLOW);
}

static void enforce_max(struct conns *conns);

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval second = {.tv_sec = 1};
	struct conns *conns = arg;
	uint64_t now_ns = clock_mono_ns();

	(void)fd;
	(void)what;
	for (struct conn *conn = conns->first; conn; conn = conn->next)
		conn_check(conn, now_ns);
	enforce_max(conns);
	/* Without connections there is nothing to wake up for. */
	if (conns->nr)
		event_add(conns->sweep, &second);
}

static void conn_end(void *arg)
{
	struct conn *conn = arg;
	struct conns *conns = conn->all;

	*(conn->prev ? &conn->prev->next : &conns->first) = conn->next;
	*(conn->next ? &conn->next->prev : &conns->last) = conn->prev;
	conns->nr--;
	free(conn);
}

/* Those that have not asked for anything go first, the oldest of them; then the idle ones. */
static void enforce_max(struct conns *conns)
{
	size_t over = conns->nr > conns->max ? conns->nr - conns->max : 0;

	for (struct conn *conn = conns->first; over && conn; conn = conn->next)
		over -= conn->doomed;
	for (int pass = 0; over && pass < 2; pass++)
		for (struct conn *conn = conns->first; over && conn; conn = conn->next) {
			if (conn->doomed || bufferevent_getfd(conn->inner) < 0)
				continue;
			if (pass == 0 ? conn->asked : conn->stream || bytes_left(conn))
				continue;
			conn_cut(conn, CONN_CUT_FULL);
			over--;
		}
	/* What is left are answers under way; the newest of them has to wait for another time. */
	for (struct conn *conn = conns->last; over && conn; conn = conn->prev) {
		if (conn->doomed || bufferevent_getfd(conn->inner) < 0)
			continue;
		conn_cut(conn, CONN_CUT_FULL);
		over--;
	}
}

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	static const struct timeval second = {.tv_sec = 1};
	struct conns *conns = arg;
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->inner = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	conn->outer = conn->inner ? bufferevent_filter_new(conn->inner, NULL, NULL,
							   BEV_OPT_CLOSE_ON_FREE, conn_end, conn) :
				    NULL;
	if (!conn->outer) {
		if (conn->inner)
			bufferevent_free(conn->inner);
		free(conn);
		return NULL;
	}
	conn->all = conns;
	conn->since_ns = conn->moved_ns = clock_mono_ns();
	conn->prev = conns->last;
	*(conns->last ? &conns->last->next : &conns->first) = conn;
	conns->last = conn;
	conns->nr++;
	enforce_max(conns);
	if (!event_pending(conns->sweep, EV_TIMEOUT, NULL))
		event_add(conns->sweep, &second);
	return conn->outer;
}

int conns_init(struct conns *conns, struct event_base *base)
{
	conns->sweep = evtimer_new(base, on_sweep, conns);
	return conns->sweep ? 0 : -ENOMEM;
}

void conns_free(struct conns *conns)
{
	if (conns->sweep)
		event_free(conns->sweep);
	conns->sweep = NULL;
}

void conns_watch(struct conns *conns, struct evhttp *http)
{
	evhttp_set_bevcb(http, on_connection, conns);
}

void conns_asked(struct conns *conns, struct evhttp_connection *connection, bool stream)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(connection);

	for (struct conn *conn = conns->last; conn; conn = conn->prev) {
		if (conn->outer != bev)
			continue;
		conn->asked = true;
		conn->stream = stream;
		conn->since_ns = conn->moved_ns = clock_mono_ns();
		return;
	}
}
