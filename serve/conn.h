/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server's connections: how many, how old, and which to close. */
#ifndef SUBTICK_SERVE_CONN_H
#define SUBTICK_SERVE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bufferevent;
struct evconnlistener;
struct event;
struct event_base;
struct evhttp;
struct evhttp_connection;

/* For a moment there may be so many times the maximum of connections. */
#define CONN_MAX_FACTOR 4

enum conn_cut {
	CONN_CUT_SLOW,	  /* no complete request in time */
	CONN_CUT_FULL,	  /* too many connections */
	CONN_CUT_STALLED, /* does not read its response */
	CONN_NR_CUTS,
};

struct conn {
	struct bufferevent *bev; /* evhttp's; may be freed already until the next refresh */
	uint64_t since_ns;	 /* start of the connection, then of its last request */
	uint64_t moved_ns; /* when its output last changed */
	size_t left;	   /* bytes of output then */
	uint8_t sweeps;	   /* how many have seen it, up to FAIR_SWEEPS */
	bool asked;	   /* has made a complete request */
	bool stream;	   /* its response does not end; open until conns_stream_over() */
	bool doomed;	   /* shut down; evhttp has not cleaned up yet */
};

struct conns {
	struct event_base *base;
	struct evhttp *http;
	bool paused;	   /* new ones wait in the kernel */
	struct conn *list; /* oldest first */
	size_t nr;
	const void **alive; /* callback arguments of the loop's events, at the last refresh */
	size_t nr_alive;
	uint64_t max, timeout_ns;
	uint64_t files; /* connections that descriptors allow; 0: unknown */
	uint64_t cut[CONN_NR_CUTS];
	struct event *sweep;
};

/*
 * Accepting from @listener failed for want of descriptors. Its socket stays readable, so it pauses
 * instead of being tried again at once. For evconnlistener_set_error_cb().
 */
void conns_accept_failed(struct evconnlistener *listener, void *arg);
int conns_init(struct conns *conns, struct event_base *base);
void conns_free(struct conns *conns);
/* Counts all connections of @http from now on and closes those that break a limit. */
void conns_watch(struct conns *conns, struct evhttp *http);
/*
 * Closes connections that read their response slowly, at least the slowest; false if there is none.
 * @asking is the one whose request is being answered.
 */
bool conns_relieve(struct conns *conns, struct evhttp_connection *asking);
/* The connection has made a complete request. */
void conns_asked(struct conns *conns, struct evhttp_connection *connection, bool stream);
/* Closes a connection that is open, and counts it. */
void conns_cut(struct conns *conns, struct evhttp_connection *connection, enum conn_cut why);
/* Bytes sent on a connection that the client has not received, here and in the kernel. */
size_t conns_backlog(struct evhttp_connection *connection);
/* A stream has ended, by us or with its connection. */
void conns_stream_over(struct conns *conns, struct evhttp_connection *connection);

#endif
