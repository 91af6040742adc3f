/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tests HTTP connections: responses are sent immediately and in order, and limits are enforced. */
#include "serve/http/conn.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/http/address.h"
#include "test.h"

#define BODY_BYTES 1000000
#define REQUEST	   "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

static struct fixture {
	struct conns conns;
	struct sockaddr_in address;
	struct body *body;
	unsigned int requests;
	int code; /* status code of the last response */
	bool stream;
} fixture, *const f = &fixture;

static void handle(void *arg, struct request *request, int code)
{
	f->requests++;
	f->code = code;
	conn_queue(request->conn, f->body);
	if (f->stream)
		conn_stream(request->conn, 1);
}

static int setup(void **state)
{
	socklen_t len = sizeof(f->address);
	struct err err = {0};
	int listener;

	fixture = (struct fixture){
		.conns = {.max = 8, .timeout_ns = 10 * NSEC_PER_SEC, .handle = handle}};
	conns_init(&f->conns, epoll_create1(0));
	f->body = body_new(false, BODY_BYTES);
	f->body->len = BODY_BYTES;
	memset(f->body->data, 'x', BODY_BYTES);
	assert_int_equal(address_listen("127.0.0.1:0", &listener, &err), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&f->address, &len), 0);
	assert_int_equal(conns_listen(&f->conns, listener), 0);
	return 0;
}

static int teardown(void **state)
{
	conns_free(&f->conns);
	close(f->conns.loop);
	body_put(f->body);
	return 0;
}

static int dial(const char *text)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;

	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(connect(fd, (const struct sockaddr *)&f->address, sizeof(f->address)), 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void run(unsigned int ms)
{
	uint64_t end_ns = clock_mono_ns() + ms * NSEC_PER_MSEC;

	for (int step = 0; step < 8 || clock_mono_ns() < end_ns; step++) {
		assert_int_equal(loop_step(f->conns.loop, end_ns), 0);
		conns_reap(&f->conns);
	}
}

static struct conn *only(void)
{
	assert_int_equal(f->conns.nr, 1);
	return TAILQ_FIRST(&f->conns.list);
}

static int option(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value = 0;

	assert_int_equal(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

TEST_WITH(test_sent_at_once, setup, teardown)
{
	int client = dial(REQUEST), fd;

	while (!f->requests)
		run(1);
	fd = only()->source.fd;
	assert_true(option(fd, IPPROTO_TCP, TCP_NODELAY));
	assert_true(option(fd, SOL_SOCKET, SO_KEEPALIVE));
	/* The socket buffer is limited, so a client that does not read cannot use much memory. */
	assert_int_equal(option(fd, SOL_SOCKET, SO_SNDBUF), ADDRESS_SEND_MEMORY);
	/* The exporter's first write of the response fills the socket buffer. */
	assert_true(only()->out_bytes < BODY_BYTES - ADDRESS_SEND_BUFFER / 2);
	close(client);
}

/*
 * While a client does not read its response, the socket buffer stays full and the client's next
 * request waits.
 */
TEST_WITH(test_unread, setup, teardown)
{
	size_t before = conns_held(&f->conns);
	int client = dial(REQUEST REQUEST REQUEST REQUEST REQUEST);
	static char answers[5 * BODY_BYTES];

	run(100);
	assert_true(f->requests < 5);
	assert_int_equal(f->conns.nr_blocked, 1);
	assert_int_equal(conns_held(&f->conns) - before, ADDRESS_SEND_MEMORY);
	for (size_t got = 0; got < sizeof(answers);) {
		ssize_t part = recv(client, answers, sizeof(answers), MSG_DONTWAIT);

		got += part > 0 ? (size_t)part : 0;
		run(1);
	}
	assert_int_equal(f->requests, 5);
	run(10);
	assert_int_equal(f->conns.nr_blocked, 0);
	assert_int_equal(conns_held(&f->conns), before);
	assert_null(only()->in);
	close(client);
	run(10);
	assert_int_equal(f->conns.nr, 0);
	assert_true(TAILQ_EMPTY(&f->conns.list));
}

/* A request that arrived before its timeout is answered even if the event loop runs late. */
TEST_WITH(test_late_ourselves, setup, teardown)
{
	int client = dial("GET");

	f->conns.timeout_ns = 200 * NSEC_PER_MSEC;
	run(10);
	assert_int_equal(only()->in_len, 3);
	assert_int_equal(write(client, &REQUEST[3], sizeof(REQUEST) - 4), sizeof(REQUEST) - 4);
	usleep(450000);
	conns_sweep(&f->conns, clock_mono_ns());
	assert_int_equal(f->requests, 1);
	assert_int_equal(f->conns.cut[CONN_CUT_SLOW], 0);
	close(client);
}

/* At the connection limit idle connections are closed. Connections with a response are kept. */
TEST_WITH(test_full, setup, teardown)
{
	int clients[12];

	clients[0] = dial(REQUEST);
	run(10);
	for (int i = 1; i < 12; i++)
		clients[i] = dial("GET");
	run(50);
	assert_int_equal(f->conns.nr, 8);
	assert_int_equal(f->conns.cut[CONN_CUT_FULL], 4);
	assert_true(TAILQ_FIRST(&f->conns.list)->asked);
	for (int i = 0; i < 12; i++)
		close(clients[i]);
	run(50);
	assert_int_equal(f->conns.nr, 0);
	for (int i = 0; i < CONN_PEERS; i++)
		assert_int_equal(f->conns.peers[i], 0);
}

/* If all connections are busy, new connections wait until a connection is closed. */
TEST_WITH(test_pause, setup, teardown)
{
	int first, second;

	f->conns.max = 1;
	first = dial(REQUEST);
	run(10);
	second = dial(REQUEST);
	run(50);
	assert_true(f->conns.paused);
	assert_int_equal(f->requests, 1);
	close(first);
	run(50);
	assert_false(f->conns.paused);
	assert_int_equal(f->requests, 2);
	close(second);
}

/*
 * A stream without new data regularly sends a comment line. A client that never reads, or that
 * sends more data, is disconnected.
 */
TEST_WITH(test_stream, setup, teardown)
{
	static char text[BODY_BYTES];
	uint64_t now_ns;
	int client;

	f->stream = true;
	f->body->len = 10;
	client = dial(REQUEST);
	run(10);
	assert_int_equal(recv(client, text, sizeof(text), MSG_DONTWAIT), 10);
	run(10);
	now_ns = clock_mono_ns();
	/* A stream to a client that has read all data does not count as stalled. */
	for (unsigned int s = 1; s < 3; s++)
		conns_sweep(&f->conns, now_ns + s * NSEC_PER_SEC);
	assert_int_equal(only()->progress_ns, now_ns + 2 * NSEC_PER_SEC);
	conns_sweep(&f->conns, now_ns + 20 * NSEC_PER_SEC);
	assert_int_equal(recv(client, text, sizeof(text), MSG_DONTWAIT), 3);
	assert_memory_equal(text, ":\n\n", 3);
	assert_int_equal(f->conns.nr_streams, 1);
	assert_int_equal(write(client, "x", 1), 1);
	run(10);
	assert_int_equal(f->conns.nr_streams, 0);
	assert_int_equal(f->conns.nr, 0);
	close(client);
}

TEST_WITH(test_vanished, setup, teardown)
{
	uint64_t now_ns;
	int client;

	f->stream = true;
	client = dial(REQUEST);
	run(10);
	now_ns = clock_mono_ns();
	conns_sweep(&f->conns, now_ns + 5 * NSEC_PER_SEC);
	assert_int_equal(f->conns.nr, 1);
	conns_sweep(&f->conns, now_ns + 20 * NSEC_PER_SEC);
	assert_int_equal(f->conns.cut[CONN_CUT_STALLED], 1);
	assert_int_equal(f->conns.nr_streams, 0);
	close(client);
}

TEST_WITH(test_error, setup, teardown)
{
	int client = dial("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 29\r\n\r\n" REQUEST);
	static char text[2 * BODY_BYTES];
	ssize_t got, all = 0;

	run(10);
	assert_int_equal(f->requests, 1);
	assert_int_equal(f->code, HTTP_BADREQUEST);
	while ((got = recv(client, text, sizeof(text), MSG_DONTWAIT))) {
		all += got > 0 ? got : 0;
		run(1);
	}
	assert_int_equal(all, BODY_BYTES);
	close(client);
	run(10);
	assert_int_equal(f->conns.nr, 0);
}

TEST_MAIN()
