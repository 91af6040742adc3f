/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Accepts connections, and closes connections that exceed a limit. */
#include "serve/http/conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

/* Timeout of an idle connection: two scrapes at Prometheus' default interval of 1 min. */
#define KEEP_ALIVE_NS (125 * NSEC_PER_SEC)
/* At the limit of connections, a client that received nothing for GRACE_NS may be disconnected. */
#define GRACE_NS (250 * NSEC_PER_MSEC)
/* Maximum time for sending a response while all responses together exceed the memory limit. */
#define SHED_NS (2 * NSEC_PER_SEC)
/*
 * Interval of comments on an idle stream. If the client has disappeared, the comment is not
 * acknowledged, and the kernel closes the connection.
 */
#define HEARTBEAT_NS (15 * NSEC_PER_SEC)
/* Maximum number of connections accepted per event, so that other sources are served in between. */
#define MAX_ACCEPT 64

/* At the limit of connections, the connection with the lowest rank is closed first. */
enum rank {
	RANK_SILENT,  /* the client has sent no complete request, or does not read the response */
	RANK_IDLE,    /* the connection is idle between two requests */
	RANK_STALLED, /* the client has received no byte of the response for GRACE_NS */
	RANK_NEVER,
};

static void pause_accepting(struct conns *conns, bool pause)
{
	conns->paused = pause;
	for (size_t i = 0; i < conns->nr_listeners; i++)
		source_want(conns->loop, &conns->listeners[i].source, pause ? 0 : EPOLLIN);
}

void conns_reap(struct conns *conns)
{
	struct conn *conn, *next;

	if (conns->nr_dead && conns->paused)
		pause_accepting(conns, false);
	for (conn = TAILQ_FIRST(&conns->list); conn && conns->nr_dead; conn = next) {
		next = TAILQ_NEXT(conn, list);
		if (conn_is_open(conn))
			continue;
		TAILQ_REMOVE(&conns->list, conn, list);
		free(conn);
		conns->nr_dead--;
	}
}

size_t conns_held(const struct conns *conns)
{
	return body_total() + conns->nr_blocked * ADDRESS_SEND_MEMORY;
}

static bool is_idle(const struct conn *conn)
{
	return conn->asked && !conn->in_len && !conn->closing;
}

static int rank(const struct conn *conn, uint64_t now_ns)
{
	if (!conn_is_open(conn))
		return RANK_NEVER;
	if (conn->stream || conn->nr_out)
		return now_ns - conn->progress_ns > GRACE_NS ? RANK_STALLED : RANK_NEVER;
	return is_idle(conn) && !conn->backlog ? RANK_IDLE : RANK_SILENT;
}

/*
 * Closes the connection unless a request has arrived. A request may have arrived in time while the
 * event loop was late.
 */
static void cut_unless_ready(struct conn *conn, enum conn_cut why)
{
	uint64_t since_ns = conn->since_ns;

	if (!conn->nr_out)
		conn_ready(conn);
	if (conn->since_ns == since_ns)
		conn_cut(conn, why);
}

/*
 * Closes the connection with the lowest rank. Among equal ranks, closes the oldest connection of
 * the client with the most connections. If a request has arrived on this connection, answers the
 * request and does not close the connection. Returns false if no connection may be closed.
 */
static bool make_room(struct conns *conns)
{
	uint64_t now_ns = clock_mono_ns();
	struct conn *worst = NULL;
	int worst_rank = RANK_NEVER;

	conns_for_each(conn, conns) {
		int its = rank(conn, now_ns);

		if (its < worst_rank || (worst && its == worst_rank &&
					 conns->peers[conn->peer] > conns->peers[worst->peer])) {
			worst = conn;
			worst_rank = its;
		}
	}
	if (worst)
		cut_unless_ready(worst, CONN_CUT_FULL);
	return worst;
}

bool conns_shed(struct conns *conns, const struct conn *asking)
{
	uint64_t now_ns = clock_mono_ns();
	struct conn *slowest = NULL;
	bool any = false;

	conns_for_each(conn, conns) {
		if (conn == asking || conn->stream || !conn->nr_out)
			continue;
		if (now_ns - conn->since_ns > SHED_NS) {
			conn_cut(conn, CONN_CUT_STALLED);
			any = true;
		} else if (now_ns - conn->since_ns > GRACE_NS &&
			   (!slowest || conn->since_ns < slowest->since_ns)) {
			slowest = conn;
		}
	}
	if (!any && slowest)
		conn_cut(slowest, CONN_CUT_STALLED);
	return any || slowest;
}

static void heartbeat(struct conn *conn)
{
	struct body *body = body_of(false, ":\n\n", 3);

	if (!body)
		return;
	conn_queue(conn, body);
	conn_flush(conn);
	body_put(body);
}

static void check(struct conn *conn, uint64_t now_ns)
{
	uint64_t timeout_ns = conn->conns->timeout_ns;

	conn_update_backlog(conn, now_ns);
	if (conn->eof && !conn->backlog)
		conn_close(conn);
	else if (conn->backlog && now_ns - conn->progress_ns > timeout_ns)
		conn_cut(conn, CONN_CUT_STALLED);
	else if (conn->stream && now_ns - conn->sent_ns > HEARTBEAT_NS)
		heartbeat(conn);
	else if (!conn->stream && !conn->nr_out &&
		 now_ns - conn->since_ns > (is_idle(conn) ? KEEP_ALIVE_NS : timeout_ns))
		cut_unless_ready(conn, CONN_CUT_SLOW);
}

void conns_sweep(struct conns *conns, uint64_t now_ns)
{
	conns_for_each(conn, conns)
		if (conn_is_open(conn))
			check(conn, now_ns);
	if (conns->paused)
		pause_accepting(conns, false);
	conns->sweep_ns = conns->nr ? now_ns + NSEC_PER_SEC : 0;
}

/*
 * Returns the index of the connection counter of a client. An IPv6 /64 network counts as one
 * client, and all clients of a unix socket count as one client.
 */
static uint8_t peer_of(const struct sockaddr_storage *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	uint64_t hash = 0;

	if (address->ss_family == AF_INET)
		hash = hash_bytes(HASH_START, &in->sin_addr, sizeof(in->sin_addr));
	else if (address->ss_family == AF_INET6)
		hash = hash_bytes(HASH_START, &in6->sin6_addr, 8);
	return (hash ^ hash >> 32) % CONN_PEERS;
}

static void add(struct conns *conns, int fd, const struct sockaddr_storage *address)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		close(fd);
		return;
	}
	conn->conns = conns;
	conn->source = (struct source){.fd = fd, .ready = conn_ready, .arg = conn};
	conn->since_ns = conn->progress_ns = clock_mono_ns();
	conn->peer = peer_of(address);
	conns->peers[conn->peer]++;
	TAILQ_INSERT_TAIL(&conns->list, conn, list);
	conns->nr++;
	if (!conns->sweep_ns)
		conns->sweep_ns = conn->since_ns + NSEC_PER_SEC;
	/* Because of TCP_DEFER_ACCEPT the request has usually arrived before accept(). */
	conn_ready(conn);
}

static void on_accept(void *arg)
{
	const struct listener *listener = arg;
	struct conns *conns = listener->conns;
	/* Close at most one connection per event, because maybe only one client waits. */
	bool room = conns->nr < conns->max || make_room(conns);
	struct sockaddr_storage address;
	int fd = 0;

	for (int i = 0; fd >= 0 && i < MAX_ACCEPT && conns->nr < conns->max; i++) {
		socklen_t len = sizeof(address);

		fd = accept4(listener->source.fd, (struct sockaddr *)&address, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			add(conns, fd, &address);
	}
	if (room && (fd >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
		return;
	/* Pause accept() until a connection is closed or until the next conns_sweep(). */
	pause_accepting(conns, true);
	conns->sweep_ns = clock_mono_ns() + GRACE_NS;
}

int conns_listen(struct conns *conns, int fd)
{
	struct listener *listener = &conns->listeners[conns->nr_listeners];

	*listener = (struct listener){
		.conns = conns, .source = {.fd = fd, .ready = on_accept, .arg = listener}};
	conns->nr_listeners++;
	return source_want(conns->loop, &listener->source, EPOLLIN);
}

void conns_init(struct conns *conns, int loop)
{
	conns->loop = loop;
	TAILQ_INIT(&conns->list);
}

void conns_free(struct conns *conns)
{
	conns_for_each(conn, conns)
		conn_close(conn);
	conns_reap(conns);
	while (conns->nr_listeners)
		source_close(&conns->listeners[--conns->nr_listeners].source);
}
