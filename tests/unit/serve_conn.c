/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A response leaves the exporter at once: in large writes that do not wait for acknowledgements. */
#include "serve/conn.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "serve/address.h"
#include "test.h"

#define BODY_BYTES 100000

struct seen {
	struct event_base *base;
	size_t first_write;
	int no_delay;
};

static void on_written(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *arg)
{
	struct seen *seen = arg;

	if (!info->n_deleted)
		return;
	seen->first_write = info->n_deleted;
	event_base_loopbreak(seen->base);
}

static void on_request(struct evhttp_request *request, void *arg)
{
	static const char body[BODY_BYTES];
	struct bufferevent *bev =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
	struct evbuffer *buffer = evbuffer_new();
	struct seen *seen = arg;
	socklen_t len = sizeof(seen->no_delay);

	getsockopt(bufferevent_getfd(bev), IPPROTO_TCP, TCP_NODELAY, &seen->no_delay, &len);
	evbuffer_add_cb(bufferevent_get_output(bev), on_written, seen);
	evbuffer_add(buffer, body, sizeof(body));
	evhttp_send_reply(request, HTTP_OK, NULL, buffer);
	evbuffer_free(buffer);
}

TEST(test_sent_at_once)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct conns conns = {.max = 8, .timeout_ns = 10000000000ULL};
	struct seen seen = {.base = base};
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	struct err err = {0};
	int listener, client;

	assert_int_equal(address_listen("127.0.0.1:0", &listener, &err), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(conns_init(&conns, base), 0);
	conns_watch(&conns, http);
	evhttp_set_gencb(http, on_request, &seen);
	assert_int_equal(evhttp_accept_socket(http, listener), 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	assert_int_equal(write(client, request, sizeof(request) - 1), sizeof(request) - 1);
	event_base_dispatch(base);

	assert_int_equal(conns.nr, 1);
	assert_true(seen.no_delay);
	assert_true(seen.first_write > BODY_BYTES / 2);
	close(client);
	evhttp_free(http);
	conns_free(&conns);
	event_base_free(base);
}

/* A request that was there in time is answered, however late we look at it. */
TEST(test_late_ourselves)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	static const struct timeval second = {.tv_sec = 1};
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct conns conns = {.max = 8, .timeout_ns = 200000000ULL};
	struct seen seen = {.base = base};
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	struct err err = {0};
	int listener, client;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(address_listen("127.0.0.1:0", &listener, &err), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(conns_init(&conns, base), 0);
	conns_watch(&conns, http);
	evhttp_set_gencb(http, on_request, &seen);
	assert_int_equal(evhttp_accept_socket(http, listener), 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, len), 0);
	assert_int_equal(write(client, request, sizeof(request) - 1), sizeof(request) - 1);
	while (!conns.nr)
		event_base_loop(base, EVLOOP_ONCE);
	/* Accepted, not read; others keep us busy for more than twice the limit, the sweep comes first. */
	usleep(450000);
	event_active(conns.sweep, EV_TIMEOUT, 0);
	event_base_loopexit(base, &second);
	event_base_dispatch(base);
	assert_true(seen.first_write > 0);
	assert_int_equal(conns.cut[CONN_CUT_SLOW], 0);
	close(client);
	evhttp_free(http);
	conns_free(&conns);
	event_base_free(base);
}

struct looked_for {
	int fd;
	bool found;
};

static int has_fd(const struct event_base *base, const struct event *event, void *arg)
{
	struct looked_for *looked_for = arg;

	looked_for->found |= event_get_fd(event) == looked_for->fd;
	return 0;
}

/* Whether the listener is enabled half a second after it ran out of descriptors. */
static bool accepts_again(struct event_base *base, struct evconnlistener *listener)
{
	static const struct timeval later = {.tv_usec = 500000};
	struct looked_for looked_for = {.fd = evconnlistener_get_fd(listener)};

	conns_accept_failed(listener, NULL);
	event_base_foreach_event(base, has_fd, &looked_for);
	assert_false(looked_for.found);
	event_base_loopexit(base, &later);
	event_base_dispatch(base);
	event_base_foreach_event(base, has_fd, &looked_for);
	return looked_for.found;
}

/* The end of one pause is not the end of the other, which is for too many connections. */
TEST(test_two_pauses)
{
	static const struct timeval hour = {.tv_sec = 3600};
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct conns conns = {.max = 8, .timeout_ns = 10000000000ULL};
	struct evhttp_bound_socket *bound;
	struct evconnlistener *listener;
	struct err err = {0};
	int fd;

	assert_int_equal(address_listen("127.0.0.1:0", &fd, &err), 0);
	assert_int_equal(conns_init(&conns, base), 0);
	conns_watch(&conns, http);
	bound = evhttp_accept_socket_with_handle(http, fd);
	assert_non_null(bound);
	listener = evhttp_bound_socket_get_listener(bound);
	/* Without connections. */
	assert_true(accepts_again(base, listener));
	/* With some, but not too many: the sweep is pending. */
	event_add(conns.sweep, &hour);
	assert_true(accepts_again(base, listener));
	conns.paused = true;
	assert_false(accepts_again(base, listener));
	conns.paused = false;
	assert_true(accepts_again(base, listener));
	evhttp_free(http);
	conns_free(&conns);
	event_base_free(base);
}

TEST_MAIN()
