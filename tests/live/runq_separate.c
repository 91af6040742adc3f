/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs `subtick serve` on a kernel that rejects the BPF program that load and runq share. */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "live.h"

#define SOCKET "/tmp/subtick-live-separate"

/*
 * Number of created BPF maps named runq_first, and number of refused bpf() calls. Only supervise()
 * changes both numbers.
 */
static volatile int runq_opened, refused;

/* Reads the attributes of a bpf() call from the memory of the calling process. */
static void read_attr(const struct seccomp_notif *call, union bpf_attr *ret_attr)
{
	char path[32];
	int fd;

	memset(ret_attr, 0, sizeof(*ret_attr));
	snprintf(path, sizeof(path), "/proc/%u/mem", call->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, ret_attr, sizeof(*ret_attr), (off_t)call->data.args[1]) < 0)
		live_fail_all("cannot read %s: %s", path, strerror(errno));
	close(fd);
}

/*
 * True if the call loads the sched_switch program that load and runq share. runq's own sched_switch
 * program has the same name, but runq creates a second map runq_first before loading it.
 */
static bool loads_joint_program(const struct seccomp_notif *call)
{
	union bpf_attr attr;

	read_attr(call, &attr);
	if (call->data.args[0] == BPF_MAP_CREATE && !strcmp(attr.map_name, "runq_first"))
		runq_opened++;
	return call->data.args[0] == BPF_PROG_LOAD && runq_opened == 1 &&
	       !strncmp(attr.prog_name, "runq_causes", strlen("runq_causes"));
}

/*
 * Answers intercepted bpf() calls: E2BIG, as if the verifier had given up, or the kernel's own
 * result.
 */
static void *supervise(void *arg)
{
	int listener = *(int *)arg;

	for (;;) {
		struct seccomp_notif call = {0};
		struct seccomp_notif_resp answer = {0};

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
			continue;
		answer.id = call.id;
		if (loads_joint_program(&call)) {
			answer.error = -E2BIG;
			refused++;
		} else {
			answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		}
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return NULL;
}

/* Redirects the bpf() calls of this process and of its children to supervise(). */
static void intercept_bpf(void)
{
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {.len = sizeof(code) / sizeof(code[0]), .filter = code};
	static int listener;
	pthread_t thread;

	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
	if (listener < 0)
		live_skip_all("no seccomp listener: %s", strerror(errno));
	if (pthread_create(&thread, NULL, supervise, &listener))
		abort();
}

/* Reads the metrics of the exporter. @buf is empty if the exporter does not listen yet. */
static void scrape(char *buf, size_t size)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = 0;
	ssize_t got;

	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    send(fd, request, strlen(request), MSG_NOSIGNAL) > 0)
		while (len < size - 1 && (got = recv(fd, buf + len, size - 1 - len, 0)) > 0)
			len += got;
	buf[len] = '\0';
	close(fd);
}

/*
 * Returns the value of the first sample whose line begins with @name, or 0 if no line begins with
 * @name. No label of the sample may contain a space, because the value follows the first space.
 */
static double sample(const char *metrics, const char *name)
{
	const char *line = strstr(metrics, name), *value = line ? strchr(line, ' ') : NULL;

	return value ? strtod(value, NULL) : 0;
}

int main(void)
{
	static char metrics[1 << 20], log[1 << 14], out[1 << 10];
	FILE *errors = tmpfile();
	bool load = false, runq = false;
	pid_t pid;
	int fd;

	live_needs(ARGS("runq", "--causes", "0.1", "1"));
	intercept_bpf();
	if (!errors || dup2(fileno(errors), STDERR_FILENO) < 0)
		abort();
	pid = live_start(ARGS("serve", "--config", "/dev/null", "--listen", "unix:" SOCKET, "--collect", "load,runq",
			      "--interval", "100ms"), &fd);
	for (int i = 0; i < 600 && !(load && runq); i++) {
		live_sleep_ms(100);
		scrape(metrics, sizeof(metrics));
		load = sample(metrics, "\nsubtick_cpu_seconds_total{cpu=\"0\",context=\"task\"}") > 0;
		runq = sample(metrics, "\nsubtick_runqueue_latency_seconds_count") > 0;
	}
	live_stop(pid, SIGTERM, fd, out, sizeof(out));
	unlink(SOCKET);
	if (pread(fileno(errors), log, sizeof(log) - 1, 0) < 0)
		abort();
	live_ok(refused > 0 && runq_opened == 2, "the joint program was refused %d times, then runq opened its own", refused);
	live_ok(strstr(log, "runq uses a separate program on sched_switch: cannot load the runq programs: "
			    "Argument list too long: libbpf: prog 'runq_causes"),
		"the log has the reason: %s", strtok(log, "\n") ?: "");
	live_ok(!strstr(log, ".BTF.ext"), "and not a warning of libbpf that is none");
	live_ok(load && runq, "load and runq have figures: %d %d", load, runq);
	return live_done();
}
