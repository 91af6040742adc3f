/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits connections. evhttp limits neither their number nor the total time of a request: a client
 * that sends a byte now and then keeps its connection forever. evhttp has a callback for new
 * connections (it asks for a bufferevent), but none for closed ones. A connection is closed if the
 * event loop has no event of its bufferevent any more. To close a connection we shut down its
 * socket; evhttp then cleans up.
 */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <linux/sockios.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "base/clock.h"
#include "base/grow.h"

/* An idle client may keep its connection for two scrapes at Prometheus' default interval of 1 min. */
#define KEEP_ALIVE_NS (125 * NSEC_PER_SEC)
/*
 * If there are more connections than the maximum, those whose request is still incomplete after
 * this time are closed. A TCP connection is accepted when its first bytes are there, and most
 * requests are complete then. During that time there may be CONN_MAX_FACTOR times the maximum, as
 * far as descriptors allow; if all of these are busy, new ones wait in the kernel.
 */
#define GRACE_NS (250 * NSEC_PER_MSEC)
/*
 * How long a response may take to send when responses being sent use all the memory allowed. If
 * none takes that long, the slowest connection is closed.
 */
#define RELIEF_NS (2 * NSEC_PER_SEC)
/*
 * More than the header size that evhttp accepts. While it sends a response, evhttp goes on reading
 * to notice a close, and keeps everything that it reads.
 */
#define MAX_UNPARSED (16 * 1024)
/*
 * A request that lies in its socket unread is not late: we are. Between two sweeps libevent reads at
 * least 32 ready connections, then 64, 128 and so on: after seven of them it has come to each of 4,064.
 */
#define FAIR_SWEEPS 8
/* libevent writes 16 KiB per system call unless told otherwise. */
#define MAX_WRITE (1024 * 1024)

static const struct timeval second = {.tv_sec = 1}, soon = {.tv_usec = 100000};

enum rank {
	RANK_SILENT,
	RANK_IDLE,
	RANK_NEW,
	RANK_STALLED,
	RANK_NEVER,
};

static int by_address(const void *a, const void *b)
{
	uintptr_t left = (uintptr_t)*(const void *const *)a;
	uintptr_t right = (uintptr_t)*(const void *const *)b;

	return left < right ? -1 : left > right;
}

static int note_alive(const struct event_base *base, const struct event *event, void *arg)
{
	struct conns *conns = arg;
	const void **alive = grow(conns->alive, conns->nr_alive, sizeof(*alive));

	if (!alive)
		return -1;
	conns->alive = alive;
	conns->alive[conns->nr_alive++] = event_get_callback_arg(event);
	return 0;
}

/*
 * Drops the entries of closed connections. Between two callbacks every connection waits for its
 * peer and so has an event, except a stream with nothing to send. In its own callback a request's
 * connection has none either: evhttp stops reading before it calls and we have written nothing yet.
 * @asking is that connection.
 */
static void refresh(struct conns *conns, const struct bufferevent *asking)
{
	size_t left = 0;

	conns->nr_alive = 0;
	/* Out of memory: then assume that all are still open. */
	if (event_base_foreach_event(conns->base, note_alive, conns))
		return;
	qsort(conns->alive, conns->nr_alive, sizeof(*conns->alive), by_address);
	for (size_t i = 0; i < conns->nr; i++)
		if (conns->list[i].stream || conns->list[i].bev == asking ||
		    bsearch(&conns->list[i].bev, conns->alive, conns->nr_alive,
			    sizeof(*conns->alive), by_address))
			conns->list[left++] = conns->list[i];
	conns->nr = left;
}

/* Call only right after refresh(): the bufferevent must still exist. */
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

/* Whether the socket has bytes that we have not read yet: they may be a request. */
static bool has_unread(const struct conn *conn)
{
	int bytes = 0;

	return !ioctl(bufferevent_getfd(conn->bev), FIONREAD, &bytes) && bytes > 0;
}

/* Whether we, not the client, may be the reason that a request is not complete. */
static bool is_ours(const struct conns *conns, const struct conn *conn, uint64_t now_ns)
{
	return conn->sweeps < FAIR_SWEEPS || now_ns - conn->since_ns <= 2 * conns->timeout_ns;
}

static void conn_check(struct conns *conns, struct conn *conn, uint64_t now_ns)
{
	size_t left = bytes_left(conn);

	if (left != conn->left || !left)
		conn->moved_ns = now_ns;
	conn->left = left;
	if (left && now_ns - conn->moved_ns > conns->timeout_ns)
		conn_cut(conns, conn, CONN_CUT_STALLED);
	else if (!conn->asked && now_ns - conn->since_ns > conns->timeout_ns &&
		 !(has_unread(conn) && is_ours(conns, conn, now_ns)))
		conn_cut(conns, conn, CONN_CUT_SLOW);
	else if (!left && !conn->stream && now_ns - conn->since_ns > KEEP_ALIVE_NS)
		conn_cut(conns, conn, CONN_CUT_SLOW);
	conn->sweeps += conn->sweeps < FAIR_SWEEPS;
}

/*
 * Which to close first: those without a complete request, then idle ones. Only at the hard limit
 * also new ones and those that do not read their response. Never a connection that makes progress.
 */
static int rank(const struct conn *conn, uint64_t now_ns)
{
	if (conn->asked && (conn->stream || bytes_left(conn)))
		return now_ns - conn->moved_ns > GRACE_NS ? RANK_STALLED : RANK_NEVER;
	if (has_unread(conn))
		return RANK_NEVER;
	if (!conn->asked)
		return now_ns - conn->since_ns > GRACE_NS ? RANK_SILENT : RANK_NEW;
	return now_ns - conn->since_ns > GRACE_NS ? RANK_IDLE : RANK_NEW;
}

static size_t nr_doomed(const struct conns *conns)
{
	size_t nr = 0;

	for (size_t i = 0; i < conns->nr; i++)
		nr += conns->list[i].doomed;
	return nr;
}

/*
 * Closes connections of ranks below @ranks, lowest rank and oldest first, until @over of them are
 * closed, including those already shut down.
 */
static void cut_ranks(struct conns *conns, size_t over, int ranks)
{
	uint64_t now_ns = clock_mono_ns();
	size_t gone = nr_doomed(conns);

	over = over > gone ? over - gone : 0;
	for (int pass = 0; over && pass < ranks; pass++)
		for (size_t i = 0; over && i < conns->nr; i++)
			if (rank(&conns->list[i], now_ns) == pass &&
			    conn_cut(conns, &conns->list[i], CONN_CUT_FULL))
				over--;
}

static void set_listening(struct evhttp_bound_socket *bound, void *arg)
{
	struct evconnlistener *listener = evhttp_bound_socket_get_listener(bound);
	const struct conns *conns = arg;

	if (conns->paused)
		evconnlistener_disable(listener);
	else
		evconnlistener_enable(listener);
}

static void pause_accepting(struct conns *conns, bool pause)
{
	if (!pause && !conns->paused)
		return;
	conns->paused = pause;
	evhttp_foreach_bound_socket(conns->http, set_listening, conns);
}

/* The hard limit. */
static size_t most_conns(const struct conns *conns)
{
	size_t most = conns->max * CONN_MAX_FACTOR;

	return conns->files && conns->files < most ? conns->files : most;
}

/*
 * refresh() takes time for each connection, so it is not called for every new one: only on each
 * sweep and at the hard limit, where 1/16 of the connections is closed at once.
 */
static void make_room(struct conns *conns)
{
	size_t most = most_conns(conns);

	refresh(conns, NULL);
	if (conns->nr > conns->max)
		cut_ranks(conns, conns->nr - conns->max, RANK_NEW);
	if (conns->nr >= most)
		cut_ranks(conns, conns->nr - most + most / 16 + 1, RANK_NEVER);
	pause_accepting(conns, conns->nr - nr_doomed(conns) >= most);
}

/* How long the client has been reading its response; 0 if it is not reading one. */
static uint64_t reading_ns(const struct conn *conn, uint64_t now_ns)
{
	return conn->asked && !conn->stream && bytes_left(conn) ? now_ns - conn->since_ns : 0;
}

bool conns_relieve(struct conns *conns, struct evhttp_connection *asking)
{
	uint64_t now_ns = clock_mono_ns();
	struct conn *slowest = NULL;
	bool any = false;

	refresh(conns, evhttp_connection_get_bufferevent(asking));
	for (size_t i = 0; i < conns->nr; i++) {
		struct conn *conn = &conns->list[i];
		uint64_t took_ns = reading_ns(conn, now_ns);

		if (took_ns > RELIEF_NS)
			any |= conn->doomed || conn_cut(conns, conn, CONN_CUT_STALLED);
		else if (took_ns > GRACE_NS && !conn->doomed &&
			 (!slowest || took_ns > reading_ns(slowest, now_ns)))
			slowest = conn;
	}
	return any || (slowest && conn_cut(conns, slowest, CONN_CUT_STALLED));
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct conns *conns = arg;
	uint64_t now_ns = clock_mono_ns();

	refresh(conns, NULL);
	for (size_t i = 0; i < conns->nr; i++)
		conn_check(conns, &conns->list[i], now_ns);
	make_room(conns);
	/* Without connections the timer stops. */
	if (conns->nr)
		event_add(conns->sweep, conns->nr > conns->max ? &soon : &second);
}

/* The callback gets evhttp's argument, not ours: we find ourselves by the sweep's event. */
static int find_sweep(const struct event_base *base, const struct event *event, void *arg)
{
	const struct conns **ret_conns = arg;

	if (event_get_callback(event) == on_sweep)
		*ret_conns = event_get_callback_arg(event);
	return 0;
}

/*
 * While there are connections the sweep is pending. If all listeners are paused because there are
 * too many connections, the sweep ends that pause; without connections there is no such pause.
 */
static void on_pause_over(evutil_socket_t fd, short what, void *listener)
{
	const struct conns *conns = NULL;

	event_base_foreach_event(evconnlistener_get_base(listener), find_sweep, &conns);
	if (!conns || !conns->paused)
		evconnlistener_enable(listener);
}

void conns_accept_failed(struct evconnlistener *listener, void *arg)
{
	static const struct timeval pause = {.tv_usec = 200000};

	evconnlistener_disable(listener);
	event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT, on_pause_over, listener,
			&pause);
}

/* Adds a new connection. An entry with the same bufferevent address is of a closed one; drop it. */
static struct conn *conn_add(struct conns *conns, struct bufferevent *bev)
{
	struct conn *list;

	for (size_t i = 0; i < conns->nr; i++) {
		if (conns->list[i].bev != bev)
			continue;
		memmove(&conns->list[i], &conns->list[i + 1],
			(--conns->nr - i) * sizeof(conns->list[0]));
		break;
	}
	list = grow(conns->list, conns->nr, sizeof(*list));
	if (!list)
		return NULL;
	conns->list = list;
	conns->list[conns->nr] = (struct conn){.bev = bev};
	return &conns->list[conns->nr++];
}

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	struct conns *conns = arg;
	struct bufferevent *bev;
	struct conn *conn;

	/* Make room first: the new connection has no event yet and would look closed. */
	if (conns->nr >= most_conns(conns))
		make_room(conns);
	bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (bev) {
		bufferevent_setwatermark(bev, EV_READ, 0, MAX_UNPARSED);
		bufferevent_set_max_single_write(bev, MAX_WRITE);
	}
	conn = bev ? conn_add(conns, bev) : NULL;
	if (!conn)
		return bev;
	conn->since_ns = conn->moved_ns = clock_mono_ns();
	if (conns->nr == conns->max + 1)
		event_add(conns->sweep, &soon);
	else if (!event_pending(conns->sweep, EV_TIMEOUT, NULL))
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
	conns->nr = 0;
}

void conns_watch(struct conns *conns, struct evhttp *http)
{
	conns->http = http;
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

void conns_cut(struct conns *conns, struct evhttp_connection *connection, enum conn_cut why)
{
	struct conn *conn = find(conns, connection);

	if (conn)
		conn_cut(conns, conn, why);
}

size_t conns_backlog(struct evhttp_connection *connection)
{
	struct bufferevent *bev = evhttp_connection_get_bufferevent(connection);
	int queued = 0;

	/* Of TCP what the client's kernel has not acknowledged, of a unix socket what is unread. */
	if (ioctl(bufferevent_getfd(bev), SIOCOUTQ, &queued) || queued < 0)
		queued = 0;
	return evbuffer_get_length(bufferevent_get_output(bev)) + (size_t)queued;
}

void conns_stream_over(struct conns *conns, struct evhttp_connection *connection)
{
	struct conn *conn = find(conns, connection);

	if (conn)
		conn->stream = false;
}
