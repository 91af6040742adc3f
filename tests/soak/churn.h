/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes on while the exporter is watched: processes that make cgroups, tasks and clients. */
#ifndef SUBTICK_TESTS_SOAK_CHURN_H
#define SUBTICK_TESTS_SOAK_CHURN_H

#include <stdint.h>
#include <sys/types.h>

/* Counts of what was done, in memory that all processes share. */
struct churn_done {
	uint64_t cgroups, tasks, requests, streams, offline;
	uint64_t slow, half, vanished; /* requests of churn_readers() */
};

/* Each is a child that goes on until it is killed, with its own children. */
pid_t churn_cgroups(struct churn_done *done);
pid_t churn_tasks(struct churn_done *done);
pid_t churn_clients(struct churn_done *done, int port);
/*
 * All at the same time: clients that read some bytes per second, clients that read a part and no more, and
 * clients whose packets are dropped, as if their machine had vanished.
 */
pid_t churn_readers(struct churn_done *done, int port);
/* Maximum bytes of receive buffers that the kernel has for sockets of churn_clients() and _readers(). */
uint64_t churn_socket_bytes(void);
/* Takes CPU 1 offline and back; only in a guest. */
pid_t churn_hotplug(struct churn_done *done);
/* A task in @cgroup that sleeps for 5 ms again and again. */
pid_t churn_steady(const char *cgroup);
void churn_stop(pid_t pid);
/* Removes the cgroups that churn_cgroups(), stopped meanwhile, has left. */
void churn_clean(pid_t pid, const struct churn_done *done);

#endif
