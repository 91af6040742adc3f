/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Groups of tasks, and victims and culprits of waits. */
#ifndef SUBTICK_MEASURE_RUNQ_GROUP_H
#define SUBTICK_MEASURE_RUNQ_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/runq.h"
#include "abi/runq_avoidable.h"
#include "pods/vm.h"

/* Names of a pod or container from its runtime, in one memory block. */
struct runq_group_names {
	const char *namespace, *pod; /* names of the pod; NULL for a container outside pods */
	const char *container;	     /* name of the container; NULL while unknown */
	const char *image;	     /* name of the image; NULL while unknown */
	const char *shown;	     /* short display name, or NULL to display the path */
};

/*
 * A group of tasks: a cgroup, a task, all tasks of one name or all tasks of one CPU. Slots, windows
 * and blame rows share one struct per group, so that each path is stored only once.
 */
struct runq_group {
	uint64_t key; /* key in the BPF maps; 0 until the group is found in the maps */
	uint64_t cgroup_id;
	uint32_t cpu; /* CPU number with --per cpu */
	uint32_t pid;
	uint32_t tgid;
	char comm[17];
	bool cut;   /* true if the beginning of the path is missing */
	bool gone;  /* true if the cgroup was removed or the task exited */
	bool sum;   /* true for a rollup row, which is the sum of several groups */
	bool alive; /* rollup row: true if at least one of its groups still exists */
	/* path of the cgroup or of the task's cgroup; for other groups the name of the group */
	const char *path;
	/* names that are parts of `path`; a member is NULL if `path` does not contain its name */
	const char *pod_uid, *container_id, *runtime, *qos;
	struct runq_group_names *names; /* names from the container runtime; NULL while unknown */
	uint64_t names_at;		/* value of pods_generation() at the last lookup of names */
	/* rollup row of the group, referenced by the group; NULL before the first lookup */
	struct runq_group *rollup;
	/* rollup row: text with label_len bytes that identifies the row */
	const char *label;
	size_t label_len;
	/* avoidable waits from the start of the measurement until the end of the last window */
	struct runq_avoidable_waits avoidable;
	/* length of the VM's name at the start of `path`; 0 except in rollup rows of VMs */
	uint32_t vm_len;
	const char *vm_cgroup; /* cgroup of the first thread of this row that waited, or NULL */
	/* number of the vCPU, or UINT32_MAX for a whole VM and for threads that are not vCPUs */
	uint32_t vcpu;
	/* for a task: number of the window in which its VM is looked up again, or 0 */
	uint64_t vm_window;
	uint32_t row;	  /* rollup row: index of the row in the window plus 1, or 0 */
	uint32_t pod_len; /* length of the pod's path at the start of `path` */
	unsigned int refs;
};

/*
 * Copies @from, which must have no names and no rollup row, and sets the path of the copy to @path.
 * Returns NULL if out of memory. The caller owns the only reference to the returned group.
 */
struct runq_group *runq_group_new(const struct runq_group *from, const char *path);
/* Reads the group of a slot from @head, the head of the slot. */
struct runq_group *runq_group_read(enum runq_per per, uint64_t key, const struct runq_head *head);
/* Copies the VM name of a rollup row. Returns false if @group is not the rollup row of a VM. */
bool runq_group_vm(const struct runq_group *group, char ret_name[VM_NAME]);
/* Increment and decrement the reference count. Both functions ignore NULL. */
void runq_group_get(const struct runq_group *group);
void runq_group_put(const struct runq_group *group);

struct pods;

/*
 * Looks up the names of the pod and the container of @group if they are unknown. Only names of
 * containers outside pods can change.
 */
void runq_names_resolve(const struct pods *pods, struct runq_group *group);

enum runq_party_kind {
	RUNQ_PARTY_GROUP,
	RUNQ_PARTY_GONE, /* a group that ended before its name was read */
	RUNQ_PARTY_IDLE,
	RUNQ_PARTY_KTHREADS,
	RUNQ_PARTY_QUOTA,
	RUNQ_PARTY_UNKNOWN,
	RUNQ_PARTY_OTHER_CORE, /* no culprit: the task waited in the run queue of another CPU */
	RUNQ_PARTY_OTHER,      /* a victim or culprit that stands for all groups without a slot */
	/* culprits that the filter excludes, if runq_opts.fold_excluded is true */
	RUNQ_PARTY_EXCLUDED,
};

/* Victim or culprit of a wait. */
struct runq_party {
	enum runq_party_kind kind;
	const struct runq_group *group; /* group, or NULL if the kind is not RUNQ_PARTY_GROUP */
};

/* Returns the victim or culprit with @key. @group is the group with this key, or NULL. */
struct runq_party runq_party_of(uint64_t key, const struct runq_group *group);
/* Path of the group, or a word such as "(idle)". */
const char *runq_party_path(const struct runq_party *party);
/*
 * Identifier of a victim or culprit for machine-readable output: name and PID of a task, written to
 * @buf, or else runq_party_path().
 */
const char *runq_party_key(enum runq_per per, const struct runq_party *party, char buf[32]);
/* Name to display: name of the pod or container if known, else runq_party_key(). */
const char *runq_party_name(enum runq_per per, const struct runq_party *party, char buf[32]);

#endif
