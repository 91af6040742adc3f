/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evhttp limits neither connections nor the whole time of a request: a byte now and then keeps a
 * connection for ever. It tells of each one's beginning, when it asks for a bufferevent, but not
 * of the end; that shows in the loop, which then has no event of that bufferevent any more. Those
 * to be ended are shut down, and evhttp cleans up after them.
 */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>

#include "base/clock.h"

/* A client that asked before may keep its connection for two scrapes at Prometheus' default. */
#define KEEP_ALIVE_NS (125 * NSEC_PER_SEC)
/*
 * When there are too many, those who have not asked by now go: a proper client sends its request
 * as soon as it is connected. Until then there may be this many times the maximum.
 */
#define GRACE_NS   (250 * NSEC_PER_MSEC)
#define MAX_FACTOR 4

static int by_address(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)*(const void *const *)a;
	uintptr_t right = (uintptr_t)*(const void *const *)b;

	return left < right ? -1 : left > right;
}

static int note_alive(const struct event_base *base, const struct event *event, void *arg)
{
	struct conns *conns = arg;

	(void)base;
	if (conns->nr_alive == conns->room_alive) {
		size_t room = conns->room_alive ? conns->room_alive * 2 : 64;
		const void **bigger = reallocarray(conns->alive, room, sizeof(*bigger));

		if (!bigger)
			return -1;
		conns->alive = bigger;
		conns->room_alive = room;
	}
	conns->alive[conns->nr_alive++] = event_get_callback_arg(event);
	return 0;
}

/*
 * Between two callbacks every connection waits for its peer and so has an event, but for a stream
 * with nothing to send.
 */
static void refresh(struct conns *conns)
{
	size_t left = 0;

	conns->nr_alive = 0;
	/* Without memory nobody is known to be gone. */
	if (event_base_foreach_event(conns->base, note_alive, conns))
		return;
	qsort(conns->alive, conns->nr_alive, sizeof(*conns->alive), by_address);
	for (size_t i = 0; i < conns->nr; i++)
		if (conns->list[i].stream ||
		    bsearch(&conns->list[i].bev, conns->alive, conns->nr_alive,
			    sizeof(*conns->alive), by_address))
			conns->list[left++] = conns->list[i];
	conns->nr = left;
}

/* Only right after a refresh: the bufferevent must be there. */
static bool conn_cut(struct conns *conns, struct conn *conn, enum conn_cut why)
{
	int fd = conn->doomed ? -1 : bufferevent_getfd(conn->bev);

	if (fd < 0)
		return false;
	conn->doomed = true;
	conns->cut[why]++;
	shutdown(fd, SHUT_RDWR);
	return true;
}

static size_t bytes_left(const struct conn *conn)
{
	return evbuffer_get_length(bufferevent_get_output(conn->bev));
}

static void conn_check(struct conns *conns, struct conn *conn, uint64_t now_ns)
{
	size_t left = bytes_left(conn);

	if (left != conn->left || !left)
		conn->moved_ns = now_ns;
	conn->left = left;
	if (left && now_ns - conn->moved_ns > conns->timeout_ns)
		conn_cut(conns, conn, CONN_CUT_STALLED);
	else if (!conn->asked && now_ns - conn->since_ns > conns->timeout_ns)
		conn_cut(conns, conn, CONN_CUT_SLOW);
	else if (!left && !conn->stream && now_ns - conn->since_ns > KEEP_ALIVE_NS)
		conn_cut(conns, conn, CONN_CUT_SLOW);
}

/* Which to end first: those that have not asked, then idle ones; others only in need. */
static int rank(const struct conn *conn, uint64_t now_ns)
{
	if (!conn->asked)
		return now_ns - conn->since_ns > GRACE_NS ? 0 : 2;
	return conn->stream || bytes_left(conn) || now_ns - conn->since_ns < GRACE_NS ? 3 : 1;
}

static void cut_ranks(struct conns *conns, size_t over, int ranks)
{
	uint64_t now_ns = clock_mono_ns();

	for (size_t i = 0; over && i < conns->nr; i++)
		over -= conns->list[i].doomed;
	for (int pass = 0; over && pass < ranks; pass++)
		for (size_t i = 0; over && i < conns->nr; i++)
			if (rank(&conns->list[i], now_ns) == pass &&
			    conn_cut(conns, &conns->list[i], CONN_CUT_FULL))
				over--;
}

static void enforce_max(struct conns *conns)
{
	size_t most = conns->max * MAX_FACTOR;

	if (conns->nr <= conns->max)
		return;
	refresh(conns);
	if (conns->nr > conns->max)
		cut_ranks(conns, conns->nr - conns->max, 2);
	if (conns->nr > most)
		cut_ranks(conns, conns->nr - most, 4);
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval second = {.tv_sec = 1}, soon = {.tv_usec = 100000};
	struct conns *conns = arg;
	uint64_t now_ns = clock_mono_ns();

	(void)fd;
	(void)what;
	refresh(conns);
	for (size_t i = 0; i < conns->nr; i++)
		conn_check(conns, &conns->list[i], now_ns);
	enforce_max(conns);
	/* Without connections there is nothing to wake up for. */
	if (conns->nr)
		event_add(conns->sweep, conns->nr > conns->max ? &soon : &second);
}

/* The entry of a new connection; an old one of the same address belongs to one that has ended. */
static struct conn *conn_add(struct conns *conns, struct bufferevent *bev)
{
	for (size_t i = 0; i < conns->nr; i++) {
		if (conns->list[i].bev != bev)
			continue;
		memmove(&conns->list[i], &conns->list[i + 1],
			(--conns->nr - i) * sizeof(conns->list[0]));
		break;
	}
	if (conns->nr == conns->room) {
		size_t room = conns->room ? conns->room * 2 : 64;
		struct conn *bigger = reallocarray(conns->list, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		conns->list = bigger;
		conns->room = room;
	}
	conns->list[conns->nr] = (struct conn){.bev = bev};
	return &conns->list[conns->nr++];
}

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	static const struct timeval second = {.tv_sec = 1};
	struct conns *conns = arg;
	struct bufferevent *bev;
	struct conn *conn;

	/* Room is made before: the new one has no event in the loop yet and would look gone. */
	enforce_max(conns);
	bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	conn = bev ? conn_add(conns, bev) : NULL;
	if (!conn)
		return bev;
	conn->since_ns = conn->moved_ns = clock_mono_ns();
	if (!event_pending(conns->sweep, EV_TIMEOUT, NULL))
		event_add(conns->sweep, &second);
	return bev;
}

int conns_init(struct conns *conns, struct event_base *base)
{
	conns->base = base;
	conns->sweep = evtimer_new(base, on_sweep, conns);
	return conns->sweep ? 0 : -ENOMEM;
}

void conns_free(struct conns *conns)
{
	if (conns->sweep)
		event_free(conns->sweep);
	conns->sweep = NULL;
	free(conns->list);
	free(conns->alive);
	conns->list = NULL;
	conns->alive = NULL;
	conns->nr = conns->room = conns->room_alive = 0;
}

void conns_watch(struct conns *conns, struct evhttp *http)
{
	evhttp_set_bevcb(http, on_connection, conns);
}

static struct conn *find(struct conns *conns, struct evhttp_connection *connection)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(connection);

	for (size_t i = conns->nr; i-- > 0;)
		if (conns->list[i].bev == bev)
			return &conns->list[i];
	return NULL;
}

void conns_asked(struct conns *conns, struct evhttp_connection *connection, bool stream)
{
	struct conn *conn = find(conns, connection);

	if (!conn)
		return;
	conn->asked = true;
	conn->stream = stream;
	conn->since_ns = conn->moved_ns = clock_mono_ns();
}

void conns_stream_over(struct conns *conns, struct evhttp_connection *connection)
{
	struct conn *conn = find(conns, connection);

	if (conn)
		conn->stream = false;
}
