/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connections of HTTP clients, and the limits that all of them share. */
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
	int fd;		 /* -1: closed */
	uint32_t events; /* EPOLLIN, EPOLLOUT; 0: not in the epoll set */
	void (*ready)(void *arg);
	void *arg;
};

/* Changes the events that the loop waits for; 0: none, not even errors. 0 or -errno. */
int source_want(int loop, struct source *source, uint32_t events);
void source_close(struct source *source);
/*
 * Waits until a source is ready or, unless @until_ns is 0, until that time of CLOCK_MONOTONIC; calls
 * the functions of ready sources. Each of them may close any source, but the memory of a source must
 * stay valid until loop_step() returns. 0 or -errno.
 */
int loop_step(int loop, uint64_t until_ns);

/* Bodies queued for one client: eight windows of four collectors for a stream. */
#define CONN_MAX_OUT 32
/* Counters of connections by hash of the client's address. */
#define CONN_PEERS 256

enum conn_cut {
	CONN_CUT_SLOW,	  /* no complete request in time */
	CONN_CUT_FULL,	  /* too many connections */
	CONN_CUT_STALLED, /* does not read its response */
	CONN_NR_CUTS,
};

struct conn {
	TAILQ_ENTRY(conn) list;
	struct conns *conns;
	struct source source; /* closed: the memory is freed by conns_reap() */
	uint64_t since_ns;    /* start of the connection, of its last request, or of the next one */
	uint64_t
		moved_ns; /* last time that the client had received everything or more than before */
	uint64_t sent_ns; /* last time that something was queued */
	size_t backlog;	  /* unreceived bytes at the last check */
	char *in;	  /* REQUEST_MAX bytes while a request is incomplete, else NULL */
	size_t in_len;
	struct body *out[CONN_MAX_OUT];
	unsigned int nr_out;
	size_t out_at;	     /* bytes of out[0] already sent */
	size_t out_bytes;    /* unsent bytes of all of out[] */
	unsigned int stream; /* bits of collectors whose windows the client gets; 0: no stream */
	uint8_t peer;	     /* index into conns.peers */
	bool asked;	     /* has made a complete request */
	bool keep;	     /* stays open after the response */
	bool closing; /* the last response was sent; what the client still sends is dropped */
	bool eof;     /* the client sends nothing more; open until it has received everything */
	bool blocked; /* counted in conns.nr_blocked */
};

struct listener {
	struct conns *conns;
	struct source source;
};

struct conns {
	int loop;			  /* epoll descriptor */
	TAILQ_HEAD(conn_list, conn) list; /* oldest first; closed ones until conns_reap() */
	size_t nr, nr_dead;		  /* open ones; closed ones */
	size_t nr_streams;
	size_t nr_blocked; /* connections whose socket buffer is full */
	struct listener listeners[ADDRESS_MAX_LISTEN];
	size_t nr_listeners;
	bool paused; /* new connections wait in the kernel */
	uint64_t max, timeout_ns;
	uint64_t sweep_ns; /* when conns_sweep() is due; 0: there is no connection */
	uint64_t cut[CONN_NR_CUTS];
	uint32_t peers[CONN_PEERS];
	/* Queues the response. @code: 0, or the status of a request that could not be parsed. */
	void (*handle)(void *arg, struct request *request, int code);
	void *arg;
};

void conns_init(struct conns *conns, int loop);
/* Accepts from @fd, which is then owned. At most ADDRESS_MAX_LISTEN calls. */
int conns_listen(struct conns *conns, int fd);
void conns_free(struct conns *conns);
/* Closes connections whose time is up. */
void conns_sweep(struct conns *conns, uint64_t now_ns);
/* Frees closed connections. Call it between two loop_step(). */
void conns_reap(struct conns *conns);
/* Memory of all responses that are being sent: bodies and full socket buffers of the kernel. */
size_t conns_held(const struct conns *conns);
/*
 * Closes connections that have been reading their response for more than 2 s, or the slowest one
 * after 250 ms. False if no connection was closed. @asking is never closed.
 */
bool conns_shed(struct conns *conns, const struct conn *asking);

/* Reads and answers; for the event loop and the sweep. */
void conn_ready(void *arg);
/* Takes a reference to @body and queues it; false if the queue is full. */
bool conn_queue(struct conn *conn, struct body *body);
/* Sends queued bodies until the socket buffer is full. The connection may be closed after that. */
void conn_flush(struct conn *conn);
/* The response has no end: windows of these collectors follow. */
void conn_stream(struct conn *conn, unsigned int collectors);
/* Updates backlog and moved_ns. */
void conn_look(struct conn *conn, uint64_t now_ns);
bool conn_is_open(const struct conn *conn);
void conn_close(struct conn *conn);
/* Closes the connection and counts it; unsent data is dropped, also in the kernel. */
void conn_cut(struct conn *conn, enum conn_cut why);

#endif
