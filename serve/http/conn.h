/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* HTTP connections, the limits that they share, and the event loop. */
#ifndef SUBTICK_SERVE_CONN_H
#define SUBTICK_SERVE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "serve/http/address.h"
#include "serve/http/body.h"
#include "serve/http/request.h"

struct source {
	int fd;		 /* descriptor of the event source; -1 if closed */
	uint32_t events; /* requested epoll events; 0 if the descriptor is not in the epoll set */
	void (*ready)(void *arg);
	void *arg;
};

/* Sets the epoll events of a source; 0 removes it. Returns 0 or -errno. */
int source_want(int loop, struct source *source, uint32_t events);
void source_close(struct source *source);
/*
 * Waits for events until @until_ns (CLOCK_MONOTONIC; 0: no timeout) and calls ready() of each ready
 * source. ready() may close any source, but must not free a source before loop_step() returns.
 * Returns 0 or -errno.
 */
int loop_step(int loop, uint64_t until_ns);

/* Maximum number of queued bodies per client: a stream of eight windows of four collectors. */
#define CONN_MAX_OUT 32
/* Number of connection counters. Each client has the counter that a hash of its address selects. */
#define CONN_PEERS 256

enum conn_cut {
	CONN_CUT_SLOW,	  /* the client sent no complete request in time */
	CONN_CUT_FULL,	  /* the limit of connections was reached */
	CONN_CUT_STALLED, /* the client does not read the response */
	CONN_NR_CUTS,
};

struct conn {
	TAILQ_ENTRY(conn) list;
	struct conns *conns;
	struct source source; /* after the source is closed, conns_reap() frees the connection */
	/* CLOCK_MONOTONIC time when the connection was accepted or its last request arrived */
	uint64_t since_ns;
	/* CLOCK_MONOTONIC time when the client last received data, or had received all data */
	uint64_t progress_ns;
	uint64_t sent_ns; /* CLOCK_MONOTONIC time when a body was last queued */
	size_t backlog; /* number of bytes that the client had not yet received at the last check */
	char *in; /* input buffer of REQUEST_MAX bytes; NULL if there is no incomplete request */
	size_t in_len;
	struct body *out[CONN_MAX_OUT];
	unsigned int nr_out;
	size_t out_at;	     /* number of bytes of out[0] that have been sent */
	size_t out_bytes;    /* number of unsent bytes of all bodies in out[] */
	/* bit set of the collectors that the stream sends; 0 if the response is not a stream */
	unsigned int stream;
	uint8_t peer;	     /* index of the client's counter in conns.peers */
	bool asked;	     /* true if the client has sent a complete request */
	bool keep;	     /* true if the connection stays open after the current response */
	/* true after the last response was sent; data from the client is then discarded */
	bool closing;
	/* true if the client has shut down its sending side; it may still receive data */
	bool eof;
	/* true if the socket's send buffer is full; conns.nr_blocked counts such connections */
	bool blocked;
};

struct listener {
	struct conns *conns;
	struct source source;
};

struct conns {
	int loop;			  /* epoll descriptor of the event loop */
	/* All connections, oldest first. conns_reap() removes closed connections. */
	TAILQ_HEAD(conn_list, conn) list;
	/* number of open connections, and number of closed connections that are still in @list */
	size_t nr, nr_dead;
	size_t nr_streams;
	size_t nr_blocked; /* number of connections whose socket send buffer is full */
	struct listener listeners[ADDRESS_MAX_LISTEN];
	size_t nr_listeners;
	bool paused; /* true if accept() is paused, because the limit of connections is reached */
	uint64_t max, timeout_ns;
	/* CLOCK_MONOTONIC time of the next conns_sweep(); 0 if there is no connection */
	uint64_t sweep_ns;
	uint64_t cut[CONN_NR_CUTS];
	uint32_t peers[CONN_PEERS];
	/* Queues the response to a request. @code is the error status of the request, or 0. */
	void (*handle)(void *arg, struct request *request, int code);
	void *arg;
};

#define conns_for_each(conn, conns) \
	for (struct conn *conn = TAILQ_FIRST(&(conns)->list); conn; conn = TAILQ_NEXT(conn, list))

void conns_init(struct conns *conns, int loop);
/*
 * Accepts connections on the listening socket @fd and takes ownership of @fd. May be called at most
 * ADDRESS_MAX_LISTEN times.
 */
int conns_listen(struct conns *conns, int fd);
void conns_free(struct conns *conns);
/* Closes connections whose timeout has expired, and sends comments on idle streams. */
void conns_sweep(struct conns *conns, uint64_t now_ns);
/* Frees closed connections. Call conns_reap() after loop_step(). */
void conns_reap(struct conns *conns);
/* Returns the bytes in bodies and full send buffers of all responses that are being sent. */
size_t conns_held(const struct conns *conns);
/*
 * Frees memory: closes all connections whose response has taken more than 2 s. If no response has
 * taken 2 s, closes the connection whose response has taken longest, if more than 250 ms. Never
 * closes @asking or a stream. Returns false if no connection was closed.
 */
bool conns_shed(struct conns *conns, const struct conn *asking);

/* Handles a readable or writable connection. */
void conn_ready(void *arg);
/* Queues @body for sending and takes a reference. Returns false if the queue is full. */
bool conn_queue(struct conn *conn, struct body *body);
/* Sends queued bodies until the send buffer is full. Closes the connection on an error. */
void conn_flush(struct conn *conn);
/* Makes the response a stream of the windows of @collectors, a bit set of collectors. */
void conn_stream(struct conn *conn, unsigned int collectors);
void conn_update_backlog(struct conn *conn, uint64_t now_ns);
bool conn_is_open(const struct conn *conn);
void conn_close(struct conn *conn);
/* Closes the connection, counts the reason, and discards unsent data. */
void conn_cut(struct conn *conn, enum conn_cut why);

#endif
