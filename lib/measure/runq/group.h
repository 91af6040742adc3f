/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of tasks, and other parties to a wait. */
#ifndef SUBTICK_MEASURE_RUNQ_GROUP_H
#define SUBTICK_MEASURE_RUNQ_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq.h"
#include "abi/runq_avoidable.h"
#include "pods/vm.h"

/* Names of a pod or container by its runtime, in one block of memory. */
struct runq_group_names {
	const char *namespace, *pod; /* NULL for a container outside pods */
	const char *container;	     /* NULL while unknown */
	const char *image;	     /* NULL while unknown */
	const char *shown;	     /* short name for people; NULL: use the path */
};

/*
 * A cgroup, a task, all tasks of one name or all tasks of one CPU. Slots, windows and rows of blame
 * share one object, so that each path is in memory once.
 */
struct runq_group {
	uint64_t key; /* as in the maps; 0: requested and not seen yet */
	uint64_t cgroup_id;
	uint32_t cpu; /* of groups that are a CPU */
	uint32_t pid;
	uint32_t tgid;
	char comm[17];
	bool cut;	  /* the path lacks its beginning */
	bool gone;	  /* its cgroup or task was seen to have ended */
	bool sum;	  /* a row of rollup.h: several cgroups */
	bool alive;	  /* of a rollup row: one of its cgroups exists; see check_ended() */
	const char *path; /* of the cgroup, also of a task's; else the name of the group */
	/* Parsed from the path; NULL if it has none. */
	const char *pod_uid, *container_id, *runtime, *qos;
	struct runq_group_names *names; /* NULL while unknown */
	uint64_t names_at;		/* pods_news() at the last lookup */
	/* Rollup row that the cgroup counts in, with a reference. NULL until looked up. */
	struct runq_group *rollup;
	/* Text that identifies a rollup row; @label_len bytes. NULL for other groups. */
	const char *label;
	size_t label_len;
	struct runq_avoidable_waits avoidable; /* counters at the end of the last window */
	/* Length of the VM's name at the start of the path. 0 for rows that are no part of a VM. */
	uint32_t vm_len;
	uint32_t vcpu;	     /* UINT32_MAX for other threads of a VM, or all of its vCPUs */
	uint64_t vm_window; /* of a task: window that looks up its VM again, or 0 */
	uint32_t row;	  /* of a rollup row: 1 + index of its row in the window, 0 for none */
	uint32_t pod_len; /* length of the prefix of the path that is the pod's */
	unsigned int refs;
};

/* A copy of @from and of @path with one reference; NULL if there is no memory. */
struct runq_group *runq_group_new(const struct runq_group *from, const char *path);
/* Reads the owner of a slot from its head. */
struct runq_group *runq_group_read(enum runq_per per, uint64_t key, const struct runq_head *head);
/* Copies the name of the VM of a rollup row; false if the row is no part of a VM. */
bool runq_group_vm(const struct runq_group *group, char ret_name[VM_NAME]);
/* References are counted behind const, as by kfree(). NULL is fine. */
void runq_group_get(const struct runq_group *group);
void runq_group_put(const struct runq_group *group);

struct pods;

/*
 * Looks up names of @group that are unknown. A name that was found once stays: the uid of a pod and
 * the id of a container in it never get another one. Outside pods, runtimes rename containers.
 */
void runq_names_resolve(const struct pods *pods, struct runq_group *group);

enum runq_party_kind {
	RUNQ_PARTY_GROUP,
	RUNQ_PARTY_GONE, /* a group that ended before anybody read its name */
	RUNQ_PARTY_IDLE,
	RUNQ_PARTY_KTHREADS,
	RUNQ_PARTY_QUOTA,
	RUNQ_PARTY_UNKNOWN,
	RUNQ_PARTY_OTHER_CORE, /* the wait passed on another core's queue */
	RUNQ_PARTY_OTHER,      /* groups without a row of their own */
	RUNQ_PARTY_EXCLUDED,   /* culprits that the filter does not pass, with runq_opts.fold_excluded */
};

/* One side of a wait. */
struct runq_party {
	enum runq_party_kind kind;
	const struct runq_group *group; /* of RUNQ_PARTY_GROUP */
};

/* The party behind a key of the maps. @group is the group with this key, or NULL. */
struct runq_party runq_party_of(uint64_t key, const struct runq_group *group);
/* The group's path, or the word for what is no group: "(idle)". */
const char *runq_party_path(const struct runq_party *party);
/* For programs: tasks by name and number, written to @buf, everything else by its path. */
const char *runq_party_key(enum runq_per per, const struct runq_party *party, char buf[32]);
/* For people: the same, but pods and containers by their names where those are known. */
const char *runq_party_name(enum runq_per per, const struct runq_party *party, char buf[32]);

#endif
