/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts child processes that create cgroups, tasks, zombies and clients. */
#include "churn.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroups.h"
#include "live.h"

#define NR_CLIENTS 96
#define NR_READERS 48
#define NR_ZOMBIES 8
/*
 * Receive buffer of a client, in bytes. The kernel doubles SO_RCVBUF and accepts up to one more
 * packet, which is 64 KiB on loopback.
 */
#define CLIENT_RCVBUF (8 << 10)
#define SOCKET_BYTES  (2 * CLIENT_RCVBUF + (64 << 10))
/*
 * Number of steps after which a client of churn_readers() closes its connection. READER_STEPS steps
 * together take longer than the timeout and the keepalive time of the exporter.
 */
#define READER_STEPS 300
#define READER_MS    100

/*
 * Starts a child process that leads a process group, so that a signal to the group also kills the
 * children of the child. The kernel kills the child when its parent exits.
 */
static pid_t child(void)
{
	pid_t pid = fork();

	if (pid < 0)
		live_fail_all("cannot fork");
	if (pid)
		return pid;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return 0;
}

void churn_stop(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void cgroup_path(char path[64], pid_t pid, uint64_t number)
{
	snprintf(path, 64, "/subtick-soak-%d-%llu", pid, (unsigned long long)number);
}

void churn_clean(pid_t pid, const struct churn_done *done)
{
	uint64_t first = done->cgroups > 64 ? done->cgroups - 64 : 0;
	char path[64];

	for (uint64_t i = first; i <= done->cgroups + 1; i++) {
		cgroup_path(path, pid, i);
		cgroups_remove(path);
	}
}

/*
 * Sleeps for @ms, or for ten times @ms on an emulated machine, because the child processes would
 * otherwise use all CPU time of the machine.
 */
static void rest(unsigned int ms)
{
	live_sleep_ms(live_emulated() ? 10 * ms : ms);
}

static void wait_often(int times)
{
	for (int i = 0; i < times; i++)
		live_sleep_ms(1);
}

pid_t churn_cgroups(struct churn_done *done)
{
	pid_t self = child();
	char path[64];

	if (self)
		return self;
	for (uint64_t i = 0;; i++) {
		pid_t pid;

		cgroup_path(path, getpid(), i);
		if (!cgroups_mkdir(path))
			_exit(1);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			cgroups_enter(path, 0);
			/* Every 16th cgroup lives longer than a window of the exporter. */
			wait_often(i % 16 ? 3 : live_times(400));
			_exit(0);
		}
		/*
		 * Keep every 16th cgroup, and remove the cgroup after 32 more cgroups were created.
		 */
		if (i % 16)
			waitpid(pid, NULL, 0);
		else
			while (waitpid(-1, NULL, WNOHANG) > 0)
				;
		if (i % 16 && !cgroups_remove(path))
			_exit(1);
		if (i >= 32 && i % 16 == 0) {
			cgroup_path(path, getpid(), i - 32);
			cgroups_remove(path);
		}
		done->cgroups++;
		rest(2);
	}
}

pid_t churn_tasks(struct churn_done *done)
{
	pid_t self = child(), zombies[NR_ZOMBIES] = {0};

	if (self)
		return self;
	for (uint64_t i = 0;; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		/* Each new process stays a zombie until the loop reuses its slot of zombies[]. */
		if (zombies[i % NR_ZOMBIES])
			waitpid(zombies[i % NR_ZOMBIES], NULL, 0);
		zombies[i % NR_ZOMBIES] = pid > 0 ? pid : 0;
		done->tasks++;
		rest(2);
	}
}

static int dial(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){CLIENT_RCVBUF}, sizeof(int));
	if (fd >= 0)
		connect(fd, (struct sockaddr *)&address, sizeof(address));
	return fd;
}

pid_t churn_clients(struct churn_done *done, int port)
{
	static const char *const texts[] = {
		"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n",
		"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /api/v1/runq HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nX-Half: ",
		"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"nonsense\r\n\r\n",
	};
	pid_t self = child();
	int fds[NR_CLIENTS];
	char buf[4096];

	if (self)
		return self;
	signal(SIGPIPE, SIG_IGN);
	memset(fds, -1, sizeof(fds));
	for (uint64_t i = 0;; i++) {
		int *fd = &fds[i % NR_CLIENTS];
		const char *text = texts[i % (sizeof(texts) / sizeof(texts[0]))];

		/*
		 * Every third client reads at most 4096 bytes before closing its connection. Two of
		 * three clients close their connections without reading.
		 */
		if (*fd >= 0 && i % 3 == 0 && read(*fd, buf, sizeof(buf)) < 0)
			*buf = '\0';
		if (*fd >= 0)
			close(*fd);
		*fd = dial(port);
		rest(10);
		if (*fd >= 0 && write(*fd, text, strlen(text)) > 0) {
			done->requests++;
			done->streams += !!strstr(text, "stream");
		}
	}
}

/*
 * Makes the kernel drop every packet for the socket, so that the exporter gets no ACK, FIN or RST.
 */
static void vanish(int fd)
{
	struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog program = {1, &drop};

	setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

struct reader {
	int fd;
	/* step at which the reader connected; number of bytes that the reader has read */
	uint64_t began, bytes;
};

static void reader_begin(struct reader *reader, struct churn_done *done, int port, uint64_t number)
{
	static const char *const paths[] = {"/metrics", "/api/v1/history", "/api/v1/stream",
					    "/api/v1/runq", "/api/v1/report"};
	uint64_t *const kinds[] = {&done->slow, &done->half, &done->vanished};
	char text[128];

	if (reader->fd >= 0)
		close(reader->fd);
	*reader = (struct reader){.fd = dial(port), .began = number / NR_READERS};
	live_sleep_ms(2);
	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
		 paths[number / 3 % (sizeof(paths) / sizeof(paths[0]))]);
	if (reader->fd < 0 || write(reader->fd, text, strlen(text)) < 0)
		return;
	++*kinds[number % 3];
	if (number % 3 == 2)
		vanish(reader->fd);
}

/*
 * Executes one step of a reader, a client that reads its response slowly, partly or not at all.
 * Returns false if the exporter has closed the connection.
 */
static bool reader_step(struct reader *reader, uint64_t number)
{
	char buf[4096];
	ssize_t got;

	if (number % 3 == 2 || (number % 3 == 1 && reader->bytes >= sizeof(buf)))
		return true;
	got = read(reader->fd, buf, number % 3 ? sizeof(buf) : 64);
	reader->bytes += got > 0 ? (uint64_t)got : 0;
	return got > 0 || (got < 0 && errno == EAGAIN);
}

pid_t churn_readers(struct churn_done *done, int port)
{
	struct reader readers[NR_READERS];
	pid_t self = child();

	if (self)
		return self;
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < NR_READERS; i++)
		readers[i].fd = -1;
	/*
	 * NR_READERS is a multiple of 3, because the index of a reader modulo 3 selects the kind of
	 * the reader.
	 */
	for (uint64_t number = 0;; number++) {
		struct reader *reader = &readers[number % NR_READERS];

		if (reader->fd < 0 || number / NR_READERS - reader->began > READER_STEPS ||
		    !reader_step(reader, number))
			reader_begin(reader, done, port, number);
		if (number % NR_READERS == NR_READERS - 1)
			rest(READER_MS);
	}
}

uint64_t churn_socket_bytes(void)
{
	return (uint64_t)(NR_CLIENTS + NR_READERS) * SOCKET_BYTES;
}

static void set_online(const char *text)
{
	if (!live_write("/sys/devices/system/cpu/cpu1/online", text))
		_exit(1);
}

pid_t churn_hotplug(struct churn_done *done)
{
	pid_t self = child();

	if (self)
		return self;
	for (;;) {
		live_sleep_ms(4000);
		set_online("0");
		live_sleep_ms(1500);
		set_online("1");
		done->offline++;
	}
}

pid_t churn_steady(const char *cgroup)
{
	pid_t self = child();

	if (self)
		return self;
	if (!cgroups_enter(cgroup, 0))
		_exit(1);
	for (;;)
		live_sleep_ms(5);
}
