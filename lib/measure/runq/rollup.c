/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the rollup row of each group and sums the waits of each row. */
#include "measure/runq/rollup.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "pods/vm.h"

/*
 * Label of a rollup row. The first `len` bytes of `text` identify the row, and the first `path_len`
 * bytes of `path` are the path of the row.
 */
struct label {
	const char *text;
	size_t len;
	const char *path;
	size_t path_len;
	/*
	 * Members that are used only for rows of VMs. pid_len is the length of the prefix "PID/" of
	 * the label, which the displayed path omits.
	 */
	uint32_t tgid, vm_len, vcpu, pid_len;
	const char *vm_cgroup; /* cgroup of the thread that waited */
};

/* Buffer size for a label such as "PID/NAME/vcpuN". */
#define VM_LABEL (VM_NAME + 32)

/* The label and the path of the row are the first @len bytes of @path. */
static struct label label_path(const char *path, size_t len)
{
	return (struct label){.text = path, .len = len, .path = path, .path_len = len};
}

static struct label label_word(const char *word)
{
	return label_path(word, strlen(word));
}

/*
 * Returns the length of the first @depth names of the path, or of the whole path if the beginning
 * of the path is missing.
 */
static size_t prefix_len(const struct runq_group *group, unsigned int depth)
{
	const char *at = group->path;

	if (group->cut)
		return strlen(at);
	while (*at && depth--) {
		at += strspn(at, "/");
		at += strcspn(at, "/");
	}
	return at == group->path ? strlen(at) : (size_t)(at - group->path);
}

/*
 * Returns the label of a VM's row: "web" or "web/vcpu0" for vCPU threads, "web/other" for all other
 * threads of the VM. The label begins with the PID, which distinguishes VMs of the same name.
 */
static struct label label_vm(const struct runq_rollup *rollup, const struct runq_group *group,
			     char text[VM_LABEL])
{
	struct label label = {.text = text, .path = text, .tgid = group->tgid, .vcpu = UINT32_MAX};
	struct vm_thread thread;

	/* a cgroup outside VMs has its own row, because its tasks may delay the VMs */
	if (!vm_thread_find(rollup->root, group->tgid, group->pid, group->comm, group->path,
			    &thread))
		return label_word(group->path);
	label.vm_len = strlen(thread.name);
	label.vm_cgroup = group->path;
	label.pid_len = sprintf(text, "%u/", group->tgid);
	label.len = label.pid_len + sprintf(text + label.pid_len, "%s", thread.name);
	if (thread.vcpu == UINT32_MAX) {
		label.len += sprintf(text + label.len, "/other");
	} else if (rollup->what == ROLLUP_VCPU) {
		label.len += sprintf(text + label.len, "/vcpu%u", thread.vcpu);
		label.vcpu = thread.vcpu;
	}
	label.path_len = label.len;
	return label;
}

static struct label label_of(const struct runq_rollup *rollup, const struct runq_group *group,
			     char text[VM_LABEL])
{
	const struct runq_group *nearest;

	switch (rollup->what) {
	case ROLLUP_DEPTH:
		return label_path(group->path, prefix_len(group, rollup->depth));
	case ROLLUP_POD:
		/* a cgroup outside pods has its own row: its tasks may delay the pods */
		if (!group->pod_uid)
			return label_word(group->path);
		return (struct label){.text = group->pod_uid,
				      .len = strlen(group->pod_uid),
				      .path = group->path,
				      .path_len = group->pod_len};
	case ROLLUP_NAMESPACE:
		if (!group->pod_uid)
			return label_word(RUNQ_NO_POD);
		return label_word(group->names && group->names->namespace ? group->names->namespace
									  : RUNQ_NO_NAMESPACE);
	case ROLLUP_COMM:
		return label_word(group->comm);
	case ROLLUP_VM:
	case ROLLUP_VCPU:
		return label_vm(rollup, group, text);
	case ROLLUP_QOS:
		return label_word(group->qos ? group->qos : RUNQ_NO_POD);
	default:
		/* use only the nearest requested ancestor, so that rows do not overlap */
		nearest = runq_filter_nearest(rollup->filter, group->path);
		return label_word(nearest ? nearest->path : group->path);
	}
}

static int by_label(const void *a, const void *b)
{
	const struct runq_group *x = a, *y = b;

	return CMP(x->label_len, y->label_len) ?: memcmp(x->label, y->label, x->label_len);
}

static void row_drop(struct runq_rollup *rollup, struct runq_group *row)
{
	tdelete(row, &rollup->tree, by_label);
	runq_group_put(row);
}

static struct runq_group *row_new(struct runq_rollup *rollup, const struct label *label)
{
	char *path = strndup(label->path, label->path_len);
	struct runq_group *row = NULL;

	if (path)
		row = runq_group_new(
			&(struct runq_group){.key = rollup->last_key + 1,
					     .sum = true,
					     .tgid = label->tgid,
					     .vm_len = label->vm_len,
					     .vcpu = label->vcpu},
			path);
	free(path);
	if (!row)
		return NULL;
	row->label = rollup->what == ROLLUP_POD && row->pod_uid ? row->pod_uid : row->path;
	row->label_len = strlen(row->label);
	row->vm_cgroup = label->vm_cgroup ? strdup(label->vm_cgroup) : NULL;
	row->path += label->pid_len;
	/* a row of a VM has no pod names, even if the VM's name looks like a pod's path */
	if (label->vm_len)
		row->pod_uid = row->container_id = row->runtime = row->qos = NULL;
	if (!tsearch(row, &rollup->tree, by_label) || array_push(rollup->rows, rollup->nr, row)) {
		row_drop(rollup, row);
		return NULL;
	}
	runq_names_resolve(rollup->pods, row);
	rollup->last_key++;
	return row;
}

static struct runq_group *row_find(struct runq_rollup *rollup, const struct runq_group *group)
{
	char text[VM_LABEL];
	struct label label = label_of(rollup, group, text);
	struct runq_group **row =
		tfind(&(struct runq_group){.label = label.text, .label_len = label.len},
		      &rollup->tree, by_label);

	return row ? *row : row_new(rollup, &label);
}

struct runq_group *runq_rollup_of(struct runq_rollup *rollup, const struct runq_group *group)
{
	struct runq_group *own = (struct runq_group *)group;
	/* Look up the VM twice: a new process may not have executed the hypervisor yet. */
	bool again = own->vm_window && own->vm_window <= rollup->windows;

	if (!own->rollup || again) {
		struct runq_group *row = row_find(rollup, group);

		if (!row)
			return NULL;
		/* The cgroup id of a rollup row is the id of the topmost cgroup in the row. */
		if (!row->vm_len && !strcmp(row->path, group->path))
			row->cgroup_id = group->cgroup_id;
		runq_group_get(row);
		runq_group_put(own->rollup);
		own->rollup = row;
		own->vm_window = (rollup->what == ROLLUP_VM || rollup->what == ROLLUP_VCPU) && !again
					 ? rollup->windows + 1
					 : 0;
	}
	return own->rollup;
}

static int by_key(const void *key, const void *row)
{
	return CMP(*(const uint64_t *)key, (*(struct runq_group *const *)row)->key);
}

const struct runq_group *runq_rollup_find(const struct runq_rollup *rollup, uint64_t key)
{
	struct runq_group **row = rollup->nr ? bsearch(&key, rollup->rows, rollup->nr,
						       sizeof(*rollup->rows), by_key)
					     : NULL;

	return row ? *row : NULL;
}

struct runq_party runq_rollup_party(struct runq_rollup *rollup, const struct runq_party *party)
{
	const struct runq_group *row =
		rollup && party->group ? runq_rollup_of(rollup, party->group) : NULL;

	return row ? (struct runq_party){RUNQ_PARTY_GROUP, row} : *party;
}

/* Frees rows without references and resets the other rows for the next window. */
static void rows_reset(struct runq_rollup *rollup)
{
	size_t left = 0;

	runq_waits_clear(&rollup->waits);
	array_for_each(at, rollup->rows, rollup->nr) {
		struct runq_group *row = *at;

		if (row->refs == 1) {
			row_drop(rollup, row);
			continue;
		}
		row->row = 0;
		row->alive = false;
		runq_names_resolve(rollup->pods, row);
		rollup->rows[left++] = row;
	}
	rollup->nr = left;
}

void runq_rollup_close(struct runq_rollup *rollup)
{
	runq_waits_clear(&rollup->waits);
	while (rollup->nr)
		row_drop(rollup, rollup->rows[--rollup->nr]);
	free(rollup->rows);
}

/* Marks a rollup row as ended if all of its groups have ended. */
static int check_ended(struct runq_rollup *rollup, struct runq_group *const *groups, size_t nr)
{
	array_for_each(group, groups, nr) {
		struct runq_group *row;

		if ((*group)->gone || (*group)->key == RUNQ_KEY_OTHER)
			continue;
		row = runq_rollup_of(rollup, *group);
		if (!row)
			return -ENOMEM;
		row->alive = true;
	}
	array_for_each(row, rollup->waits.rows, rollup->waits.nr)
		row->ended = row->ended && (!row->party.group || !row->party.group->alive);
	return 0;
}

/*
 * Adds @more to the row of @party. *@at is the index of the row in the window plus 1, or 0 if
 * @party has no row yet.
 */
static int add_to(struct runq_waits_list *waits, struct runq_party party, uint32_t *at,
		  const struct runq_group_window *more, struct err *err)
{
	struct runq_group_window *row;

	if (!*at) {
		if (runq_waits_append(
			    waits, (struct runq_group_window){.party = party, .ended = true}, err))
			return -ENOMEM;
		*at = waits->nr;
	}
	row = &waits->rows[*at - 1];
	row->ended = row->ended && more->ended;
	return runq_waits_add(row, more) ? err_set(err, -ENOMEM, "out of memory") : 0;
}

int runq_rollup_window(struct runq_rollup *rollup, const struct runq_waits_list *list,
		       struct runq_group *const *groups, size_t nr_groups, struct err *err)
{
	uint32_t other = 0;
	bool ended = false;
	int rc = 0;

	rows_reset(rollup);
	rollup->windows++;
	for (size_t i = 0; !rc && i < list->nr; i++) {
		const struct runq_group_window *from = &list->rows[i];
		struct runq_group *row;

		ended = ended || from->ended;
		if (!from->party.group) {
			rc = add_to(&rollup->waits, from->party, &other, from, err);
			continue;
		}
		if (!runq_filter_passes(rollup->filter, from->party.group))
			continue;
		row = runq_rollup_of(rollup, from->party.group);
		rc = row ? add_to(&rollup->waits, (struct runq_party){RUNQ_PARTY_GROUP, row},
				  &row->row, from, err)
			 : err_set(err, -ENOMEM, "out of memory");
	}
	if (!rc && ended && check_ended(rollup, groups, nr_groups))
		rc = err_set(err, -ENOMEM, "out of memory");
	if (!rc)
		runq_waits_merge(&rollup->waits);
	return rc;
}
