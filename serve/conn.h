/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Connections of the server: how many, how old, and which to end. */
#ifndef SUBTICK_SERVE_CONN_H
#define SUBTICK_SERVE_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bufferevent;
struct event;
struct event_base;
struct evhttp;
struct evhttp_connection;

enum conn_cut {
	CONN_CUT_SLOW,	  /* no request in time */
	CONN_CUT_FULL,	  /* too many connections */
	CONN_CUT_STALLED, /* does not read its answer */
	CONN_NR_CUTS,
};

struct conn {
	struct bufferevent *bev; /* evhttp's; may be gone until the next look at the loop */
	uint64_t since_ns; /* of the connection, then of its last request */
	uint64_t moved_ns; /* when its output last changed */
	size_t left;	   /* bytes of output then */
	bool asked;	   /* has made a request */
	bool stream;	   /* its answer does not end; it is there until conns_stream_over() */
	bool doomed;	   /* shut down, waits for the loop to notice */
};

struct conns {
	struct event_base *base;
	struct evhttp *http;
	bool paused;	   /* new ones wait in the kernel */
	struct conn *list; /* oldest first */
	size_t nr, room;
	const void **alive; /* found by the last look */
	size_t nr_alive, room_alive;
	uint64_t max, timeout_ns;
	uint64_t cut[CONN_NR_CUTS];
	struct event *sweep;
};

int conns_init(struct conns *conns, struct event_base *base);
void conns_free(struct conns *conns);
/* Counts all connections of @http from now on and ends the bad ones. */
void conns_watch(struct conns *conns, struct evhttp *http);
/* Ends those that take long over their answer, at least the slowest; false if there is none. */
bool conns_relieve(struct conns *conns);
/* The connection has made a whole request. */
void conns_asked(struct conns *conns, struct evhttp_connection *connection, bool stream);
/* A stream has ended, by us or with its connection. */
void conns_stream_over(struct conns *conns, struct evhttp_connection *connection);

#endif
