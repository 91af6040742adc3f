/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One HTTP connection. Requests stay in the socket buffer until the previous response is sent. */
#include "serve/http/conn.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/file.h"

/* Maximum number of events per epoll_wait(). epoll rotates its ready list, so no source starves. */
#define BATCH 64

int source_want(int loop, struct source *source, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = source};
	int how = !events ? EPOLL_CTL_DEL : source->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (events == source->events)
		return 0;
	if (epoll_ctl(loop, how, source->fd, &event))
		return -errno;
	source->events = events;
	return 0;
}

void source_close(struct source *source)
{
	fd_close(&source->fd);
	source->events = 0;
}

static int wait_ms(uint64_t until_ns)
{
	uint64_t now_ns = clock_mono_ns(), ms;

	if (!until_ns)
		return -1;
	/* The timeout is rounded up; otherwise the loop would spin in the last millisecond. */
	ms = until_ns > now_ns ? (until_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;
	return ms < 60000 ? (int)ms : 60000;
}

int loop_step(int loop, uint64_t until_ns)
{
	struct epoll_event events[BATCH];
	int nr = epoll_wait(loop, events, BATCH, wait_ms(until_ns));

	if (nr < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < nr; i++) {
		struct source *source = events[i].data.ptr;

		if (source->fd >= 0)
			source->ready(source->arg);
	}
	return 0;
}

bool conn_is_open(const struct conn *conn)
{
	return conn->source.fd >= 0;
}

static void set_blocked(struct conn *conn, bool blocked)
{
	conn->conns->nr_blocked += (size_t)blocked - (size_t)conn->blocked;
	conn->blocked = blocked;
}

void conn_close(struct conn *conn)
{
	struct conns *conns = conn->conns;

	if (!conn_is_open(conn))
		return;
	source_close(&conn->source);
	set_blocked(conn, false);
	while (conn->nr_out)
		body_put(conn->out[--conn->nr_out]);
	free(conn->in);
	conn->in = NULL;
	conn->in_len = conn->out_bytes = 0;
	conns->nr--;
	conns->nr_dead++;
	conns->nr_streams -= !!conn->stream;
	conns->peers[conn->peer]--;
}

/*
 * Returns the number of bytes that the client has not received: bytes in the queue of this process,
 * and unacknowledged bytes in the kernel's send buffer.
 */
static size_t unreceived(const struct conn *conn)
{
	int queued = 0;

	if (ioctl(conn->source.fd, SIOCOUTQ, &queued) || queued < 0)
		queued = 0;
	return conn->out_bytes + (size_t)queued;
}

void conn_update_backlog(struct conn *conn, uint64_t now_ns)
{
	size_t backlog = unreceived(conn);

	if (!backlog || backlog < conn->backlog)
		conn->progress_ns = now_ns;
	conn->backlog = backlog;
}

void conn_cut(struct conn *conn, enum conn_cut why)
{
	static const struct linger at_once = {.l_onoff = 1};

	if (!conn_is_open(conn))
		return;
	conn->conns->cut[why]++;
	/* A TCP reset makes the kernel free the send buffer immediately. */
	if (unreceived(conn))
		setsockopt(conn->source.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	conn_close(conn);
}

/*
 * After EOF of the client and shutdown(), epoll would report EPOLLHUP forever, so no events are
 * requested. conns_sweep() closes the connection.
 */
static void wait_for_client(struct conn *conn)
{
	uint32_t events = conn->eof ? 0 : EPOLLIN;

	if (conn->nr_out)
		events = conn->stream ? EPOLLIN | EPOLLOUT : EPOLLOUT;
	if (conn_is_open(conn) && source_want(conn->conns->loop, &conn->source, events))
		conn_close(conn);
}

bool conn_queue(struct conn *conn, struct body *body)
{
	if (conn->nr_out == CONN_MAX_OUT)
		return false;
	body->refs++;
	conn->out[conn->nr_out++] = body;
	conn->out_bytes += body->len;
	conn->backlog += body->len;
	conn->sent_ns = clock_mono_ns();
	return true;
}

/* Removes @sent bytes from the queue of unsent bodies. */
static void advance(struct conn *conn, size_t sent)
{
	unsigned int done = 0;

	conn->out_bytes -= sent;
	sent += conn->out_at;
	while (done < conn->nr_out && sent >= conn->out[done]->len) {
		sent -= conn->out[done]->len;
		body_put(conn->out[done++]);
	}
	conn->out_at = sent;
	conn->nr_out -= done;
	memmove(conn->out, conn->out + done, conn->nr_out * sizeof(conn->out[0]));
}

void conn_flush(struct conn *conn)
{
	struct iovec parts[CONN_MAX_OUT];
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = conn->nr_out};
	ssize_t sent;

	if (!conn_is_open(conn) || !conn->nr_out)
		return;
	for (unsigned int i = 0; i < conn->nr_out; i++)
		parts[i] = (struct iovec){conn->out[i]->data, conn->out[i]->len};
	parts[0].iov_base = conn->out[0]->data + conn->out_at;
	parts[0].iov_len -= conn->out_at;
	sent = sendmsg(conn->source.fd, &message, MSG_NOSIGNAL);
	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		conn_close(conn);
		return;
	}
	/* The full send buffer has room again, so the client has received data. */
	if (sent > 0 && conn->blocked)
		conn->progress_ns = clock_mono_ns();
	advance(conn, sent > 0 ? (size_t)sent : 0);
	set_blocked(conn, conn->nr_out);
	if (!conn->nr_out && !conn->keep && !conn->stream) {
		/*
		 * close() with unread data of the client would send a reset, and the client might
		 * lose the response. To prevent a reset, the exporter reads and discards data until
		 * the client closes the connection or the timeout expires.
		 */
		shutdown(conn->source.fd, SHUT_WR);
		conn->closing = true;
	}
	wait_for_client(conn);
}

void conn_stream(struct conn *conn, unsigned int collectors)
{
	conn->stream = collectors;
	conn->conns->nr_streams++;
}

/*
 * Answers the request in the first @len bytes of the input buffer. @len is 0 if the buffer is full
 * without a complete request.
 */
static void answer(struct conn *conn, size_t len)
{
	struct request request = {.conn = conn};
	int code = len ? request_parse(conn->in, len, &request) : HTTP_HEADERSTOOLARGE;

	conn->asked = true;
	conn->keep = request.keep;
	conn->since_ns = conn->progress_ns = clock_mono_ns();
	conn->conns->handle(conn->conns->arg, &request, code);
	/* After an error the start of the next request is unknown, so drop all input. */
	conn->in_len = conn->keep ? conn->in_len - len : 0;
	memmove(conn->in, conn->in + len, conn->in_len);
	/* The response could not be queued, because memory ran out. */
	if (!conn->nr_out)
		conn_close(conn);
	conn_flush(conn);
}

static void answer_all(struct conn *conn)
{
	while (conn->in_len && !conn->nr_out && !conn->closing && !conn->stream) {
		const char *end = memmem(conn->in, conn->in_len, "\r\n\r\n", 4);

		if (!end && conn->in_len < REQUEST_MAX)
			break;
		answer(conn, end ? (size_t)(end - conn->in) + 4 : 0);
	}
	if (!conn->in_len) {
		free(conn->in);
		conn->in = NULL;
	}
}

static void conn_read(struct conn *conn)
{
	char dropped[REQUEST_MAX];
	bool drop = conn->closing || conn->stream;
	ssize_t got;

	if (!drop && !conn->in)
		conn->in = malloc(REQUEST_MAX);
	if (!drop && !conn->in) {
		conn_close(conn);
		return;
	}
	got = drop ? recv(conn->source.fd, dropped, sizeof(dropped), 0)
		   : recv(conn->source.fd, conn->in + conn->in_len, REQUEST_MAX - conn->in_len, 0);
	if (got < 0 && errno != EAGAIN && errno != EINTR) {
		conn_close(conn);
	} else if (!got) {
		/* A client may shut down its sending side before it has received the response. */
		conn->eof = true;
		if (conn->stream || !unreceived(conn))
			conn_close(conn);
	} else if (got > 0 && conn->stream) {
		conn_close(conn);
	} else if (got > 0 && !drop) {
		if (!conn->in_len && conn->asked)
			conn->since_ns = clock_mono_ns();
		conn->in_len += (size_t)got;
	}
	answer_all(conn);
	wait_for_client(conn);
}

void conn_ready(void *arg)
{
	struct conn *conn = arg;

	conn_flush(conn);
	if (!conn_is_open(conn) || (conn->nr_out && !conn->stream))
		return;
	/* Answer pipelined requests that are already in the input buffer. */
	answer_all(conn);
	if (conn_is_open(conn) && (!conn->nr_out || conn->stream))
		conn_read(conn);
}
