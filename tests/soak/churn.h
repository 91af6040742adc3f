/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Declares the load of the soak test: child processes that create cgroups, tasks and clients while
 * the exporter runs.
 */
#ifndef SUBTICK_TESTS_SOAK_CHURN_H
#define SUBTICK_TESTS_SOAK_CHURN_H

#include <stdint.h>
#include <sys/types.h>

/* Counters in memory that the test and all its child processes share. */
struct churn_done {
	uint64_t cgroups, tasks, requests, streams, offline;
	/* numbers of requests of slow, half and vanished clients in churn_readers() */
	uint64_t slow, half, vanished;
};

/* Each churn function starts a child process, which runs until churn_stop() kills it. */
pid_t churn_cgroups(struct churn_done *done);
pid_t churn_tasks(struct churn_done *done);
pid_t churn_clients(struct churn_done *done, int port);
/*
 * Starts clients of three kinds. A slow client reads some bytes per second. A client of the kind
 * "half" reads a part of the response and then reads nothing more. A vanished client drops all
 * packets, as if its machine had lost power.
 */
pid_t churn_readers(struct churn_done *done, int port);
/* Returns the maximum size in bytes of all receive buffers of the clients and readers. */
uint64_t churn_socket_bytes(void);
/* Starts a child that takes CPU 1 of the guest offline and online again, in a loop. */
pid_t churn_hotplug(struct churn_done *done);
/* Starts a task in @cgroup that sleeps for 5 ms in a loop. */
pid_t churn_steady(const char *cgroup);
void churn_stop(pid_t pid);
/*
 * Removes the remaining cgroups of churn_cgroups(). The caller must stop the child @pid of
 * churn_cgroups() first.
 */
void churn_clean(pid_t pid, const struct churn_done *done);

#endif
